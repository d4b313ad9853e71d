"""``python -m papers weak-names``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from papers._command import Run, choose, command


@command()
def main(
    run: Run,
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="aim (20 % of the names missing, 5 % wrong, with intervals), names (missing and "
            "wrong names), people (per picture), faces (not found), sets (the aim on people of ORL "
            "and Yale) or cameras (adapting to faces of other cameras, which takes longest). "
            "Repeat for several.",
            show_default="all, aim and names if --quick",
        ),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(min=1, help="Albums per setting.", show_default="5, 1 if --quick"),
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option(help="sface or dlib; repeat for both.", show_default="both, sface if --quick"),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep the numbers of every album in this file, and go on from it. Numbers only.",
        ),
    ] = None,
) -> Any:
    """Name the faces of pictures that list who is on them and not where."""
    from mien.cli import errors
    from papers.weak_names.report import ENGINES, PARTS, reproduce_weak_names

    return reproduce_weak_names(
        run.data_home,
        parts=choose(run.pick(part, ["aim", "names"], list(PARTS)), list(PARTS), "part"),
        n_draws=run.pick(draws, 1, 5),
        n_named=run.pick(None, 40, 150),
        engines=choose(run.pick(engine, ["sface"], ENGINES), ENGINES, "engine"),
        random_state=run.seed,
        resume=resume,
        say=lambda line: errors.print(line, highlight=False, markup=False, soft_wrap=True),
    )
