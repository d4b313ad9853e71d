"""``mien train covered``: the map of what of a face is covered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["train_covered"]


def train_covered(
    out: Annotated[Path, typer.Option(help="File for the coefficients.")] = Path("covered.npz"),
    home: Annotated[
        Path | None, typer.Option(help="Folder of real data. (Default: MIEN_DATA.)")
    ] = None,
    report: Annotated[Path, typer.Option(help="Folder for report.html and report.json.")] = Path(
        "covered-report"
    ),
    rounds: Annotated[int, typer.Option(help="Times that faces are newly painted.", min=1)] = 24,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.", min=0)] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report for programs, and nothing else.")
    ] = False,
) -> None:
    """Learn what of a face is covered, from painted masks and hands; mien ships the result."""
    from mien._core.atomic import write_atomically
    from mien.experiments.covered import train_covered as run

    with showing_progress():
        model = run(home, rounds=rounds, random_state=seed)
        write_atomically(out, model.to_bytes())
        page = model.report.write(report)
    if as_json:
        print_json(model.report.to_dict())
    else:
        model.report.print(console)
    errors.print(f"\nCoefficients: {out}; the report: {page}", markup=False, soft_wrap=True)
