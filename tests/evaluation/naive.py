"""References written straight from the definitions: slow, short, and obviously right."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np


def error_rates(genuine, impostor, threshold):
    far = sum(s >= threshold for s in impostor) / len(impostor)
    vr = sum(s >= threshold for s in genuine) / len(genuine)
    return far, vr


def curve(genuine, impostor):
    thresholds = sorted({*genuine, *impostor}, reverse=True)
    points = [(0.0, 0.0)] + [error_rates(genuine, impostor, t) for t in thresholds]
    return points, [math.inf, *thresholds]


def equal_error_rate(genuine, impostor):
    points, _ = curve(genuine, impostor)
    for (far0, vr0), (far1, vr1) in pairwise(points):
        gap0, gap1 = far0 - (1 - vr0), far1 - (1 - vr1)
        if gap0 <= 0 <= gap1:
            share = 0 if gap0 == gap1 else -gap0 / (gap1 - gap0)
            return far0 + share * (far1 - far0)
    raise AssertionError("every curve crosses the diagonal")


def verification_rate(genuine, impostor, far):
    return max(v for f, v in curve(genuine, impostor)[0] if f <= far)


def area(genuine, impostor):
    won = sum((g > i) + 0.5 * (g == i) for g in genuine for i in impostor)
    return won / (len(genuine) * len(impostor))


def bits(x):
    """log2(1 + e^x) without overflow."""
    return (
        (max(x, 0) + math.log1p(math.exp(-abs(x)))) / math.log(2)
        if math.isfinite(x)
        else (math.inf if x > 0 else 0.0)
    )


def cllr(genuine, impostor):
    return 0.5 * (
        sum(bits(-g) for g in genuine) / len(genuine)
        + sum(bits(i) for i in impostor) / len(impostor)
    )


def min_cllr(genuine, impostor):
    """By the minimax formula of isotonic regression, O(n³): no pooling at all."""
    values = sorted({*genuine, *impostor})
    g = np.array([sum(s == v for s in genuine) for v in values], float)
    i = np.array([sum(s == v for s in impostor) for v in values], float)
    cost_g = cost_i = 0.0
    for k in range(len(values)):
        share = max(
            min(
                g[a : b + 1].sum() / (g[a : b + 1].sum() + i[a : b + 1].sum())
                for b in range(k, len(values))
            )
            for a in range(k + 1)
        )
        ratio = math.inf if share == 1 else share / (1 - share) * len(impostor) / len(genuine)
        llr = math.log(ratio) if ratio > 0 else -math.inf
        cost_g += g[k] * bits(-llr) if g[k] else 0
        cost_i += i[k] * bits(llr) if i[k] else 0
    return 0.5 * (cost_g / len(genuine) + cost_i / len(impostor))
