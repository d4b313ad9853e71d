"""``mien reproduce completion``: how well covered parts of photographs are found and restored."""

from __future__ import annotations

from typing import Annotated

import typer

from mien.cli._display import showing_progress
from mien.cli._reproduce import AsJson, Data, Out, show_report

__all__ = ["reproduce_completion"]


def reproduce_completion(
    out: Out = None,
    data: Data = None,
    parts: Annotated[
        list[str] | None,
        typer.Option("--part", help="faces or photographs. (Default: both.)"),
    ] = None,
    covers: Annotated[int, typer.Option(min=1, help="Covers of a form on a photograph.")] = 2,
    seed: Annotated[int, typer.Option(help="Seed of all that is drawn.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Cover faces of people that nothing learned from, and restore them."""
    from mien.experiments._completion_judge import PARTS, judge_completion

    with showing_progress():
        report = judge_completion(
            data, parts=tuple(parts) if parts else PARTS, n_covers=covers, random_state=seed
        )
    show_report(report, out, as_json)
