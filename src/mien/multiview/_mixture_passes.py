"""What a mixture of probabilistic CCA needs of a batch of paired samples, at each of its passes.

Each function takes a batch ``(X, Y)`` and returns sums that are merged over all batches, here or
on workers; see :mod:`mien._core.passes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mien._core.passes import RunningMoments
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
    "choose_rows",
    "expect_rows",
    "pool_moments",
    "sum_seconds",
]

Pair = tuple[np.ndarray, np.ndarray]
Statistics = MixtureStatistics | LatentStatistics


@dataclass
class Rows:
    """Rows (n, D) that are kept; other batches' rows come after them."""

    values: np.ndarray

    def merge(self, other: Rows) -> Rows:
        """Put the rows of later batches behind these."""
        return Rows(np.concatenate([self.values, other.values]))


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


def pool_moments(batch: Pair) -> RunningMoments:
    """Moments of the concatenated views."""
    return RunningMoments(np.hstack(batch))


def _centre(batch: Pair, location: np.ndarray) -> np.ndarray:
    """The concatenated views (n, D) less their mean, in its precision."""
    V = np.hstack(batch).astype(location.dtype, copy=False)
    V -= location
    return V


def choose_rows(
    batch: Pair, location: np.ndarray, scale: np.ndarray, share: float, seed: int
) -> Rows:
    """About a share of the samples, scaled, to place the components by.

    Whether a sample is among them depends on the sample and the seed: batches may be cut anyhow.
    """
    if share < 1:
        kept = _draw_numbers(batch[0], seed) < share
        batch = batch[0][kept], batch[1][kept]
    return Rows(_centre(batch, location) * scale)


def _draw_numbers(X: np.ndarray, seed: int) -> np.ndarray:
    """A number (n,) between 0 and 1 for each row, by its bytes."""
    words = np.ascontiguousarray(X).view(np.uint32).astype(np.uint64)
    rng = np.random.default_rng(seed)
    odd = rng.integers(0, 2**63, words.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    mixed = words @ odd
    for factor, bits in ((0xBF58476D1CE4E5B9, 30), (0x94D049BB133111EB, 27)):
        mixed = (mixed ^ (mixed >> np.uint64(bits))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(11)).astype(np.float64) / 2.0**53


def assign_rows(
    batch: Pair, location: np.ndarray, scale: np.ndarray, kmeans: Any
) -> MixtureStatistics:
    """Sums where each sample belongs to the nearest centre alone."""
    V = _centre(batch, location)
    eye = np.eye(kmeans.n_clusters, dtype=V.dtype)
    return accumulate(V, eye[kmeans.predict(V * scale)])


def expect_rows(batch: Pair, location: np.ndarray, prepared: Posterior, dense: bool) -> Expected:
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


def sum_seconds(batch: Pair, location: np.ndarray, prepared: Posterior) -> MixtureStatistics:
    """Sums of γ v vᵀ, which are good for any later parameters."""
    V = _centre(batch, location)
    return accumulate(V, expectation(V, prepared)[1])
