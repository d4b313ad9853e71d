"""``python -m papers covered``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli import errors
from papers._command import Run, command


@command()
def main(
    run: Run,
    train: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the coefficients that mien ships (.npz)."),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1, help="How often faces are painted anew.", show_default="24, 3 if --quick"
        ),
    ] = None,
) -> Any:
    """Learn from painted masks and hands what of a face is covered, and measure it."""
    from mien._core.atomic import write_atomically
    from papers.covered.run import train_covered

    model = train_covered(
        run.data_home,
        rounds=run.pick(rounds, 3, 24),
        n_people=run.pick(None, 300, None),
        n_painted=run.pick(None, 1000, 4000),
        random_state=run.seed,
    )
    if train is not None:
        write_atomically(train, model.to_bytes())
        errors.print(f"Coefficients: {train}", highlight=False, markup=False, soft_wrap=True)
    return model.report
