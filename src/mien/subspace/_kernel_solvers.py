"""The two weak-label methods on a kernel matrix: coefficients of the training points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from mien._core.linalg import numerical_rank, symmetrize
from mien.subspace._base import scatter_tolerance
from mien.subspace._contrasts import (
    Contrasts,
    apply_contrasts,
    contrast_rows,
    group_contrasts,
    matrix_rank,
    triangle_has_full_rank,
)
from mien.subspace._null_space import solve_null_space
from mien.subspace._relevant_components import check_whitening_rank, whiten_residuals
from mien.subspace._soft import GroupCounts, weigh_directions

__all__ = [
    "KernelSolution",
    "solve_kernel_null_space",
    "solve_kernel_relevant_components",
    "solve_kernel_relevant_components_grid",
    "solve_kernel_soft_null_space",
]


class KernelSolution(NamedTuple):
    """A point projects to ``(k(x, training points) - mean) @ coefficients``."""

    mean: np.ndarray
    coefficients: np.ndarray
    rank_total: int
    rank_within: int
    regularization: float = 0.0
    between_shrinkage: float = 1.0


def centre_kernel(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Column means (n,) of K and K about the mean of the points in feature space."""
    mean = K.mean(axis=0)
    return mean, symmetrize(K - mean - mean[:, None] + mean.mean())


