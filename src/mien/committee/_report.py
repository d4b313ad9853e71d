"""Strength, correlation and diversity of a committee, and the law that ties them together."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mien._core.validation import check_labels
from mien.errors import InputError

__all__ = ["CommitteeReport", "committee_report", "predicted_error"]


@dataclass(frozen=True)
class CommitteeReport:
    """What :func:`committee_report` found.

    Attributes
    ----------
    n_members : int
        T.
    average_error : float
        E_av, the mean over members of their mean squared error.
    committee_error : float
        E_com, the mean squared error of the members' average.
    predicted_error : float
        What the law says of E_com: ``E_av (1/T + rho (1 - 1/T))``.
    error_correlation : float
        rho, the mean over pairs of members of the correlation of their errors.
    pooled_correlation : float
        The mean product of two members' errors over the mean square of one's. With it the law is
        an identity, for members of any strength; 1 for a single member.
    diversity : float
        ``E_av - E_com``, which is the members' mean squared distance from their average. Never
        below zero.
    strength : float or None
        Mean accuracy of the members; None for numbers instead of posteriors.
    member_error_rates : list of float or None
        Share of wrong decisions of each member.
    committee_error_rate : float or None
        Share of wrong decisions of the sum rule.
    disagreement : float or None
        Share of decisions on which two members differ, over all pairs.
    unique_share : float or None
        Mean share of the training pictures that a member saw.
    """

    n_members: int
    average_error: float
    committee_error: float
    predicted_error: float
    error_correlation: float
    pooled_correlation: float
    diversity: float
    strength: float | None = None
    member_error_rates: list[float] | None = None
    committee_error_rate: float | None = None
    disagreement: float | None = None
    unique_share: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """All fields, for a table or JSON."""
        return asdict(self)


def predicted_error(average_error: float, correlation: float, n_members: int) -> float:
    """Error ``E_av (1/T + rho (1 - 1/T))`` that the law expects of a committee of T members.

    It holds for zero-mean errors of equal variance. rho = 0 gives ``E_av / T``; rho = 1 gives
    ``E_av``: members that err alike are one member.

    Examples
    --------
    >>> from mien.committee import predicted_error
    >>> predicted_error(0.4, 0.0, 4), predicted_error(0.4, 1.0, 4)
    (0.1, 0.4)
    """
    return average_error * (1 / n_members + correlation * (1 - 1 / n_members))


def committee_report(
    members: Any, truth: Any, *, classes: Any = None, unique_share: Any = None
) -> CommitteeReport:
    """Measure a committee by what its members said.

    Parameters
    ----------
    members : array-like (T, n, c) or (T, n)
        Posteriors of the members, as from ``member_proba``, or numbers that estimate ``truth``.
    truth : array-like (n,)
        True labels; or the true numbers.
    classes : array-like (c,), optional
        Labels of the columns, as ``classes_``; 0 … c - 1 if None. A true label that is not among
        them is an error of every member.
    unique_share : array-like (T,), optional
        As ``unique_share_``, to be averaged.

    Returns
    -------
    CommitteeReport

    Notes
    -----
    A posterior's error is its difference from the indicator of the truth, its square is summed
    over the classes (the Brier score). Both sum to one, so the errors of a member have mean zero
    over the classes, as the law asks; where members differ in strength the law is approximate for
    the mean correlation, and exact for the pooled one.
    ``E_com ≤ E_av`` always, for any members, because the square is convex.

    Examples
    --------
    >>> from mien.committee import committee_report
    >>> members = [[[0.9, 0.1], [0.6, 0.4]], [[0.7, 0.3], [0.2, 0.8]]]
    >>> report = committee_report(members, [0, 1])
    >>> round(report.average_error, 3), round(report.committee_error, 3)
    (0.25, 0.2)
    """
    outputs = _check_outputs(members)
    if outputs.ndim == 2:
        target = np.asarray(truth, dtype=np.float64)
        if target.shape != outputs.shape[1:]:
            raise InputError(f"truth must have the shape {outputs.shape[1:]}; got {target.shape}")
        decisions: dict[str, Any] = {}
    else:
        target, codes = _indicators(truth, classes, outputs.shape[1:])
        decisions = _compare_decisions(outputs, codes)
    n_members, n = outputs.shape[:2]
    errors = (outputs - target).reshape(n_members, -1)
    products = errors @ errors.T / n
    average, together = float(np.trace(products) / n_members), float(products.mean())
    correlation = _mean_correlation(errors)
    return CommitteeReport(
        n_members=n_members,
        average_error=average,
        committee_error=together,
        predicted_error=predicted_error(average, correlation, n_members),
        error_correlation=correlation,
        pooled_correlation=_pool_correlation(average, together, n_members),
        diversity=average - together,
        unique_share=None if unique_share is None else float(np.mean(unique_share)),
        **decisions,
    )


def _pool_correlation(average: float, together: float, n_members: int) -> float:
    """The rho with which ``E_com = E_av (1/T + rho (1 - 1/T))`` exactly."""
    if n_members == 1 or average == 0:
        return 1.0
    return (n_members * together / average - 1) / (n_members - 1)


def _check_outputs(members: Any) -> np.ndarray:
    try:
        outputs = np.asarray(members, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("members must be numbers of shape (T, n, c) or (T, n)") from error
    if outputs.ndim not in (2, 3) or outputs.size == 0:
        raise InputError(f"members must be (T, n, c) or (T, n), not empty; got {outputs.shape}")
    if not np.all(np.isfinite(outputs)):
        raise InputError("members have NaN or infinite entries")
    return outputs


def _indicators(truth: Any, classes: Any, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Indicator (n, c) of the truth, and its column (n,), -1 where the label has none."""
    n, c = shape
    names = np.arange(c) if classes is None else check_labels("classes", classes, missing="class")
    labels = check_labels("truth", truth, n, missing="class")
    if len(names) != c:
        raise InputError(f"classes has {len(names)} labels for {c} columns")
    order = np.argsort(names)
    place = np.minimum(np.searchsorted(names[order], labels), c - 1)
    codes = np.where(names[order][place] == labels, order[place], -1)
    target = np.zeros(shape)
    known = np.flatnonzero(codes >= 0)
    target[known, codes[known]] = 1
    return target, codes


def _compare_decisions(outputs: np.ndarray, codes: np.ndarray) -> dict[str, Any]:
    choices = outputs.argmax(axis=2)
    wrong = (choices != codes).mean(axis=1)
    n_members = len(choices)
    different = sum((choices[i] != choices[i + 1 :]).mean(axis=1).sum() for i in range(n_members))
    pairs = n_members * (n_members - 1) / 2
    return {
        "strength": float(1 - wrong.mean()),
        "member_error_rates": wrong.tolist(),
        "committee_error_rate": float((outputs.mean(axis=0).argmax(axis=1) != codes).mean()),
        "disagreement": float(different / pairs) if pairs else 0.0,
    }


def _mean_correlation(errors: np.ndarray) -> float:
    """Mean correlation over pairs of rows; rows that never vary are left out."""
    centred = errors - errors.mean(axis=1, keepdims=True)
    lengths = np.sqrt((centred * centred).sum(axis=1))
    centred = centred[lengths > 0] / lengths[lengths > 0, None]
    if len(centred) < 2:
        return 1.0
    return float(np.mean((centred @ centred.T)[np.triu_indices(len(centred), 1)]))
