"""``python -m papers committee``."""

from __future__ import annotations

from typing import Annotated

import typer

from mien.cli import showing_progress
from papers._command import AsJson, DataHome, Figures, Out, Quick, Seed, show_report


def main(
    splits: Annotated[
        int | None,
        typer.Option(
            min=1, help="Random splits of the comparison.", show_default="20, 2 if --quick"
        ),
    ] = None,
    members: Annotated[
        int | None,
        typer.Option(min=2, help="Size of the committees.", show_default="20, 5 if --quick"),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            min=1, help="How often ORL's splits are drawn anew.", show_default="10, 2 if --quick"
        ),
    ] = None,
    sweep_splits: Annotated[
        int | None,
        typer.Option(
            min=1, help="Splits for the sweeps over settings.", show_default="4, 1 if --quick"
        ),
    ] = None,
    quick: Quick = False,
    seed: Seed = 0,
    data_home: DataHome = None,
    out: Out = None,
    figures: Figures = None,
    as_json: AsJson = False,
) -> None:
    """Compare committees with Eigenfaces, Fisherfaces and bagging on ORL and Yale."""
    from papers.committee.report import reproduce_committee

    with showing_progress():
        report = reproduce_committee(
            data_home,
            n_splits=splits or (2 if quick else 20),
            n_members=members or (5 if quick else 20),
            n_draws=draws or (2 if quick else 10),
            sweep_splits=sweep_splits or (1 if quick else 4),
            random_state=seed,
        )
    show_report(report, out, as_json, figures)