def kernel_coordinates(
    K_centred: np.ndarray, rtol: float, n_components: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Kernel principal components: coordinates F (n, r) with F Fᵀ = K, and coefficients (n, r)."""
    n = len(K_centred)
    first = 0 if n_components is None else max(0, n - n_components)
    values, vectors = linalg.eigh(K_centred, subset_by_index=[first, n - 1], check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = numerical_rank(np.maximum(values, 0), scatter_tolerance(rtol, n))
    roots = np.sqrt(values[:rank])
    return vectors[:, :rank] * roots, vectors[:, :rank] / roots


def solve_kernel_null_space(K: np.ndarray, groups: np.ndarray, rtol: float) -> KernelSolution:
    """Null-space projection in the feature space of K (n, n), orthonormal there.

    In the basis of group contrasts, residuals first, the Cholesky factor of the centred kernel
    holds coordinates in which the residuals fill the first ones: the others are the projection.
    Where the factor is not safely regular, kernel principal components decide the ranks.
    """
    mean, centred = centre_kernel(np.asarray(K, dtype=np.float64))
    solution = _solve_by_cholesky(centred, groups, rtol)
    if solution is not None:
        return KernelSolution(mean, *solution)
    F, coefficients = kernel_coordinates(centred, rtol)
    tolerance = np.sqrt(scatter_tolerance(rtol, len(K)))
    found = solve_null_space(group_contrasts(F, groups), tolerance)
    return KernelSolution(
        mean, coefficients @ found.directions.T, found.rank_total, found.rank_within
    )


def solve_kernel_soft_null_space(
    K: np.ndarray,
    groups: np.ndarray,
    regularization: float | str,
    between_shrinkage: float | str,
    rtol: float,
) -> KernelSolution:
    """The soft null space in the feature space of K (n, n): its principal components, weighed."""
    mean, centred = centre_kernel(np.asarray(K, dtype=np.float64))
    F, coefficients = kernel_coordinates(centred, rtol)
    if F.shape[1] == 0:
        return KernelSolution(mean, coefficients, 0, 0)
    contrasts = group_contrasts(F, groups)
    within, between = contrasts.within, contrasts.between
    found = weigh_directions(
        within.T @ within,
        between.T @ between,
        GroupCounts(len(within), len(between), len(K)),
        regularization,
        between_shrinkage,
    )
    return KernelSolution(
        mean,
        coefficients @ found.directions.T,
        F.shape[1],
        found.rank_within,
        found.regularization,
        found.between_shrinkage,
    )


def _solve_by_cholesky(
    centred: np.ndarray, groups: np.ndarray, rtol: float
) -> tuple[np.ndarray, int, int] | None:
    n = len(centred)
    rotate = _rotation_without_mean(groups)
    half = np.concatenate(rotate(centred))
    within, between = rotate(half.T)
    rotated = symmetrize(np.concatenate([within, between]))
    k = len(within)
    try:
        L = linalg.cholesky(rotated, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    largest = np.sqrt(np.abs(rotated).sum(axis=0).max())
    if not triangle_has_full_rank(L.T, np.sqrt(scatter_tolerance(rtol, n)) * largest):
        return None
    # Most between-scatter first, as in the linear method.
    _, _, Vt = linalg.svd(L[k:, k:], full_matrices=False, check_finite=False)
    targets = np.zeros((n - 1, n - 1 - k))
    targets[k:] = Vt.T
    inner = linalg.solve_triangular(L, targets, lower=True, trans="T", check_finite=False)
    return _rotate_back(inner, groups), n - 1, k


def _rotation_without_mean(groups: np.ndarray):  # type: ignore[no-untyped-def]
    """Rows to (within, between) contrasts, all orthogonal to the mean: n - 1 rows in all."""
    reflector = _mean_reflector(groups)

    def rotate(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        within, between = apply_contrasts(rows, groups)
        between = between - 2 * np.outer(reflector, reflector @ between)
        return within, between[1:]

    return rotate


def _mean_reflector(groups: np.ndarray) -> np.ndarray:
    """Unit vector whose reflection sends the mean's between-contrast to the first axis."""
    blocks, alone = contrast_rows(groups)
    sizes = [np.full(len(members), members.shape[1]) for members, _ in blocks]
    vector = np.sqrt(np.concatenate([*sizes, np.ones(len(alone))]))
    vector /= np.linalg.norm(vector)
    vector[0] += 1.0 if vector[0] >= 0 else -1.0
    return vector / np.linalg.norm(vector)


def _rotate_back(inner: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The transpose of the rotation: coefficients (n, m) of the points."""
    blocks, alone = contrast_rows(groups)
    reflector = _mean_reflector(groups)
    n_between = len(reflector)
    k = len(inner) - (n_between - 1)
    between = np.concatenate([np.zeros((1, inner.shape[1])), inner[k:]])
    between -= 2 * np.outer(reflector, reflector @ between)
    out = np.zeros((len(groups), inner.shape[1]))
    row, group = 0, 0
    for members, helmert in blocks:
        count, size = members.shape
        part = inner[row : row + count * (size - 1)].reshape(count, size - 1, inner.shape[1])
        means = between[group : group + count, None] / np.sqrt(size)
        out[members] = np.matmul(helmert.T, part) + means
        row += count * (size - 1)
        group += count
    out[alone] = between[group:]
    return out


def solve_kernel_relevant_components(
    K: np.ndarray, groups: np.ndarray, n_components: int | None, rtol: float, *, clip: bool = False
) -> KernelSolution:
    """Relevant components in the feature space of K (n, n): kernel PCA, then whitening.

    ``clip`` takes as many components as there are where more were asked for.
    """
    mean, centred = centre_kernel(np.asarray(K, dtype=np.float64))
    F, coefficients = kernel_coordinates(centred, rtol, n_components)
    contrasts = group_contrasts(F, groups)
    tolerance = np.sqrt(scatter_tolerance(rtol, len(K))) * np.linalg.norm(F[:, :1])
    most = min(F.shape[1], matrix_rank(contrasts.within, tolerance))
    m = check_whitening_rank(n_components, most, clip=clip)
    return _whiten(contrasts, coefficients, mean, m, tolerance)


def solve_kernel_relevant_components_grid(
    K: np.ndarray, groups: np.ndarray, grid: list[int], rtol: float
) -> list[KernelSolution]:
    """The same for several numbers of components, cut to what there are, from one decomposition."""
    mean, centred = centre_kernel(np.asarray(K, dtype=np.float64))
    F, coefficients = kernel_coordinates(centred, rtol, max(grid))
    contrasts = group_contrasts(F, groups)
    tolerance = np.sqrt(scatter_tolerance(rtol, len(K))) * np.linalg.norm(F[:, :1])
    most = min(F.shape[1], len(contrasts.within))
    return [_whiten(contrasts, coefficients, mean, min(m, most), tolerance) for m in grid]


def _whiten(
    contrasts: Contrasts, coefficients: np.ndarray, mean: np.ndarray, m: int, tolerance: float
) -> KernelSolution:
    rows = whiten_residuals(contrasts.within[:, :m], contrasts.n_grouped, tolerance)
    return KernelSolution(mean, coefficients[:, :m] @ rows.T, coefficients.shape[1], len(rows))
