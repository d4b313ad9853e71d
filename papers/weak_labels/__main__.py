"""``python -m papers weak-labels``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from papers._command import Run, choose, command


@command(figures=True)
def main(
    run: Run,
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="yale, yale-smoothed, yale-13, yale-13-smoothed, yale-crops, orl, lfw, "
            "feret-shaped, dimension, scatter, clusters, clusters-13, tracks, retrieval, "
            "many-classes or soft. "
            "Repeat for several.",
            show_default="all, orl, clusters and retrieval if --quick",
        ),
    ] = None,
    groupings: Annotated[
        int | None,
        typer.Option(min=2, help="Random groupings per number.", show_default="100, 2 if --quick"),
    ] = None,
    starts: Annotated[
        int | None,
        typer.Option(
            min=1, help="Starts of K-means per grouping.", show_default="100, 5 if --quick"
        ),
    ] = None,
) -> Any:
    """Recognise, cluster and retrieve from groups without names, beside the paper's numbers."""
    from papers.weak_labels.report import PARTS, QUICK, reproduce_weak_labels

    return reproduce_weak_labels(
        run.data_home,
        parts=choose(part or run.pick(None, QUICK, None), PARTS, "part"),
        repeats=run.pick(groupings, 2, 100),
        starts=run.pick(starts, 5, 100),
        random_state=run.seed,
    )
