"""Additive statistics of labelled vectors: many machines each make a part, the sum is the whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from scipy import linalg, sparse

from mien._core.linalg import symmetrize
from mien._core.progress import track
from mien._core.rows import refuse_dask, settle_range
from mien._core.validation import check_labels, find_unknown
from mien.errors import InputError

__all__ = ["AdditiveStatistics", "GroupStatistics", "agree_features", "sum_runs"]

# Rows that are centred and multiplied at once: small enough for the cache, many enough for BLAS.
_ROWS = 1024
_BYTES = 2**22


class AdditiveStatistics:
    """What an additive learner keeps of its data: ``collect``, ``merge``, then ``fit(statistics)``.

    A subclass says how to add a batch (:meth:`collect`) and another part (:meth:`merge`), both in
    place, and how to begin with nothing (:meth:`empty`). Everything else follows.
    """

    def collect(self, X: Any, y: Any = None) -> Self:
        """Add a batch of samples; returns itself."""
        raise NotImplementedError

    def merge(self, other: Self) -> Self:
        """Add the statistics of another part of the data; returns itself."""
        raise NotImplementedError

    def empty(self) -> Self:
        """Statistics of the same kind that have seen nothing."""
        raise NotImplementedError

    def copy(self) -> Self:
        """Statistics that can be added to while these stay as they are."""
        return self.empty().merge(self)

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self.copy().merge(other)


class GroupStatistics(AdditiveStatistics):
    """Counts and sums of every group, and the second moment of all vectors, in float64.

    Every learner that needs no more of its data than this can be fitted from it:
    ``model.fit(statistics)`` gives what ``model.fit(X, y)`` of all parts together would give, up
    to rounding. The parts can be made on different machines, saved with ``mien.save``, loaded
    and added in any order; a group may be spread over several of them.

    Parameters
    ----------
    features : str or None, default=None
        What the vectors are, such as ``"sface128 l2"``. Statistics and models with different
        descriptions are never mixed; None says nothing and mixes with everything.
    batch_size : int, default=8192
        Number of rows of an array that are worked on together. Memory grows with it. A memory map
        is read batch by batch, so it may be larger than memory.

    Attributes
    ----------
    n_samples : int
        Number of vectors seen.
    n_grouped : int
        Number of vectors seen that are in a group.
    n_groups : int
        Number of groups (people, for a verifier).
    n_features : int
        Length of a vector; 0 before the first batch.
    labels : (n_groups,)
        The groups, in the order in which they were first seen.
    counts : (n_groups,)
        Number of vectors of each group.
    mean : (n_features,)
        Mean of every vector, grouped or not.
    shift : (n_features,)
        What is subtracted from every vector before it is squared: the mean of the first batch.

    See Also
    --------
    mien.subspace.RelevantComponents, mien.subspace.NullSpaceProjection, mien.subspace.Eigenfaces,
    mien.subspace.Fisherfaces, mien.verification.JointBayesian : Learners that ``fit`` from it.

    Notes
    -----
    With :math:`z = x - \\text{shift}` the class keeps :math:`\\sum z z^T` of the grouped vectors,
    :math:`n_g` and :math:`s_g = \\sum_{i \\in g} z_i` for every group, and :math:`\\sum z z^T` and
    :math:`\\sum z` of the vectors in no group, whose label is None, NaN, NaT or -1. The shift keeps
    the digits of data far from the origin; parts with different shifts are added exactly, by the
    cross terms. Memory is ``n_features² + n_groups · n_features`` numbers, and ``n_features²`` more
    once there are vectors in no group.

    Scatters hold squares: a direction whose singular value is below about 1e-7 of the largest is
    lost in rounding here, where a decomposition of the data themselves would still see it.

    A sum of few vectors of a person is personal data. Share a fitted model rather than its
    statistics where a model will do.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.subspace import GroupStatistics, RelevantComponents
    >>> rng = np.random.default_rng(0)
    >>> parts = [(rng.normal(size=(40, 3)), np.repeat(np.arange(k, k + 20), 2)) for k in (0, 20)]
    >>> here, there = (GroupStatistics().collect(X, groups) for X, groups in parts)
    >>> both = here + there
    >>> both.n_groups, both.n_samples
    (40, 80)
    >>> RelevantComponents(3).fit(both).components_.shape
    (3, 3)
    """

    def __init__(self, features: str | None = None, *, batch_size: int = 8192) -> None:
        if batch_size < 1:
            raise InputError(f"batch_size must be at least 1; got {batch_size}")
        self.features = features
        self.batch_size = int(batch_size)
        self.n_features = 0
        self._shift_given = False
        self._start(0)

    def _start(self, n_features: int) -> None:
        """Allocate the sums for ``n_features`` features."""
        d = self.n_features = int(n_features)
        self.shift = np.zeros(d)
        # Only the upper triangle counts.
        self._upper = np.zeros((d, d), order="F")
        self._sums = np.zeros((0, d))
        self._counts = np.zeros(0, dtype=np.int64)
        self._rows: dict[Any, int] = {}
        self._n_alone = 0
        self._alone_total = np.zeros(d)
        self._alone_upper: np.ndarray | None = None

    @classmethod
    def from_batches(
        cls, batches: Iterable[Any], features: str | None = None, *, batch_size: int = 8192
    ) -> Self:
        """Make one pass over an iterable of ``(X, groups)``, or of arrays X without groups.

        Only one batch is in memory at a time.
        """
        statistics = cls(features, batch_size=batch_size)
        for batch in track(batches, "statistics of the batches"):
            statistics.collect(*(batch if isinstance(batch, tuple) else (batch, None)))
        if statistics.n_samples == 0:
            raise InputError("there are no batches: at least one (X, groups) is needed")
        return statistics

    def collect(self, X: Any, y: Any = None) -> Self:
        """Add vectors X (n, n_features) of groups y (n,); returns itself.

        Vectors whose label is None, NaN, NaT or -1 are in no group; ``y=None`` puts all of them
        in none.
        """
        X = X if isinstance(X, np.ndarray) else np.asarray(refuse_dask("X", X))
        if X.ndim != 2 or X.shape[1] == 0 or self.n_features not in (0, X.shape[1]):
            wanted = self.n_features or "n_features"
            raise InputError(f"a batch must have the shape (n, {wanted}); got {X.shape}")
        if y is not None:
            y = check_labels("labels", y, len(X), missing="unknown")
        if self.n_features == 0:
            self._start(X.shape[1])
        starts = range(0, len(X), self.batch_size)
        for start in track(starts, "statistics") if len(starts) > 1 else starts:
            rows = slice(start, start + self.batch_size)
            self._collect_batch(np.asarray(X[rows]), None if y is None else y[rows])
        return self

    def _collect_batch(self, X: np.ndarray, y: np.ndarray | None) -> None:
        if X.dtype.kind not in "biuf":
            raise InputError(f"a batch must be real numbers; got {X.dtype}")
        if X.dtype not in (np.float32, np.float64):
            with np.errstate(over="ignore"):
                X = X.astype(np.float64)
        X = settle_range("the batch", X)
        if self.n_samples == 0 and not self._shift_given:
            self.shift = X.mean(axis=0, dtype=np.float64)
        room = None
        for rows in _row_blocks(len(X), self.n_features):
            part = X[rows]
            room = np.empty(part.shape) if room is None else room[: len(part)]
            Z = np.subtract(part, self.shift, out=room)
            if y is None:
                self._add_alone(Z)
                continue
            alone = find_unknown(y[rows])
            if alone.any():
                self._add_alone(Z[alone])
                self._add_grouped(Z[~alone], y[rows][~alone])
            else:
                self._add_grouped(Z, y[rows])

    def collect_products(self, X: np.ndarray) -> Self:
        """Add the products of grouped vectors, but not the groups; see `CondensedStatistics`.

        X is checked already, by ``check_rows``.
        """
        for rows in _row_blocks(len(X), self.n_features):
            self._upper = _add_products(X[rows] - self.shift, self._upper)
        return self

    def collect_sums(self, X: np.ndarray, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Add the products of rows (n,) of X, and return the sums (g, d) of their groups.

        The groups ``codes`` (n,) go from 0 to g − 1 and rise; sums are about the shift.
        """
        sums = np.zeros((int(codes[-1]) + 1, self.n_features))
        for block in _row_blocks(len(rows), self.n_features):
            Z = X[rows[block]] - self.shift
            self._upper = _add_products(Z, self._upper)
            mine = codes[block]
            # A group that a block has cut in two comes last in the one and first in the other.
            sums[mine[0] : mine[-1] + 1] += sum_runs(Z, mine)[1]
        return sums

    def _add_grouped(self, Z: np.ndarray, y: np.ndarray) -> None:
        """Add vectors Z (n, n_features), less the shift, of groups y (n,)."""
        if len(Z) == 0:
            return
        self._upper = _add_products(Z, self._upper)
        names, inverse, counts = np.unique(y, return_inverse=True, return_counts=True)
        # A sparse product sums the groups without a sorted copy of the batch.
        members = sparse.csr_array(
            (np.ones(len(Z)), (inverse, np.arange(len(Z)))), shape=(len(names), len(Z))
        )
        self._add_groups(names.tolist(), members @ Z, counts)

    def _add_alone(self, Z: np.ndarray) -> None:
        """Add vectors Z (n, n_features), less the shift, that are in no group."""
        if self._alone_upper is None:
            self._alone_upper = np.zeros((self.n_features, self.n_features), order="F")
        self._alone_upper = _add_products(Z, self._alone_upper)
        self._alone_total += Z.sum(axis=0)
        self._n_alone += len(Z)

    def reserve(self, n_groups: int) -> None:
        """Allocate room for a number of groups in advance; more may come."""
        if n_groups > len(self._counts):
            grown = np.zeros((n_groups, self.n_features))
            grown[: len(self._sums)] = self._sums
            counts = np.zeros(n_groups, dtype=np.int64)
            counts[: len(self._counts)] = self._counts
            self._sums, self._counts = grown, counts

    def merge(self, other: Self) -> Self:
        """Add the statistics of another part of the data; returns itself."""
        self.features = agree_features(self.features, other.features)
        if other.n_samples == 0:
            return self
        if self.n_features == 0:
            self._start(other.n_features)
        if other.n_features != self.n_features:
            raise InputError(
                f"statistics of {self.n_features} and of {other.n_features} features cannot be "
                "added"
            )
        if self.n_samples == 0:
            self.shift = other.shift.copy()
        delta = other.shift - self.shift
        sums = other.sums()
        self._upper += _shifted(other._upper, sums.sum(axis=0), other.n_grouped, delta)
        if other._alone_upper is not None:
            if self._alone_upper is None:
                self._alone_upper = np.zeros((self.n_features, self.n_features), order="F")
            self._alone_upper += _shifted(
                other._alone_upper, other._alone_total, other._n_alone, delta
            )
            self._alone_total += other._alone_total + other._n_alone * delta
            self._n_alone += other._n_alone
        self._add_groups(list(other._rows), sums + other.counts[:, None] * delta, other.counts)
        return self

    def start_at(self, shift: np.ndarray) -> Self:
        """Fix what is subtracted, so that parts with one shift are added without cross terms."""
        self._start(len(shift))
        self.shift = np.array(shift, dtype=np.float64)
        self._shift_given = True
        return self

    def empty(self) -> Self:
        """Statistics of the same kind of vectors that have seen none."""
        return type(self)(self.features, batch_size=self.batch_size)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self._rows)

    @property
    def n_grouped(self) -> int:
        """Number of samples in groups."""
        return int(self._counts.sum())

    @property
    def n_samples(self) -> int:
        """Number of samples, in groups or in none."""
        return self.n_grouped + self._n_alone

    @property
    def labels(self) -> np.ndarray:
        """Labels (n_groups,) of the groups."""
        return np.asarray(list(self._rows))

    @property
    def counts(self) -> np.ndarray:
        """Number of samples (n_groups,) of each group."""
        return self._counts[: self.n_groups].copy()

    @property
    def mean(self) -> np.ndarray:
        """Mean (d,) of all samples."""
        self._require_samples()
        return self.shift + self._total() / self.n_samples

    def _total(self) -> np.ndarray:
        """``Σ z`` (n_features,) of every vector."""
        return self._sums.sum(axis=0) + self._alone_total

    def sums(self, centre: np.ndarray | None = None) -> np.ndarray:
        """Sum (n_groups, n_features) of each group, about ``centre`` (the shift if None)."""
        sums = self._sums[: self.n_groups]
        if centre is None:
            return sums.copy()
        return sums + self.counts[:, None] * (self.shift - centre)

    def loose_groups(self, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums (g, n_features) about ``centre``, and sizes (g,), of groups that are kept apart."""
        return self.sums(centre), self.counts

    def size_products(self, centre: np.ndarray) -> list[tuple[int, int, np.ndarray]]:
        """Size, number of groups and ``Σ s sᵀ`` about ``centre``, where groups are condensed."""
        return []

    def group_means(self) -> np.ndarray:
        """Mean (n_groups, n_features) of each group, in the order of ``labels``."""
        return self.shift + self.sums() / self.counts[:, None]

    def scatter(self, centre: np.ndarray | None = None) -> np.ndarray:
        """``Σ (x − centre)(x − centre)ᵀ`` of every vector, about the mean if None."""
        self._require_samples()
        centre = self.mean if centre is None else centre
        upper = self._upper if self._alone_upper is None else self._upper + self._alone_upper
        return symmetrize(
            _shifted(_mirror(upper), self._total(), self.n_samples, self.shift - centre)
        )

    def between_scatter(self) -> np.ndarray:
        """``Σ n_g (mean_g − m)(mean_g − m)ᵀ`` over the groups; m is the mean of their vectors."""
        means = self.group_means()
        middle = self.counts @ means / self.n_grouped
        deviations = (means - middle) * np.sqrt(self.counts)[:, None]
        return deviations.T @ deviations

    def within_scatter(self) -> np.ndarray:
        """``Σ (x − mean_g)(x − mean_g)ᵀ`` of every vector that is in a group."""
        upper = self._upper.copy(order="F")
        roots = np.sqrt(self._counts[: self.n_groups])[:, None]
        for rows in _row_blocks(self.n_groups, self.n_features):
            upper = _add_products(self._sums[rows] / roots[rows], upper, -1.0)
        return _mirror(upper)

    def __repr__(self) -> str:
        described = "" if self.features is None else f", features={self.features!r}"
        return (
            f"<GroupStatistics of {self.n_samples} vectors in {self.n_groups} groups, "
            f"{self.n_features} features{described}>"
        )

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Plain arrays that :meth:`from_arrays` takes back, for saving."""
        arrays = {"batch_size": np.asarray(self.batch_size)}
        if self.features is not None:
            arrays["features"] = np.asarray(self.features)
        if self.n_features == 0:
            return arrays
        arrays |= {
            "shift": self.shift,
            "second": _mirror(self._upper),
            "sums": self.sums(),
            "counts": self.counts,
            "labels": self.labels,
        }
        if self._alone_upper is not None:
            arrays |= {
                "alone_count": np.asarray(self._n_alone),
                "alone_total": self._alone_total,
                "alone_second": _mirror(self._alone_upper),
            }
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Self:
        """Build the statistics from :meth:`to_arrays`; shapes are checked.

        The arrays of the two classes that this one has replaced are read as well.
        """
        arrays = dict(arrays)
        features = arrays.pop("features", None)
        statistics = cls(
            None if features is None else str(features),
            batch_size=int(arrays.pop("batch_size", 8192)),
        )
        if "grouped_shift" in arrays:
            return statistics._read_two_parts(arrays)
        if arrays:
            statistics._read(arrays)
        return statistics

    def _read_two_parts(self, arrays: dict[str, np.ndarray]) -> Self:
        """Format 1 of ``mien.GroupStatistics`` kept grouped vectors and the others apart."""

        def part(prefix: str) -> dict[str, np.ndarray]:
            return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}

        if np.size(part("grouped_")["counts"]):
            self._read(part("grouped_"))
        if alone := part("alone_"):
            alone |= {"alone_count": alone["n_samples"], "alone_total": alone["total"]}
            alone |= {"alone_second": alone["second"], "second": np.zeros_like(alone["second"])}
            alone |= {"sums": alone["sums"][:0], "counts": alone["counts"][:0]}
            other = self.empty()
            other._read(alone | {"labels": alone["labels"][:0]})
            self.merge(other)
        return self

    def _read(self, arrays: dict[str, np.ndarray]) -> None:
        d, g = len(arrays["shift"]), len(arrays["counts"])
        wanted: dict[str, tuple[int, ...]] = {"shift": (d,), "second": (d, d), "sums": (g, d)}
        wanted |= {"counts": (g,), "labels": (g,)}
        if "alone_count" in arrays:
            wanted |= {"alone_count": (), "alone_total": (d,), "alone_second": (d, d)}
        for name, shape in wanted.items():
            if np.shape(arrays[name]) != shape:
                raise InputError(f"{name} must be {shape}; got {np.shape(arrays[name])}")
        self._start(d)
        self.shift = np.array(arrays["shift"], dtype=np.float64)
        self._upper = np.array(arrays["second"], dtype=np.float64, order="F")
        self._add_groups(arrays["labels"].tolist(), arrays["sums"], arrays["counts"])
        if "alone_count" in arrays:
            self._n_alone = int(arrays["alone_count"])
            self._alone_total = np.array(arrays["alone_total"], dtype=np.float64)
            self._alone_upper = np.array(arrays["alone_second"], dtype=np.float64, order="F")

    def adopt(
        self,
        moments: GroupStatistics,
        labels: list[Any],
        sums: np.ndarray | None,
        counts: np.ndarray | None,
    ) -> Self:
        """Add moments about the same shift, and new groups with their sums and sizes."""
        self._upper += moments._upper
        self._n_alone += moments._n_alone
        self._alone_total += moments._alone_total
        if moments._alone_upper is not None:
            self._alone_upper = np.asfortranarray(moments._alone_upper)
        if sums is not None and counts is not None:
            self._add_groups(labels, sums, counts)
        return self

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


