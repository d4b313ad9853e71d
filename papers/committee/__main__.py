"""``python -m papers committee``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from papers._command import Run, command


@command(figures=True)
def main(
    run: Run,
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
) -> Any:
    """Compare committees with Eigenfaces, Fisherfaces and bagging on ORL and Yale."""
    from papers.committee.report import reproduce_committee

    return reproduce_committee(
        run.data_home,
        n_splits=run.pick(splits, 2, 20),
        n_members=run.pick(members, 5, 20),
        n_draws=run.pick(draws, 2, 10),
        sweep_splits=run.pick(sweep_splits, 1, 4),
        random_state=run.seed,
    )
