"""How K-SVD improves its atoms: by a power step, an exact SVD, or from streamed statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import linalg, sparse

from mien._core.jit import load_kernels
from mien._core.statistics import AdditiveStatistics
from mien.errors import InputError
from mien.sparse._atoms import bound_rows

__all__ = ["UPDATES", "CodeStatistics", "residual", "sweep_exact", "sweep_power"]

_ATOM_BLOCK = 64


def residual(X: np.ndarray, codes: sparse.csr_matrix, atoms: np.ndarray) -> np.ndarray:
    """X (n, d) less codes (n, n_atoms) times atoms (n_atoms, d), as a new array."""
    kernels = load_kernels("mien.sparse._ksvd_numba")
    if kernels is None:
        return np.asarray(X - codes @ atoms)
    out = np.empty_like(X, order="C")
    kernels.residual(X, codes.indptr, codes.indices, codes.data, atoms, out)
    return out


def sweep_power(R: np.ndarray, codes: sparse.csc_matrix, atoms: np.ndarray, bound: float) -> None:
    """One power step for every atom in turn: the approximate K-SVD.

    Parameters
    ----------
    R : (n, d)
        Residual; updated in place.
    codes : csc_matrix (n, n_atoms)
        Coefficients; updated in place.
    atoms : (n_atoms, d)
        Updated in place.
    bound : float
        Largest entry of an atom, 0 for none.
    """
    kernels = load_kernels("mien.sparse._ksvd_numba")
    if kernels is None:
        _sweep_numpy(R, codes, atoms, bound, _power_step)
        return
    kernels.sweep(R, codes.indptr, codes.indices, codes.data, atoms, R.dtype.type(bound))


def sweep_exact(R: np.ndarray, codes: sparse.csc_matrix, atoms: np.ndarray, bound: float) -> None:
    """The best rank-one update of every atom in turn: K-SVD proper; arguments as above."""
    _sweep_numpy(R, codes, atoms, bound, _singular_vector)


UPDATES: dict[str, Callable[[np.ndarray, sparse.csc_matrix, np.ndarray, float], None]] = {
    "power": sweep_power,
    "exact": sweep_exact,
}


def _power_step(E: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    return np.asarray(coefficients @ E)


def _singular_vector(E: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """First right singular vector of E (m, d), by the smaller of its two Gram matrices."""
    m, d = E.shape
    E64 = E.astype(np.float64)
    top = [min(m, d) - 1] * 2
    if m <= d:
        left = linalg.eigh(E64 @ E64.T, subset_by_index=top, check_finite=False)[1][:, 0]
        return np.asarray(left @ E64)
    return np.asarray(linalg.eigh(E64.T @ E64, subset_by_index=top, check_finite=False)[1][:, 0])


def _sweep_numpy(
    R: np.ndarray,
    codes: sparse.csc_matrix,
    atoms: np.ndarray,
    bound: float,
    step: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> None:
    for k in range(len(atoms)):
        place = slice(codes.indptr[k], codes.indptr[k + 1])
        rows, coefficients = codes.indices[place], codes.data[place]
        if rows.size == 0:
            continue
        E = R[rows] + np.outer(coefficients, atoms[k])
        direction = step(E, coefficients)
        length = float(np.linalg.norm(direction))
        if length == 0:
            continue
        atoms[k] = bound_rows(direction[None] / length, bound)[0]
        codes.data[place] = E @ atoms[k] / (atoms[k] @ atoms[k])
        R[rows] = E - np.outer(codes.data[place], atoms[k])


class CodeStatistics(AdditiveStatistics):
    """Sums over batches of codes C and data X: CᵀC, CᵀX and ‖X‖², which a sweep needs alone.

    Parameters
    ----------
    n_atoms, n_features : int
        Shape of the dictionary.
    dtype : numpy dtype
        Of the sums.
    """

    def __init__(self, n_atoms: int, n_features: int, dtype: Any) -> None:
        self.n_samples = 0.0
        self.energy = 0.0
        self.codes = np.zeros((n_atoms, n_atoms), dtype)
        self.data = np.zeros((n_atoms, n_features), dtype)

    def collect(self, X: Any, y: Any = None, forget: float = 1.0) -> Self:
        """Add a batch of samples with their codes.

        Parameters
        ----------
        X : (n, d)
            Samples.
        y : csr_matrix (n, n_atoms)
            Their codes.
        forget : float
            What was added before counts this many times; below 1 the past fades.
        """
        codes: sparse.csr_matrix = y
        if forget != 1.0:
            self.n_samples *= forget
            self.energy *= forget
            self.codes *= self.codes.dtype.type(forget)
            self.data *= self.data.dtype.type(forget)
        self.n_samples += len(X)
        self.energy += float(np.einsum("ij,ij->", X, X, dtype=np.float64))
        transposed = codes.T.tocsr()
        self.codes += (transposed @ codes).toarray()
        self.data += transposed @ X
        return self

    def merge(self, other: Self) -> Self:
        """Add the sums of other data, coded with the same atoms."""
        if other.data.shape != self.data.shape:
            raise InputError(
                f"sums for atoms {self.data.shape} and {other.data.shape} cannot be added"
            )
        self.n_samples += other.n_samples
        self.energy += other.energy
        self.codes += other.codes
        self.data += other.data
        return self

    def empty(self) -> Self:
        """Sums for the same atoms that have seen nothing."""
        n_atoms, n_features = self.data.shape
        return type(self)(n_atoms, n_features, self.data.dtype)

    def clear(self, idle: np.ndarray) -> None:
        """Reset the sums of some atoms.

        Parameters
        ----------
        idle : (k,)
            Indices of atoms that were replaced: what their predecessors coded says nothing of them.
        """
        self.codes[idle] = 0
        self.codes[:, idle] = 0
        self.data[idle] = 0

    def objective(self, atoms: np.ndarray) -> float:
        """Mean squared residual of the codes that were added, with these atoms."""
        total = self.energy - 2.0 * np.vdot(self.data, atoms) + np.vdot(self.codes @ atoms, atoms)
        return max(float(total), 0.0) / max(self.n_samples, 1.0)

    def sweep(self, atoms: np.ndarray) -> np.ndarray:
        """Best atom for each in turn while the codes stay: new atoms, not of length one.

        In blocks: one product gives what a block lacks, and within the block each new atom is
        taken into account at once, so the result is that of one atom after another.
        """
        atoms = atoms.copy()
        used = self.codes.diagonal() > 0
        for low in range(0, len(atoms), _ATOM_BLOCK):
            block = slice(low, min(low + _ATOM_BLOCK, len(atoms)))
            lack = self.data[block] - self.codes[block] @ atoms
            inner = self.codes[block, block]
            for k in range(lack.shape[0]):
                if not used[low + k]:
                    continue
                change = lack[k] / inner[k, k]
                atoms[low + k] += change
                lack -= np.outer(inner[:, k], change)
        return atoms
