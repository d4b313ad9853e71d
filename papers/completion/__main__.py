"""``python -m papers completion``."""

from __future__ import annotations

from typing import Annotated

import typer

from mien.cli import showing_progress
from papers._command import AsJson, DataHome, Out, Quick, Seed, choose, show_report


def main(
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="faces or photographs. Repeat for both.",
            show_default="both, photographs if --quick",
        ),
    ] = None,
    covers: Annotated[
        int | None,
        typer.Option(
            min=1, help="Covers of each form per photograph.", show_default="2, 1 if --quick"
        ),
    ] = None,
    quick: Quick = False,
    seed: Seed = 0,
    data_home: DataHome = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Cover faces of people whom no model has seen, and complete them."""
    from papers.completion.report import PARTS, judge_completion

    with showing_progress():
        report = judge_completion(
            data_home,
            parts=choose(part, ("photographs",) if quick and not part else PARTS, "part"),
            n_covers=covers or (1 if quick else 2),
            random_state=seed,
        )
    show_report(report, out, as_json)
