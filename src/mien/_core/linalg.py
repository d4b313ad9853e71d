"""Linear algebra with a numerical rank: thin decompositions, null spaces, two forms at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from mien.errors import InputError

__all__ = [
    "SimultaneousDiagonalisation",
    "ThinSVD",
    "fix_signs",
    "gram_svd",
    "median_distance",
    "null_space",
    "numerical_rank",
    "oas_shrinkage",
    "row_signs",
    "simultaneous_diagonalisation",
    "symmetrize",
    "thin_svd",
]


_COMPARED_ROWS = 1000


class ThinSVD(NamedTuple):
    """``X ≈ U @ diag(s) @ Vt`` with only the singular values above the tolerance."""

    U: np.ndarray
    s: np.ndarray
    Vt: np.ndarray


class SimultaneousDiagonalisation(NamedTuple):
    """``V.T @ within @ V = I`` and ``V.T @ between @ V = diag(ratios)``, ratios descending."""

    V: np.ndarray
    ratios: np.ndarray


def symmetrize(matrix: np.ndarray) -> np.ndarray:
    """Average a square matrix with its transpose, against the drift of rounding."""
    return (matrix + matrix.T) / 2


def median_distance(X: np.ndarray, random_state: Any = None) -> float:
    """Median distance between two different rows of X (n, d); 1 where all rows are equal.

    At most a thousand rows are compared, which ``random_state`` draws.
    """
    from scipy.spatial.distance import pdist
    from sklearn.utils import check_random_state

    if len(X) > _COMPARED_ROWS:
        X = X[np.sort(check_random_state(random_state).permutation(len(X))[:_COMPARED_ROWS])]
    distances = pdist(np.asarray(X, dtype=np.float64))
    distances = distances[distances > 0]
    return float(np.median(distances)) if distances.size else 1.0


def numerical_rank(singular_values: np.ndarray, rtol: float) -> int:
    """Count the singular values above ``rtol`` times the largest.

    Parameters
    ----------
    singular_values : (k,)
        In any order, not negative.
    rtol : float
        Relative to the largest one.
    """
    if singular_values.size == 0:
        return 0
    largest = singular_values.max()
    if largest == 0:
        return 0
    return int(np.count_nonzero(singular_values > rtol * largest))


def thin_svd(X: np.ndarray, rtol: float = 1e-9) -> ThinSVD:
    """Decompose X and keep its numerical range; the signs are those of scikit-learn's PCA.

    Parameters
    ----------
    X : (n, d)
        Any real matrix.
    rtol : float
        Singular values at or below ``rtol`` times the largest are dropped.
    """
    # gesdd is the fast driver and fails on rare matrices that the slower gesvd decomposes.
    try:
        U, s, Vt = linalg.svd(X, full_matrices=False, check_finite=False)
    except linalg.LinAlgError:
        U, s, Vt = linalg.svd(X, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    rank = numerical_rank(s, rtol)
    return ThinSVD(*_fix_svd_signs(U[:, :rank], s[:rank], Vt[:rank]))


def gram_svd(X: np.ndarray) -> ThinSVD:
    """Decompose X by the eigenvectors of its smaller Gram matrix: many times quicker than an SVD.

    Parameters
    ----------
    X : (n, d)
        Any real float64 matrix.

    Notes
    -----
    Singular values at or below 1e-6 times the largest are dropped: a Gram matrix has their
    squares, and half of the digits are lost. Relative errors are about ``1e-16 (s[0] / s[i])²``.
    Where small singular values matter, take :func:`thin_svd`.
    """
    n, d = X.shape
    wide = n < d
    values, vectors = linalg.eigh(
        X @ X.T if wide else X.T @ X, overwrite_a=True, check_finite=False
    )
    s = np.sqrt(np.maximum(values[::-1], 0))
    rank = numerical_rank(s, 1e-6)
    s, vectors = s[:rank], vectors[:, ::-1][:, :rank]
    if wide:
        U, Vt = vectors, (vectors.T @ X) / s[:, None]
    else:
        U, Vt = (X @ vectors) / s, np.ascontiguousarray(vectors.T)
    return ThinSVD(*_fix_svd_signs(U, s, Vt))


def row_signs(rows: np.ndarray) -> np.ndarray:
    """Sign (k,) of the entry of largest absolute value of every row (k, d); +1 for zero rows.

    Entries that are equal up to rounding are ties, which the first of them decides: which of two
    is larger in the last digit depends on the BLAS kernel.
    """
    sizes = np.abs(rows)
    if sizes.size == 0:
        return np.ones(len(rows), dtype=rows.dtype)
    largest = sizes.max(axis=1, keepdims=True)
    first = np.argmax(sizes >= (1 - 1e-6) * largest, axis=1)
    return np.where(rows[np.arange(len(rows)), first] < 0, -1, 1).astype(rows.dtype)


def fix_signs(rows: np.ndarray) -> np.ndarray:
    """Rows (k, d) whose entry of largest absolute value is positive.

    An eigenvector has no sign of its own, and BLAS kernels choose differently: without a
    convention the same data give mirrored directions on another processor. This one is that of
    scikit-learn's PCA.
    """
    return rows * row_signs(rows)[:, None]


def _fix_svd_signs(
    U: np.ndarray, s: np.ndarray, Vt: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    signs = row_signs(Vt)
    return U * signs, s, Vt * signs[:, None]


def oas_shrinkage(eigenvalues: np.ndarray, n_samples: int) -> float:
    """Share of a ball in a covariance that minimises its expected squared error.

    Parameters
    ----------
    eigenvalues : (d,)
        Of the sample covariance S of centred vectors, zeros included.
    n_samples : int
        Number of vectors behind S.

    Returns
    -------
    float
        s in [0, 1] of ``(1 - s) S + s (trace S / d) I``.

    Notes
    -----
    The oracle approximating shrinkage [Chen2010]_ needs only the traces of S and S², so it can be
    had from statistics and kernels, where the fourth moments of Ledoit and Wolf's estimate cannot.
    For Gaussian vectors both agree, and where they were compared here they gave the same errors.
    """
    d = len(eigenvalues)
    trace, squares = float(eigenvalues.sum()), float(np.square(eigenvalues).sum())
    spread = squares - trace**2 / d if d else 0.0
    if n_samples < 1 or spread <= 0:
        return 1.0
    share = ((1 - 2 / d) * squares + trace**2) / ((n_samples + 1 - 2 / d) * spread)
    return float(np.clip(share, 0.0, 1.0))


def null_space(X: np.ndarray, rtol: float = 1e-9) -> np.ndarray:
    """Orthonormal basis (d, d - rank) of the directions that X (n, d) sends to zero."""
    _, s, Vt = linalg.svd(X, full_matrices=True, check_finite=False)
    return np.ascontiguousarray(Vt[numerical_rank(s, rtol) :].T)


def simultaneous_diagonalisation(
    within: np.ndarray, between: np.ndarray, rtol: float = 1e-10
) -> SimultaneousDiagonalisation:
    """Find V that whitens one covariance and diagonalises the other.

    Parameters
    ----------
    within : (d, d)
        Symmetric, positive semidefinite. Directions where it is numerically zero are left out.
    between : (d, d)
        Symmetric, positive semidefinite.
    rtol : float
        Eigenvalues of ``within`` at or below ``rtol`` times the largest count as zero.

    Returns
    -------
    SimultaneousDiagonalisation
        ``V`` is (d, rank of within), each column in the convention of :func:`fix_signs`.
        Rounding below zero in the ratios is cut to zero.
    """
    values, vectors = linalg.eigh(symmetrize(within), check_finite=False)
    largest = values[-1] if values.size else 0.0
    if not largest > 0:
        raise InputError(
            "the within-class covariance is zero: every sample equals its class mean, so no ratio "
            "of variances exists; add pictures that differ, or a floor"
        )
    keep = values > rtol * largest
    whitener = vectors[:, keep] / np.sqrt(values[keep])
    ratios, rotation = linalg.eigh(symmetrize(whitener.T @ between @ whitener), check_finite=False)
    order = np.argsort(ratios)[::-1]
    V = fix_signs((whitener @ rotation[:, order]).T).T
    return SimultaneousDiagonalisation(V, np.maximum(ratios[order], 0))
