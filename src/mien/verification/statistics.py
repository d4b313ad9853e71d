"""What Joint Bayesian needs of the data: one pass, additive, mergeable, and then no pictures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mien._core.progress import track
from mien._core.statistics import GroupedMoments
from mien.errors import InputError

__all__ = ["JointBayesianStatistics"]


class JointBayesianStatistics:
    """Counts and sums of every person and the scatter of all vectors.

    Many machines can each make a part: statistics of parts are added, and their sum is the
    statistics of the whole, whatever the order and also where a person is in several parts.

    Parameters
    ----------
    features : str or None, default=None
        What the vectors are, such as ``"sface128 l2"``. Statistics and models of different
        descriptions are never mixed; None says nothing and mixes with everything.
    batch_size : int, default=8192
        Rows of an array that are looked at together. Larger than memory is fine: a memory map is
        read batch by batch.

    Attributes
    ----------
    n_people, n_samples, n_features : int
        What was seen. ``n_features`` is 0 before the first batch.
    counts : (n_people,)
        Vectors of each person.
    labels : (n_people,)
        The people, in the order in which they first came.
    mean : (n_features,)
        Mean of every vector.

    Notes
    -----
    Kept are :math:`\\sum x x^T` and, for each person, :math:`m_i` and :math:`s_i = \\sum_j x_{ij}`,
    in float64 about the mean of the first batch. A person's sum is personal data: share a fitted
    model, which holds none, rather than its statistics.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.eye(4), ["ann", "ann", "bob", "bob"]
    >>> here, there = JointBayesianStatistics(), JointBayesianStatistics()
    >>> both = here.update(X[:2], y[:2]) + there.update(X[2:], y[2:])
    >>> both.n_people, both.n_samples
    (2, 4)
    """

    def __init__(self, features: str | None = None, batch_size: int = 8192) -> None:
        if batch_size < 1:
            raise InputError(f"batch_size must be at least 1; got {batch_size}")
        self.features = features
        self.batch_size = int(batch_size)
        self._moments: GroupedMoments | None = None

    @classmethod
    def from_batches(
        cls, batches: Iterable[tuple[Any, Any]], features: str | None = None
    ) -> JointBayesianStatistics:
        """Make one pass over an iterable of ``(X, y)``."""
        statistics = cls(features)
        for X, y in track(batches, "statistics of the batches"):
            statistics.update(X, y)
        return statistics

    def update(self, X: Any, y: Any) -> JointBayesianStatistics:
        """Add vectors X (n, n_features) of people y (n,); returns itself."""
        X = X if isinstance(X, np.ndarray) else np.asarray(X)
        if X.ndim != 2:
            raise InputError(f"X must have the shape (n, n_features); got {X.shape}")
        y = np.asarray(y)
        if len(y) != len(X):
            raise InputError(f"y has {len(y)} entries for {len(X)} vectors")
        if self._moments is None:
            self._moments = GroupedMoments(X.shape[1])
        starts = range(0, len(X), self.batch_size)
        for start in track(starts, "statistics") if len(starts) > 1 else starts:
            stop = start + self.batch_size
            self._moments.update(np.asarray(X[start:stop]), y[start:stop])
        return self

    def merge(self, other: JointBayesianStatistics) -> JointBayesianStatistics:
        """Add the statistics of another part of the data; returns itself."""
        self.features = _agree(self.features, other.features)
        if other._moments is not None:
            if self._moments is None:
                self._moments = GroupedMoments(other.n_features)
            self._moments.merge(other._moments)
        return self

    def __add__(self, other: JointBayesianStatistics) -> JointBayesianStatistics:
        return JointBayesianStatistics(self.features, self.batch_size).merge(self).merge(other)

    def copy(self) -> JointBayesianStatistics:
        """Statistics that can be added to while these stay as they are."""
        return JointBayesianStatistics(self.features, self.batch_size).merge(self)

    @property
    def moments(self) -> GroupedMoments:
        """The sums below; an error while nothing was seen."""
        if self._moments is None or self._moments.n_samples == 0:
            raise InputError("the statistics are empty: no vectors were seen yet")
        return self._moments

    @property
    def n_features(self) -> int:
        return 0 if self._moments is None else self._moments.n_features

    @property
    def n_people(self) -> int:
        return 0 if self._moments is None else self._moments.n_groups

    @property
    def n_samples(self) -> int:
        return 0 if self._moments is None else self._moments.n_samples

    @property
    def counts(self) -> np.ndarray:
        return self.moments.counts

    @property
    def labels(self) -> np.ndarray:
        return self.moments.labels

    @property
    def mean(self) -> np.ndarray:
        return self.moments.mean

    def __repr__(self) -> str:
        described = "" if self.features is None else f", features={self.features!r}"
        return (
            f"<JointBayesianStatistics of {self.n_samples} vectors of {self.n_people} people, "
            f"{self.n_features} features{described}>"
        )

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Plain arrays that :meth:`from_arrays` takes back, for saving."""
        arrays = {} if self._moments is None else self._moments.to_arrays()
        arrays["batch_size"] = np.asarray(self.batch_size)
        if self.features is not None:
            arrays["features"] = np.asarray(self.features)
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> JointBayesianStatistics:
        """Build the statistics from :meth:`to_arrays`."""
        arrays = dict(arrays)
        features = arrays.pop("features", None)
        statistics = cls(
            None if features is None else str(features), int(arrays.pop("batch_size", 8192))
        )
        if arrays:
            statistics._moments = GroupedMoments.from_arrays(arrays)
        return statistics


def _agree(ours: str | None, theirs: str | None) -> str | None:
    """The common description of features, or an error where there is none."""
    if ours is not None and theirs is not None and ours != theirs:
        raise InputError(
            f"features {ours!r} and {theirs!r} are not the same: vectors of different kinds "
            "cannot be compared, added or adapted to each other"
        )
    return theirs if ours is None else ours
