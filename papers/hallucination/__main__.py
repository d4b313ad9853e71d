"""``python -m papers hallucination``."""

from __future__ import annotations

from typing import Annotated

import typer

from mien.cli import showing_progress
from papers._command import AsJson, DataHome, Out, Quick, Seed, choose, show_report


def main(
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help="lfw, orl or rendered. Repeat for several.", show_default="all"),
    ] = None,
    study: Annotated[
        bool, typer.Option("--study", help="Also vary K and β of the dictionaries.")
    ] = False,
    quick: Quick = False,
    seed: Seed = 0,
    data_home: DataHome = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Complete faces from the eyes with the six methods of the paper, and with ours."""
    from papers.hallucination.report import SETS, reproduce_hallucination

    with showing_progress():
        report = reproduce_hallucination(
            data_home,
            sets=choose(sets, SETS, "set"),
            quick=quick,
            study=study,
            random_state=seed,
        )
    show_report(report, out, as_json)
