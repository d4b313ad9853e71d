"""``python -m papers photos``."""

from __future__ import annotations

from typing import Annotated

import typer

from mien.cli import showing_progress
from papers._command import AsJson, DataHome, Out, Quick, choose, show_report


def main(
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="vectors, detection, five-people, public-figures, tracks or boxes. "
            "Repeat for several.",
            show_default="all",
        ),
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            help="sface or dlib. Repeat for both; videos use the first.",
            show_default="both, sface if --quick",
        ),
    ] = None,
    every: Annotated[
        int | None,
        typer.Option(min=1, help="Analyse every N-th frame.", show_default="1, 20 if --quick"),
    ] = None,
    quick: Quick = False,
    data_home: DataHome = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Find, compare and track the faces of photographs and videos whose truth is known."""
    from mien.faces import ENGINES
    from papers.photos.report import PARTS, reproduce_photos

    with showing_progress():
        report = reproduce_photos(
            data_home,
            parts=choose(part, PARTS, "part"),
            engines=choose(engine, ("sface",) if quick and not engine else ENGINES, "engine"),
            every=every or (20 if quick else 1),
        )
    show_report(report, out, as_json)
