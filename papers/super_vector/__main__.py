"""``python -m papers super-vector``."""

from __future__ import annotations

from typing import Annotated

import typer

from mien.cli import showing_progress
from papers._command import AsJson, DataHome, Out, Quick, Seed, show_report


def main(
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="orl, lfw, corel, kth, handwritten, leaves, msrc, orl-views or wiki. "
            "Repeat for several.",
            show_default="all that are found",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help='Method to run, such as "joint vector". Repeat for several.'),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(min=2, help="Divisions of each set.", show_default="8, 2 if --quick"),
    ] = None,
    quick: Quick = False,
    seed: Seed = 0,
    data_home: DataHome = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Compare encodings of two views: each alone, concatenated, joint, and the super vector."""
    from papers.super_vector.report import report_super_vector
    from papers.super_vector.run import run_super_vector

    with showing_progress():
        result = run_super_vector(
            sets,
            home=data_home,
            methods=method,
            n_splits=splits or (2 if quick else 8),
            random_state=seed,
            quick=quick,
        )
        report = report_super_vector(result, figures=out is not None)
    show_report(report, out, as_json)
