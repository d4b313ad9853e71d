"""``mien demo``: every method on rendered or real faces, and a report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["demo"]


def demo(
    data: Annotated[
        str,
        typer.Option(
            help="rendered (people who do not exist), orl, yale, lfw, or a folder with one folder "
            "a person.",
        ),
    ] = "rendered",
    out: Annotated[Path, typer.Option(help="Folder for report.html and report.json.")] = Path(
        "demo-report"
    ),
    people: Annotated[int, typer.Option(help="People to render.", min=4)] = 80,
    pictures: Annotated[int, typer.Option(help="Pictures of each to render.", min=2)] = 10,
    seed: Annotated[int, typer.Option(help="The same seed gives the same people.", min=0)] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report for programs, and nothing else.")
    ] = False,
) -> None:
    """Run everything once, in under a minute, and write a page about it."""
    start = time.perf_counter()
    with showing_progress():
        from mien.demo import run_demo

        result = run_demo(data, n_people=people, n_per_person=pictures, random_state=seed)
        page = result.report.write(out)
    if as_json:
        print_json(result.report.to_dict())
    else:
        result.summary.print(console)
    for reason in result.skipped:
        errors.print(f"left out: {reason}", markup=False, highlight=False)
    took = time.perf_counter() - start
    errors.print(
        f"\nThe report ({took:.0f} s): {page}", markup=False, highlight=False, soft_wrap=True
    )
