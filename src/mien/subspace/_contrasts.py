"""Grouped data as orthonormal contrasts: what varies inside groups, and what is left."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from mien._core.linalg import numerical_rank
from mien._core.validation import NO_GROUP

__all__ = ["Contrasts", "group_contrasts", "largest_singular_value", "matrix_rank"]


class Contrasts(NamedTuple):
    """The rows of X, rotated: ``withinᵀ within = S_g`` and the two parts together give ``S_t``.

    Attributes
    ----------
    within : (n_grouped - n_groups, d)
        Orthonormal contrasts inside the groups: the residuals without their redundancy.
    between : (n_groups + n_alone, d)
        Group means about the total mean, times the root of the group's size; then the points in
        no group about the mean.
    mean : (d,)
        Of every point, grouped or not.
    n_grouped : int
        Points in a group.
    """

    within: np.ndarray
    between: np.ndarray
    mean: np.ndarray
    n_grouped: int


def _helmert(n: int) -> np.ndarray:
    """Orthonormal contrasts (n - 1, n): each row is orthogonal to ones."""
    return linalg.helmert(n) if n > 1 else np.zeros((0, 1))


def contrast_rows(groups: np.ndarray) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
    """Rows of the groups of each size, as (members (n_groups_of_size, size), helmert), and the
    rows in no group."""
    order = np.argsort(groups, kind="stable")
    names, starts, counts = np.unique(groups[order], return_index=True, return_counts=True)
    alone = order[groups[order] == NO_GROUP]
    blocks = []
    for size in np.unique(counts[names != NO_GROUP]):
        first = starts[(counts == size) & (names != NO_GROUP)]
        blocks.append((order[first[:, None] + np.arange(size)], _helmert(int(size))))
    return blocks, alone


def apply_contrasts(X: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotate the rows of X (n, d) into (within, between), without centring."""
    blocks, alone = contrast_rows(groups)
    within, between = [], []
    for members, helmert in blocks:
        rows = X[members]
        if helmert.size:
            contrasts = np.matmul(helmert, rows)
            # Said in full: -1 cannot be found out where there are no columns.
            within.append(contrasts.reshape(len(members) * len(helmert), X.shape[1]))
        between.append(rows.sum(axis=1) / np.sqrt(members.shape[1]))
    between.append(X[alone])
    empty = np.zeros((0, X.shape[1]))
    return np.concatenate(within or [empty]), np.concatenate(between)


def group_contrasts(X: np.ndarray, groups: np.ndarray) -> Contrasts:
    """Rotate X (n, d) with groups (n,), -1 for none, into contrasts; float64 inside."""
    X = np.asarray(X, dtype=np.float64)
    mean = X.mean(axis=0)
    within, between = apply_contrasts(X - mean, groups)
    return Contrasts(within, between, mean, int(np.count_nonzero(groups != NO_GROUP)))


def largest_singular_value(*parts: np.ndarray) -> float:
    """Largest singular value of the parts (n_i, d) stacked, to a few per cent.

    Power iteration from the longest row, with a fixed number of steps: tolerances are relative to
    it, so more digits would buy nothing.
    """
    rows = [part for part in parts if part.size]
    if not rows:
        return 0.0
    lengths = [np.einsum("ij,ij->i", part, part) for part in rows]
    best = int(np.argmax([length.max() for length in lengths]))
    vector = rows[best][int(np.argmax(lengths[best]))].copy()
    value = float(np.linalg.norm(vector))
    for _ in range(12):
        if value == 0:
            return 0.0
        vector /= np.linalg.norm(vector)
        images = [part @ vector for part in rows]
        value = float(np.sqrt(sum(image @ image for image in images)))
        vector = np.sum([part.T @ image for part, image in zip(rows, images, strict=True)], axis=0)
        if not np.any(vector):
            return value
    return value


def triangle_has_full_rank(R: np.ndarray, tolerance: float) -> bool:
    """Whether every singular value of a triangle R (k, k) is above ``tolerance`` for certain.

    An estimate of the condition in O(k²): True is a certificate with a wide margin, False means
    that a decomposition has to decide.
    """
    k = len(R)
    if k == 0:
        return True
    R = np.triu(R)
    if np.any(np.diag(R) == 0):
        return False
    rcond, info = linalg.lapack.dtrcon(R, norm="1", uplo="U", diag="N")
    if info != 0:
        return False
    # sigma_min >= rcond * |R|_1 / sqrt(k); the estimate may be a few times too large.
    return bool(rcond * np.abs(R).sum(axis=0).max() > 10 * np.sqrt(k) * tolerance)


def matrix_rank(A: np.ndarray, tolerance: float) -> int:
    """Number of singular values of A (n, d) above an absolute tolerance."""
    if A.size == 0:
        return 0
    tall = A if A.shape[0] >= A.shape[1] else A.T
    (R,) = linalg.qr(tall, mode="r", check_finite=False)
    R = R[: tall.shape[1]]
    if triangle_has_full_rank(R, tolerance):
        return len(R)
    values = linalg.svdvals(R, check_finite=False)
    return numerical_rank(values, tolerance / values.max()) if values.max() > tolerance else 0
