"""``python -m papers completion``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from papers._command import Run, choose, command


@command()
def main(
    run: Run,
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
) -> Any:
    """Cover faces of people whom no model has seen, and complete them."""
    from papers.completion.report import PARTS, judge_completion

    return judge_completion(
        run.data_home,
        parts=choose(part or run.pick(None, ["photographs"], None), PARTS, "part"),
        n_covers=run.pick(covers, 1, 2),
        random_state=run.seed,
    )
