# mypy: disallow-untyped-defs=False
"""Compiled parts of K-SVD: the residual of sparse codes, and a sweep over the atoms.

An atom is updated from the rows of the residual that use it. Many rows are shared out among the
threads in chunks of fixed size, so that the sums do not depend on how many threads there are.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from mien._core.jit import check_indices, check_pointers, check_shape

FAST = {"reassoc", "contract", "nsz"}
CHUNK = 128
# Numbers that an atom must have in its rows before threads are worth waiting for: on a machine
# with other work each wait may take a slice of the scheduler's time.
FEW = 1 << 19


@njit(parallel=True, cache=True, fastmath={"contract"})
def _residual(X, pointers, indices, values, atoms, out):
    for i in prange(X.shape[0]):
        row = out[i]
        row[:] = X[i]
        for t in range(pointers[i], pointers[i + 1]):
            atom = atoms[indices[t]]
            value = values[t]
            for j in range(row.size):
                row[j] -= value * atom[j]


@njit(fastmath=FAST)
def _dot(a, b):
    total = a.dtype.type(0)
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@njit(fastmath=FAST)
def _gather(R, rows, coefficients, out):
    """Sum of the rows times their coefficients."""
    out[:] = 0
    for t in range(rows.size):
        row = R[rows[t]]
        value = coefficients[t]
        for j in range(out.size):
            out[j] += value * row[j]


@njit(fastmath=FAST)
def _scatter(R, rows, coefficients, old, new, overlap, square):
    """New coefficients for the new atom, and the residual that goes with them."""
    for t in range(rows.size):
        row = R[rows[t]]
        before = coefficients[t]
        after = (_dot(row, new) + before * overlap) / square
        for j in range(new.size):
            row[j] += before * old[j] - after * new[j]
        coefficients[t] = after


@njit(fastmath=FAST)
def _finish(direction, old, square, bound):
    """The new atom in place of its direction: unit length, then no entry above the bound."""
    for j in range(old.size):
        direction[j] += square * old[j]
    length = math.sqrt(_dot(direction, direction))
    if length == 0:
        return False
    largest = direction.dtype.type(0)
    for j in range(direction.size):
        direction[j] /= length
        largest = max(largest, abs(direction[j]))
    if bound > 0 and largest > bound:
        for j in range(direction.size):
            direction[j] *= bound / largest
    return True


@njit(parallel=True, cache=True)
def _sweep(R, pointers, rows, coefficients, atoms, bound):
    d = R.shape[1]
    n_atoms = atoms.shape[0]
    old = np.empty(d, R.dtype)
    for k in range(n_atoms):
        low = pointers[k]
        high = pointers[k + 1]
        if high == low:
            continue
        chunks = (high - low + CHUNK - 1) // CHUNK
        partial = np.empty((chunks, d), R.dtype)
        alone = (high - low) * d < FEW
        if alone:
            for chunk in range(chunks):
                a = low + chunk * CHUNK
                b = min(high, a + CHUNK)
                _gather(R, rows[a:b], coefficients[a:b], partial[chunk])
        else:
            for chunk in prange(chunks):
                a = low + chunk * CHUNK
                b = min(high, a + CHUNK)
                _gather(R, rows[a:b], coefficients[a:b], partial[chunk])
        for chunk in range(1, chunks):
            partial[0] += partial[chunk]
        new = partial[0]
        old[:] = atoms[k]
        square = _dot(coefficients[low:high], coefficients[low:high])
        if not _finish(new, old, square, bound):
            continue
        overlap = _dot(old, new)
        length = _dot(new, new)
        if alone:
            _scatter(R, rows[low:high], coefficients[low:high], old, new, overlap, length)
        else:
            for chunk in prange(chunks):
                a = low + chunk * CHUNK
                b = min(high, a + CHUNK)
                _scatter(R, rows[a:b], coefficients[a:b], old, new, overlap, length)
        atoms[k] = new


# ---------------------------------------------------------------- the doors


def residual(X, pointers, indices, values, atoms, out):
    """X less its codes times the atoms.

    Parameters
    ----------
    X : (n, d)
        Samples.
    pointers, indices, values : (n + 1,), (nnz,), (nnz,)
        Codes as a compressed matrix by rows.
    atoms : (n_atoms, d)
        The dictionary.
    out : (n, d)
        Written.
    """
    n, d = X.shape
    check_shape("atoms", atoms, len(atoms), d)
    check_shape("out", out, n, d)
    check_shape("values", values, *indices.shape)
    check_pointers("pointers", pointers, n, indices.size)
    check_indices("indices", indices, len(atoms))
    _residual(X, pointers, indices, values, atoms, out)


def sweep(R, pointers, rows, coefficients, atoms, bound):
    """One power step for each atom and its coefficients, in turn; all arrays are updated.

    Parameters
    ----------
    R : (n, d)
        Residual of the samples.
    pointers, rows, coefficients : (n_atoms + 1,), (nnz,), (nnz,)
        Codes as a compressed matrix by columns: the samples that use each atom.
    atoms : (n_atoms, d)
        The dictionary.
    bound : float
        Largest entry of an atom, 0 for none.
    """
    n, d = R.shape
    check_shape("atoms", atoms, len(atoms), d)
    check_shape("coefficients", coefficients, *rows.shape)
    check_pointers("pointers", pointers, len(atoms), rows.size)
    check_indices("rows", rows, n)
    _sweep(R, pointers, rows, coefficients, atoms, bound)
