"""``mien reproduce weak-labels``: the weak-label paper on the data at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import showing_progress
from mien.cli._reproduce import AsJson, Data, OutFolder, show_report

__all__ = ["reproduce_weak_labels"]


def reproduce_weak_labels(
    home: Data = None,
    out: OutFolder = Path("weak-labels-report"),
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="yale, yale-smoothed, yale-crops, orl, lfw, dimension, clusters, tracks or "
            "retrieval; again for more. (Default: all.)"
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(help="Random groupings.", min=2)] = 100,
    starts: Annotated[int, typer.Option(help="Starts of K-means a grouping.", min=1)] = 100,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Recognise, cluster and retrieve from groups without names, beside the paper's numbers."""
    from mien.experiments.weak_labels import PARTS
    from mien.experiments.weak_labels import reproduce_weak_labels as run

    with showing_progress():
        report = run(home, parts=part or PARTS, repeats=repeats, starts=starts, random_state=seed)
    show_report(report, out, as_json)
