"""``mien reproduce completion``: how well covered parts of photographs are found and restored."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["reproduce_completion"]


def reproduce_completion(
    out: Annotated[
        Path | None, typer.Option(help="Folder for report.html and report.json.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the real data. (Default: MIEN_DATA.)")
    ] = None,
    covers: Annotated[int, typer.Option(min=1, help="Covers of a form on a photograph.")] = 2,
    seed: Annotated[int, typer.Option(help="Seed of all that is drawn.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the numbers for programs, and nothing else.")
    ] = False,
) -> None:
    """Cover faces of people that nothing learned from, and restore them."""
    from mien.experiments._completion_judge import judge_completion

    with showing_progress():
        report = judge_completion(data, n_covers=covers, random_state=seed)
        page = report.write(out) if out is not None else None
    if as_json:
        print_json(report.to_dict())
    else:
        report.print(console)
    if page is not None:
        errors.print(f"\nThe report: {page}", highlight=False, markup=False, soft_wrap=True)
