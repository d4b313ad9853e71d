"""``python -m papers photos``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from papers._command import Run, choose, command


@command(seed=False)
def main(
    run: Run,
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="vectors, detection, five-people, public-figures, tracks or boxes. "
            "Repeat for several.",
            show_default="all, without boxes if --quick",
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
) -> Any:
    """Find, compare and track the faces of photographs and videos whose truth is known."""
    from papers.photos.report import ENGINES, PARTS, reproduce_photos

    return reproduce_photos(
        run.data_home,
        parts=choose(part or run.pick(None, PARTS[:-1], None), PARTS, "part"),
        engines=choose(engine or run.pick(None, ["sface"], None), ENGINES, "engine"),
        every=run.pick(every, 20, 1),
    )
