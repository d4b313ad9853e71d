"""The soft null space: what varies inside groups is weighed down, not annihilated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from mien._core.linalg import gram_svd, oas_shrinkage, symmetrize
from mien.subspace._base import scatter_tolerance
from mien.subspace._contrasts import Contrasts

__all__ = ["SoftSolution", "solve_soft_null_space", "weigh_directions"]


class SoftSolution(NamedTuple):
    """Weighted directions (m, d), the regularisation in use, and the two ranks."""

    directions: np.ndarray
    regularization: float
    rank_total: int
    rank_within: int


def weigh_directions(
    within: np.ndarray, between: np.ndarray, n_residuals: int, regularization: float | str
) -> tuple[np.ndarray, float, int]:
    """Rows (r, r) that weigh each direction by what varies along it inside groups.

    Parameters
    ----------
    within : (r, r)
        Scatter of the residuals inside groups.
    between : (r, r)
        Scatter of everything else; its largest directions come first.
    n_residuals : int
        Number of independent residuals, N − R.
    regularization : float or "auto"
        λ in units of the mean variance of a residual.

    Returns
    -------
    rows (r, r), λ, rank of ``within``
    """
    r = len(within)
    values, vectors = linalg.eigh(symmetrize(within) / max(n_residuals, 1), check_finite=False)
    values = np.maximum(values, 0)
    mean = float(values.mean())
    rank = int(np.count_nonzero(values > scatter_tolerance(0.0, r) * values.max(initial=0.0)))
    if regularization == "auto":
        # Beyond one half the residuals say too little for a larger value to mean anything.
        shrinkage = min(oas_shrinkage(values, n_residuals), 0.5)
        regularization = shrinkage * (1 - shrinkage)
    ridge = float(regularization) * mean
    # Without any residuals there is nothing to weigh down.
    weights = np.sqrt(ridge / (values + ridge)) if ridge > 0 else np.ones(r)
    weigh = (vectors * weights) @ vectors.T
    _, order = linalg.eigh(symmetrize(weigh @ between @ weigh), check_finite=False)
    return order[:, ::-1].T @ weigh, float(regularization), rank


def solve_soft_null_space(contrasts: Contrasts, regularization: float | str) -> SoftSolution:
    """Directions of the range of S_t, each weighed by the variance inside groups along it."""
    k = len(contrasts.within)
    found = gram_svd(np.concatenate([contrasts.within, contrasts.between]))
    coordinates = found.U * found.s
    within, between = coordinates[:k], coordinates[k:]
    rows, used, rank = weigh_directions(within.T @ within, between.T @ between, k, regularization)
    return SoftSolution(rows @ found.Vt, used, len(found.s), rank)
