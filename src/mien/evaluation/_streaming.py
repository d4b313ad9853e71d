"""All against all without holding the scores: exact counts in bins of a width that is stated."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from mien._core.jit import load_kernels
from mien._core.logistic import ratio_costs
from mien._core.progress import report
from mien._core.statistics import AdditiveStatistics
from mien._core.text import finite_or_none
from mien._core.validation import check_labels
from mien.errors import InputError
from mien.evaluation._calibration import pooled_cllr
from mien.evaluation._curves import check_far, crossing
from mien.evaluation._intervals import (
    RandomState,
    check_confidence,
    draw_people,
    percentile_interval,
)
from mien.evaluation._verification import (
    check_failures,
    summarise_counts,
    with_interval,
)

__all__ = [
    "ScoreHistogram",
    "count_pairs",
    "evaluate_all_pairs",
    "iter_score_blocks",
    "summarise_histogram",
]

# genuine scores that are kept for the bootstrap by person; above it, intervals are by score
_MOST_GENUINE = 2**24
_INFINITE = 1e308


def iter_score_blocks(
    score: Callable[[slice, slice], Any],
    n_rows: int,
    n_columns: int | None = None,
    *,
    block_size: int = 1024,
) -> Iterator[tuple[np.ndarray, slice, slice]]:
    """Yield blocks of a score matrix: the upper triangle of a square, or a whole rectangle.

    Parameters
    ----------
    score : callable
        ``score(rows, columns)`` gives the scores of two slices as an array (r, c).
    n_rows : int
        Samples on the one side.
    n_columns : int or None
        Samples on the other side; None compares all with all of ``n_rows``.
    block_size : int
        Most rows and columns of a block.

    Yields
    ------
    scores (r, c), rows, columns
        What :func:`evaluate_all_pairs` takes.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.eye(3)
    >>> blocks = iter_score_blocks(lambda r, c: X[r] @ X[c].T, 3, block_size=2)
    >>> [(rows.start, columns.start) for _, rows, columns in blocks]
    [(0, 0), (0, 2), (2, 2)]
    """
    if block_size < 1:
        raise InputError(f"block_size must be positive; got {block_size}")
    width = n_rows if n_columns is None else n_columns
    for top in range(0, n_rows, block_size):
        rows = slice(top, min(top + block_size, n_rows))
        for left in range(top if n_columns is None else 0, width, block_size):
            columns = slice(left, min(left + block_size, width))
            yield np.asarray(score(rows, columns)), rows, columns


class ScoreHistogram(AdditiveStatistics):
    """Counts of genuine and impostor scores in bins that widen as the scores spread.

    Parameters
    ----------
    n_bins : int
        Bins that the range of the scores is divided into; at least half of them are used.
    limits : (float, float) or None
        The only range in which thresholds are wanted. Scores outside are counted, below every
        threshold or above every threshold. None: the range of the scores.

    Attributes
    ----------
    width : float
        Width of a bin, a power of two. Every edge is a whole multiple of it.

    Notes
    -----
    A score s falls into bin ⌊s / width⌋. The width is a power of two, so the division is exact and
    the counts of scores at or above an edge are exact, in float32 and float64 alike. When a score
    falls outside, the width is doubled and bins are joined in pairs, which loses no count:
    one pass is enough, whatever the range.
    """

    def __init__(self, n_bins: int = 2**18, limits: tuple[float, float] | None = None) -> None:
        if n_bins < 2:
            raise InputError(f"at least two bins are needed; got {n_bins}")
        self.n_bins = int(n_bins)
        # all scores and genuine scores; first and last for those below and above the limits
        self._counts = np.zeros((2, self.n_bins + 2), dtype=np.int64)
        self._make_tables()
        self._pending = 0
        self._exponent: int | None = None
        self._base = 0
        self._span = (0, 0)  # first and last bin in use, in units of the width
        self._low, self._high = -_INFINITE, _INFINITE
        if limits is not None:
            if not (np.all(np.isfinite(limits)) and limits[0] < limits[1]):
                raise InputError(f"limits must be two finite, rising numbers; got {limits!r}")
            self._low, self._high = map(float, limits)
            self._cover(self._low, np.nextafter(self._high, -np.inf))

    @property
    def width(self) -> float:
        """Width of a bin, a power of two."""
        return math.ldexp(1.0, 0 if self._exponent is None else self._exponent)

    def collect(self, scores: np.ndarray, starts: np.ndarray | None = None) -> Self:
        """Add a block of scores (r, c), contiguous float32 or float64; returns itself.

        ``starts`` (r,) is the first column of each row that counts; None counts all.
        """
        self._count(scores, starts, genuine=False)
        return self

    def collect_genuine(self, scores: np.ndarray) -> Self:
        """Say which of the scores added are genuine: scores (n,), each of them added before."""
        self._count(scores[None, :], None, genuine=True)
        return self

    def empty(self) -> Self:
        """A histogram of the same kind that has seen nothing."""
        limits = None if self._high == _INFINITE else (self._low, self._high)
        return type(self)(self.n_bins, limits)

    def merge(self, other: Self) -> Self:
        """Add the counts of other scores; returns itself. The order of merging changes nothing."""
        if (other.n_bins, other._low, other._high) != (self.n_bins, self._low, self._high):
            raise InputError(
                f"histograms of {self.n_bins} and {other.n_bins} bins, or with other limits, "
                "cannot be added"
            )
        other._flush()
        self._flush()
        if other._exponent is None:
            self._counts += other._counts
            return self
        if self._exponent is None:
            self._exponent, self._base, self._span = other._exponent, other._base, other._span
            self._counts += other._counts
            return self
        exponent = max(self._exponent, other._exponent)
        mine, theirs = exponent - self._exponent, exponent - other._exponent
        first = min(self._span[0] >> mine, other._span[0] >> theirs)
        last = max(self._span[1] >> mine, other._span[1] >> theirs)
        while last - first >= self.n_bins:
            mine, theirs, exponent = mine + 1, theirs + 1, exponent + 1
            first, last = first >> 1, last >> 1
        self._rebin(mine, first, last)
        self._exponent = exponent
        self._counts[:, [0, -1]] += other._counts[:, [0, -1]]
        kind, place = np.nonzero(other._counts[:, 1:-1])
        moved = ((place + other._base) >> theirs) - self._base
        np.add.at(self._counts, (kind, moved + 1), other._counts[kind, place + 1])
        return self

    def __getstate__(self) -> dict[str, Any]:
        self._flush()
        return {name: v for name, v in vars(self).items() if name not in ("_kernels", "_tables")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._make_tables()

    def _make_tables(self) -> None:
        self._kernels = load_kernels("mien.evaluation._streaming_numba")
        n_tables = 1 if self._kernels is None else self._kernels.n_tables()
        self._tables = np.zeros((2, n_tables, self.n_bins + 2), dtype=np.uint32)

    def _count(self, scores: np.ndarray, starts: np.ndarray | None, *, genuine: bool) -> None:
        if scores.size == 0:
            return
        if starts is None:
            starts, counted = np.zeros(scores.shape[0], dtype=np.int64), scores
        else:
            # what is not counted may be anything, also NaN
            counted = scores[np.arange(scores.shape[1]) >= starts[:, None]]
            if counted.size == 0:
                return
        low, high, inside = self._finite_range(counted)
        self._cover(low, high)
        if self._pending + scores.size >= 2**32:
            self._flush()
        self._pending += scores.size
        tables = self._tables[int(genuine)]
        limits = self._low, self._high
        count = _count_block if self._kernels is None else self._kernels.count_block
        count(scores, starts, 1 / self.width, self._base, limits, inside, tables)

    def _flush(self) -> None:
        """Add the quick 32-bit tables of the threads to the counts."""
        self._counts += self._tables.sum(axis=1, dtype=np.int64)
        self._tables[:] = 0
        self._pending = 0

    def _finite_range(self, scores: np.ndarray) -> tuple[float, float, bool]:
        """Least and largest score inside the limits, and whether all are inside."""
        low, high = float(scores.min()), float(scores.max())
        if math.isnan(low):
            bad = int(np.count_nonzero(np.isnan(scores)))
            raise InputError(
                f"a block has {bad} NaN among {scores.size} scores; "
                "count failures to acquire separately; do not score them"
            )
        if low >= self._low and high < self._high:
            return low, high, True
        inside = scores[(scores >= np.float64(self._low)) & (scores < np.float64(self._high))]
        if inside.size == 0:
            return math.nan, math.nan, False
        return float(inside.min()), float(inside.max()), False

    def _cover(self, low: float, high: float) -> None:
        """Make room for scores from low to high, by moving or joining bins."""
        if math.isnan(low):
            return
        if self._exponent is None:
            spread = max(high - low, abs(low) * 1e-12, abs(high) * 1e-12, 1e-300)
            self._exponent = math.floor(math.log2(spread / self.n_bins))
            first = last = math.floor(math.ldexp(low, -self._exponent))
            self._span = (first, last)
            self._base = first
        width_bits = -self._exponent
        first = min(self._span[0], math.floor(math.ldexp(low, width_bits)))
        last = max(self._span[1], math.floor(math.ldexp(high, width_bits)))
        if first >= self._base and last < self._base + self.n_bins:
            self._span = (first, last)
            return
        joins = 0
        while (last >> joins) - (first >> joins) >= self.n_bins:
            joins += 1
        self._rebin(joins, first >> joins, last >> joins)
        self._exponent += joins

    def _rebin(self, joins: int, first: int, last: int) -> None:
        """Join 2**joins neighbours, and centre the bins on first…last (in the new width)."""
        self._flush()
        base = first - (self.n_bins - 1 - (last - first)) // 2
        new = np.zeros_like(self._counts)
        new[:, 0], new[:, -1] = self._counts[:, 0], self._counts[:, -1]
        kind, place = np.nonzero(self._counts[:, 1:-1])
        moved = ((place + self._base) >> joins) - base
        np.add.at(new, (kind, moved + 1), self._counts[kind, place + 1])
        self._counts, self._base, self._span = new, base, (first, last)

    def accepted(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Exact counts of who is accepted at the lower edge of every bin in use.

        Returns
        -------
        thresholds (n_edges,) falling, impostors accepted (n_edges,), genuine accepted (n_edges,)
        """
        self._flush()
        everyone, genuine = self._counts
        used = np.flatnonzero(everyone)[::-1]
        edges = (used - 1 + self._base) * self.width
        edges = np.where(used == 0, -np.inf, edges)
        top = np.inf if self._high == _INFINITE else self._high
        edges = np.where(used == self.n_bins + 1, top, edges)
        return edges, np.cumsum((everyone - genuine)[used]), np.cumsum(genuine[used])


