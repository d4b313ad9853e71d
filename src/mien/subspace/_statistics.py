"""Statistics of grouped vectors: one pass in batches, saved, merged, and then no data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mien._core.progress import track
from mien._core.statistics import GroupedMoments
from mien._core.validation import check_labels, find_unknown
from mien.errors import InputError

__all__ = ["GroupStatistics"]


class GroupStatistics:
    """What the linear methods need to know of grouped vectors, whatever their number.

    Parameters
    ----------
    n_features : int
        Length of a vector.

    Attributes
    ----------
    n_samples : int
        Vectors seen.
    n_grouped : int
        Vectors seen that are in a group.
    n_groups : int
        Groups seen.
    mean : (n_features,)
        Of all vectors.

    Notes
    -----
    Points in no group (-1) count in the total scatter only, so their moments are kept apart.
    Memory is ``n_features² + n_groups · n_features`` float64 numbers, and as much again as
    ``n_features²`` once there are points in no group. A group may be spread over batches and over
    parts: equal labels are the same group, so give the groups of different files different names.

    Scatters hold squares: a direction whose singular value is below about 1e-7 of the largest is
    lost in rounding here, where a decomposition of the data themselves would still see it.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.subspace import GroupStatistics, RelevantComponents
    >>> rng = np.random.default_rng(0)
    >>> parts = [(rng.normal(size=(40, 3)), np.repeat(np.arange(k, k + 20), 2)) for k in (0, 20)]
    >>> first, second = (GroupStatistics(3).update(X, groups) for X, groups in parts)
    >>> RelevantComponents().fit_statistics(first + second).components_.shape
    (3, 3)
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = int(n_features)
        self._grouped = GroupedMoments(self.n_features)
        self._alone: GroupedMoments | None = None

    @classmethod
    def from_batches(cls, batches: Iterable[tuple[Any, Any]]) -> GroupStatistics:
        """Statistics of an iterable of ``(X (n, d), groups (n,))``, one batch in memory a time."""
        statistics: GroupStatistics | None = None
        for X, groups in track(batches, "statistics of the groups"):
            X = np.asarray(X)
            if statistics is None:
                if X.ndim != 2:
                    raise InputError(f"a batch must have the shape (n, d); got {X.shape}")
                statistics = cls(X.shape[1])
            statistics.update(X, groups)
        if statistics is None:
            raise InputError("there are no batches: at least one (X, groups) is needed")
        return statistics

    def reserve(self, n_groups: int) -> None:
        """Make room for so many groups; more can come."""
        self._grouped.reserve(n_groups)

    def update(self, X: Any, groups: Any) -> GroupStatistics:
        """Add a batch X (n, n_features) with groups (n,), -1 for none; returns itself."""
        X = np.asarray(X)
        groups = check_labels("groups", groups, len(X), missing="unknown")
        alone = find_unknown(groups)
        if not alone.any():
            self._grouped.update(X, groups)
            return self
        self._grouped.update(X[~alone], groups[~alone])
        if self._alone is None:
            self._alone = GroupedMoments(self.n_features)
        self._alone.update(X[alone], np.zeros(int(alone.sum()), dtype=int))
        return self

    def merge(self, other: GroupStatistics) -> GroupStatistics:
        """Add the statistics of another part of the data; returns itself."""
        self._grouped.merge(other._grouped)
        if other._alone is not None:
            if self._alone is None:
                self._alone = GroupedMoments(self.n_features)
            self._alone.merge(other._alone)
        return self

    def __add__(self, other: GroupStatistics) -> GroupStatistics:
        return GroupStatistics(self.n_features).merge(self).merge(other)

    @property
    def n_grouped(self) -> int:
        return self._grouped.n_samples

    @property
    def n_samples(self) -> int:
        return self.n_grouped + (0 if self._alone is None else self._alone.n_samples)

    @property
    def n_groups(self) -> int:
        return self._grouped.n_groups

    @property
    def labels(self) -> np.ndarray:
        """Name (n_groups,) of each group, in the order in which they came."""
        return self._grouped.labels

    @property
    def group_sizes(self) -> np.ndarray:
        """Number of points (n_groups,) of each group."""
        return self._grouped.counts

    @property
    def mean(self) -> np.ndarray:
        if self._alone is None:
            return self._grouped.mean
        parts = [part for part in (self._grouped, self._alone) if part.n_samples]
        weights = [part.n_samples for part in parts]
        return np.average([part.mean for part in parts], axis=0, weights=weights)

    def total_scatter(self) -> np.ndarray:
        """S_t (n_features, n_features): of every point about the mean."""
        mean = self.mean
        parts = [part for part in (self._grouped, self._alone) if part and part.n_samples]
        return np.add.reduce([part.scatter(mean) for part in parts])

    def within_scatter(self) -> np.ndarray:
        """S_g (n_features, n_features): of every grouped point about the mean of its group."""
        return self._grouped.within_scatter()

    def between_scatter(self) -> np.ndarray:
        """Of the group means about the mean of the grouped points, by size."""
        return self._grouped.between_scatter()

    def group_means(self) -> np.ndarray:
        """Mean (n_groups, n_features) of each group, in the order in which they came."""
        return self._grouped.group_means()

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Plain arrays that :meth:`from_arrays` takes back, for saving."""
        arrays = {f"grouped_{k}": v for k, v in self._grouped.to_arrays().items()}
        if self._alone is not None:
            arrays |= {f"alone_{k}": v for k, v in self._alone.to_arrays().items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> GroupStatistics:
        """Build the statistics from :meth:`to_arrays`; shapes are checked."""

        def part(prefix: str) -> dict[str, np.ndarray]:
            return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}

        grouped = GroupedMoments.from_arrays(part("grouped_"))
        statistics = cls(grouped.n_features)
        statistics._grouped = grouped
        if alone := part("alone_"):
            statistics._alone = GroupedMoments.from_arrays(alone)
        return statistics
