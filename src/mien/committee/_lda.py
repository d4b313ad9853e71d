"""The small discriminant problem of one member, on coordinates that are already there."""

from __future__ import annotations

import numpy as np

from mien._core.linalg import fix_signs, simultaneous_diagonalisation
from mien.errors import InputError

__all__ = ["check_some_variation", "discriminants", "group_means", "posteriors"]

_NO_VARIATION = 1e-20  # of the variance between people: what rounding leaves


def group_means(X: np.ndarray, codes: np.ndarray, n_groups: int) -> np.ndarray:
    """Mean (n_groups, d) of the rows of each group; every group has a row."""
    counts = np.bincount(codes, minlength=n_groups)
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    return np.add.reduceat(X[order], starts, axis=0) / counts[:, None]


def discriminants(
    F: np.ndarray,
    codes: np.ndarray,
    multiplicities: np.ndarray | None,
    n_discriminants: int,
    shrinkage: float = 0.0,
) -> np.ndarray:
    """Directions that whiten the within-class covariance, most discriminating first.

    Parameters
    ----------
    F : (n, m)
        Coordinates of the training pictures.
    codes : (n,)
        Number of the person of each.
    multiplicities : (n,) or None
        How often each picture counts; None counts each once.
    n_discriminants : int
        Columns of the result.
    shrinkage : float
        Share s of a ball: ``(1 - s) Sw + s (trace Sw / m) I`` takes the place of Sw.

    Returns
    -------
    (m, n_discriminants)
        ``V`` with ``Vᵀ Sw V = I``, where ``Sw`` is the scatter within people divided by
        ``n - c``. Where Sw has a lower rank, the last columns are zero.
    """
    if multiplicities is None:
        weights = np.ones(len(F))
    else:
        seen = multiplicities > 0
        F, weights = F[seen], multiplicities[seen].astype(np.float64)
        codes = np.unique(codes[seen], return_inverse=True)[1]
    totals = np.bincount(codes, weights=weights)
    means = group_means(F * weights[:, None], codes, len(totals))
    means *= (np.bincount(codes) / totals)[:, None]
    residuals = (F - means[codes]) * np.sqrt(weights)[:, None]
    within = residuals.T @ residuals / (weights.sum() - len(totals))
    spread = means - totals @ means / totals.sum()
    between = (spread * totals[:, None]).T @ spread / totals.sum()
    variances = np.diag(within).copy()
    if variances.sum() <= _NO_VARIATION * np.trace(between):
        raise InputError(
            "every picture equals its person's mean, so the variation within a person is unknown; "
            "remove copies and give pictures that differ"
        )
    if shrinkage > 0:
        within = (1 - shrinkage) * within + shrinkage * variances.mean() * np.eye(len(within))
        variances = np.diag(within)
    # Eigenfaces differ by orders of magnitude: only in units of their own is a rank meaningful.
    scale = np.sqrt(np.where(variances > 0, variances, 1))
    units = np.outer(scale, scale)
    V = simultaneous_diagonalisation(within / units, between / units).V[:, :n_discriminants]
    V = fix_signs((V / scale[:, None]).T).T
    return np.pad(V, ((0, 0), (0, n_discriminants - V.shape[1])))


def posteriors(Z: np.ndarray, means: np.ndarray, log_prior: np.ndarray, scale: float) -> np.ndarray:
    """Posteriors (n, c) of whitened rows Z (n, q) under equal unit covariances.

    ``softmax(-½ ‖z - scale · mean_c‖² + log prior_c)``; the ``‖z‖²`` is the same for every class.
    """
    scores = (Z * np.asarray(scale, dtype=Z.dtype)) @ means.T
    lengths = np.einsum("cq,cq->c", means, means)
    scores += log_prior - lengths * np.asarray(scale**2 / 2, dtype=Z.dtype)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def check_some_variation(counts: np.ndarray) -> None:
    """Refuse data in which nobody has two pictures."""
    if counts.max() < 2:
        raise InputError(
            f"each of the {len(counts)} people has a single picture, so the variation within a "
            "person is unknown; give two pictures or more of at least one person"
        )
