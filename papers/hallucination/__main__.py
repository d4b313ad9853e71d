"""``python -m papers hallucination``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from papers._command import Run, choose, command


@command()
def main(
    run: Run,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="lfw, orl or rendered. Repeat for several.",
            show_default="all, orl if --quick",
        ),
    ] = None,
    study: Annotated[
        bool, typer.Option("--study", help="Also vary K and β of the dictionaries.")
    ] = False,
) -> Any:
    """Complete faces from the eyes with the six methods of the paper, and with ours."""
    from papers.hallucination.report import SETS, reproduce_hallucination

    return reproduce_hallucination(
        run.data_home,
        sets=choose(sets or run.pick(None, ["orl"], None), SETS, "set"),
        quick=run.quick,
        study=study,
        random_state=run.seed,
    )
