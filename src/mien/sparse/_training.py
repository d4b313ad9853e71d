"""The rounds of K-SVD: code, update the atoms, replace idle ones, record the state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mien._core.passes import Passes
from mien._core.progress import report
from mien.sparse._atoms import bound_rows, find_idle, replace_atoms, unit_rows
from mien.sparse._checkpoint import TrainingState
from mien.sparse._omp import gram_matrix, pursue
from mien.sparse._updates import UPDATES, CodeStatistics, residual

__all__ = [
    "KSVDSettings",
    "Round",
    "Step",
    "Weighing",
    "run_rounds",
    "step_in_batches",
    "step_in_memory",
]

# Samples that are kept as a reserve for idle atoms in a pass over batches.
_RESERVE = 256


class KSVDSettings(NamedTuple):
    """The settings of a round.

    Attributes
    ----------
    n_nonzero_coefs : int
        Maximum number of atoms per sample.
    tol : float or None
        Squared residual at which coding stops.
    update : {"power", "exact"}
        How an atom is improved.
    bound : float
        Largest entry of an atom, 0 for none.
    max_coherence : float
        Cosine above which two atoms are duplicates.
    """

    n_nonzero_coefs: int
    tol: float | None
    update: str
    bound: float
    max_coherence: float


class Round(NamedTuple):
    """Result of a round.

    Attributes
    ----------
    atoms : (n_atoms, d)
        After the update.
    objective : float
        Mean squared residual.
    usage : (n_atoms,)
        How much each atom is used: samples in memory, sums of squared coefficients in batches.
    worst : (k, d)
        Samples with the largest residual, the worst first, for atoms that are idle.
    """

    atoms: np.ndarray
    objective: float
    usage: np.ndarray
    worst: np.ndarray


Step = Callable[[np.ndarray, np.ndarray], Round]


def _find_worst(left: np.ndarray, energies: np.ndarray) -> np.ndarray:
    """Rows by their squared residual, the largest first, without those that are explained."""
    order = np.argsort(-left, kind="stable")
    explained = 16 * np.finfo(left.dtype).eps * np.maximum(energies, np.finfo(left.dtype).tiny)
    return order[left[order] > explained[order]]


def step_in_memory(X: np.ndarray, settings: KSVDSettings) -> Step:
    """A round on data X (n, d) in memory.

    The residual of all samples is held beside them, so that an atom is updated from the samples
    that use it, with their coefficients: this converges in fewer rounds than sums over a pass.
    """
    energies = np.einsum("ij,ij->i", X, X)

    def step(atoms: np.ndarray, gram: np.ndarray) -> Round:
        known = gram if settings.bound == 0 else None
        codes, _ = pursue(
            X, atoms, n_nonzero_coefs=settings.n_nonzero_coefs, tol=settings.tol, gram=known
        )
        R = residual(X, codes, atoms)
        columns = codes.tocsc()
        atoms = atoms.copy()
        UPDATES[settings.update](R, columns, atoms, settings.bound)
        left = np.einsum("ij,ij->i", R, R)
        worst = X[_find_worst(left, energies)[: len(atoms)]]
        objective = float(np.mean(left, dtype=np.float64))
        return Round(atoms, objective, np.diff(columns.indptr), worst)

    return step


class Weighing(NamedTuple):
    """How samples come into the space of the atoms: less their mean, times weights if any."""

    mean: np.ndarray
    weights: np.ndarray | None

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Rows X (n, d) there."""
        if np.any(self.mean):
            X = X - self.mean.astype(X.dtype, copy=False)
        if self.weights is not None:
            X = X * self.weights.astype(X.dtype, copy=False)
        return np.ascontiguousarray(X)


@dataclass
class CodedRows:
    """Sums over samples that were coded, and those that were coded worst."""

    sums: CodeStatistics
    worst: np.ndarray
    left: np.ndarray

    def merge(self, other: CodedRows) -> CodedRows:
        """Add other samples, coded with the same atoms."""
        left = np.concatenate([self.left, other.left])
        order = np.argsort(-left, kind="stable")[:_RESERVE]
        worst = np.concatenate([self.worst, other.worst])[order]
        return CodedRows(self.sums.merge(other.sums), worst, left[order])


