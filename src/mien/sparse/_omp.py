"""Orthogonal matching pursuit of many signals at once, sparse codes out."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from mien._core.jit import load_kernels
from mien._core.parallel import map_threads
from mien._core.progress import report
from mien._core.rows import check_rows
from mien._core.validation import check_at_least_one_of
from mien.errors import InputError

__all__ = ["gram_matrix", "normalise_once", "orthogonal_matching_pursuit", "pursue"]

# Bytes of correlations X·Dᵀ that a thread holds at a time: few enough for the cache, and
# enough rows for a quick product.
_BLOCK_BYTES = 1 << 23
_LEAST_ROWS = 128
_REPORT_BLOCKS = 256
_GRAM_BLOCK = 512
# Bytes of a Gram matrix that is kept for the next call: of 2,048 atoms in double precision.
_KEPT_BYTES = 1 << 25


class UnitAtoms(NamedTuple):
    """Atoms (n_atoms, d) of length one, their lengths before, and their Gram matrix."""

    atoms: np.ndarray
    lengths: np.ndarray
    gram: np.ndarray


# Dictionary -> its atoms as they were given, and what was made of them.
_kept: WeakKeyDictionary[Any, tuple[np.ndarray, UnitAtoms]] = WeakKeyDictionary()


def _pursue_numpy(
    alpha: np.ndarray,
    energy: np.ndarray,
    gram: np.ndarray,
    stops: tuple[float, float, float],
    n_nonzero_coefs: int,
) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Atoms, coefficients and remaining energy of each signal: the twin of the compiled kernel.

    Parameters
    ----------
    alpha : (n, n_atoms)
        Correlations of the signals with atoms of length one.
    energy : (n,)
        Squared lengths of the signals.
    gram : (n_atoms, n_atoms)
        Inner products of the atoms.
    stops : (tol, floor, rank_tol)
        Energy to stop at, smallest correlation relative to the signal, smallest pivot.
    n_nonzero_coefs : int
        Maximum number of atoms of a signal.
    """
    tol, floor, rank_tol = stops
    supports, coefficients, remaining = [], [], energy.copy()
    for i in range(len(alpha)):
        correlation = alpha[i].copy()
        smallest = floor * np.sqrt(energy[i])
        chosen: list[int] = []
        directions = np.empty((n_nonzero_coefs, gram.shape[0]), alpha.dtype)
        factor = np.zeros((n_nonzero_coefs, n_nonzero_coefs), alpha.dtype)
        c = np.empty(n_nonzero_coefs, alpha.dtype)
        while len(chosen) < n_nonzero_coefs and remaining[i] > tol:
            k = len(chosen)
            atom = int(np.argmax(np.abs(correlation)))
            if not abs(correlation[atom]) > smallest:
                break
            row = directions[:k, atom]
            pivot = gram[atom, atom] - row @ row
            if atom in chosen or pivot <= rank_tol:
                correlation[atom] = 0
                continue
            factor[k, :k], factor[k, k] = row, np.sqrt(pivot)
            c[k] = correlation[atom] / factor[k, k]
            chosen.append(atom)
            directions[k] = (gram[atom] - row @ directions[:k]) / factor[k, k]
            correlation -= c[k] * directions[k]
            remaining[i] -= c[k] ** 2
        k = len(chosen)
        order = np.argsort(chosen)
        supports.append(np.asarray(chosen, dtype=np.int32)[order])
        solved = solve_triangular(factor[:k, :k], c[:k], trans="T", lower=True) if k else c[:0]
        coefficients.append(solved[order])
    return supports, coefficients, remaining


