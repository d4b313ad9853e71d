"""What the approximate E-step does to weak directions of identity, drawn as ratios."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mien.reports import Report, plot_curves
from mien.verification import JointBayesian

__all__ = ["add_ratios", "compare_ratios", "lowest_ratio"]

_PEOPLE = 3000
_DIRECTIONS = 30
_ITERATIONS = 300
PICTURES = (2, 4, 8)


def lowest_ratio(m: int) -> float:
    """The smallest ratio that the approximate E-step keeps for m pictures per person.

    Let u be m times the ratio in use and b = m r + 1. A fixed point solves
    (m − 1)(u + 1)² + b = u m b, a quadratic equation whose discriminant is not negative where
    b ≥ 4 (1 − 1/m²).
    """
    return (3 - 4 / m**2) / m


def compare_ratios(n_pictures: int, seed: int, n_people: int = _PEOPLE) -> list[dict[str, Any]]:
    """Variance of identity over variation along each direction: true, and found by both E-steps.

    People are drawn with ratios from 0.05 to 5. Without a source the approximate E-step is not
    EM: along a direction with the true ratio r it has a fixed point besides zero only where r is
    at least :func:`lowest_ratio`.
    """
    truth = np.geomspace(0.05, 5, _DIRECTIONS)[::-1]
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(n_people), n_pictures)
    X = rng.standard_normal((n_people, _DIRECTIONS))[people] * np.sqrt(truth)
    X += rng.standard_normal(X.shape)
    found = {}
    for step in ("exact", "approximate"):
        model = JointBayesian(e_step=step, max_iter=_ITERATIONS, tol=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, people)
        # Along the directions that were drawn: identity and variation are diagonal there.
        identity, variation = model.identity_covariance_, model.variation_covariance_
        found[step] = np.diag(identity) / np.diag(variation)
    return [
        {"true ratio": true, "exact": exact, "approximate": approximate}
        for true, exact, approximate in zip(
            truth, found["exact"], found["approximate"], strict=True
        )
    ]


def add_ratios(report: Report, seed: int) -> None:
    """Table and figure for 2, 4 and 8 pictures per person."""
    curves, rows = {}, []
    for m in PICTURES:
        found = compare_ratios(m, seed)
        true = np.asarray([row["true ratio"] for row in found])
        lost = np.asarray([row["approximate"] < 0.1 * row["true ratio"] for row in found])
        rows.append(
            {
                "pictures per person": m,
                "lowest that it can keep": lowest_ratio(m),
                "largest ratio that the approximate E-step deleted": float(
                    true[lost].max() if lost.any() else np.nan
                ),
                "smallest that it kept": float(true[~lost].min() if not lost.all() else np.nan),
                "largest relative error of the exact one": float(
                    max(abs(row["exact"] / row["true ratio"] - 1) for row in found)
                ),
            }
        )
        if m == PICTURES[0]:
            curves["exact"] = true, np.asarray([row["exact"] for row in found])
        curves[f"approximate, {m} pictures"] = (
            true,
            np.asarray([row["approximate"] for row in found]),
        )
    report.heading("Weak directions of identity")
    report.table(
        "Ratios of identity to variation, drawn and found",
        rows,
        f"{_PEOPLE:,} people with {_DIRECTIONS} ratios from 0.05 to 5, {_ITERATIONS} iterations, "
        "no source.",
    )
    report.figure(
        plot_curves(curves, "true ratio", "ratio that is found", logx=True),
        "The approximate E-step deletes directions whose ratio is below (3 − 4/m²)/m.",
    )
