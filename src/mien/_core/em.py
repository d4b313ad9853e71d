"""The loop that every EM algorithm here shares: step, bound, change, converged."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mien._core.progress import report

__all__ = ["EMResult", "run_em"]

StateT = TypeVar("StateT")


@dataclass(frozen=True)
class EMResult(Generic[StateT]):
    """The last state, the objective of every iteration, and whether the change fell below tol."""

    state: StateT
    objective: np.ndarray
    n_iter: int
    converged: bool


def run_em(
    step: Callable[[StateT], tuple[StateT, float]],
    state: StateT,
    *,
    max_iter: int,
    tol: float,
    description: str = "EM",
    scale: float = 1.0,
) -> EMResult[StateT]:
    """Repeat ``step`` until the objective changes by less than ``tol``.

    Parameters
    ----------
    step : callable
        ``step(state)`` gives the next state and the objective of the state that it was *given*
        (what an E-step yields for free).
    state : State
        Where to start.
    max_iter : int
        Most steps to take.
    tol : float
        Stop when the objective changes by less than ``tol * scale`` between two steps.
    description : str
        What progress is reported as.
    scale : float
        The unit of the change, such as the number of samples.

    Returns
    -------
    EMResult
        ``objective`` has one value an iteration: that of the state before its step.
    """
    objective: list[float] = []
    converged = False
    for iteration in range(1, max_iter + 1):
        new_state, value = step(state)
        objective.append(value)
        state = new_state
        report(description, iteration, max_iter)
        if iteration > 1 and abs(objective[-1] - objective[-2]) <= tol * scale:
            converged = True
            break
    if not converged and tol > 0:
        warnings.warn(
            f"{description} did not converge in {max_iter} iterations; "
            "raise max_iter, or tol if the result is good enough",
            ConvergenceWarning,
            stacklevel=3,
        )
    return EMResult(state, np.asarray(objective), len(objective), converged)