def code_rows(
    batch: np.ndarray,
    weighing: Weighing,
    atoms: np.ndarray,
    gram: np.ndarray | None,
    settings: KSVDSettings,
) -> CodedRows:
    """Code a batch (n, d), and sum what a sweep over the atoms needs of it."""
    X = weighing.apply(batch.astype(atoms.dtype, copy=False))
    codes, left = pursue(
        X, atoms, n_nonzero_coefs=settings.n_nonzero_coefs, tol=settings.tol, gram=gram
    )
    sums = CodeStatistics(atoms.shape[0], atoms.shape[1], atoms.dtype).collect(X, codes)
    kept = _find_worst(left, np.einsum("ij,ij->i", X, X))[:_RESERVE]
    return CodedRows(sums, X[kept], left[kept])


def step_in_batches(passes: Passes, weighing: Weighing, settings: KSVDSettings) -> Step:
    """A round on a stream of batches (n_i, d), of which only sums are kept.

    Parameters
    ----------
    stream : callable
        Returns a new iterator over the batches, the same ones at every pass.
    settings : KSVDSettings
        Of the round.
    n_samples : int or None
        Number of samples of a pass, for progress; None if it is not known.

    Notes
    -----
    Memory is that of one batch, of the sums CᵀC and CᵀX, and of the 256 samples that are
    represented worst, which replace idle atoms.
    """

    def step(atoms: np.ndarray, gram: np.ndarray) -> Round:
        known = gram if settings.bound == 0 else None
        coded = passes.total(code_rows, weighing, atoms, known, settings)
        swept = coded.sums.sweep(atoms)
        new = bound_rows(unit_rows(swept, atoms), settings.bound)
        return Round(new, coded.sums.objective(swept), coded.sums.codes.diagonal(), coded.worst)

    return step


def run_rounds(
    state: TrainingState,
    step: Step,
    settings: KSVDSettings,
    *,
    max_iter: int,
    min_improvement: float,
    after: Callable[[TrainingState], bool],
) -> bool:
    """Repeat the step from the state on, which is updated.

    Parameters
    ----------
    state : TrainingState
        Where training starts: new, or read from a checkpoint.
    step : callable
        One round on the data, from :func:`step_in_memory` or :func:`step_in_batches`.
    settings : KSVDSettings
        Of the round; here only ``max_coherence`` is used, to find duplicates.
    max_iter : int
        Number of rounds, those of the checkpoint included.
    min_improvement : float
        Stop when a round improves the objective by less than this share; 0 runs all rounds.
    after : callable
        ``after(state)`` is called at the end of every round; True stops.

    Returns
    -------
    bool
        False if the objective still improves when the rounds are used up.

    Notes
    -----
    Atoms that no sample uses, and one of every two that are nearly parallel, are replaced by the
    samples that are represented worst. After the last round nothing is replaced, because a new
    atom would not be coded with.
    """
    gram = gram_matrix(state.atoms)
    while state.iteration < max_iter:
        atoms, objective, usage, worst = step(state.atoms, gram)
        gram = gram_matrix(atoms)
        idle = find_idle(atoms, usage, settings.max_coherence, gram)
        if idle.size and state.iteration + 1 < max_iter:
            replaced = replace_atoms(atoms, idle, worst)
            state.n_replaced += int(replaced.size)
            gram = gram_matrix(atoms) if replaced.size else gram
        state.atoms = atoms
        state.iteration += 1
        state.objective.append(objective)
        report("K-SVD", state.iteration, max_iter)
        if after(state):
            return True
        if state.iteration > 1:
            before, now = state.objective[-2:]
            if min_improvement > 0 and before - now <= min_improvement * before:
                return True
    return min_improvement == 0
