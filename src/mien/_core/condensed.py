"""Statistics of groups that are complete: groups of equal size are one sum of products."""

from __future__ import annotations

from typing import Any, NoReturn, Self

import numpy as np

from mien._core.statistics import GroupStatistics, agree_features
from mien.errors import InputError

__all__ = ["CondensedStatistics"]


class CondensedStatistics(GroupStatistics):
    """What learners need of groups to which nothing will be added.

    A learner treats groups of equally many vectors alike, so it needs ``Σ s`` and ``Σ s sᵀ`` over
    all groups of a size, and not the sum s of each. Memory no longer grows with the number of
    groups: it is at most ``n_features²`` numbers for each distinct size. Sizes that fewer groups
    have than there are features stay as they are.

    Parameters
    ----------
    shift : (d,)
        What was subtracted from every vector. Statistics with different shifts are not merged.
    features : str or None
        What the vectors are.
    """

    def __init__(self, shift: np.ndarray, features: str | None = None) -> None:
        super().__init__(features)
        self._start(len(shift))
        self.shift = np.array(shift, dtype=np.float64)
        self._condensed: dict[int, list[Any]] = {}

    @classmethod
    def of(cls, statistics: GroupStatistics) -> Self:
        """Close the groups of some statistics; they must be whole."""
        closed = cls(statistics.shift, statistics.features)
        closed.add_moments(statistics)
        return closed.add_groups(statistics.sums(), statistics.counts)

    def add_moments(self, statistics: GroupStatistics) -> Self:
        """Add the second moments, and the vectors in no group, but not the groups themselves."""
        self._check_shift(statistics)
        self._upper += statistics._upper
        if statistics._alone_upper is not None:
            if self._alone_upper is None:
                self._alone_upper = np.zeros_like(statistics._alone_upper)
            self._alone_upper += statistics._alone_upper
            self._alone_total += statistics._alone_total
            self._n_alone += statistics._n_alone
        return self

    def add_groups(self, sums: np.ndarray, counts: np.ndarray) -> Self:
        """Add complete groups: sums (g, d) about the shift, and numbers of vectors (g,)."""
        counts = np.asarray(counts, dtype=np.int64)
        self._sums = np.concatenate([self._sums, sums])
        self._counts = np.concatenate([self._counts, counts])
        sizes, numbers = np.unique(self._counts, return_counts=True)
        for size, number in zip(sizes.tolist(), numbers.tolist(), strict=True):
            if number < self.n_features and size not in self._condensed:
                continue
            mine = self._counts == size
            members = self._sums[mine]
            held = self._condensed.setdefault(
                size, [0, np.zeros(self.n_features), np.zeros((self.n_features, self.n_features))]
            )
            held[0] += number
            held[1] = held[1] + members.sum(axis=0)
            held[2] = held[2] + members.T @ members
            self._sums, self._counts = self._sums[~mine], self._counts[~mine]
        return self

    def merge(self, other: GroupStatistics) -> Self:
        """Add the statistics of other groups; returns itself."""
        if not isinstance(other, CondensedStatistics):
            raise InputError("only statistics of complete groups can be added to such")
        self.features = agree_features(self.features, other.features)
        self.add_moments(other)
        for size, (number, total, gram) in other._condensed.items():
            held = self._condensed.setdefault(
                size, [0, np.zeros(self.n_features), np.zeros((self.n_features, self.n_features))]
            )
            held[0], held[1], held[2] = held[0] + number, held[1] + total, held[2] + gram
        return self.add_groups(other._sums, other._counts)

    def empty(self) -> Self:
        """Statistics about the same shift that have seen nothing."""
        return type(self)(self.shift, self.features)

    @property
    def n_groups(self) -> int:
        return len(self._counts) + sum(held[0] for held in self._condensed.values())

    @property
    def n_grouped(self) -> int:
        inside = sum(size * held[0] for size, held in self._condensed.items())
        return int(self._counts.sum()) + inside

    @property
    def counts(self) -> np.ndarray:
        """Number of vectors (n_groups,) of each group, in no order that means anything."""
        sizes = sorted(self._condensed)
        numbers = [self._condensed[size][0] for size in sizes]
        return np.concatenate([self._counts, np.repeat(sizes, numbers).astype(np.int64)])

    @property
    def labels(self) -> np.ndarray:
        self._refuse("which groups they are")

    def sums(self, centre: np.ndarray | None = None) -> np.ndarray:
        self._refuse("the sum of each")

    def group_means(self) -> np.ndarray:
        self._refuse("the mean of each")

    def collect(self, X: Any, y: Any = None) -> Self:
        self._refuse("which vectors could be added to")

    def to_arrays(self) -> dict[str, np.ndarray]:
        self._refuse("what a file of statistics holds")

    def _refuse(self, what: str) -> NoReturn:
        raise InputError(
            f"condensed statistics hold the sizes of groups and products of their sums, not {what}"
        )

    def loose_groups(self, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._sums + self._counts[:, None] * (self.shift - centre), self._counts.copy()

    def size_products(self, centre: np.ndarray) -> list[tuple[int, int, np.ndarray]]:
        delta = self.shift - centre
        products = []
        for size in sorted(self._condensed):
            number, total, gram = self._condensed[size]
            cross = size * np.outer(delta, total)
            gram = gram + cross + cross.T + number * size**2 * np.outer(delta, delta)
            products.append((size, number, gram))
        return products

    def _total(self) -> np.ndarray:
        total = self._sums.sum(axis=0) + self._alone_total
        for size in sorted(self._condensed):
            total = total + self._condensed[size][1]
        return total

    def _group_products(self, centre: np.ndarray) -> np.ndarray:
        """``Σ s sᵀ / n_g`` over the groups, with sums about a centre."""
        sums, counts = self.loose_groups(centre)
        scaled = sums / np.sqrt(counts)[:, None]
        total: np.ndarray = scaled.T @ scaled
        for size, _, gram in self.size_products(centre):
            total += gram / size
        return total

    def between_scatter(self) -> np.ndarray:
        grouped = self._total() - self._alone_total
        return self._group_products(self.shift + grouped / self.n_grouped)

    def within_scatter(self) -> np.ndarray:
        upper = np.triu(self._upper)
        return upper + np.triu(upper, 1).T - self._group_products(self.shift)

    def _check_shift(self, other: GroupStatistics) -> None:
        if not np.array_equal(self.shift, other.shift):
            raise InputError("statistics of complete groups must have one shift to be added")