def _pursue_block(
    alpha: np.ndarray,
    energy: np.ndarray,
    gram: np.ndarray,
    stops: tuple[float, float, float],
    n_nonzero_coefs: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Atoms and coefficients of all signals in a row, how many each has, and what is left."""
    kernels = load_kernels("mien.sparse._omp_numba")
    if kernels is None:
        supports, coefficients, left = _pursue_numpy(alpha, energy, gram, stops, n_nonzero_coefs)
        counts = np.asarray([len(support) for support in supports])
        return np.concatenate(supports), np.concatenate(coefficients), counts, left
    n, dtype = len(alpha), alpha.dtype
    integer = np.dtype(f"i{dtype.itemsize}")
    indices = np.empty((n, n_nonzero_coefs), np.int32)
    values = np.empty((n, n_nonzero_coefs), dtype)
    counts = np.empty(n, np.int64)
    left = np.empty(n, dtype)
    kernels.pursue_all(
        alpha,
        alpha.view(integer),
        integer.type(np.iinfo(integer).max),
        energy,
        gram,
        tuple(dtype.type(stop) for stop in stops),
        indices,
        values,
        counts,
        left,
    )
    if np.all(counts == n_nonzero_coefs):
        return indices.ravel(), values.ravel(), counts, left
    used = np.arange(n_nonzero_coefs) < counts[:, None]
    return indices[used], values[used], counts, left


def pursue(
    X: np.ndarray,
    dictionary: np.ndarray | UnitAtoms,
    *,
    n_nonzero_coefs: int,
    tol: float | None,
    gram: np.ndarray | None = None,
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Code checked arrays of one floating type.

    Parameters
    ----------
    X : (n, d)
        Signals.
    dictionary : (n_atoms, d) or UnitAtoms
        Atoms; those that were normalised before save the time of the Gram matrix.
    n_nonzero_coefs : int
        Maximum number of atoms per signal.
    tol : float or None
        Squared residual at which a signal stops, in squared units of X.
    gram : (n_atoms, n_atoms) or None
        Gram matrix of the dictionary; with it the atoms must have length one.

    Returns
    -------
    codes : csr_matrix (n, n_atoms)
    energy : (n,)
        Squared residual of each signal.

    Notes
    -----
    Blocks of rows are shared out among threads. A block of correlations fits into a few megabytes,
    so that the kernel works in the cache.
    """
    lengths = None
    if isinstance(dictionary, UnitAtoms):
        dictionary, lengths, gram = dictionary
    elif gram is None:
        dictionary, lengths, gram = _normalise(dictionary)
    n, n_atoms = len(X), len(dictionary)
    eps = float(np.finfo(X.dtype).eps)
    stops = (0.0 if tol is None else float(tol), 16 * eps, np.sqrt(eps) * 0.03)
    rows = max(_LEAST_ROWS, _BLOCK_BYTES // (n_atoms * X.itemsize))

    own = threading.local()

    def code(low: int) -> tuple[np.ndarray, ...]:
        block = X[low : low + rows]
        if not hasattr(own, "held"):
            # One for each thread: new pages for every block would cost a tenth of the time.
            own.held = np.empty((min(n, rows), n_atoms), X.dtype)
        correlations = np.matmul(block, dictionary.T, out=own.held[: len(block)])
        energy = np.einsum("ij,ij->i", block, block)
        return _pursue_block(correlations, energy, gram, stops, n_nonzero_coefs)

    parts: list[tuple[np.ndarray, ...]] = []
    starts = range(0, n, rows)
    for first in range(0, len(starts), _REPORT_BLOCKS):
        parts += map_threads(code, starts[first : first + _REPORT_BLOCKS])
        if len(starts) > _REPORT_BLOCKS:
            report("sparse coding", min((first + _REPORT_BLOCKS) * rows, n), n)
    indices, values, counts, left = (np.concatenate(part) for part in zip(*parts, strict=True))
    if lengths is not None:
        values /= lengths[indices]
    pointers = np.concatenate([[0], np.cumsum(counts)])
    if pointers[-1] < np.iinfo(np.int32).max:
        pointers = pointers.astype(np.int32)
    codes = sparse.csr_matrix((values, indices, pointers), shape=(n, n_atoms), copy=False)
    codes.has_sorted_indices = True
    return codes, np.maximum(left, 0)


def gram_matrix(atoms: np.ndarray) -> np.ndarray:
    """Inner products (n_atoms, n_atoms) of the rows of atoms (n_atoms, d), each found once."""
    n = len(atoms)
    gram = np.empty((n, n), atoms.dtype)
    blocks = [slice(low, low + _GRAM_BLOCK) for low in range(0, n, _GRAM_BLOCK)]

    def fill(pair: tuple[slice, slice]) -> None:
        first, second = pair
        np.matmul(atoms[first], atoms[second].T, out=gram[first, second])
        if first is not second:
            gram[second, first] = gram[first, second].T

    map_threads(fill, [(a, b) for k, a in enumerate(blocks) for b in blocks[k:]])
    return gram


def _normalise(dictionary: np.ndarray) -> UnitAtoms:
    """Atoms of length one, their lengths, and their Gram matrix; zero atoms stay zero."""
    lengths = np.sqrt(np.einsum("ij,ij->i", dictionary, dictionary))
    lengths = np.where(lengths > 0, lengths, 1).astype(dictionary.dtype)
    if np.any(np.abs(lengths - 1) > 4 * np.finfo(dictionary.dtype).eps):
        dictionary = dictionary / lengths[:, None]
    return UnitAtoms(dictionary, lengths, gram_matrix(dictionary))


def normalise_once(owner: Any, dictionary: np.ndarray) -> UnitAtoms:
    """``_normalise`` of the atoms of ``owner``, kept while it lives and they do not change.

    For few signals the Gram matrix takes most of the time. Atoms that were written to in place
    are noticed, as they are compared with a copy; a Gram matrix beyond 32 MB is not kept.
    """
    known = _kept.get(owner)
    if (
        known is not None
        and known[0].dtype == dictionary.dtype
        and np.array_equal(known[0], dictionary)
    ):
        return known[1]
    if len(dictionary) ** 2 * dictionary.itemsize > _KEPT_BYTES:
        _kept.pop(owner, None)
        return _normalise(dictionary)
    dictionary = dictionary.copy()
    made = _normalise(dictionary)
    _kept[owner] = dictionary, made
    return made


def orthogonal_matching_pursuit(
    X: Any,
    dictionary: Any,
    *,
    n_nonzero_coefs: int | None = None,
    tol: float | None = None,
    return_energy: bool = False,
) -> sparse.csr_matrix | tuple[sparse.csr_matrix, np.ndarray]:
    """Write each signal as a combination of few atoms, chosen greedily.

    Each step takes the atom most correlated with the residual and solves for all coefficients
    again. The signals are coded in parallel from one product X·Dᵀ and the Gram matrix.

    Parameters
    ----------
    X : (n, d)
        Signals. float32 and float64 are kept.
    dictionary : (n_atoms, d)
        Atoms of any length: they are compared as if they had length one, and the coefficients
        are for the atoms as given. Zero atoms are never used.
    n_nonzero_coefs : int or None
        Maximum number of atoms that a signal may use; None with ``tol`` allows min(d, n_atoms).
    tol : float or None
        Stop a signal when its squared residual is at or below this. Both rules may be given:
        whichever holds first stops.
    return_energy : bool
        Also return the squared residual (n,) of each signal.

    Returns
    -------
    codes : csr_matrix (n, n_atoms)
        X ≈ codes @ dictionary, indices sorted.
    energy : (n,)
        Only with ``return_energy``.

    See Also
    --------
    KSVD : learns the dictionary.

    Notes
    -----
    Equal to scikit-learn's ``orthogonal_mp`` for atoms of length one. An atom is never taken
    twice, one that lies in the span of those taken (a duplicate) is passed over, and a signal
    that is explained stops early, so codes may have fewer entries than ``n_nonzero_coefs``. The
    energy is ‖x‖² less the squares explained, so it carries a rounding error relative to ‖x‖².

    References
    ----------
    [Rubinstein2008]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.sparse import orthogonal_matching_pursuit
    >>> dictionary = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> codes = orthogonal_matching_pursuit([[3.0, 0.1, -2.0]], dictionary, n_nonzero_coefs=2)
    >>> codes.toarray()
    array([[ 3.,  0., -2.]])
    """
    check_at_least_one_of(n_nonzero_coefs=n_nonzero_coefs, tol=tol)
    X = check_rows(X, dtype=[np.float64, np.float32], order="C")
    dictionary = check_rows(dictionary, dtype=X.dtype, order="C")
    if X.shape[1] != dictionary.shape[1]:
        raise InputError(
            f"signals of {X.shape[1]} numbers cannot be coded by atoms of {dictionary.shape[1]}"
        )
    most = min(dictionary.shape)
    if n_nonzero_coefs is not None and not 1 <= n_nonzero_coefs <= len(dictionary):
        raise InputError(
            f"n_nonzero_coefs must be between 1 and the {len(dictionary)} atoms; "
            f"got {n_nonzero_coefs}"
        )
    if tol is not None and not tol >= 0:
        raise InputError(f"tol must not be negative; got {tol}")
    codes, energy = pursue(
        X, dictionary, n_nonzero_coefs=min(n_nonzero_coefs or most, most), tol=tol
    )
    return (codes, energy) if return_energy else codes
