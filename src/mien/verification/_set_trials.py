"""Trials of sets of pictures against each other, and the tail of the impostors among them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mien.verification.joint_bayesian import JointBayesian

__all__ = ["Trials", "draw_trials", "join_trials", "tail_table"]

_MOST_TRIALS = 24_000_000
_MOST_PROBES = 3
_LEVELS_A_DECADE = 24
# Highest impostor ratios through which the exponential tail is laid.
_TAIL = 200


@dataclass(frozen=True)
class Trials:
    """Scores (n,) of set trials by ratio and cosine, and whether both sides are one person."""

    ratio: np.ndarray
    cosine: np.ndarray
    same: np.ndarray

    def thin(self, most: int, rng: np.random.RandomState) -> Trials:
        """All genuine trials, and at most so many impostor trials."""
        impostors = np.flatnonzero(~self.same)
        if len(impostors) > most:
            impostors = np.unique(impostors[rng.randint(0, len(impostors), most)])
        rows = np.concatenate([np.flatnonzero(self.same), impostors])
        return Trials(self.ratio[rows], self.cosine[rows], self.same[rows])

    def thin_low(
        self, scores: np.ndarray, most: int, prior: float, rng: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows of genuine trials, the highest impostors, and a draw of the rest; their weights.

        Weights make genuine trials ``prior`` of the whole, and the draw stand for the rest.
        """
        genuine, impostors = np.flatnonzero(self.same), np.flatnonzero(~self.same)
        half = most // 2
        each = (1 - prior) / max(len(impostors), 1)
        high, drawn, share = impostors, impostors[:0], 1.0
        if len(impostors) > most:
            order = np.argpartition(scores[impostors], -half)
            high, low = impostors[order[-half:]], impostors[order[:-half]]
            drawn = low[rng.randint(0, len(low), half)]
            share = len(low) / half
        rows = np.concatenate([genuine, high, drawn])
        weights = np.concatenate(
            [
                np.full(len(genuine), prior / max(len(genuine), 1)),
                np.full(len(high), each),
                np.full(len(drawn), each * share),
            ]
        )
        return rows, weights

    def fuse(self, cell: tuple[float, float, float]) -> np.ndarray:
        fused: np.ndarray = cell[0] * self.ratio + cell[1] * self.cosine + cell[2]
        return fused

    def cllr(self, cell: tuple[float, float, float]) -> float:
        ratios = self.fuse(cell)
        genuine = np.logaddexp(0, -ratios[self.same]).mean()
        impostor = np.logaddexp(0, ratios[~self.same]).mean()
        return float(genuine + impostor) / 2 / float(np.log(2))


def _deal(
    people: np.ndarray, rows: np.ndarray, k: int, m: int, rng: np.random.RandomState
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Rows of probe sets (k each) and of gallery sets (m each), apart wherever a person can be."""
    probes, galleries = [], []
    shuffled = rng.permutation(rows)
    order = shuffled[np.argsort(people[shuffled], kind="stable")]
    for mine in np.split(order, np.flatnonzero(np.diff(people[order])) + 1):
        if len(mine) >= m:
            galleries.append(mine[:m])
        rest = mine[m:] if len(mine) >= m + k else mine
        for probe in range(min(_MOST_PROBES, len(rest) // k)):
            probes.append(rest[probe * k : (probe + 1) * k])
    return probes, galleries


def _means(X: np.ndarray, sets: list[np.ndarray]) -> np.ndarray:
    means = X[np.stack(sets)].mean(axis=1)
    unit: np.ndarray = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-30)
    return unit


def draw_trials(
    model: JointBayesian,
    X: np.ndarray,
    people: np.ndarray,
    rows: np.ndarray,
    k: int,
    m: int,
    rng: np.random.RandomState,
) -> Trials:
    """Every probe set of k pictures against every gallery set of m pictures of the given rows."""
    probes, galleries = _deal(people, rows, k, m, rng)
    if not probes or not galleries:
        nothing = np.zeros(0, dtype=np.float32)
        return Trials(nothing, nothing, nothing.astype(bool))
    if len(probes) * len(galleries) > _MOST_TRIALS:
        # Those with a genuine partner stay; the rest is drawn.
        keep = max(1, _MOST_TRIALS // len(probes))
        galleries = _keep_partners(people, probes, galleries, keep, rng)
    owner = people[[mine[0] for mine in probes]][:, None]
    same = owner == people[[mine[0] for mine in galleries]][None, :]
    ratio = model.score_sets([X[mine] for mine in probes], [X[mine] for mine in galleries])
    cosine = _means(X, probes) @ _means(X, galleries).T
    usable = np.ones_like(same)
    # A person with too few pictures for both sides is on both, and never against itself.
    first = {int(people[mine[0]]): set(mine.tolist()) for mine in galleries}
    for i, j in np.argwhere(same):
        usable[i, j] = not first[int(people[galleries[j][0]])] & set(probes[i].tolist())
    return Trials(ratio[usable].astype(np.float32), cosine[usable].astype(np.float32), same[usable])


def _keep_partners(
    people: np.ndarray,
    probes: list[np.ndarray],
    galleries: list[np.ndarray],
    keep: int,
    rng: np.random.RandomState,
) -> list[np.ndarray]:
    known = {int(people[mine[0]]) for mine in probes}
    order = rng.permutation(len(galleries))
    partnered = [galleries[i] for i in order if int(people[galleries[i][0]]) in known]
    others = [galleries[i] for i in order if int(people[galleries[i][0]]) not in known]
    return (partnered + others)[:keep]


def join_trials(parts: Iterable[Trials]) -> Trials:
    held = list(parts)
    return Trials(
        np.concatenate([part.ratio for part in held]),
        np.concatenate([part.cosine for part in held]),
        np.concatenate([part.same for part in held]),
    )


def tail_table(
    impostors: list[np.ndarray], n_errors: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """False accept rates (l,), thresholds (n_cells, l), and the scale of each tail (n_cells,).

    The threshold of a rate lies just above the first impostor that is one too many; it is NaN
    where fewer than ``n_errors`` impostors would be expected. The scale is the mean excess of the
    highest ratios with 1.64 standard errors added.
    """
    lowest = min(n_errors / len(scores) for scores in impostors)
    n_levels = int(np.ceil(_LEVELS_A_DECADE * np.log10(0.5 / min(lowest, 0.25)))) + 1
    levels = np.geomspace(min(lowest, 0.25), 0.5, n_levels)
    thresholds = np.full((len(impostors), n_levels), np.nan)
    scales = np.empty(len(impostors))
    for i, scores in enumerate(impostors):
        falling = np.sort(scores.astype(np.float64))[::-1]
        allowed = np.floor(levels * len(falling) * (1 + 1e-12)).astype(int)
        enough = levels * len(falling) >= n_errors * (1 - 1e-9)
        enough[-1] = True
        chosen = falling[np.minimum(allowed, len(falling) - 1)]
        thresholds[i, enough] = np.nextafter(chosen[enough].astype(np.float32), np.float32(np.inf))
        # Few people: never more than a tenth of the trials are a tail.
        n = max(2, min(_TAIL, len(falling) // 10))
        excess = falling[: min(n, len(falling) - 1)] - falling[min(n, len(falling) - 1)]
        scales[i] = excess.mean() * (1 + 1.64 / np.sqrt(len(excess)))
    return levels, thresholds, scales
