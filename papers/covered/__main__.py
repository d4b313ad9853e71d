"""``python -m papers covered``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli import errors, showing_progress
from papers._command import AsJson, DataHome, Out, Quick, Seed, show_report


def main(
    train: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the coefficients that mien ships (.npz)."),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1, help="How often faces are painted anew.", show_default="24, 1 if --quick"
        ),
    ] = None,
    quick: Quick = False,
    seed: Seed = 0,
    data_home: DataHome = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Learn from painted masks and hands what of a face is covered, and measure it."""
    from mien._core.atomic import write_atomically
    from papers.covered.run import train_covered

    with showing_progress():
        model = train_covered(data_home, rounds=rounds or (1 if quick else 24), random_state=seed)
        if train is not None:
            write_atomically(train, model.to_bytes())
    show_report(model.report, out, as_json)
    if train is not None:
        errors.print(f"Coefficients: {train}", highlight=False, markup=False, soft_wrap=True)
