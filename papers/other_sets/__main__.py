"""``python -m papers other-sets``."""

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
            help="groups, scale, committee, votes, engines, missed, completion, bags or chosen "
            "(bags with settings chosen). Repeat for several.",
            show_default="all",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A set of the part. Repeat for several.", show_default="all"),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(min=2, help="Random divisions per number.", show_default="4, 2 if --quick"),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="Keep the result of each set here, and go on from what is there."),
    ] = None,
) -> Any:
    """Compare every default with the best alternative, each set judged by what others chose.

    Results are printed as they are found. An interrupted run with --cache goes on where it was.
    """
    from papers.other_sets.parts import PARTS
    from papers.other_sets.report import compare_on_other_sets

    return compare_on_other_sets(
        run.data_home,
        parts=choose(part, tuple(PARTS), "part"),
        sets=None if set_ is None else tuple(set_),
        draws=run.pick(draws, 2, 4),
        quick=run.quick,
        random_state=run.seed,
        cache=cache,
        aloud=not run.as_json,
    )
