"""``python -m papers super-vector``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from papers._command import Run, command


@command()
def main(
    run: Run,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="orl, lfw, corel, kth, handwritten, leaves, msrc, orl-views or wiki. "
            "Repeat for several.",
            show_default="all that are found, orl-views and msrc if --quick",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help='Method to run, such as "joint vector". Repeat for several.'),
    ] = None,
    splits: Annotated[
        int | None,
        typer.Option(min=2, help="Divisions of each set.", show_default="8, 2 if --quick"),
    ] = None,
) -> Any:
    """Compare encodings of two views: each alone, concatenated, joint, and the super vector."""
    from papers.super_vector.report import report_super_vector
    from papers.super_vector.run import run_super_vector

    result = run_super_vector(
        sets or run.pick(None, ["orl-views", "msrc"], None),
        home=run.data_home,
        methods=method,
        n_splits=run.pick(splits, 2, 8),
        random_state=run.seed,
        quick=run.quick,
    )
    return report_super_vector(result, figures=run.out is not None)
