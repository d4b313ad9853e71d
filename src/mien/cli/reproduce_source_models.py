"""``mien reproduce source-models``: the shipped verifiers on LFW, and under real shifts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, errors, print_json, showing_progress
from mien.errors import InputError

__all__ = ["reproduce_source_models"]


def reproduce_source_models(
    out: Annotated[
        Path | None, typer.Option(help="Folder for report.html and report.json.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the real data. (Default: MIEN_DATA.)")
    ] = None,
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
    repetitions: Annotated[int, typer.Option(min=1, help="Draws of people.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the numbers for programs, and nothing else.")
    ] = False,
) -> None:
    """LFW through the recipe of the shipped models, and what a few people bring under a shift."""
    from mien.experiments import source_models
    from mien.experiments._source_shifts import SHIFTS
    from mien.faces import ENGINES

    chosen = _split(engines, ENGINES, "engines")
    shifted = _split(shifts, tuple(SHIFTS), "shifts")
    with showing_progress():
        report = source_models.reproduce_source_models(
            data, cache=cache, engines=chosen, shifts=shifted, n_repetitions=repetitions,
            random_state=seed,
        )  # fmt: skip
        page = report.write(out) if out is not None else None
    if as_json:
        print_json(report.to_dict())
    else:
        report.print(console)
    if page is not None:
        errors.print(f"\nThe report: {page}", highlight=False, markup=False, soft_wrap=True)


def _split(text: str, known: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Names with commas between them; "none" is none of them."""
    chosen = tuple(name for name in text.split(",") if name and name != "none")
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise InputError(f"no such {what}: {', '.join(unknown)}; there are {', '.join(known)}")
    return chosen
