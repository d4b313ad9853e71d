"""Paired samples a batch at a time: from memory maps, and their moments."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mien.errors import InputError

__all__ = ["first_pair", "pooled_moments", "read_maps"]


def first_pair(batches: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    for pair in batches:
        return pair
    raise InputError("the batches are empty: no samples to learn from")


def pooled_moments(
    batches: Iterable[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray, int]:
    """Mean, variances and number of the concatenated samples, in one stable pass."""
    n, mean, scatter = 0, np.zeros(0), np.zeros(0)
    for X, Y in batches:
        V = np.hstack([X, Y])
        part = V.mean(axis=0, dtype=np.float64)
        squares = np.square(V - part).sum(axis=0, dtype=np.float64)
        if n == 0:
            mean, scatter = np.zeros(V.shape[1]), np.zeros(V.shape[1])
        delta = part - mean
        total = n + len(V)
        scatter += squares + np.square(delta) * n * len(V) / total
        mean = mean + delta * len(V) / total
        n = total
    if n == 0:
        raise InputError("the batches are empty: no samples to learn from")
    return mean, scatter / n, n


def read_maps(X: Any, Y: Any, batch_size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Copies of consecutive rows of two views; pages of a memory map are let go of."""
    if np.ndim(X) != 2 or np.ndim(Y) not in (1, 2) or len(X) != len(Y):
        raise InputError(
            f"views are paired arrays of rows; got the shapes {np.shape(X)} and {np.shape(Y)}"
        )
    for start in range(0, len(X), batch_size):
        rows = slice(start, start + batch_size)
        yield np.array(X[rows]), np.array(Y[rows])
        for view in (X, Y):
            # Private pages ("c") would lose what was written to them.
            if isinstance(view, np.memmap) and view.mode in ("r", "r+"):
                pages = getattr(view, "_mmap", None)
                if pages is not None and hasattr(mmap, "MADV_DONTNEED"):
                    pages.madvise(mmap.MADV_DONTNEED)
