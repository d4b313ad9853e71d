"""Paired samples a batch at a time: from memory maps."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mien.errors import InputError

__all__ = ["first_pair", "read_maps"]


def first_pair(batches: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    for pair in batches:
        return pair
    raise InputError("the batches are empty: no samples to learn from")


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
