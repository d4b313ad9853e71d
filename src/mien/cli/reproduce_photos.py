"""``mien reproduce photos``: the face front end on the photographs and videos at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["reproduce_photos"]


def reproduce_photos(
    home: Annotated[
        Path | None, typer.Option(help="Folder of real data. (Default: MIEN_DATA.)")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for report.html and report.json.")] = Path(
        "photos-report"
    ),
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="vectors, detection, five-people, public-figures, tracks or boxes; again for "
            "more. (Default: all.)"
        ),
    ] = None,
    engine: Annotated[
        list[str] | None, typer.Option(help="sface or dlib; again for both. (Default: both.)")
    ] = None,
    every: Annotated[int, typer.Option(help="Analyse each so many frames.", min=1)] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report for programs, and nothing else.")
    ] = False,
) -> None:
    """Find, tell apart and follow the faces of the photographs and videos at hand."""
    from mien.experiments.photos import PARTS
    from mien.experiments.photos import reproduce_photos as run
    from mien.faces import ENGINES

    with showing_progress():
        report = run(home, parts=part or PARTS, engines=engine or ENGINES, every=every)
        page = report.write(out)
    if as_json:
        print_json(report.to_dict())
    else:
        report.print(console)
    errors.print(f"\nThe report: {page}", markup=False, highlight=False, soft_wrap=True)
