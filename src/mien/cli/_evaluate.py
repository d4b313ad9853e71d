"""``mien evaluate``: error rates, curves and a report from the scores of any system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli._display import note, print_json, showing_progress
from mien.cli._options import AsJson, refuse
from mien.cli._outputs import check_folder

__all__ = ["run"]


def run(
    scores: Annotated[
        Path,
        typer.Argument(
            metavar="SCORES.csv",
            help="Table with the columns score and same (1/0, true/false, yes/no) and, if known, "
            "person_a and person_b.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder for report.html and report.json."),
    ] = None,
    score: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of scores. Repeat to compare several systems.",
            show_default="score",
        ),
    ] = None,
    all_columns: Annotated[
        bool, typer.Option("--all", help="Compare all columns of numbers.")
    ] = False,
    same: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column that says whether a pair is one person.")
    ] = "same",
    distance: Annotated[
        bool, typer.Option("--distance", help="The scores are distances: smaller is more alike.")
    ] = False,
    llr: Annotated[
        bool, typer.Option("--llr", help="The scores are natural log-likelihood ratios: add Cllr.")
    ] = False,
    far: Annotated[
        list[float] | None,
        typer.Option(
            help="False accept rate to report. Repeat for several.",
            show_default="0.1, 0.01 and 0.001",
        ),
    ] = None,
    failures: Annotated[
        bool,
        typer.Option(
            "--failures", help="Count empty and NaN scores as rejected instead of refusing them."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Evaluate any system's scores: EER, rates at fixed FAR, Cllr and thresholds with intervals.

    Write a table with the columns score and same, one pair per line, and run:

    mien evaluate scores.csv --out report
    """
    from mien.cli._consoles import console
    from mien.reports import evaluate_scores, read_scores, report_scores

    if all_columns:
        refuse("and --all exclude each other", score=score or None)
    check_folder(out)
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
        note(f"\nReport: {page}")
    elif not as_json:
        note("\nAdd --out FOLDER for a page with ROC, DET, Tippett plot and histograms.")


def _without_arrays(result: dict[str, Any]) -> dict[str, Any]:
    """The result without what only the figures need."""
    systems = [
        {key: value for key, value in system.items() if not key.startswith("_")}
        for system in result["systems"]
    ]
    return {**result, "systems": systems}
