"""The renderer compiled: the functions of ``_shade.py`` over the pixels of many pictures.

The kernel is serial and lets go of the interpreter's lock; ``_make.py`` gives each thread its
pictures. That needs no threading layer of numba, whose choice decides whether a program may fork
and whether two threads may render at once.
"""

from __future__ import annotations

import zlib
from inspect import isfunction
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numba.extending import overload, register_jitable

from mien._core.jit import check_shape
from mien.datasets._rendered import _shade as source
from mien.datasets._rendered._shade import (
    BLUR,
    FRAME,
    GRAIN,
    VIGNETTE,
    hash_bits,
    normal_deviate,
    shade,
    tone_map,
)

_OWN = [f for f in vars(source).values() if isfunction(f) and f.__module__ == source.__name__]
for _function in _OWN:
    if _function not in (source.touched, source.render_numpy):
        register_jitable(_function)


@overload(source.touched, strict=False)
def _touched(amount: Any) -> Any:
    return lambda amount: amount > 0.0


# The cache on disk notices a change of this file only. A kernel that closes over the checksum of
# the other file is another kernel for the cache when that file changes.
_CHECKSUM = zlib.crc32(Path(source.__file__).read_bytes())


def _build(checksum: int) -> Any:
    def render(
        rows: np.ndarray, keys: np.ndarray, table: np.ndarray, resample: np.ndarray, out: np.ndarray
    ) -> int:
        """Fill `out` (n, h, w, channels) with 1 or 3 channels; see ``render_numpy``."""
        n, size, _, channels = out.shape
        step = 2.0 * FRAME / size
        full = np.empty((size, size, 3))
        other = np.empty((size, size, 3))
        taps = np.empty(2 * size + 1)
        for i in range(n):
            p = rows[i]
            for row in range(size):
                y = (row + 0.5) * step - FRAME
                for column in range(size):
                    x = (column + 0.5) * step - FRAME
                    r, g, b = shade(x, y, 0.62 * step, p, table)
                    vignette = 1.0 - p[VIGNETTE] * (x * x + y * y) / (2.0 * FRAME * FRAME)
                    full[row, column, 0] = tone_map(r, vignette, p)
                    full[row, column, 1] = tone_map(g, vignette, p)
                    full[row, column, 2] = tone_map(b, vignette, p)
            sigma = p[BLUR] / step
            if sigma > 0.15:
                radius = min(int(np.ceil(2.5 * sigma)), size)
                total = 0.0
                for k in range(2 * radius + 1):
                    taps[k] = np.exp(-0.5 * ((k - radius) / sigma) ** 2)
                    total += taps[k]
                for row in range(size):
                    for column in range(size):
                        for c in range(3):
                            value = 0.0
                            for k in range(2 * radius + 1):
                                place = min(max(row + k - radius, 0), size - 1)
                                value += taps[k] * full[place, column, c]
                            other[row, column, c] = value / total
                for row in range(size):
                    for column in range(size):
                        for c in range(3):
                            value = 0.0
                            for k in range(2 * radius + 1):
                                place = min(max(column + k - radius, 0), size - 1)
                                value += taps[k] * other[row, place, c]
                            full[row, column, c] = value / total
            if resample.shape[0] > 0:
                for row in range(size):
                    for column in range(size):
                        for c in range(3):
                            value = 0.0
                            for k in range(size):
                                value += resample[row, k] * full[k, column, c]
                            other[row, column, c] = value
                for row in range(size):
                    for column in range(size):
                        for c in range(3):
                            value = 0.0
                            for k in range(size):
                                value += resample[column, k] * other[row, k, c]
                            full[row, column, c] = value
            for row in range(size):
                for column in range(size):
                    count = keys[i] + np.uint64(row * size + column)
                    grain = p[GRAIN] * normal_deviate(hash_bits(count))
                    r = min(max(full[row, column, 0] + grain, 0.0), 1.0)
                    g = min(max(full[row, column, 1] + grain, 0.0), 1.0)
                    b = min(max(full[row, column, 2] + grain, 0.0), 1.0)
                    if channels == 3:
                        out[i, row, column, 0] = r
                        out[i, row, column, 1] = g
                        out[i, row, column, 2] = b
                    else:
                        out[i, row, column, 0] = 0.299 * r + 0.587 * g + 0.114 * b
        return checksum

    try:
        return njit(render, nogil=True, fastmath=True, cache=True)
    except RuntimeError:  # nowhere to keep a cache: compile in each process
        return njit(render, nogil=True, fastmath=True)


_render = _build(_CHECKSUM)


def render(
    rows: np.ndarray, keys: np.ndarray, table: np.ndarray, resample: np.ndarray, out: np.ndarray
) -> int:
    """Fill `out` (n, h, w, channels) with 1 or 3 channels, after a look at the shapes."""
    n, size, _, channels = out.shape
    check_shape("out", out, n, size, size, 3 if channels == 3 else 1)
    check_shape("rows", rows, n, source.N_COLUMNS)
    check_shape("table", table, 64, 64)
    check_shape("keys", keys, n)
    if resample.shape[0]:
        check_shape("resample", resample, size, size)
    return int(_render(rows, keys, table, resample, out))
