"""``python -m papers review``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from papers._command import Run, command


@command()
def main(
    run: Run,
    draws: Annotated[
        int | None,
        typer.Option(min=1, help="Draws of people per setting.", show_default="5, 2 if --quick"),
    ] = None,
) -> Any:
    """Count the answers that each order of questions needs to reach the same B-cubed F."""
    from papers.review.report import reproduce_review

    return reproduce_review(
        run.data_home,
        n_draws=run.pick(draws, 2, 5),
        n_people=run.pick(None, 60, 100),
        random_state=run.seed,
    )
