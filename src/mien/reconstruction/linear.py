"""Completion from second moments: principal components, and ridge regression."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy import linalg

from mien.reconstruction._completer import (
    Completer,
    Completion,
    Moments,
    Stream,
    see,
    solve_ridge,
    squared_error,
)

__all__ = ["PCACompleter", "RidgeCompleter"]

# Variances of noise that are tried, in squares of grey values.
ALPHAS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)


class PCACompleter(Completer):
    """Least squares on what is seen of the principal components: the paper's first row.

    Parameters
    ----------
    n_components : int
        Components to fit. Many of them fit what is seen and run wild elsewhere.
    """

    def __init__(self, n_components: int) -> None:
        self.n_components = n_components

    def fit(self, stream: Stream, mask: np.ndarray, held_out: np.ndarray) -> Self:
        moments = Moments.of(stream)
        d = len(moments.mean)
        k = min(self.n_components, d)
        vectors = linalg.eigh(
            moments.covariance, subset_by_index=[d - k, d - 1], check_finite=False
        )[1]
        self.mean = moments.mean.astype(np.float32)
        self.components = np.ascontiguousarray(vectors[:, ::-1].T, dtype=np.float32)
        return self

    def complete(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        basis = see(self.components, view).astype(np.float64)
        centred = seen - see(self.mean[None], view)
        weights = linalg.lstsq(basis.T, centred.T, cond=1e-7, check_finite=False)[0].T
        return Completion((weights @ self.components + self.mean).astype(np.float32))

    def pictures(self) -> np.ndarray:
        return self.components


class RidgeCompleter(Completer):
    """The best linear estimate of all pixels from those seen: the honest baseline.

    Kept as the mean and the covariance of the faces, so one model serves every mask and every
    linear view; it is the conditional mean of a Gaussian with white noise of variance alpha.

    Parameters
    ----------
    alpha : float or None
        Variance of the noise on a pixel; None chooses it on the faces held out.
    """

    def __init__(self, alpha: float | None) -> None:
        self.alpha = alpha

    def fit(self, stream: Stream, mask: np.ndarray, held_out: np.ndarray) -> Self:
        moments = Moments.of(stream)
        self.mean = moments.mean
        self.covariance = moments.covariance
        if self.alpha is None:
            errors = {}
            for alpha in ALPHAS:
                self.alpha = alpha
                errors[alpha] = squared_error(
                    held_out, self.complete(held_out[:, mask], mask).values
                )
            self.alpha = min(errors, key=errors.__getitem__)
        return self

    def complete(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        cross = see(self.covariance, view).T
        gram = see(cross, view)
        weights = solve_ridge(gram, cross, float(self.alpha or 0.0))
        centred = seen - see(self.mean[None], view)
        return Completion((centred @ weights + self.mean).astype(np.float32))
