# mypy: disallow-untyped-defs=False
"""Compiled orthogonal matching pursuit on the Gram matrix, one signal a thread at a time.

The chosen atoms are orthonormalised on the fly: with q_k the k-th direction and p_k = D q_k the
inner products of all atoms with it, p_k = (G[i_k] − Σ_j L_kj p_j) / L_kk where L_kj = p_j[i_k] is
the row of the Cholesky factor. A step then reads one row of the Gram matrix; the p_j stay in the
cache of the core. The correlations lose c_k p_k with c_k = α[i_k] / L_kk, and the coefficients
come from one triangular solve at the end.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

BLOCK = 512
CHUNK = 32


@njit
def _largest(bits, mask):
    """Largest magnitude of floats given as integers: it orders as they do, and vectorises."""
    largest = mask - mask
    for j in range(bits.size):
        largest = max(largest, bits[j] & mask)
    return largest


@njit(fastmath={"contract"})
def _update(gram_row, directions, factor, k, c, low, high, fresh, alpha):
    """New direction k on the atoms low to high, of which alpha loses its part."""
    n = high - low
    row = gram_row[low:high]
    for j in range(n):
        fresh[j] = row[j]
    m = 0
    # Four at a time, so that the sum is loaded and stored a quarter as often.
    while m + 4 <= k:
        w0, w1, w2, w3 = factor[k, m], factor[k, m + 1], factor[k, m + 2], factor[k, m + 3]
        d0, d1 = directions[m, low:high], directions[m + 1, low:high]
        d2, d3 = directions[m + 2, low:high], directions[m + 3, low:high]
        for j in range(n):
            fresh[j] -= w0 * d0[j] + w1 * d1[j] + w2 * d2[j] + w3 * d3[j]
        m += 4
    if m + 2 <= k:
        w0, w1 = factor[k, m], factor[k, m + 1]
        d0, d1 = directions[m, low:high], directions[m + 1, low:high]
        for j in range(n):
            fresh[j] -= w0 * d0[j] + w1 * d1[j]
        m += 2
    if m < k:
        w0 = factor[k, m]
        d0 = directions[m, low:high]
        for j in range(n):
            fresh[j] -= w0 * d0[j]
    scale = 1 / factor[k, k]
    new = directions[k, low:high]
    part = alpha[low:high]
    for j in range(n):
        value = fresh[j] * scale
        new[j] = value
        part[j] -= c * value


@njit
def _pick(bits, mask, largest):
    """Atom with the largest correlation, from the largest of each block."""
    block = 0
    for b in range(1, largest.size):
        if largest[b] > largest[block]:
            block = b
    atom = block * BLOCK
    wanted = largest[block]
    for j in range(block * BLOCK, min(bits.size, (block + 1) * BLOCK)):
        if (bits[j] & mask) == wanted:
            atom = j
            break
    return atom, block


@njit
def _pursue(alpha, bits, mask, energy, gram, n_nonzero, stops, work, indices, values):
    """Code one signal; returns the number of atoms and the energy that is left."""
    tol, floor, rank_tol = stops
    directions, factor, c, largest, fresh = work
    n_atoms = alpha.size
    blocks = largest.size
    for b in range(blocks):
        largest[b] = _largest(bits[b * BLOCK : min(n_atoms, (b + 1) * BLOCK)], mask)
    k = 0
    left = energy
    while k < n_nonzero and left > tol:
        atom, block = _pick(bits, mask, largest)
        if not abs(alpha[atom]) > floor:
            break
        taken = False
        for m in range(k):
            if indices[m] == atom:
                taken = True
        diagonal = gram[atom, atom]
        if not taken:
            for m in range(k):
                factor[k, m] = directions[m, atom]
                diagonal -= factor[k, m] * factor[k, m]
        if taken or diagonal <= rank_tol:
            # In the span already: what is left of its correlation is rounding.
            alpha[atom] = 0
            low = block * BLOCK
            largest[block] = _largest(bits[low : min(n_atoms, low + BLOCK)], mask)
            continue
        factor[k, k] = math.sqrt(diagonal)
        c[k] = alpha[atom] / factor[k, k]
        indices[k] = atom
        left -= c[k] * c[k]
        if k + 1 < n_nonzero:
            for b in range(blocks):
                low = b * BLOCK
                high = min(n_atoms, low + BLOCK)
                _update(gram[atom], directions, factor, k, c[k], low, high, fresh, alpha)
                largest[b] = _largest(bits[low:high], mask)
        k += 1
    for m in range(k - 1, -1, -1):
        value = c[m]
        for j in range(m + 1, k):
            value -= factor[j, m] * values[j]
        values[m] = value / factor[m, m]
    return k, left


@njit
def _sort(indices, values, k):
    for m in range(1, k):
        index = indices[m]
        value = values[m]
        j = m - 1
        while j >= 0 and indices[j] > index:
            indices[j + 1] = indices[j]
            values[j + 1] = values[j]
            j -= 1
        indices[j + 1] = index
        values[j + 1] = value


@njit(parallel=True, cache=True)
def pursue_all(alpha, bits, mask, energy, gram, stops, indices, values, counts, left):
    """Code every signal from its correlations alpha (n, n_atoms), which are overwritten.

    ``bits`` is alpha seen as integers, ``mask`` all of their bits but the sign, ``stops`` the
    energy to stop at, the smallest correlation (relative to the signal) and the smallest pivot.
    Writes indices and values (n, n_nonzero), counts (n,), and the energy that is left (n,).
    """
    n, n_atoms = alpha.shape
    n_nonzero = indices.shape[1]
    blocks = (n_atoms + BLOCK - 1) // BLOCK
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        directions = np.empty((n_nonzero, n_atoms), alpha.dtype)
        factor = np.empty((n_nonzero, n_nonzero), alpha.dtype)
        c = np.empty(n_nonzero, alpha.dtype)
        largest = np.empty(blocks, bits.dtype)
        fresh = np.empty(BLOCK, alpha.dtype)
        work = (directions, factor, c, largest, fresh)
        for i in range(chunk * CHUNK, min(n, (chunk + 1) * CHUNK)):
            own = (stops[0], stops[1] * math.sqrt(energy[i]), stops[2])
            counts[i], left[i] = _pursue(
                alpha[i],
                bits[i],
                mask,
                energy[i],
                gram,
                n_nonzero,
                own,
                work,
                indices[i],
                values[i],
            )
            _sort(indices[i], values[i], counts[i])
