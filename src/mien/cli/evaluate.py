"""``mien evaluate``: error rates, curves and a report from any system's scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["evaluate"]


def evaluate(
    scores: Annotated[
        Path,
        typer.Argument(
            help="Table of text: columns score and same (1/0, true/false, yes/no), and, if known, "
            "person_a and person_b.",
            show_default=False,
            metavar="SCORES.csv",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder for report.html and report.json.")
    ] = None,
    score: Annotated[
        list[str] | None,
        typer.Option(help="Column to judge; give it again to compare systems. (Default: score.)"),
    ] = None,
    all_columns: Annotated[
        bool, typer.Option("--all", help="Compare every column of numbers.")
    ] = False,
    same: Annotated[str, typer.Option(help="Column with the truth.")] = "same",
    distance: Annotated[
        bool, typer.Option("--distance", help="Smaller means more alike in this file.")
    ] = False,
    llr: Annotated[
        bool, typer.Option("--llr", help="The scores are natural-log likelihood ratios: give Cllr.")
    ] = False,
    far: Annotated[
        list[float] | None,
        typer.Option(
            help="False accept rate of interest; again for more. (Default: 0.1, 0.01, 0.001.)"
        ),
    ] = None,
    failures: Annotated[
        bool,
        typer.Option("--failures", help="Count empty and NaN scores as refused, not as errors."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the numbers for programs, and nothing else.")
    ] = False,
) -> None:
    """Judge any system's scores: EER, VR at FAR, Cllr, thresholds, all with intervals.

    Write a table with the columns score and same, a pair a line, and run:

      mien evaluate scores.csv --out report
    """
    from mien.errors import InputError
    from mien.reports import evaluate_scores, read_scores, report_scores

    if all_columns and score:
        raise InputError("--all and --score exclude each other: name the columns, or take all")
    with showing_progress():
        table = read_scores(
            scores,
            score or (),
            same=same,
            every=all_columns,
            distance=distance,
            failures=failures,
        )
        result = evaluate_scores(table, fars=far or (0.1, 0.01, 0.001), llr=llr)
        page = report_scores(result).write(out) if out is not None else None
    if as_json:
        print_json(_without_arrays(result))
    else:
        report_scores(result, figures=False).print(console)
    if page is not None:
        errors.print(f"\nThe report: {page}", highlight=False, markup=False, soft_wrap=True)
    elif not as_json:
        errors.print(
            "\nAdd --out FOLDER for a page with ROC, DET, Tippett plot and histograms.",
            highlight=False,
            style="dim",
        )


def _without_arrays(result: dict[str, Any]) -> dict[str, Any]:
    """The result without what only the figures need."""
    systems = [
        {key: value for key, value in system.items() if not key.startswith("_")}
        for system in result["systems"]
    ]
    return {**result, "systems": systems}
