"""``mien reproduce hallucination``: whole faces from the eyes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["reproduce_hallucination"]


def reproduce_hallucination(
    out: Annotated[
        Path | None, typer.Option(help="Folder for report.html and report.json.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the real data. (Default: MIEN_DATA.)")
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help="lfw, orl or rendered; again for more. (Default: all.)"),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few faces and atoms.")] = False,
    study: Annotated[
        bool, typer.Option("--study", help="Also vary K and β of the dictionaries.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of all that is drawn.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the numbers for programs, and nothing else.")
    ] = False,
) -> None:
    """Complete faces from the eyes with the six methods of the paper, and with ours."""
    from mien.experiments import hallucination

    with showing_progress():
        report = hallucination.reproduce_hallucination(
            data,
            sets=tuple(sets) if sets else ("lfw", "orl", "rendered"),
            quick=quick,
            study=study,
            random_state=seed,
        )
        page = report.write(out) if out is not None else None
    if as_json:
        print_json(report.to_dict())
    else:
        report.print(console)
    if page is not None:
        errors.print(f"\nThe report: {page}", highlight=False, markup=False, soft_wrap=True)
