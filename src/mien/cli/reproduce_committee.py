"""``mien reproduce committee``: random-sampling LDA on ORL and Yale."""

from __future__ import annotations

from typing import Annotated

import typer

from mien.cli._display import showing_progress
from mien.cli._reproduce import AsJson, Data, Out, show_report

__all__ = ["reproduce_committee"]


def reproduce_committee(
    out: Out = None,
    data: Data = None,
    splits: Annotated[int, typer.Option(min=1, help="Splits of the comparison.")] = 20,
    members: Annotated[int, typer.Option(min=2, help="Size of the committees.")] = 20,
    draws: Annotated[int, typer.Option(min=1, help="Draws of so many splits of ORL.")] = 10,
    sweep_splits: Annotated[int, typer.Option(min=1, help="Splits of the dials.")] = 4,
    seed: Annotated[int, typer.Option(help="Seed of the reported splits.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Compare committees with Eigenfaces, Fisherfaces and bagging on ORL and Yale."""
    from mien.experiments import committee

    with showing_progress():
        report = committee.reproduce_committee(
            data,
            n_splits=splits,
            n_members=members,
            n_draws=draws,
            sweep_splits=sweep_splits,
            random_state=seed,
        )
    show_report(report, out, as_json)
