"""The tables and bars of the super vector's experiment."""

from __future__ import annotations

from typing import Any

from mien.reports import Report, plot_bars

__all__ = ["report_super_vector"]


def report_super_vector(result: dict[str, Any], *, figures: bool = True) -> Report:
    """Write the result of :func:`papers.super_vector.run.run_super_vector` as tables and bars."""
    report = Report("Super vectors and Fisher vectors", "the same descriptors, the same dimensions")
    if result["quick"]:
        report.text("A quick run: few classes and patches, so the numbers mean little.")
    report.text(
        "Every method sees the same descriptors, reduced by the same PCA that the training half "
        "taught, and gets as many components as bring it to about the same number of dimensions. "
        "All are brought to unit length and classified by linear support vector machines, one "
        "against all, C = 10. Latent variables, scaling and normalisation are chosen for each "
        "method on parts of the training half; no test bag is seen in that. View 1 and view 2 "
        "are named below each table. The joint vector is the Fisher vector of both views side by "
        "side (early fusion)."
    )
    for found in result["sets"]:
        report.heading(found["name"])
        report.table(
            f"{found['name']}: {found['bags']:,} bags, {found['descriptors']:,} descriptor pairs",
            found["rows"],
            f"Views: {found['note']}. A straight line from view 1 predicts "
            f"{found['shared'][0]:.0%} of the variance of view 2, and one from view 2 "
            f"{found['shared'][1]:.0%} of view 1. Means over {found['n_splits']} divisions; in "
            "brackets 95 % intervals with Nadeau and Bengio's correction. Differences are paired "
            "by division.",
        )
        if figures:
            bars = {
                row["method"]: (
                    row["accuracy"][0],
                    (
                        row["accuracy"][0] - row["accuracy"][1],
                        row["accuracy"][2] - row["accuracy"][0],
                    ),
                )
                for row in found["rows"]
            }
            report.figure(
                plot_bars(bars, "share of bags classified rightly", found["name"], percent=True),
                f"Accuracy on {found['name']}, with 95 % intervals.",
            )
    for reason in result["missing"]:
        report.text(f"Left out: {reason}")
    return report
