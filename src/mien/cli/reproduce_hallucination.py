"""``mien reproduce hallucination``: whole faces from the eyes."""

from __future__ import annotations

from typing import Annotated

import typer

from mien.cli._display import showing_progress
from mien.cli._reproduce import AsJson, Data, Out, show_report

__all__ = ["reproduce_hallucination"]


def reproduce_hallucination(
    out: Out = None,
    data: Data = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help="lfw, orl or rendered; again for more. (Default: all.)"),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few faces and atoms.")] = False,
    study: Annotated[
        bool, typer.Option("--study", help="Also vary K and β of the dictionaries.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of all that is drawn.")] = 0,
    as_json: AsJson = False,
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
    show_report(report, out, as_json)
