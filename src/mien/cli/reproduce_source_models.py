"""``mien reproduce source-models``: the shipped verifiers on LFW, and under real shifts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import showing_progress
from mien.cli._reproduce import AsJson, Data, Out, show_report, split_names

__all__ = ["reproduce_source_models"]


def reproduce_source_models(
    out: Out = None,
    data: Data = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder for embeddings of shifted pictures, which the engine makes: personal "
            "data, readable by you alone. Without it the shifts are left out."
        ),
    ] = None,
    engines: Annotated[
        str, typer.Option(help="Engines for LFW, with commas between them, or none.")
    ] = "sface,dlib",
    shifts: Annotated[
        str, typer.Option(help="Shifts to run, with commas between them.")
    ] = "grey,covered,small,orl,yale",
    repetitions: Annotated[
        int, typer.Option(min=0, help="Draws of people; 0 leaves transfer out.")
    ] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    as_json: AsJson = False,
) -> None:
    """LFW through the recipe of the shipped models, and what a few people bring under a shift."""
    from mien.experiments import source_models
    from mien.experiments._source_shifts import SHIFTS
    from mien.faces import ENGINES

    chosen = split_names(engines, ENGINES, "engines")
    shifted = split_names(shifts, tuple(SHIFTS), "shifts")
    with showing_progress():
        report = source_models.reproduce_source_models(
            data, cache=cache, engines=chosen, shifts=shifted, n_repetitions=repetitions,
            random_state=seed,
        )  # fmt: skip
    show_report(report, out, as_json)
