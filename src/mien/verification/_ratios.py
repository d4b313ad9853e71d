"""Likelihood ratios of two Gaussians on plain arrays: vectors, templates, sets of pictures.

Nothing here needs scikit-learn: an estimator, a loaded model and a gallery score by these alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mien._core.rows import check_sets

__all__ = [
    "GaussianRatio",
    "iter_sizes",
    "own_evidence",
    "score_coordinates",
    "set_ratios",
    "sum_sets",
    "truncation_error",
]


def truncation_error(psi: np.ndarray) -> tuple[float, float]:
    """Root mean square, in nats, of what the directions ``psi`` (k,) add to a log ratio.

    Under the model, for genuine and for impostor pairs: the error made by leaving them out.

    Notes
    -----
    In one direction the term is the quadratic form ``zᵀ Q z + c`` of a Gaussian pair with
    covariance S, so its mean is ``tr(QS) + c`` and its variance ``2 tr(QSQS)``.
    """
    cross = psi / (1 + 2 * psi) / 2
    own = -(psi**2) / ((1 + psi) * (1 + 2 * psi)) / 2
    constant = np.log1p(psi) - 0.5 * np.log1p(2 * psi)
    errors = []
    for shared in (psi, np.zeros_like(psi)):
        # Q = [[own, cross], [cross, own]], S = [[1+psi, shared], [shared, 1+psi]]
        diagonal = own * (1 + psi) + cross * shared
        off = own * shared + cross * (1 + psi)
        mean = 2 * diagonal + constant
        variance = 4 * (diagonal**2 + off**2)
        errors.append(float(np.sqrt(mean.sum() ** 2 + variance.sum())))
    return errors[0], errors[1]


def score_coordinates(Z: np.ndarray, psi: np.ndarray) -> np.ndarray:
    """Log ratios (n, n) of all pairs of points Z (n, r) whose variation is white."""
    own = -0.5 * (Z**2) @ (psi**2 / ((1 + psi) * (1 + 2 * psi)))
    own += 0.5 * float(np.sum(np.log1p(psi) - 0.5 * np.log1p(2 * psi)))
    scores: np.ndarray = (Z * (psi / (1 + 2 * psi))) @ Z.T + own[:, None] + own[None, :]
    return scores


def set_ratios(a: int, left: np.ndarray, b: int, right: np.ndarray, psi: np.ndarray) -> np.ndarray:
    """Log ratios (n, g) of sets of a and of b pictures with coordinates (n, r) and (g, r)."""
    together = a + b
    scores: np.ndarray = (left * (psi / (1 + together * psi))) @ right.T
    scores += own_evidence(a, left, together, psi)[:, None]
    scores += own_evidence(b, right, together, psi)[None, :]
    scores -= 0.5 * float(np.log1p(together * psi).sum())
    return scores


def own_evidence(size: int, z: np.ndarray, together: int, psi: np.ndarray) -> np.ndarray:
    """What one side alone adds (n,) to the ratio with ``together`` pictures on both sides.

    z (n, r) are the coordinates of sums of ``size`` pictures.
    """
    own: np.ndarray = 0.5 * (z**2 @ (psi / (1 + together * psi) - psi / (1 + size * psi)))
    own += 0.5 * float(np.log1p(size * psi).sum())
    return own


def sum_sets(
    name: str, sets: Sequence[Any], prepare: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of pictures (n,) of sets of (m_i, d) vectors, and sums (n, r) of them, prepared."""
    arrays = check_sets(name, sets)
    sizes = np.asarray([len(pictures) for pictures in arrays])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return sizes, np.add.reduceat(prepare(np.concatenate(arrays)), starts, axis=0)


def iter_sizes(
    left: np.ndarray, right: np.ndarray
) -> Iterator[tuple[int, np.ndarray, int, np.ndarray]]:
    """Each pair of sizes (a, b) of sets, with the rows and the columns that have them."""
    for a in np.unique(left):
        rows = np.flatnonzero(left == a)
        for b in np.unique(right):
            yield int(a), rows, int(b), np.flatnonzero(right == b)


@dataclass(frozen=True, eq=False)
class GaussianRatio:
    """The natural-log ratio "one person" against "two people", as three arrays.

    Parameters
    ----------
    mean : (d,)
        Of all vectors.
    projection : (d, r)
        To coordinates in which variation is white and identity is diagonal.
    psi : (r,)
        Variance of identity over variance of variation, in each of them.
    """

    mean: np.ndarray
    projection: np.ndarray
    psi: np.ndarray

    @classmethod
    def of(cls, model: Any) -> GaussianRatio:
        """The ratio of a fitted model, or of whatever has its fitted attributes."""
        rank = int(model.rank_)
        return cls(
            np.asarray(model.mean_, dtype=np.float64),
            np.asarray(model.projection_, dtype=np.float64)[:, :rank],
            np.asarray(model.variance_ratios_, dtype=np.float64)[:rank],
        )

    def project(self, X: np.ndarray) -> np.ndarray:
        """Coordinates (n, r) of vectors X (n, d)."""
        # Centred first: features far from the origin would lose their digits in the product.
        centred = X - self.mean.astype(X.dtype)
        coordinates: np.ndarray = centred @ self.projection.astype(X.dtype)
        return coordinates

    def project_sums(self, sizes: np.ndarray, sums: np.ndarray) -> np.ndarray:
        """Coordinates (n, r) of sums (n, d) of ``sizes`` (n,) vectors each."""
        centred = sums - sizes[:, None].astype(sums.dtype) * self.mean.astype(sums.dtype)
        coordinates: np.ndarray = centred @ self.projection.astype(sums.dtype)
        return coordinates

    def templates(self, X: np.ndarray) -> np.ndarray:
        """Templates (n, r) of vectors X (n, d); their inner product is the cross term."""
        return self.project(X) * np.sqrt(self.psi / (1 + 2 * self.psi)).astype(X.dtype)

    def own(self, T: np.ndarray) -> np.ndarray:
        """What each template T (n, r) adds to its ratios by itself (n,)."""
        constant = float(np.sum(np.log1p(self.psi) - 0.5 * np.log1p(2 * self.psi)))
        weights = (-0.5 * self.psi / (1 + self.psi)).astype(T.dtype)
        own: np.ndarray = np.einsum("ij,ij,j->i", T, T, weights) + T.dtype.type(0.5 * constant)
        return own

    def score_templates(self, T1: np.ndarray, T2: np.ndarray) -> np.ndarray:
        """Log ratios (n,) of pairs of templates (n, r), row by row."""
        scores: np.ndarray = np.einsum("ij,ij->i", T1, T2) + self.own(T1) + self.own(T2)
        return scores

    def score_pairs(self, X1: np.ndarray, X2: np.ndarray) -> np.ndarray:
        """Log ratios (n,) of pairs of vectors (n, d), row by row."""
        return self.score_templates(self.templates(X1), self.templates(X2))
