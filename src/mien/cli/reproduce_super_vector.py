"""``mien reproduce super-vector``: Fisher vectors and super vectors on the same descriptors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, print_json, showing_progress
from mien.cli._reproduce import AsJson, Data, OutFolder, name_page

__all__ = ["reproduce_super_vector"]


def reproduce_super_vector(
    data: Data = None,
    out: OutFolder = Path("super-vector-report"),
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Run on this set only; again for more: orl, lfw, corel, kth, handwritten, leaves, "
            "msrc, orl-views, wiki.",
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method", help='Run this method only, such as "joint vector"; again for more.'
        ),
    ] = None,
    splits: Annotated[int, typer.Option(help="Divisions of each set.", min=2)] = 8,
    quick: Annotated[
        bool, typer.Option("--quick", help="A minute, with numbers that mean little.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of everything drawn.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Compare encodings of two views: each alone, concatenated, joint, and the super vector."""
    from mien.experiments.super_vector import report_super_vector, run_super_vector

    with showing_progress():
        result = run_super_vector(
            only, home=data, methods=methods, n_splits=2 if quick else splits,
            random_state=seed, quick=quick,
        )  # fmt: skip
        page = report_super_vector(result).write(out)
    if as_json:
        print_json(result)
    else:
        report_super_vector(result, figures=False).print(console)
    name_page(page)
