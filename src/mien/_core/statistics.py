"""Additive statistics of labelled vectors: one pass, any number of parts, then no data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import linalg, sparse

from mien._core.linalg import symmetrize
from mien._core.validation import check_labels
from mien.errors import InputError

__all__ = ["GroupedMoments"]

# Rows that are centred and multiplied at once: small enough for the cache, many enough for BLAS.
_ROWS = 1024
_BYTES = 2**22


def _all_finite(X: np.ndarray) -> bool:
    """Whether no entry is NaN or infinite; a sum tells, unless it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        quick = np.isfinite(np.sum(X))
    return bool(quick) or bool(np.all(np.isfinite(X)))


def _add_products(Z: np.ndarray, upper: np.ndarray, factor: float = 1.0) -> np.ndarray:
    """``upper + factor · ZᵀZ`` in the upper triangle, in place where the layout is Fortran's."""
    return linalg.blas.dsyrk(factor, Z.T, beta=1.0, c=upper, overwrite_c=True)


def _mirror(upper: np.ndarray) -> np.ndarray:
    """The symmetric matrix of an upper triangle."""
    upper = np.triu(upper)
    return upper + np.triu(upper, 1).T


def _row_blocks(n: int, n_features: int) -> Iterator[slice]:
    step = max(_ROWS, _BYTES // (8 * n_features))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


class GroupedMoments:
    """Counts, sums a group, and the second moment of all vectors, in float64.

    Everything is kept about a ``shift`` (the mean of the first batch), so that data far from the
    origin lose no digits. Statistics of different parts of the data can be merged, whatever their
    order, batches and shifts: the sum equals the statistics of all of it.

    Parameters
    ----------
    n_features : int
        Length of a vector.
    no_group : int or str or None
        A label that means "in no group": such vectors count in the total only.

    Attributes
    ----------
    n_samples : int
        Vectors seen.
    labels : (n_groups,)
        The groups, in the order in which they first came.
    counts : (n_groups,)
        Vectors of each group.
    shift : (n_features,)
        What was subtracted from every vector.

    Notes
    -----
    Memory is ``n_features² + n_groups · n_features`` numbers. With ``z = x − shift`` the moments
    are ``Σ z zᵀ``, ``Σ z`` and ``Σ_g z``; a merge into another shift adds the cross terms exactly.
    """

    def __init__(self, n_features: int, no_group: int | str | None = None) -> None:
        self.n_features = int(n_features)
        self.no_group = no_group
        self.n_samples = 0
        self.shift = np.zeros(self.n_features)
        # Only the upper triangle counts.
        self._upper = np.zeros((self.n_features, self.n_features), order="F")
        self._total = np.zeros(self.n_features)
        self._sums = np.zeros((0, self.n_features))
        self._counts = np.zeros(0, dtype=np.int64)
        self._rows: dict[Any, int] = {}

    def update(self, X: np.ndarray, y: Any) -> GroupedMoments:
        """Add a batch X (n, n_features) with labels y (n,); returns itself."""
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise InputError(f"a batch must have the shape (n, {self.n_features}); got {X.shape}")
        missing = "refuse" if self.no_group is None else "unknown"
        y = check_labels("labels", y, len(X), missing=missing)
        if len(X) == 0:
            return self
        if not _all_finite(X):
            raise InputError("the batch has NaN or infinite entries")
        if self.n_samples == 0:
            self.shift = X.mean(axis=0, dtype=np.float64)
        room = None
        for rows in _row_blocks(len(X), self.n_features):
            part = X[rows]
            room = np.empty(part.shape) if room is None else room[: len(part)]
            self._add_block(np.subtract(part, self.shift, out=room), y[rows])
        return self

    def _add_block(self, Z: np.ndarray, y: np.ndarray) -> None:
        """Add vectors Z (n, n_features) from which the shift was subtracted."""
        self._upper = _add_products(Z, self._upper)
        self.n_samples += len(Z)
        grouped = np.ones(len(Z), dtype=bool) if self.no_group is None else y != self.no_group
        if not grouped.all():
            self._total += Z[~grouped].sum(axis=0)
        if grouped.any():
            names, inverse, counts = np.unique(y[grouped], return_inverse=True, return_counts=True)
            # A sparse product sums the groups without a sorted copy of the batch.
            rows = np.flatnonzero(grouped)
            shape = (len(names), len(Z))
            members = sparse.csr_array((np.ones(len(rows)), (inverse, rows)), shape=shape)
            sums = members @ Z
            self._total += sums.sum(axis=0)
            self._add_groups(names.tolist(), sums, counts)

    @property
    def _second(self) -> np.ndarray:
        """``Σ z zᵀ`` (n_features, n_features), both triangles."""
        return _mirror(self._upper)

    def reserve(self, n_groups: int) -> None:
        """Make room for so many groups; more can come."""
        if n_groups > len(self._counts):
            grown = np.zeros((n_groups, self.n_features))
            grown[: len(self._sums)] = self._sums
            counts = np.zeros(n_groups, dtype=np.int64)
            counts[: len(self._counts)] = self._counts
            self._sums, self._counts = grown, counts

    def merge(self, other: GroupedMoments) -> GroupedMoments:
        """Add the statistics of another part of the data; returns itself."""
        if other.n_features != self.n_features:
            raise InputError(
                f"statistics of {self.n_features} and of {other.n_features} features cannot be "
                "added"
            )
        if other.n_samples == 0:
            return self
        if self.n_samples == 0:
            self.shift = other.shift.copy()
        delta = other.shift - self.shift
        cross = np.outer(delta, other._total)
        self._upper += other._upper + cross + cross.T + other.n_samples * np.outer(delta, delta)
        self._total += other._total + other.n_samples * delta
        self.n_samples += other.n_samples
        self._add_groups(
            list(other._rows), other.sums() + other.counts[:, None] * delta, other.counts
        )
        return self

    def __add__(self, other: GroupedMoments) -> GroupedMoments:
        return GroupedMoments(self.n_features, self.no_group).merge(self).merge(other)

    @property
    def n_groups(self) -> int:
        return len(self._rows)

    @property
    def labels(self) -> np.ndarray:
        return np.asarray(list(self._rows))

    @property
    def counts(self) -> np.ndarray:
        return self._counts[: self.n_groups].copy()

    @property
    def mean(self) -> np.ndarray:
        """Mean (n_features,) of every vector seen."""
        self._require_samples()
        return self.shift + self._total / self.n_samples

    def sums(self, centre: np.ndarray | None = None) -> np.ndarray:
        """Sum (n_groups, n_features) of each group, about ``centre`` (the shift if None)."""
        sums = self._sums[: self.n_groups]
        if centre is None:
            return sums.copy()
        return sums + self.counts[:, None] * (self.shift - centre)

    def group_means(self) -> np.ndarray:
        """Mean (n_groups, n_features) of each group."""
        return self.shift + self.sums() / self.counts[:, None]

    def scatter(self, centre: np.ndarray | None = None) -> np.ndarray:
        """``Σ (x − centre)(x − centre)ᵀ`` of every vector, about the mean if None."""
        self._require_samples()
        centre = self.mean if centre is None else centre
        delta = self.shift - centre
        cross = np.outer(delta, self._total)
        return symmetrize(self._second + cross + cross.T + self.n_samples * np.outer(delta, delta))

    def between_scatter(self) -> np.ndarray:
        """``Σ n_g (mean_g − mean)(mean_g − mean)ᵀ`` over the groups."""
        deviations = (self.group_means() - self.mean) * np.sqrt(self.counts)[:, None]
        return deviations.T @ deviations

    def within_scatter(self) -> np.ndarray:
        """``Σ (x − mean_g)(x − mean_g)ᵀ``; needs every vector to be in a group."""
        if int(self.counts.sum()) != self.n_samples:
            raise InputError(
                "the within-group scatter needs every vector in a group; "
                f"{self.n_samples - int(self.counts.sum())} are in none"
            )
        upper = self._upper.copy(order="F")
        roots = np.sqrt(self._counts[: self.n_groups])[:, None]
        for rows in _row_blocks(self.n_groups, self.n_features):
            upper = _add_products(self._sums[rows] / roots[rows], upper, -1.0)
        return _mirror(upper)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Plain arrays that :meth:`from_arrays` takes back, for saving."""
        return {
            "shift": self.shift,
            "second": self._second,
            "total": self._total,
            "sums": self.sums(),
            "counts": self.counts,
            "labels": self.labels,
            "n_samples": np.asarray(self.n_samples),
        }

    @classmethod
    def from_arrays(
        cls, arrays: dict[str, np.ndarray], no_group: int | str | None = None
    ) -> GroupedMoments:
        """Build the statistics from :meth:`to_arrays`; shapes are checked."""
        d = len(arrays["shift"])
        g = len(arrays["counts"])
        wanted = {
            "shift": (d,),
            "second": (d, d),
            "total": (d,),
            "sums": (g, d),
            "counts": (g,),
            "labels": (g,),
            "n_samples": (),
        }
        for name, shape in wanted.items():
            if np.shape(arrays[name]) != shape:
                raise InputError(f"{name} must be {shape}; got {np.shape(arrays[name])}")
        moments = cls(d, no_group)
        moments.n_samples = int(arrays["n_samples"])
        moments.shift = np.array(arrays["shift"], dtype=np.float64)
        moments._upper = np.array(arrays["second"], dtype=np.float64, order="F")
        moments._total = np.array(arrays["total"], dtype=np.float64)
        moments._add_groups(arrays["labels"].tolist(), arrays["sums"], arrays["counts"])
        return moments

    def _add_groups(self, names: list[Any], sums: np.ndarray, counts: np.ndarray) -> None:
        rows = np.asarray([self._rows.setdefault(name, len(self._rows)) for name in names], int)
        if len(self._rows) > len(self._counts):
            # Doubling keeps many small batches of new people linear in their number.
            self.reserve(max(len(self._rows), 2 * len(self._counts)))
        if len(rows) and np.array_equal(rows, np.arange(rows[0], rows[0] + len(rows))):
            # Groups that come one after the other, as mostly: no gathering.
            where: Any = slice(rows[0], rows[0] + len(rows))
        else:
            where = rows
        self._sums[where] += sums
        self._counts[where] += counts

    def _require_samples(self) -> None:
        if self.n_samples == 0:
            raise InputError("the statistics are empty: no vectors were seen yet")
