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
    engine: Annotated[
        list[str] | None,
        typer.Option(help="sface or dlib; repeat for both.", show_default="both, sface if --quick"),
    ] = None,
    adapting: Annotated[
        bool | None,
        typer.Option(
            help="Also adapt to faces of other cameras, which takes most of the time.",
            show_default="yes, no if --quick",
        ),
    ] = None,
) -> Any:
    """Name the faces of pictures that list who is on them and not where."""
    from papers.weak_names.report import DOMAINS, reproduce_weak_names

    return reproduce_weak_names(
        run.data_home,
        n_draws=run.pick(draws, 1, 5),
        n_named=run.pick(None, 40, 150),
        engines=run.pick(tuple(engine) if engine else None, ("sface",), ("sface", "dlib")),
        domains=DOMAINS if run.pick(adapting, False, True) else (),
        random_state=run.seed,
    )
