"""Atoms as rows: how to start them, and how to replace idle ones."""

from __future__ import annotations

import numpy as np

__all__ = ["bound_rows", "find_idle", "replace_atoms", "start_atoms", "unit_rows"]


def unit_rows(rows: np.ndarray, fallback: np.ndarray | None = None) -> np.ndarray:
    """Rows (n, d) scaled to length one; zero rows become those of ``fallback``, or stay zero."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    result = rows / np.where(lengths > 0, lengths, 1).astype(rows.dtype)
    if fallback is not None:
        result = np.where(lengths > 0, result, fallback)
    return np.ascontiguousarray(result)


def bound_rows(atoms: np.ndarray, bound: float) -> np.ndarray:
    """Scale each atom (row) so that no entry exceeds the bound; 0 means no bound."""
    if bound == 0:
        return atoms
    largest = np.max(np.abs(atoms), axis=1, keepdims=True)
    factors = np.minimum(1, bound / np.maximum(largest, np.finfo(atoms.dtype).tiny))
    return np.asarray(atoms * factors.astype(atoms.dtype))


def start_atoms(X: np.ndarray, n_atoms: int, rng: np.random.RandomState) -> np.ndarray:
    """``n_atoms`` samples of X (n, d) in random order, scaled to length one; n ≥ n_atoms."""
    return unit_rows(X[rng.permutation(len(X))[:n_atoms]])


def find_idle(
    atoms: np.ndarray, usage: np.ndarray, max_coherence: float, gram: np.ndarray | None = None
) -> np.ndarray:
    """Atoms that no sample uses, and the less used one of every two that are alike.

    Parameters
    ----------
    atoms : (n_atoms, d)
        Of any length.
    usage : (n_atoms,)
        How much each is used; 0 is not at all.
    max_coherence : float
        Largest cosine that two atoms may have, up to sign.
    gram : (n_atoms, n_atoms) or None
        Inner products of the atoms, where they are known.
    """
    gram = atoms @ atoms.T if gram is None else gram
    lengths = np.sqrt(np.maximum(np.diagonal(gram), np.finfo(gram.dtype).tiny))
    idle = np.asarray(usage) <= 0
    # Rounding must not make two atoms of cosine one differ from the bound of one.
    limit = min(max_coherence, 1 - 1e-6)
    first, second = np.nonzero(np.abs(gram) > limit * np.outer(lengths, lengths))
    for i, j in zip(first, second, strict=True):
        if i < j and not idle[i] and not idle[j]:
            idle[j if usage[i] >= usage[j] else i] = True
    return np.flatnonzero(idle)


def replace_atoms(atoms: np.ndarray, idle: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Put samples, the worst represented first, in place of idle atoms; return which.

    Where there are fewer samples than idle atoms, the rest stay as they are: an idle atom does
    no harm, and noise in its place would.
    """
    samples = samples[np.any(samples, axis=1)][: idle.size]
    replaced = idle[: len(samples)]
    atoms[replaced] = unit_rows(samples)
    return np.asarray(replaced)
