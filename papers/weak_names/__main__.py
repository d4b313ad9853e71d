"""``python -m papers weak-names``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from papers._command import Run, command


@command()
def main(
    run: Run,
    draws: Annotated[
        int | None,
        typer.Option(min=1, help="Albums per setting.", show_default="5, 1 if --quick"),
    ] = None,
) -> Any:
    """Name the faces of pictures that list who is on them and not where."""
    from papers.weak_names.report import reproduce_weak_names

    return reproduce_weak_names(
        run.data_home,
        n_draws=run.pick(draws, 1, 5),
        n_named=run.pick(None, 40, 150),
        engines=run.pick(None, ("sface",), ("sface", "dlib")),
        domains=run.pick(None, (), ("sface-covered", "sface-lowres")),
        random_state=run.seed,
    )
