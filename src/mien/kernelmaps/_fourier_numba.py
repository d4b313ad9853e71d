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

from mien._core.jit import check_indices, check_shape
from mien.errors import InputError

CHUNK = 16
TILE = 64
PIECE = 1024
# Angles in single precision beyond this are taken by the library's sine and cosine: the reduction
# by quarter turns would lose all digits.
FAR = np.float32(8192)


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
def _transform_rows(X):
    n, d = X.shape
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        other = np.empty(d, X.dtype)
        for i in range(chunk * CHUNK, min(n, (chunk + 1) * CHUNK)):
            _transform_row(X[i], other)


@njit(parallel=True, cache=True)
def _transform_middle(X):
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
    if single:
        far = 0
        for j in range(n):
            far += abs(angles[j]) > FAR
        single = far == 0
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
def _fastfood_project(X, signs, order, gains, scales, out):
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
def _fastfood_features(X, signs, order, gains, scales, frequencies, amplitude, at, single, out):
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
def _angle_features(angles, amplitude, at, single, out):
    n, frequencies = angles.shape
    for i in prange(n):
        piece = np.empty(PIECE, angles.dtype)  # apart from out, so that the loop is vectorised
        for low in range(0, frequencies, PIECE):
            count = min(frequencies - low, PIECE)
            piece[:count] = angles[i, low : low + count]
            cosine_at = at[0] + low if at[0] >= 0 else -1
            sine_at = at[1] + low if at[1] >= 0 else -1
            _write_features(piece[:count], amplitude, out[i], cosine_at, sine_at, single)


# ---------------------------------------------------------------- the doors


def _check_power(name, length):
    if length < 1 or length & (length - 1):
        raise InputError(f"{name} must be a power of two; got {length}")


def _check_diagonals(X, signs, order, gains, scales):
    _check_power("the length of a block", signs.shape[-1])
    blocks, d = signs.shape
    for name, array in (("order", order), ("gains", gains), ("scales", scales)):
        check_shape(name, array, blocks, d)
    check_indices("order", order, d)
    if X.ndim != 2 or X.shape[1] > d:
        raise InputError(f"rows of {X.shape[1:]} do not fit blocks of {d}")


def _check_columns(n, frequencies, at, out):
    room = out.shape[1] - frequencies if out.ndim == 2 and len(out) == n else -1
    if max(at) < 0 or max(at) > room:
        raise InputError(
            f"{frequencies} frequencies of {n} rows do not fit an array of {out.shape}"
        )


def transform_rows(X):
    """Transform each row of X (n, d) in place; d is a power of two."""
    _check_power("the length of a row", X.shape[1])
    _transform_rows(X)


def transform_middle(X):
    """Transform X (n, m, d) in place along the axis in the middle, a tile of columns at a time."""
    _check_power("the axis in the middle", X.shape[1])
    _transform_middle(X)


def fastfood_project(X, signs, order, gains, scales, out):
    """``V x`` for each row of X (n, width), into out (n, n_frequencies)."""
    _check_diagonals(X, signs, order, gains, scales)
    _check_columns(len(X), out.shape[1], (0,), out)
    if out.shape[1] > signs.size:
        raise InputError(f"{out.shape[1]} frequencies are more than {signs.size} diagonals give")
    _fastfood_project(X, signs, order, gains, scales, out)


def fastfood_features(X, signs, order, gains, scales, frequencies, amplitude, at, single, out):
    """Features of each row of X (n, width), into out (n, n_features_out).

    ``at`` holds the first columns of the cosines and of the sines, -1 for none.
    """
    _check_diagonals(X, signs, order, gains, scales)
    _check_columns(len(X), frequencies, at, out)
    if not signs.size - signs.shape[1] < frequencies <= signs.size:
        raise InputError(f"{frequencies} frequencies do not fit diagonals of {signs.shape}")
    _fastfood_features(X, signs, order, gains, scales, frequencies, amplitude, at, single, out)


def angle_features(angles, amplitude, at, single, out):
    """Features of angles (n, n_frequencies), into out (n, n_features_out)."""
    _check_columns(*angles.shape, at, out)
    _angle_features(angles, amplitude, at, single, out)
