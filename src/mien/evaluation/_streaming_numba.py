"""Compiled twin of the counting in ``streaming.py``."""

from __future__ import annotations

import numpy as np
from numba import get_num_threads, njit, prange

from mien._core.jit import check_indices, check_shape


@njit(nogil=True, cache=True, boundscheck=False)
def _count_row(values, scale, base, places, table):  # type: ignore[no-untyped-def]
    """Count finite values (n,) into table (n_bins + 2,): first all places, which is vectorised."""
    last = np.int32(table.size - 1)
    for k in range(values.size):
        # Held inside the table, whatever the caller has promised.
        place = np.int32(np.floor(values[k] * scale)) - base
        places[k] = min(max(place, np.int32(0)), last)
    for k in range(values.size):
        table[places[k]] += np.uint32(1)


@njit(nogil=True, cache=True, boundscheck=False)
def _count_row_with_ends(values, scale, base, low, high, table):  # type: ignore[no-untyped-def]
    """As above, for values of which some lie outside [low, high) or are infinite."""
    for k in range(values.size):
        value = values[k]
        if value < low:
            table[0] += np.uint32(1)
        elif value >= high:
            table[table.size - 1] += np.uint32(1)
        else:
            place = np.int64(np.floor(value * scale)) - base
            table[min(max(place, np.int64(0)), table.size - 1)] += np.uint32(1)


@njit(parallel=True, nogil=True, cache=True, boundscheck=False)
def _count_block(scores, starts, scale, base, low, high, inside, tables):  # type: ignore[no-untyped-def]
    """Count scores (r, c) from column starts (r,) on into tables (n_threads, n_bins + 2)."""
    n_threads = tables.shape[0]
    shift = base - 1
    for thread in prange(n_threads):
        places = np.empty(scores.shape[1], dtype=np.int32)
        for row in range(thread, scores.shape[0], n_threads):
            values = scores[row, starts[row] :]
            if inside:
                _count_row(values, scale, np.int32(shift), places, tables[thread])
            else:
                _count_row_with_ends(values, scale, shift, low, high, tables[thread])


def n_tables() -> int:
    """Tables that the kernel writes to at once."""
    return int(get_num_threads())


def count_block(
    scores: np.ndarray,
    starts: np.ndarray,
    scale: float,
    base: int,
    limits: tuple[float, float],
    inside: bool,
    tables: np.ndarray,
) -> None:
    """Count a block; ``inside`` says that no score lies outside the limits."""
    check_shape("starts", starts, len(scores))
    check_indices("starts", starts, scores.shape[1] + 1)
    small = abs(base) + tables.shape[1] < 2**31
    if inside and small and scale < 2**100:
        # a power of two: the product is exact in the precision of the scores
        _count_block(scores, starts, scores.dtype.type(scale), base, *limits, True, tables)
    else:
        _count_block(scores.astype(np.float64), starts, scale, base, *limits, False, tables)
