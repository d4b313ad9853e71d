# mypy: disallow-untyped-defs=False
"""Compiled orthogonal matching pursuit on the Gram matrix, one signal after another.

With G_k the rows of the Gram matrix of the atoms taken, L the Cholesky factor of their inner
products and c_k = α[i_k] / L_kk, step k changes the coefficients by δ = c_k L⁻ᵀ e_k and the
correlations of all atoms by −Σ_m δ_m G_m. So a step fetches one new row; the earlier ones are
still in the cache of the core.

Arrays are indexed whole, because a slice counts references, and by unsigned numbers, because a
negative index would be wrapped: either keeps the loops from being vectorised or costs as much.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mien._core.jit import check_shape
from mien.errors import InputError

# Correlations that are updated by all rows before the next ones: they stay in the first cache.
BLOCK = 2048
# Correlations of which the largest is remembered.
PART = 256


@njit(nogil=True)
def _find_largest(bits, i, mask, low, high, largest):
    """Largest magnitude of each part of signal i from low to high.

    Floats are given as integers, which order as they do once the sign is masked, and vectorise.
    """
    i = np.uintp(i)
    for part in range(low // PART, (high + PART - 1) // PART):
        most = bits.dtype.type(0)
        for j in range(np.uintp(part * PART), np.uintp(min((part + 1) * PART, high))):
            value = bits.dtype.type(bits[i, j] & mask)
            if value > most:
                most = value
        largest[part] = most


@njit(nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _subtract_rows(alpha, i, gram, atoms, delta, k, low, high):
    """Take delta times the first k rows off alpha[i] from low to high, four rows at a time."""
    i, low, high = np.uintp(i), np.uintp(low), np.uintp(high)
    m = 0
    while m + 4 <= k:
        a0, a1 = np.uintp(atoms[i, m]), np.uintp(atoms[i, m + 1])
        a2, a3 = np.uintp(atoms[i, m + 2]), np.uintp(atoms[i, m + 3])
        w0, w1, w2, w3 = delta[m], delta[m + 1], delta[m + 2], delta[m + 3]
        for j in range(low, high):
            alpha[i, j] -= w0 * gram[a0, j] + w1 * gram[a1, j] + w2 * gram[a2, j] + w3 * gram[a3, j]
        m += 4
    if m + 2 <= k:
        a0, a1 = np.uintp(atoms[i, m]), np.uintp(atoms[i, m + 1])
        w0, w1 = delta[m], delta[m + 1]
        for j in range(low, high):
            alpha[i, j] -= w0 * gram[a0, j] + w1 * gram[a1, j]
        m += 2
    if m < k:
        a0, w0 = np.uintp(atoms[i, m]), delta[m]
        for j in range(low, high):
            alpha[i, j] -= w0 * gram[a0, j]


@njit(nogil=True)
def _pick(bits, i, mask, largest):
    """Atom with the largest correlation, from the largest of each part."""
    part = 0
    for p in range(1, largest.size):
        if largest[p] > largest[part]:
            part = p
    wanted = largest[part]
    for j in range(min(PART, bits.shape[1] - part * PART)):
        if (bits[i, part * PART + j] & mask) == wanted:
            return part * PART + j
    return part * PART


@njit(nogil=True, fastmath={"contract"})
def _factorise(gram, atom, atoms, i, k, factor, inverse):
    """Row k of the Cholesky factor; returns its squared pivot, 0 for an atom that is there."""
    pivot = gram[atom, atom]
    for m in range(k):
        if atoms[i, m] == atom:
            return pivot - pivot
        # All fetched first, so that the waits for memory overlap.
        factor[k, m] = gram[atom, atoms[i, m]]
    for m in range(k):
        value = factor[k, m]
        for j in range(m):
            value -= factor[m, j] * factor[k, j]
        value *= inverse[m]
        factor[k, m] = value
        pivot -= value * value
    return pivot


@njit(nogil=True, fastmath={"contract"})
def _change(factor, inverse, k, c, delta, values, i):
    """Change of the coefficients by step k: c L⁻ᵀ e_k, also added to them."""
    delta[k] = c * inverse[k]
    values[i, k] = delta[k]
    for m in range(k - 1, -1, -1):
        value = factor[m + 1, m] * delta[m + 1]
        for j in range(m + 2, k + 1):
            value += factor[j, m] * delta[j]
        delta[m] = -value * inverse[m]
        values[i, m] += delta[m]


@njit(nogil=True)
def _pursue(alpha, bits, mask, i, energy, gram, stops, work, atoms, values):
    """Code signal i; returns the number of atoms and the energy that is left."""
    tol, floor, rank_tol = stops
    factor, inverse, delta, largest = work
    n_atoms, n_nonzero_coefs = alpha.shape[1], atoms.shape[1]
    _find_largest(bits, i, mask, 0, n_atoms, largest)
    k = 0
    left = energy
    while k < n_nonzero_coefs and left > tol:
        atom = _pick(bits, i, mask, largest)
        if not abs(alpha[i, atom]) > floor:
            break
        pivot = _factorise(gram, atom, atoms, i, k, factor, inverse)
        if pivot <= rank_tol:
            # In the span already: what is left of its correlation is rounding.
            alpha[i, atom] = 0
            low = atom // PART * PART
            _find_largest(bits, i, mask, low, min(n_atoms, low + PART), largest)
            continue
        factor[k, k] = math.sqrt(pivot)
        inverse[k] = 1 / factor[k, k]
        c = alpha[i, atom] * inverse[k]
        atoms[i, k] = atom
        left -= c * c
        _change(factor, inverse, k, c, delta, values, i)
        k += 1
        if k < n_nonzero_coefs:
            for low in range(0, n_atoms, BLOCK):
                high = min(n_atoms, low + BLOCK)
                _subtract_rows(alpha, i, gram, atoms, delta, k, low, high)
                _find_largest(bits, i, mask, low, high, largest)
    return k, left


@njit(nogil=True)
def _sort(atoms, values, i, k):
    for m in range(1, k):
        atom = atoms[i, m]
        value = values[i, m]
        j = m - 1
        while j >= 0 and atoms[i, j] > atom:
            atoms[i, j + 1] = atoms[i, j]
            values[i, j + 1] = values[i, j]
            j -= 1
        atoms[i, j + 1] = atom
        values[i, j + 1] = value


@njit(nogil=True, cache=True)
def _pursue_all(alpha, bits, mask, energy, gram, stops, atoms, values, counts, left):
    n, n_atoms = alpha.shape
    n_nonzero_coefs = atoms.shape[1]
    factor = np.empty((n_nonzero_coefs, n_nonzero_coefs), alpha.dtype)
    inverse = np.empty(n_nonzero_coefs, alpha.dtype)
    delta = np.empty(n_nonzero_coefs, alpha.dtype)
    largest = np.empty((n_atoms + PART - 1) // PART, bits.dtype)
    work = (factor, inverse, delta, largest)
    for i in range(n):
        own = (stops[0], stops[1] * math.sqrt(energy[i]), stops[2])
        counts[i], left[i] = _pursue(
            alpha, bits, mask, i, energy[i], gram, own, work, atoms, values
        )
        _sort(atoms, values, i, counts[i])


def pursue_all(alpha, bits, mask, energy, gram, stops, atoms, values, counts, left):
    """Code every signal from its correlations alpha (n, n_atoms), which are overwritten.

    ``bits`` is alpha seen as integers, ``mask`` all of their bits but the sign, ``stops`` the
    energy to stop at, the smallest correlation (relative to the signal) and the smallest pivot.
    Writes atoms and values (n, n_nonzero_coefs), counts (n,), and the energy that is left (n,).
    """
    n, n_atoms = alpha.shape
    if n_atoms == 0 or bits.itemsize != alpha.itemsize:
        raise InputError(f"correlations of {alpha.shape} cannot be coded")
    check_shape("bits", bits, n, n_atoms)
    check_shape("gram", gram, n_atoms, n_atoms)
    check_shape("atoms", atoms, n, atoms.shape[-1])
    check_shape("values", values, *atoms.shape)
    for name, array in (("energy", energy), ("counts", counts), ("left", left)):
        check_shape(name, array, n)
    _pursue_all(alpha, bits, mask, energy, gram, stops, atoms, values, counts, left)
