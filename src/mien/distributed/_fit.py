"""Learners fitted from parts that many workers read."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterable
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from mien._core.condensed import CondensedStatistics
from mien._core.parallel import one_blas_thread
from mien._core.rows import check_rows
from mien._core.statistics import GroupStatistics, sum_runs
from mien._core.validation import check_labels, find_unknown
from mien.distributed._parts import Part, Parts, find_parts, read_part
from mien.distributed._passes import TeamPasses
from mien.distributed._team import Team, open_team, stream
from mien.distributed._tree import Tree
from mien.errors import InputError

__all__ = ["collect", "fit"]

Model = TypeVar("Model")

#: Parts per bucket of people, so that what one task merges is never more than a few parts.
_PARTS_PER_BUCKET = 2
_BUCKETS, _MOST_BUCKETS = 16, 256
_SHIFT_ROWS = 8192


#: Parts whose pieces may wait in memory; more are written to files in between.
_PARTS_IN_MEMORY = 4


class _Groups(NamedTuple):
    """Groups of one bucket: labels (g,), sums (g, d) about the shift, and sizes (g,).

    Where a part has hardly two vectors of a person, the vectors themselves are shorter than sums
    in double precision: then ``sums`` are vectors as they came, and ``counts`` is empty.
    """

    labels: np.ndarray
    sums: np.ndarray
    counts: np.ndarray


_NOBODY = _Groups(np.zeros(0, np.int64), np.zeros((0, 0)), np.zeros(0, np.int64))


def fit(
    model: Model, X: Any, y: Any = None, *, client: Any = None, n_workers: int | None = None
) -> Model:
    """Fit a learner to data in parts, on many workers.

    Parameters
    ----------
    model : estimator
        Whatever is fitted from additive statistics: `JointBayesian`, `TransferJointBayesian` (with
        a number as its strength), `RelevantComponents`, `NullSpaceProjection`, `Fisherfaces`,
        `Eigenfaces`; by several passes `MixturePCCA`, `FisherVector` (of descriptors) and `KSVD`;
        or a pipeline of those and of steps that learn nothing.
    X : array, Dask array, path, list of paths, or iterable
        An array or memory map (n, d); a Dask array; a file or a folder of ``.npy``, Parquet or
        Zarr, or a list of them; or an iterable of ``(X, y)``.
    y : array, Dask array, str, path, list of paths, or None
        The person (or group) of each vector: labels of all rows; for Parquet the name of a
        column; for ``.npy`` and Zarr one file of labels beside each file of vectors. For
        `MixturePCCA` the second view, likewise.
    client : distributed.Client, str or None
        Dask's client, the address of a scheduler, or ``"local"``. None uses processes of this
        machine, without Dask.
    n_workers : int or None
        Number of processes where there is no client; None is one per core. 1 starts none.

    Returns
    -------
    model
        The same object, fitted.

    Notes
    -----
    A worker reads a part, adds its products to one matrix, and the vectors of each person to a
    sum. The sums are divided by a hash of the person into buckets; a bucket has every vector of
    its people, so merging buckets is concatenation. Inside a bucket, people of equally many
    vectors become one matrix of products: what comes back does not grow with the number of people.

    Parts, buckets and the tree in which they are added depend on the data alone. So the result is
    the same to the bit whatever the number of workers and whoever is quicker, and it is that of
    ``model.fit(X, y)`` up to rounding. A worker that dies is replaced and its parts are read
    again: tasks have no side effects, so nothing is counted twice.

    A part of Parquet is a row group; ``.npy`` and Zarr are cut into parts of about 64 MB. In
    Parquet vectors are a column of lists called ``vector``, or all columns but that of ``y``.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.distributed import fit
    >>> from mien.verification import JointBayesian
    >>> rng = np.random.default_rng(0)
    >>> people = np.repeat(np.arange(200), 4)
    >>> X = 2 * rng.standard_normal((200, 5))[people] + rng.standard_normal((800, 5))
    >>> parts = [(X[i::3], people[i::3]) for i in range(3)]
    >>> model = fit(JointBayesian(), parts, n_workers=1)
    >>> bool(np.allclose(model.variance_ratios_, JointBayesian().fit(X, people).variance_ratios_))
    True
    """
    if hasattr(model, "steps"):
        _fit_pipeline(model, X, y, client, n_workers)
        return model
    _check_learner(model)
    _fit_step(model, X, y, [], client, n_workers)
    return model


def collect(
    X: Any,
    y: Any = None,
    *,
    features: str | None = None,
    client: Any = None,
    n_workers: int | None = None,
) -> GroupStatistics:
    """Additive statistics of data in parts, for ``model.fit(statistics)``, and for saving.

    Parameters
    ----------
    X, y, client, n_workers
        As for :func:`fit`.
    features : str or None
        What the vectors are.

    Returns
    -------
    GroupStatistics
        With the sum of each person: ``n_people · n_features`` numbers.
    """
    return _collect(X, y, [], client, n_workers, features=features, condense=False)


def _check_learner(model: Any) -> None:
    if not (getattr(model, "_additive", False) or hasattr(model, "_fit_passes")):
        raise InputError(
            f"{type(model).__name__} is not fitted from additive statistics; JointBayesian, "
            "TransferJointBayesian, RelevantComponents, NullSpaceProjection, Fisherfaces, "
            "Eigenfaces, MixturePCCA, FisherVector, KSVD and pipelines of them are"
        )
    if hasattr(getattr(model, "source", None), "steps"):
        raise InputError(
            "the source is a pipeline: give a pipeline of its first steps and of a "
            "TransferJointBayesian from its last one"
        )


def _check_repeatable(X: Any, who: str) -> None:
    if not isinstance(X, (np.ndarray, str, Path, list, tuple)) and not hasattr(X, "dask"):
        raise InputError(f"{who} reads the parts several times: give a list, not an iterator")


def _fit_step(
    model: Any, X: Any, y: Any, before: list[Any], client: Any, n_workers: int | None
) -> None:
    if hasattr(model, "_fit_passes"):
        _check_repeatable(X, type(model).__name__)
        parts = list(find_parts(X, y).parts)
        with open_team(client, n_workers, len(parts)) as team:
            passes = TeamPasses(team, parts, model, before)
            model._fit_passes(passes, passes.first)
        return
    condense = not (getattr(model, "_needs_labels", False) or getattr(model, "keep_statistics", 0))
    features = getattr(model, "features", None)
    needed = model.__sklearn_tags__().target_tags.required
    statistics = _collect(
        X, y if needed else None, before, client, n_workers, features=features, condense=condense,
        ignore=not needed,
    )  # fmt: skip
    if needed and statistics.n_grouped == 0:
        raise InputError(
            f"{type(model).__name__} requires y to be passed, but the target y is None: give the "
            "person in each picture"
        )
    model.fit(statistics)


def _fit_pipeline(model: Any, X: Any, y: Any, client: Any, n_workers: int | None) -> None:
    """Fit the steps one after the other; the parts are read once for each that learns."""
    steps = [(name, step) for name, step in model.steps if step not in (None, "passthrough")]
    _check_repeatable(X, "a pipeline")
    learns = [step for _, step in steps if step.__sklearn_tags__().requires_fit]
    for step in learns:
        _check_learner(step)
    before: list[Any] = []
    for _, step in steps:
        if step in learns:
            _fit_step(step, X, y, before, client, n_workers)
        elif not hasattr(step, "n_features_in_"):
            step.fit(_first_rows(find_parts(X, None).parts, before)[0])
        before = [*before, step]


def _first_rows(parts: Iterable[Part], before: list[Any]) -> tuple[np.ndarray, Iterable[Part]]:
    """Some rows of the first part that has any, and all parts again."""
    read: list[Part] = []
    rest = iter(parts)
    for part in rest:
        read.append(part)
        X = _prepare(read_part(part)[0][:_SHIFT_ROWS], before)
        if len(X):
            return X, chain(read, rest)
    raise InputError("there are no vectors: at least one part with rows is needed")


def _prepare(X: np.ndarray, before: list[Any]) -> np.ndarray:
    for step in before:
        X = step.transform(X)
    return X


def _collect(
    X: Any,
    y: Any,
    before: list[Any],
    client: Any,
    n_workers: int | None,
    *,
    features: str | None,
    condense: bool,
    ignore: bool = False,
) -> GroupStatistics:
    found: Parts = find_parts(X, y)
    rows, parts = _first_rows(found.parts, before)
    first = GroupStatistics(features).collect(rows[:1])
    shift = rows.mean(axis=0, dtype=np.float64)
    first.start_at(shift)
    n_buckets = _BUCKETS
    if found.n is not None:
        n_buckets = min(_MOST_BUCKETS, -(-found.n // _PARTS_PER_BUCKET))
    with (
        open_team(client, n_workers, found.n) as team,
        tempfile.TemporaryDirectory(prefix="mien-") as scratch,
    ):
        small = found.n is not None and found.n <= _PARTS_IN_MEMORY
        place = None if team.keeps_results or small else scratch
        setting = _Setting(before, shift, features, n_buckets, ignore, place)
        moments = Tree(team)
        pieces: list[list[Any]] = [[] for _ in range(n_buckets)]
        numbered, words = enumerate(parts), "statistics of the parts"
        for call in stream(team, _collect_part, numbered, setting, words=words, total=found.n):
            moments.push(_pick(team, call, 0))
            for bucket in range(n_buckets):
                pieces[bucket].append(_pick(team, call, 1 + bucket))
        words = "merging the people"
        if condense:
            for merged in stream(team, _condense, pieces, shift, features, words=words):
                moments.push(merged)
            whole: CondensedStatistics = team.get(moments.total())
            return whole
        joined = [team.get(groups) for groups in stream(team, _join, pieces, shift, words=words)]
        return _open(team.get(moments.total()), joined)


class _Setting(NamedTuple):
    """What every part is collected with."""

    before: list[Any]
    shift: np.ndarray
    features: str | None
    n_buckets: int
    ignore: bool
    scratch: str | None


def _collect_part(
    numbered: tuple[int, Part], setting: _Setting
) -> list[CondensedStatistics | _Groups | str]:
    """The moments of a part, and its groups by bucket (or the files that they were written to)."""
    number, part = numbered
    X, y = read_part(part)
    statistics = GroupStatistics(setting.features).start_at(setting.shift)
    pieces: list[_Groups] = []
    if len(X):
        try:
            # One thread everywhere: with more, BLAS adds in another order.
            with one_blas_thread():
                pieces = _sum_part(statistics, X, y, setting)
        except InputError as error:
            raise InputError(f"{part.name}: {error}") from error
    moments = CondensedStatistics(setting.shift, setting.features).add_moments(statistics)
    pieces = pieces or [_NOBODY] * setting.n_buckets
    written = [_write(piece, setting.scratch, number, k) for k, piece in enumerate(pieces)]
    return [moments, *written]


def _sum_part(
    statistics: GroupStatistics, X: np.ndarray, y: Any, setting: _Setting
) -> list[_Groups]:
    """Add the products of a part; its groups by bucket, as sums or as vectors."""
    X = check_rows(_prepare(X, setting.before), dtype=[np.float64, np.float32], input_name="X")
    if X.shape[1] != len(setting.shift):
        raise InputError(f"vectors must be (n, {len(setting.shift)}); got {X.shape}")
    if y is None or setting.ignore:
        statistics.collect(X)
        return []
    people = check_labels("labels", y, len(X), missing="unknown")
    alone = find_unknown(people)
    if alone.any():
        statistics.collect(X[alone])
        X, people = X[~alone], people[~alone]
        if len(X) == 0:
            return []
    names, codes = np.unique(people, return_inverse=True)
    buckets = (_hash_labels(names) % np.uint64(setting.n_buckets)).astype(np.int64)
    every = np.arange(setting.n_buckets + 1)
    if 2 * len(names) >= len(X):
        statistics.collect_products(X)
        mine = buckets[codes]
        order = np.argsort(mine, kind="stable")
        edges = np.searchsorted(mine[order], every)
        people, X, counts = people[order], X[order], np.zeros(0, dtype=np.int64)
        return [_Groups(people[a:b], X[a:b], counts) for a, b in pairwise(edges)]
    # Groups in the order of their buckets, so that a bucket is a slice.
    by_bucket = np.argsort(buckets, kind="stable")
    rank = np.empty(len(names), dtype=np.int64)
    rank[by_bucket] = np.arange(len(names))
    codes = rank[codes]
    order = np.argsort(codes, kind="stable")
    sums = statistics.collect_sums(X, order, codes[order])
    names, counts = names[by_bucket], np.bincount(codes)
    edges = np.searchsorted(buckets[by_bucket], every)
    return [_Groups(names[a:b], sums[a:b], counts[a:b]) for a, b in pairwise(edges)]


def _write(groups: _Groups, scratch: str | None, number: int, bucket: int) -> _Groups | str:
    """Keep groups in memory, or write them where another process finds them.

    The names are those of the part: a part that is collected a second time replaces its files.
    """
    if scratch is None or len(groups.labels) == 0:
        return groups
    stem = f"{scratch}/{number}-{bucket}"
    for name, array in zip(_Groups._fields, groups, strict=True):
        np.save(f"{stem}-{name}.npy", array, allow_pickle=False)
    return stem


def _read(piece: _Groups | str) -> _Groups:
    if isinstance(piece, str):
        return _Groups(
            *(np.load(f"{piece}-{name}.npy", allow_pickle=False) for name in _Groups._fields)
        )
    return piece


def _hash_labels(labels: np.ndarray) -> np.ndarray:
    """A number (n,) for every label, the same on every machine."""
    if labels.dtype.kind in "iub" or labels.size == 0:
        x = labels.astype(np.uint64)
        for factor, bits in ((0xBF58476D1CE4E5B9, 30), (0x94D049BB133111EB, 27)):
            x = (x ^ (x >> np.uint64(bits))) * np.uint64(factor)
        return x ^ (x >> np.uint64(31))
    return np.fromiter(
        (zlib.crc32(str(label).encode("utf-8", "surrogatepass")) for label in labels.tolist()),
        np.uint64,
        len(labels),
    )


def _pick(team: Team, call: Any, k: int) -> Any:
    return team.call(_item, call, k) if team.keeps_results else call[k]


def _item(values: list[Any], k: int) -> Any:
    return values[k]


def _join(pieces: list[_Groups | str], shift: np.ndarray) -> _Groups:
    """All groups of a bucket, each once, in the order of their labels."""
    held = [piece for piece in map(_read, pieces) if len(piece.labels)]
    if not held:
        return _NOBODY
    if len({piece.labels.dtype.kind in "US" for piece in held}) > 1:
        raise InputError("labels are text in some parts and numbers in others")
    names, codes = np.unique(np.concatenate([piece.labels for piece in held]), return_inverse=True)
    sums, counts = np.zeros((len(names), len(shift))), np.zeros(len(names), dtype=np.int64)
    low = 0
    # Piece by piece in the order of the parts: sums do not depend on who was quicker.
    for piece in held:
        mine = codes[low : low + len(piece.labels)]
        low += len(piece.labels)
        if len(piece.counts):
            sums[mine] += piece.sums
            counts[mine] += piece.counts
            continue
        order = np.argsort(mine, kind="stable")
        mine = mine[order]
        starts, totals = sum_runs(piece.sums[order] - shift, mine)
        sums[mine[starts]] += totals
        counts[mine[starts]] += np.diff(np.append(starts, len(mine)))
    return _Groups(names, sums, counts)


def _condense(
    pieces: list[_Groups | str], shift: np.ndarray, features: str | None
) -> CondensedStatistics:
    groups = _join(pieces, shift)
    condensed = CondensedStatistics(shift, features)
    if len(groups.labels) == 0:
        return condensed
    with one_blas_thread():
        return condensed.add_groups(groups.sums, groups.counts)


def _open(whole: CondensedStatistics, joined: list[_Groups]) -> GroupStatistics:
    """Plain statistics of the moments and the groups: buckets are concatenated."""
    statistics = GroupStatistics(whole.features).start_at(whole.shift)
    held = [groups for groups in joined if len(groups.labels)]
    return statistics.adopt(
        whole,
        [label for groups in held for label in groups.labels.tolist()],
        np.concatenate([groups.sums for groups in held]) if held else None,
        np.concatenate([groups.counts for groups in held]) if held else None,
    )
