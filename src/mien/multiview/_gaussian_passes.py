"""A diagonal Gaussian mixture by passes over the data: scikit-learn's, from merged sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.mixture import GaussianMixture

from mien._core.em import run_em
from mien._core.passes import KeptRows, Passes, choose_rows

__all__ = ["fit_gaussians"]

GaussianState = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass
class GaussianSums:
    """Sums of γ, γ x and γ x² about a location, and of the log-likelihoods of n samples."""

    counts: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    likelihood: float
    n: int

    def merge(self, other: GaussianSums) -> GaussianSums:
        """Add those of other samples under the same parameters."""
        self.counts = self.counts + other.counts
        self.sums = self.sums + other.sums
        self.squares = self.squares + other.squares
        self.likelihood += other.likelihood
        self.n += other.n
        return self


def keep_rows(batch: np.ndarray, share: float, seed: int) -> KeptRows:
    """About a share of the samples."""
    return KeptRows(batch[choose_rows(batch, share, seed)].astype(np.float64))


def expect_gaussians(
    batch: np.ndarray, mixture: GaussianMixture, location: np.ndarray
) -> GaussianSums:
    """An E-step on samples (n, d)."""
    X = batch.astype(np.float64)
    likelihood, log_gamma = mixture._estimate_log_prob_resp(X)
    gamma = np.exp(log_gamma)
    X -= location
    sums = gamma.T @ X, gamma.T @ np.square(X)
    return GaussianSums(gamma.sum(axis=0), *sums, float(likelihood.sum()), len(X))


def fit_gaussians(
    mixture: GaussianMixture, passes: Passes, location: np.ndarray, share: float, seed: int
) -> GaussianMixture:
    """Fit a diagonal mixture to all batches; a share of the samples places the components.

    With all samples (a share of 1) the result is that of ``mixture.fit`` up to rounding.
    """
    points = passes.total(keep_rows, share, seed).values
    # No iteration: k-means and what follows from it.
    start = GaussianMixture(**{**mixture.get_params(), "max_iter": 0}).fit(points)
    mixture.n_features_in_ = points.shape[1]

    def step(state: GaussianState) -> tuple[GaussianState, float]:
        _set(mixture, state)
        found = passes.total(expect_gaussians, mixture, location)
        counts = found.counts + 10 * np.finfo(np.float64).eps
        means = found.sums / counts[:, None]
        variances = found.squares / counts[:, None] - np.square(means) + mixture.reg_covar
        return (counts / counts.sum(), means + location, variances), found.likelihood / found.n

    result = run_em(
        step,
        (start.weights_, start.means_, start.covariances_),
        max_iter=mixture.max_iter,
        tol=mixture.tol,
        description="Gaussian mixture",
    )
    _set(mixture, result.state)
    mixture.n_iter_, mixture.converged_ = result.n_iter, result.converged
    mixture.lower_bounds_ = [float(value) for value in result.objective]
    mixture.lower_bound_ = mixture.lower_bounds_[-1]
    return mixture


def _set(mixture: GaussianMixture, state: GaussianState) -> None:
    weights, means, variances = state
    mixture._set_parameters((weights, means, variances, 1 / np.sqrt(variances)))
