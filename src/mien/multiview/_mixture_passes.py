"""What a mixture of probabilistic CCA needs of a batch of paired samples, at each of its passes.

Each function takes a batch ``(X, Y)`` and returns sums that are merged over all batches, here or
on workers; see :mod:`mien._core.passes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mien._core.passes import KeptRows, RunningMoments, choose_rows
from mien.multiview._mixture import (
    LatentStatistics,
    MixtureStatistics,
    Posterior,
    accumulate,
    accumulate_latent,
    expectation,
    gate,
)

__all__ = [
    "Expected",
    "Statistics",
    "assign_rows",
    "expect_rows",
    "pool_moments",
    "sample_rows",
    "sum_seconds",
]

TwoViews = tuple[np.ndarray, np.ndarray]
Statistics = MixtureStatistics | LatentStatistics


@dataclass
class Expected:
    """Of an E-step: sums for the M-step, and what is said about the samples.

    Attributes
    ----------
    statistics : MixtureStatistics or LatentStatistics
        What the M-step needs.
    n, owners : int
        Samples, and pairs of a sample and a component that owns a part of it.
    likelihood, lowest : float
        Sum of the log-likelihoods, and the lowest of them.
    worst : (D,)
        The sample that has it.
    """

    statistics: Any
    n: int
    owners: int
    likelihood: float
    lowest: float
    worst: np.ndarray

    def merge(self, other: Expected) -> Expected:
        """Add those of other samples under the same parameters."""
        self.statistics = self.statistics.merge(other.statistics)
        self.n += other.n
        self.owners += other.owners
        self.likelihood += other.likelihood
        if other.lowest < self.lowest:
            self.lowest, self.worst = other.lowest, other.worst
        return self


def pool_moments(batch: TwoViews) -> RunningMoments:
    """Moments of the concatenated views."""
    return RunningMoments(np.hstack(batch))


def _centre(batch: TwoViews, location: np.ndarray) -> np.ndarray:
    """The concatenated views (n, D) less their mean, in its precision."""
    V = np.hstack(batch).astype(location.dtype, copy=False)
    V -= location
    return V


def sample_rows(
    batch: TwoViews, location: np.ndarray, scale: np.ndarray, share: float, seed: int
) -> KeptRows:
    """About a share of the samples, scaled, to place the components by."""
    kept = choose_rows(batch[0], share, seed)
    return KeptRows(_centre((batch[0][kept], batch[1][kept]), location) * scale)


def assign_rows(
    batch: TwoViews, location: np.ndarray, scale: np.ndarray, kmeans: Any
) -> MixtureStatistics:
    """Sums where each sample belongs to the nearest centre alone."""
    V = _centre(batch, location)
    eye = np.eye(kmeans.n_clusters, dtype=V.dtype)
    return accumulate(V, eye[kmeans.predict(V * scale)])


def expect_rows(
    batch: TwoViews, location: np.ndarray, prepared: Posterior, dense: bool
) -> Expected:
    """An E-step; ``dense`` sums γ v ẑᵀ in the place of γ v vᵀ."""
    V = _centre(batch, location)
    likelihood, gamma = expectation(V, prepared)
    statistics: Statistics
    if dense:
        K, q, D = prepared.latent_maps.shape
        statistics = accumulate_latent(V, gamma, prepared, LatentStatistics.zeros(K, D, q))
    else:
        statistics = accumulate(V, gamma)
    lowest = int(likelihood.argmin())
    return Expected(
        statistics,
        len(V),
        int(np.count_nonzero(gamma > gate(gamma.dtype))),
        float(likelihood.sum(dtype=np.float64)),
        float(likelihood[lowest]),
        V[lowest].astype(float),
    )


def sum_seconds(batch: TwoViews, location: np.ndarray, prepared: Posterior) -> MixtureStatistics:
    """Sums of γ v vᵀ, which are good for any later parameters."""
    V = _centre(batch, location)
    return accumulate(V, expectation(V, prepared)[1])