def agree_features(ours: str | None, theirs: str | None) -> str | None:
    """The common description of features, or an error where there is none."""
    if ours is not None and theirs is not None and ours != theirs:
        raise InputError(
            f"features {ours!r} and {theirs!r} are not the same: vectors of different kinds "
            "cannot be compared, added or adapted to each other"
        )
    return theirs if ours is None else ours


def _add_products(Z: np.ndarray, upper: np.ndarray, factor: float = 1.0) -> np.ndarray:
    """``upper + factor · ZᵀZ`` in the upper triangle, in place where the layout is Fortran's."""
    return linalg.blas.dsyrk(factor, Z.T, beta=1.0, c=upper, overwrite_c=True)


def _shifted(second: np.ndarray, total: np.ndarray, n: int, delta: np.ndarray) -> np.ndarray:
    """``Σ (z + delta)(z + delta)ᵀ`` from ``Σ z zᵀ`` and ``Σ z`` of n vectors z."""
    cross = np.outer(delta, total)
    return second + cross + cross.T + n * np.outer(delta, delta)


def _mirror(upper: np.ndarray) -> np.ndarray:
    """The symmetric matrix of an upper triangle."""
    upper = np.triu(upper)
    return upper + np.triu(upper, 1).T


def sum_runs(Z: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where runs of equal codes (n,) begin (g,), and the sums (g, d) of their rows of Z (n, d)."""
    starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    n = len(codes)
    members = sparse.csr_array(
        (np.ones(n), np.arange(n), np.append(starts, n)), shape=(len(starts), n)
    )
    return starts, members @ Z


def _row_blocks(n: int, n_features: int) -> Iterator[slice]:
    step = max(_ROWS, _BYTES // (8 * n_features))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))
