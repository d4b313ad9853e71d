"""The soft null space: what varies inside groups is weighed down, not annihilated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from mien._core.linalg import gram_svd, oas_shrinkage, symmetrize
from mien.subspace._base import scatter_tolerance
from mien.subspace._contrasts import Contrasts

__all__ = ["GroupCounts", "SoftSolution", "solve_soft_null_space", "weigh_directions"]

# Added to what the residuals ask for: where a few directions hold nearly all of what varies inside
# groups, the estimate of all others is worse than the shrinkage of the whole says.
_LEAST = 0.05
# The shrinkage is the best for a sum of squared errors; weights need twice as much of it.
_BETWEEN = 2.0


class GroupCounts(NamedTuple):
    """Independent residuals, N − R; units (groups, and points in none); and points in all."""

    n_residuals: int
    n_units: int
    n_points: int


class SoftSolution(NamedTuple):
    """Weighted directions (m, d), λ and the share in use, and the two ranks."""

    directions: np.ndarray
    regularization: float
    between_shrinkage: float
    rank_total: int
    rank_within: int


def weigh_directions(
    within: np.ndarray,
    between: np.ndarray,
    counts: GroupCounts,
    regularization: float | str,
    between_shrinkage: float | str,
) -> SoftSolution:
    """Directions (r, r) weighed by what varies along them inside groups and between them.

    Parameters
    ----------
    within : (r, r)
        Scatter of the residuals inside groups.
    between : (r, r)
        Scatter of everything else; its largest directions come first.
    counts : GroupCounts
        Of the points behind them.
    regularization : float or "auto"
        λ in units of the mean variance of a residual.
    between_shrinkage : float or "auto"
        Share of the variance between classes that is spread over all directions alike.
    """
    r = len(within)
    if r == 0:
        return SoftSolution(within, 0.0, 1.0, 0, 0)
    within = symmetrize(within) / max(counts.n_residuals, 1)
    values, vectors = linalg.eigh(within, check_finite=False)
    values = np.maximum(values, 0)
    mean = float(values.mean())
    rank = int(np.count_nonzero(values > scatter_tolerance(0.0, r) * values.max(initial=0.0)))
    if regularization == "auto":
        # Beyond one half the residuals say too little for a larger value to mean anything.
        shrinkage = min(oas_shrinkage(values, counts.n_residuals), 0.5)
        regularization = _LEAST + shrinkage * (1 - shrinkage)
    ridge = float(regularization) * mean
    # Without any residuals there is nothing to weigh down.
    weights = np.sqrt(ridge / (values + ridge)) if ridge > 0 else np.ones(r)
    weigh = (vectors * weights) @ vectors.T
    freedom = max(counts.n_units - 1, 1)
    spread, order = linalg.eigh(symmetrize(weigh @ between @ weigh) / freedom, check_finite=False)
    spread = np.maximum(spread, 0)
    if between_shrinkage == "auto":
        between_shrinkage = min(_BETWEEN * oas_shrinkage(spread, freedom), 1.0)
    shares = np.ones(r)
    if ridge > 0:
        # A mean of n points has the variance between classes and an n-th of that inside groups.
        noise = np.einsum("ij,ij->j", order, weigh @ within @ weigh @ order)
        ratios = np.maximum(spread - noise, 0) * counts.n_units / (counts.n_points * ridge)
        shares = _class_shares(ratios, float(between_shrinkage))
    first = np.argsort(-spread * shares, kind="stable")
    rows = (order[:, first] * np.sqrt(shares[first])).T @ weigh
    return SoftSolution(rows, float(regularization), float(between_shrinkage), r, rank)


def _class_shares(ratios: np.ndarray, shrinkage: float) -> np.ndarray:
    """Share (r,) of the variance along each direction that tells classes apart, the largest 1."""
    ratios = (1 - shrinkage) * ratios + shrinkage * ratios.mean()
    largest = ratios.max(initial=0.0)
    if shrinkage == 1 or largest == 0:
        return np.ones(len(ratios))
    return np.asarray(ratios / (1 + ratios) * ((1 + largest) / largest))


def solve_soft_null_space(
    contrasts: Contrasts, regularization: float | str, between_shrinkage: float | str
) -> SoftSolution:
    """Directions of the range of S_t, each weighed by the variance inside groups along it."""
    k = len(contrasts.within)
    found = gram_svd(np.concatenate([contrasts.within, contrasts.between]))
    coordinates = found.U * found.s
    within, between = coordinates[:k], coordinates[k:]
    counts = GroupCounts(k, len(between), len(coordinates))
    solution = weigh_directions(
        within.T @ within, between.T @ between, counts, regularization, between_shrinkage
    )
    return solution._replace(directions=solution.directions @ found.Vt)
