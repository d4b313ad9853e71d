# mypy: disallow-untyped-defs=False
"""Compiled kernels of random Fourier features: Walsh-Hadamard, Fastfood, sine and cosine.

A transform of one row stays in the first-level cache: each stage reads neighbours and writes the
sums to the first half and the differences to the second, which the compiler turns into full
vectors, and log2(d) such stages give the natural (Sylvester) order. Rows are shared out among the
threads. Sine and cosine in float32 are polynomials after a reduction by quarter turns in three
parts: within two units in the last place for angles below some thousands, and far quicker than
the library calls that the compiler would make.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

CHUNK = 16
TILE = 64
PIECE = 1024


@njit
def _stage(source, target):
    half = source.size // 2
    for i in range(half):
        a = source[2 * i]
        b = source[2 * i + 1]
        target[i] = a + b
        target[half + i] = a - b


@njit
def _double_stage(source, target):
    quarter = source.size // 4
    for i in range(quarter):
        a = source[4 * i]
        b = source[4 * i + 1]
        c = source[4 * i + 2]
        e = source[4 * i + 3]
        ab = a + b
        ce = c + e
        am = a - b
        cm = c - e
        target[i] = ab + ce
        target[quarter + i] = am + cm
        target[2 * quarter + i] = ab - ce
        target[3 * quarter + i] = am - cm


@njit
def _transform_row(row, other):
    """Replace row (d,) by its Walsh-Hadamard transform; ``other`` is scratch of the same size."""
    left = row.size
    in_row = True
    while left >= 4:
        if in_row:
            _double_stage(row, other)
        else:
            _double_stage(other, row)
        in_row = not in_row
        left //= 4
    if left == 2:
        if in_row:
            _stage(row, other)
        else:
            _stage(other, row)
        in_row = not in_row
    if not in_row:
        row[:] = other


@njit(parallel=True, cache=True)
def transform_rows(X):
    """Transform each row of X (n, d) in place."""
    n, d = X.shape
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        other = np.empty(d, X.dtype)
        for i in range(chunk * CHUNK, min(n, (chunk + 1) * CHUNK)):
            _transform_row(X[i], other)


@njit(parallel=True, cache=True)
def transform_middle(X):
    """Transform X (n, m, d) in place along the axis in the middle, a tile of columns at a time."""
    n, m, d = X.shape
    tiles = (d + TILE - 1) // TILE
    for job in prange(n * tiles):
        i = job // tiles
        low = (job % tiles) * TILE
        high = min(d, low + TILE)
        step = 1
        while step < m:
            for base in range(0, m, 2 * step):
                for k in range(base, base + step):
                    for j in range(low, high):
                        a = X[i, k, j]
                        b = X[i, k + step, j]
                        X[i, k, j] = a + b
                        X[i, k + step, j] = a - b
            step *= 2


@njit
def _sine_cosine(x):
    turns = np.floor(x * np.float32(0.6366197723675814) + np.float32(0.5))
    r = x - turns * np.float32(1.5703125)
    r = r - turns * np.float32(4.837512969970703125e-4)
    r = r - turns * np.float32(7.54978995489188216e-8)
    q = np.int32(turns)
    r2 = r * r
    s = np.float32(-1.9515295891e-4) * r2 + np.float32(8.3321608736e-3)
    s = s * r2 - np.float32(1.6666654611e-1)
    s = s * r2 * r + r
    c = np.float32(2.443315711809948e-5) * r2 - np.float32(1.388731625493765e-3)
    c = c * r2 + np.float32(4.166664568298827e-2)
    c = c * r2 * r2 - np.float32(0.5) * r2 + np.float32(1.0)
    odd = (q & 1) == 1
    sine = c if odd else s
    cosine = s if odd else c
    sine = -sine if (q & 2) == 2 else sine
    cosine = -cosine if ((q + 1) & 2) == 2 else cosine
    return sine, cosine


@njit
def _write_features(angles, amplitude, row, cosine_at, sine_at, single):
    """Write amplitude times cosine and sine into row from the given places; -1 leaves one out."""
    n = angles.size
    if single and cosine_at >= 0 and sine_at >= 0:
        cosines = row[cosine_at : cosine_at + n]
        sines = row[sine_at : sine_at + n]
        for j in range(n):
            sine, cosine = _sine_cosine(angles[j])
            sines[j] = sine * amplitude
            cosines[j] = cosine * amplitude
    elif single:
        part = row[max(cosine_at, sine_at) : max(cosine_at, sine_at) + n]
        for j in range(n):
            sine, cosine = _sine_cosine(angles[j])
            part[j] = (sine if sine_at >= 0 else cosine) * amplitude
    else:
        for j in range(n):
            if cosine_at >= 0:
                row[cosine_at + j] = math.cos(angles[j]) * amplitude
            if sine_at >= 0:
                row[sine_at + j] = math.sin(angles[j]) * amplitude


@njit
def _block_angles(x, signs, order, gains, scales, angles, other):
    """``S H G P H B x`` of one block, into ``angles`` (d,)."""
    width = x.size
    for j in range(width):
        other[j] = x[j] * signs[j]
    other[width:] = 0
    _transform_row(other, angles)
    for j in range(angles.size):
        angles[j] = other[order[j]] * gains[j]
    _transform_row(angles, other)
    for j in range(angles.size):
        angles[j] *= scales[j]


@njit(parallel=True, cache=True)
def fastfood_project(X, signs, order, gains, scales, out):
    """``V x`` for each row of X (n, width), into out (n, n_frequencies)."""
    n = X.shape[0]
    blocks, d = signs.shape
    frequencies = out.shape[1]
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        angles = np.empty(d, X.dtype)
        other = np.empty(d, X.dtype)
        for i in range(chunk * CHUNK, min(n, (chunk + 1) * CHUNK)):
            for b in range(blocks):
                _block_angles(X[i], signs[b], order[b], gains[b], scales[b], angles, other)
                low = b * d
                high = min(frequencies, low + d)
                out[i, low:high] = angles[: high - low]


@njit(parallel=True, cache=True)
def fastfood_features(X, signs, order, gains, scales, frequencies, amplitude, at, single, out):
    """Features of each row of X (n, width), into out (n, n_features_out).

    ``at`` holds the first columns of the cosines and of the sines, -1 for none.
    """
    n = X.shape[0]
    blocks, d = signs.shape
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        angles = np.empty(d, X.dtype)
        other = np.empty(d, X.dtype)
        for i in range(chunk * CHUNK, min(n, (chunk + 1) * CHUNK)):
            for b in range(blocks):
                _block_angles(X[i], signs[b], order[b], gains[b], scales[b], angles, other)
                low = b * d
                count = min(frequencies - low, d)
                cosine_at = at[0] + low if at[0] >= 0 else -1
                sine_at = at[1] + low if at[1] >= 0 else -1
                _write_features(angles[:count], amplitude, out[i], cosine_at, sine_at, single)


@njit(parallel=True, cache=True)
def angle_features(angles, amplitude, at, single, out):
    """Features of angles (n, n_frequencies), into out (n, n_features_out)."""
    n, frequencies = angles.shape
    for i in prange(n):
        piece = np.empty(PIECE, angles.dtype)  # apart from out, so that the loop is vectorised
        for low in range(0, frequencies, PIECE):
            count = min(frequencies - low, PIECE)
            piece[:count] = angles[i, low : low + count]
            cosine_at = at[0] + low if at[0] >= 0 else -1
            sine_at = at[1] + low if at[1] >= 0 else -1
            _write_features(piece[:count], amplitude, out[i], cosine_at, sine_at, single)