def _count_block(
    scores: np.ndarray,
    starts: np.ndarray,
    scale: float,
    base: int,
    limits: tuple[float, float],
    inside: bool,
    tables: np.ndarray,
) -> None:
    """NumPy twin of the compiled kernel."""
    values = scores[np.arange(scores.shape[1]) >= starts[:, None]].astype(np.float64)
    n_places = tables.shape[1]
    place = np.where(values < limits[0], 0, n_places - 1)
    middle = (values >= limits[0]) & (values < limits[1])
    place[middle] = np.floor(values[middle] * scale).astype(np.int64) - base + 1
    tables[0] += np.bincount(place, minlength=n_places).astype(np.uint32)


def _as_indices(place: Any, n: int, name: str) -> np.ndarray:
    """Indices of a slice, range or array of a block, checked."""
    indices = np.arange(n)[place] if isinstance(place, slice) else np.asarray(place)
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise InputError(f"the {name} of a block must be a slice or integers; got {place!r:.60}")
    if indices.size and (indices.min() < 0 or indices.max() >= n):
        raise InputError(f"the {name} of a block go beyond the {n} people given")
    return indices.astype(np.int64, copy=False)


def _number_people(people: Any) -> tuple[np.ndarray, np.ndarray, bool]:
    """Codes of the rows' and columns' people, and whether they are the same samples."""
    if isinstance(people, tuple) and len(people) == 2 and np.ndim(people[0]) == 1:
        rows, columns = (check_labels("people", part) for part in people)
        if (rows.dtype.kind == "U") != (columns.dtype.kind == "U"):
            rows, columns = rows.astype(str), columns.astype(str)
        codes = np.unique(np.concatenate([rows, columns]), return_inverse=True)[1]
        return codes[: rows.size], codes[rows.size :], False
    codes = np.unique(check_labels("people", people), return_inverse=True)[1]
    return codes, codes, True


