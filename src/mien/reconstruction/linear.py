"""Completion from second moments: principal components, and ridge regression."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import eigsh

from mien._core.linalg import fix_signs, numerical_rank
from mien.reconstruction._completer import (
    Completer,
    Completion,
    Moments,
    Stream,
    see,
    solve_ridge,
    squared_error,
)

__all__ = ["LowRankCompleter", "PCACompleter", "RidgeCompleter"]

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
        values, vectors = linalg.eigh(
            moments.covariance, subset_by_index=[d - k, d - 1], check_finite=False
        )
        # Beyond the numerical rank a direction is rounding, and another on every processor.
        rank = max(1, numerical_rank(np.maximum(values, 0), 1e-10))
        directions = fix_signs(vectors[:, ::-1][:, :rank].T)
        self.mean = moments.mean.astype(np.float32)
        self.components = np.ascontiguousarray(directions, dtype=np.float32)
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
        # The mask of fit is the usual one: its weights are kept.
        self.weights = self._solve(mask)
        self.mask = mask.copy()
        return self

    def complete(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        known = getattr(self, "mask", None)
        same = known is not None and view.dtype == bool and np.array_equal(view, known)
        weights = self.weights if same else self._solve(view)
        mean = self.mean.astype(np.float32)
        centred = seen.astype(np.float32, copy=False) - see(mean[None], view)
        return Completion(centred @ weights + mean)

    def _solve(self, view: np.ndarray) -> np.ndarray:
        """Weights (m, d) from what is seen, centred, to all pixels, centred."""
        cross = see(self.covariance, view).T
        weights = solve_ridge(see(cross, view), cross, float(self.alpha or 0.0))
        return np.asarray(weights, dtype=np.float32)


class LowRankCompleter(Completer):
    """Ridge regression with the covariance kept as some directions and a variance a pixel.

    A face is z·W + mean + noise with z and the noise Gaussian. Small to store, and quick where
    every face has a mask of its own: the system to solve has as many unknowns as directions.

    Parameters
    ----------
    n_components : int
        Directions, kept in half precision.
    alpha : float or None
        Least variance of the noise on a pixel; None chooses it on the faces held out.
    """

    def __init__(self, n_components: int, alpha: float | None) -> None:
        self.n_components = n_components
        self.alpha = alpha

    def fit(self, stream: Stream, mask: np.ndarray, held_out: np.ndarray) -> Self:
        mean, covariance, _ = Moments.of(stream)
        directions = _leading_directions(covariance, min(self.n_components, len(mean)))
        rest = covariance.diagonal() - np.einsum("kd,kd->d", directions, directions)
        self.mean = mean.astype(np.float16)
        self.directions = directions.astype(np.float16)
        errors = {}
        for alpha in ALPHAS if self.alpha is None else (self.alpha,):
            self.noise = np.maximum(rest, alpha).astype(np.float16)
            error = squared_error(held_out, self.complete(held_out[:, mask], mask).values)
            errors[error] = (alpha, self.noise)
        self.alpha, self.noise = errors[min(errors)]
        return self

    def complete(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        directions, mean = self.directions.astype(np.float32), self.mean.astype(np.float32)
        part = see(directions, view)
        centred = seen - see(mean[None], view)
        if view.dtype == bool:
            weighed = part / self.noise[view].astype(np.float32)
            gram = weighed @ part.T
            weights = solve_ridge(gram, weighed @ centred.T, 1.0).T
        else:
            noise = (view * self.noise.astype(np.float32)) @ view.T
            weights = solve_ridge(part.T @ part + noise, centred.T, 0.0).T @ part.T
        return Completion((weights @ directions + mean).astype(np.float32))

    def pictures(self) -> np.ndarray:
        return self.directions.astype(np.float32)


def _leading_directions(covariance: np.ndarray, k: int) -> np.ndarray:
    """Rows W (k, d), the longest first, with WᵀW the best approximation of rank k."""
    d = len(covariance)
    if 8 * k < d:
        values, vectors = eigsh(covariance, k, v0=np.ones(d))
    else:
        values, vectors = linalg.eigh(
            covariance, subset_by_index=[d - k, d - 1], check_finite=False
        )
    order = np.argsort(-values, kind="stable")
    return np.asarray((vectors[:, order] * np.sqrt(np.maximum(values[order], 0))).T)
