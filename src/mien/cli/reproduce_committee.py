"""``mien reproduce committee``: random-sampling LDA on ORL and Yale."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["reproduce_committee"]


def reproduce_committee(
    out: Annotated[
        Path | None, typer.Option(help="Folder for report.html and report.json.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the real data. (Default: MIEN_DATA.)")
    ] = None,
    splits: Annotated[int, typer.Option(min=1, help="Splits of the comparison.")] = 20,
    members: Annotated[int, typer.Option(min=2, help="Size of the committees.")] = 20,
    draws: Annotated[int, typer.Option(min=1, help="Draws of so many splits of ORL.")] = 10,
    sweep_splits: Annotated[int, typer.Option(min=1, help="Splits of the dials.")] = 4,
    seed: Annotated[int, typer.Option(help="Seed of the reported splits.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the numbers for programs, and nothing else.")
    ] = False,
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
        page = report.write(out) if out is not None else None
    if as_json:
        print_json(report.to_dict())
    else:
        report.print(console)
    if page is not None:
        errors.print(f"\nThe report: {page}", highlight=False, markup=False, soft_wrap=True)
