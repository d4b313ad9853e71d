"""Atoms as rows: how to start them, and what to put in the place of idle ones."""

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
    """Samples of X (n, d) in random order, of length one; random ones where they run out."""
    order = rng.permutation(len(X))[:n_atoms]
    atoms = np.empty((n_atoms, X.shape[1]), X.dtype)
    atoms[: order.size] = X[order]
    atoms[order.size :] = rng.standard_normal((n_atoms - order.size, X.shape[1]))
    empty = ~np.any(atoms, axis=1)
    atoms[empty] = rng.standard_normal((int(empty.sum()), X.shape[1]))
    return unit_rows(atoms)


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


def replace_atoms(
    atoms: np.ndarray, idle: np.ndarray, samples: np.ndarray, rng: np.random.RandomState
) -> int:
    """Put samples (worst represented first), then random atoms, in place of the idle ones."""
    samples = samples[np.any(samples, axis=1)][: idle.size]
    fresh = rng.standard_normal((idle.size, atoms.shape[1])).astype(atoms.dtype)
    fresh[: len(samples)] = samples
    atoms[idle] = unit_rows(fresh)
    return int(idle.size)