def _genuine_pairs(rows: np.ndarray, columns: np.ndarray, symmetric: bool) -> int:
    n_rows = np.bincount(rows)
    if symmetric:
        return int((n_rows * (n_rows - 1) // 2).sum())
    n_columns = np.bincount(columns, minlength=n_rows.size)
    return int((n_rows * n_columns[: n_rows.size]).sum())


def evaluate_all_pairs(
    score_blocks: Iterable[tuple[Any, Any, Any]] | Callable[[], Iterable[tuple[Any, Any, Any]]],
    people: Any,
    *,
    fars: Sequence[float] = (0.01, 0.001, 0.0001, 0.00001),
    resolution: int = 2**18,
    limits: tuple[float, float] | None = None,
    llr: bool = False,
    failures: tuple[int, int] = (0, 0),
    confidence: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: RandomState = 0,
) -> dict[str, Any]:
    """Verification of every sample against every other, from blocks of scores, in one pass.

    Parameters
    ----------
    score_blocks : iterable, or callable that returns one
        Blocks ``(scores (r, c), rows, columns)`` with the places of the rows and columns as slices
        or integers (:func:`iter_score_blocks`).
    people : array-like (n,), or a tuple of two: (n_rows,) and (n_columns,)
        Who each sample is. One array: all against all; each pair is counted once, where
        row < column, and what a block has on or below the diagonal is ignored. Two: a rectangle.
    fars : sequence of float
        False accept rates at which the verification rate is wanted.
    resolution : int
        Bins that the range of the scores is divided into.
    limits : (float, float) or None
        Range in which thresholds are wanted, where few scores lie far out; None takes all.
    llr : bool
        The scores are natural-log likelihood ratios: Cllr is given as well.
    failures : (int, int)
        Genuine and impostor comparisons that gave no score; they count as refused.
    confidence, n_bootstrap, random_state
        As in :func:`evaluate_verification`.

    Returns
    -------
    dict
        As :func:`evaluate_verification`, and: ``resolution`` (the width of a bin), ``bounds``
        beside ``eer`` and every verification rate, which hold what exact scores would give.
        ``intervals`` is "genuine person" or "score"; see Notes.

    Notes
    -----
    Counts are exact, and so are both error rates at every whole multiple of the width w (a power
    of two). What lies between two multiples is bounded by them, because both rates fall with the
    threshold: the exact EER lies in [max(FAR₀, FNMR₁), min(FAR₁, FNMR₀)] with 0 and 1 the edges
    around the crossing; the exact VR at a FAR lies between the VR of the last edge that holds it
    and that of the next edge. Cllr is taken at the middle of each bin and is off by
    w / (2 ln 2) bits at most, because no cost rises faster than 1/ln 2 bits per unit.
    Minimum Cllr of binned scores is never below the exact one.

    Memory is that of one block, two tables of ``resolution`` counts a thread, and the genuine
    scores (up to 2²⁴), which the bootstrap by person draws from. That bootstrap resamples the
    people of genuine pairs and holds the impostor distribution fixed, because all n² / 2 impostor
    scores would be needed to do otherwise. With more genuine scores, intervals are those of
    independent scores, and too narrow.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> people = np.repeat(np.arange(50), 4)
    >>> X = rng.normal(size=(50, 8))[people] + 0.5 * rng.normal(size=(200, 8))
    >>> blocks = iter_score_blocks(lambda r, c: X[r] @ X[c].T, 200, block_size=64)
    >>> result = evaluate_all_pairs(blocks, people, fars=[0.01])
    >>> result["n_genuine"], result["n_impostor"]
    (300, 19600)
    """
    confidence, failures = check_confidence(confidence), check_failures(failures)
    check_far(list(fars))
    sides = _number_people(people)
    histogram = ScoreHistogram(resolution, limits)
    blocks = score_blocks() if callable(score_blocks) else score_blocks
    n_pairs = _check_pairs(*sides)
    genuine, owners, done = _count_pairs(blocks, sides, histogram, n_pairs)
    if done != n_pairs:
        raise InputError(f"the blocks hold {done} pairs; all against all has {n_pairs}")
    return summarise_histogram(
        histogram,
        genuine,
        owners,
        n_people=int(np.unique(np.concatenate(sides[:2])).size),
        fars=fars,
        limits=limits,
        llr=llr,
        failures=failures,
        confidence=confidence,
        n_bootstrap=n_bootstrap,
        random_state=random_state,
    )


def count_pairs(
    blocks: Iterable[tuple[Any, Any, Any]], codes: np.ndarray, histogram: ScoreHistogram
) -> tuple[np.ndarray, np.ndarray]:
    """Count some blocks of all against all, as one of many workers.

    Parameters
    ----------
    blocks : iterable of (scores, rows, columns)
        As for :func:`evaluate_all_pairs`, but not all of them.
    codes : (n,) int
        Who each sample is.
    histogram : ScoreHistogram
        Where they are counted.

    Returns
    -------
    scores (n_genuine,), people (n_genuine,)
        Genuine scores of the blocks, and whose they are; empty where all pairs together have
        too many to keep.
    """
    return _count_pairs(blocks, (codes, codes, True), histogram, None)[:2]


def summarise_histogram(
    histogram: ScoreHistogram,
    genuine: np.ndarray,
    owners: np.ndarray,
    *,
    n_people: int,
    fars: Sequence[float] = (0.01, 0.001, 0.0001, 0.00001),
    limits: tuple[float, float] | None = None,
    llr: bool = False,
    failures: tuple[int, int] = (0, 0),
    confidence: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: RandomState = 0,
) -> dict[str, Any]:
    """What :func:`evaluate_all_pairs` gives, from counts that are complete.

    Parameters
    ----------
    histogram : ScoreHistogram
        Of all pairs.
    genuine, owners : (n_genuine,)
        The genuine scores and whose they are, or none of them.
    n_people : int
        Number of people.
    fars, limits, llr, failures, confidence, n_bootstrap, random_state
        As for :func:`evaluate_all_pairs`.
    """
    confidence, failures = check_confidence(confidence), check_failures(failures)
    check_far(list(fars))
    thresholds, false_accepts, true_accepts = histogram.accepted()
    summary = summarise_counts(thresholds, false_accepts, true_accepts, fars, failures, confidence)
    result: dict[str, Any] = {
        "n_genuine": int(true_accepts[-1]) + failures[0],
        "n_impostor": int(false_accepts[-1]) + failures[1],
        "failures": {"genuine": failures[0], "impostor": failures[1]},
        "n_people": n_people,
        "confidence": confidence,
        "intervals": "score",
        "resolution": histogram.width,
        **summary,
    }
    g = np.diff(true_accepts, prepend=0)[::-1].astype(float)
    i = np.diff(false_accepts, prepend=0)[::-1].astype(float)
    least = pooled_cllr(g, i, result["n_genuine"], result["n_impostor"])
    result["min_cllr"] = with_interval(least, None)
    result["cllr"] = None
    if llr and limits is None:
        middles = thresholds[::-1] + histogram.width / 2
        result["cllr"] = _binned_cllr(middles, g, i, failures, histogram.width)
    _add_bounds(result, false_accepts, true_accepts)
    if np.unique(owners).size >= 2:
        draws = draw_people(np.unique(owners).size, n_bootstrap, random_state)
        _add_person_intervals(result, genuine, owners, (thresholds, false_accepts), draws)
    return result


def _check_pairs(rows: np.ndarray, columns: np.ndarray, symmetric: bool) -> int:
    """The number of pairs, among which there must be genuine ones and others."""
    n_genuine = _genuine_pairs(rows, columns, symmetric)
    n_pairs = rows.size * (rows.size - 1) // 2 if symmetric else rows.size * columns.size
    if n_genuine in (0, n_pairs):
        only = "impostor" if n_genuine == 0 else "genuine"
        raise InputError(f"among {n_pairs} pairs there are only {only} ones: both are needed")
    return n_pairs


def _count_pairs(
    blocks: Iterable[tuple[Any, Any, Any]],
    sides: tuple[np.ndarray, np.ndarray, bool],
    histogram: ScoreHistogram,
    n_pairs: int | None,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Count pairs once; the genuine scores and their people, if they are few enough, and how many.

    ``n_pairs`` is the total that progress reports, if any.
    """
    rows_of, columns_of, symmetric = sides
    n = rows_of.size
    n_genuine = _genuine_pairs(rows_of, columns_of, symmetric)
    genuine, owners = [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
    done = 0
    for block, rows, columns in blocks:
        row = _as_indices(rows, n, "rows")
        column = _as_indices(columns, columns_of.size, "columns")
        scores = _check_block(block, row.size, column.size)
        if scores.size == 0:
            continue
        starts = None
        if symmetric and row.max() >= column.min():
            if np.any(np.diff(column) <= 0):
                order = np.argsort(column, kind="stable")
                scores, column = np.ascontiguousarray(scores[:, order]), column[order]
            starts = np.searchsorted(column, row, side="right")
        histogram.collect(scores, starts)
        done += scores.size if starts is None else int((column.size - starts).sum())
        at_row, at_column = _find_genuine(rows_of[row], columns_of[column], starts)
        found = scores[at_row, at_column]
        histogram.collect_genuine(found)
        if n_genuine <= _MOST_GENUINE:
            genuine.append(found)
            owners.append(rows_of[row[at_row]])
        if n_pairs is not None:
            report("all against all", min(done, n_pairs), n_pairs)
    return np.concatenate(genuine), np.concatenate(owners), done


def _find_genuine(
    row_codes: np.ndarray, column_codes: np.ndarray, starts: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Places (n,), (n,) of the pairs of one person, found by sorting and not by comparing all."""
    order = np.argsort(column_codes, kind="stable")
    left = np.searchsorted(column_codes, row_codes, side="left", sorter=order)
    right = np.searchsorted(column_codes, row_codes, side="right", sorter=order)
    count = right - left
    rows = np.repeat(np.arange(row_codes.size), count)
    within = np.arange(rows.size) - np.repeat(np.cumsum(count) - count, count)
    columns = order[np.repeat(left, count) + within]
    if starts is not None:
        kept = columns >= starts[rows]
        rows, columns = rows[kept], columns[kept]
    return rows, columns


def _check_block(block: Any, n_rows: int, n_columns: int) -> np.ndarray:
    """Return a block as a contiguous array (r, c) of float32 or float64."""
    scores = np.asarray(block)
    if scores.shape != (n_rows, n_columns):
        raise InputError(
            f"a block of {n_rows} rows and {n_columns} columns has the shape {scores.shape}"
        )
    if scores.dtype not in (np.float32, np.float64):
        if scores.dtype.kind not in "fiub":
            raise InputError(f"scores must be numbers; a block has {scores.dtype}")
        scores = scores.astype(np.float64)
    return np.ascontiguousarray(scores)


def _binned_cllr(
    middles: np.ndarray, g: np.ndarray, i: np.ndarray, failures: tuple[int, int], width: float
) -> dict[str, Any]:
    """Cllr of counts at the middles of bins (n,), with the bounds that the width leaves."""
    value = 0.0
    for counts, same, failed in ((g, True, failures[0]), (i, False, failures[1])):
        used = counts > 0
        bits = counts[used] @ ratio_costs(middles[used], same)
        value += (bits + failed) / (counts.sum() + failed) / 2
    slack = width / (2 * np.log(2))
    return {
        **with_interval(value, None),
        "bounds": [finite_or_none(max(value - slack, 0)), finite_or_none(value + slack)],
    }


def _add_bounds(
    result: dict[str, Any], false_accepts: np.ndarray, true_accepts: np.ndarray
) -> None:
    """Write beside EER and VR between which values they lie, whatever happens inside a bin."""
    far = np.concatenate([[0.0], false_accepts / result["n_impostor"], [1.0]])
    vr = np.concatenate([[0.0], true_accepts / result["n_genuine"], [1.0]])
    after = int(crossing(far, vr)[1])
    result["eer"]["bounds"] = [
        float(max(far[after - 1], 1 - vr[after])),
        float(min(far[after], 1 - vr[after - 1])),
    ]
    for row in result["verification_rates"]:
        edge = int(np.searchsorted(false_accepts, row["false_accepts"], side="right"))
        row["bounds"] = [row["value"], float(vr[min(edge + 1, vr.size - 1)])]


def _add_person_intervals(
    result: dict[str, Any],
    genuine: np.ndarray,
    owners: np.ndarray,
    curve: tuple[np.ndarray, np.ndarray],
    draws: np.ndarray,
) -> None:
    """Replace the intervals of EER and VR by those of a bootstrap over people (n_draws, people).

    The share of genuine scores at or above each of some hundred edges is found for every person
    once; a draw weighs the people. The impostor curve stays.
    """
    thresholds, false_accepts = curve
    far = false_accepts / result["n_impostor"]
    rates = [row["far"] for row in result["verification_rates"]]
    eer = result["eer"]["value"]
    near = np.geomspace(far[far > 0].min(), min(max(8 * eer, 1e-3), 1), 512)
    held = np.searchsorted(far, rates, side="right") - 1
    edges = np.unique(np.clip(np.concatenate([held, np.searchsorted(far, near)]), 0, far.size - 1))
    codes = np.unique(owners, return_inverse=True)[1]
    # (people, edges): how many of a person's genuine scores are accepted at each edge
    first = np.searchsorted(-thresholds[edges], -genuine.astype(np.float64), side="left")
    shape = draws.shape[1], edges.size + 1
    flat = np.bincount(codes * shape[1] + first, minlength=shape[0] * shape[1])
    accepted = np.cumsum(flat.reshape(shape)[:, :-1], axis=1)
    failed = result["failures"]["genuine"]
    vr = (draws @ accepted) / (draws @ np.bincount(codes) + failed)[:, None]
    result["intervals"] = "genuine person"
    ends = np.zeros((draws.shape[0], 1)), np.ones((draws.shape[0], 1))
    edge_far = np.concatenate([[0.0], far[edges], [1.0]])
    replicates = crossing(
        np.broadcast_to(edge_far, (draws.shape[0], edge_far.size)),
        np.concatenate([ends[0], vr, ends[1]], axis=1),
    )[0]
    for row, values in [(result["eer"], replicates)] + [
        (row, vr[:, np.searchsorted(edges, at)] if at >= 0 else np.zeros(draws.shape[0]))
        for row, at in zip(result["verification_rates"], held, strict=True)
    ]:
        low, high = percentile_interval(values, result["confidence"], draws.shape[1])
        row["low"], row["high"] = finite_or_none(low), finite_or_none(high)
