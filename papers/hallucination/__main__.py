"""``python -m papers hallucination``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mien.errors import InputError
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
    curve: Annotated[
        bool,
        typer.Option(
            "--curve", help="Only draw what more faces bring, to the linear estimate and others."
        ),
    ] = False,
    few: Annotated[
        bool,
        typer.Option(
            "--few", help="Only compare what helps small sets (ORL and Yale), foreign faces too."
        ),
    ] = False,
    stream: Annotated[
        int | None,
        typer.Option(
            min=8_192,
            help="Only let so many rendered faces pass, once, and draw what they bring to ridge: a "
            "million take a quarter of an hour.",
        ),
    ] = None,
    beside: Annotated[
        list[str] | None,
        typer.Option(
            help="For --curve: reweighted ridge, kernel ridge, auto, or none beside ridge. Repeat "
            "for several.",
            show_default="all three",
        ),
    ] = None,
) -> Any:
    """Complete faces from the eyes with the six methods of the paper, and with ours."""
    if few and (curve or study or sets):
        raise InputError("--few goes with no --curve, --study or --set: leave them out")
    if stream is not None and (few or curve or study or sets):
        raise InputError("--stream goes with no --few, --curve, --study or --set: leave them out")
    if curve and study:
        raise InputError("--study has no effect with --curve: leave one of them out")
    if beside and not curve:
        raise InputError("--beside has no effect without --curve: leave it out")
    from papers.hallucination.curve import BESIDE
    from papers.hallucination.report import SETS, reproduce_hallucination

    return reproduce_hallucination(
        run.data_home,
        sets=choose(sets or run.pick(None, ["orl"], None), SETS, "set"),
        quick=run.quick,
        study=study,
        curve=curve,
        few=few,
        stream=stream,
        beside=choose(beside, BESIDE, "completer"),
        random_state=run.seed,
    )
