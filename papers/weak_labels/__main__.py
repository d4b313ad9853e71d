"""``python -m papers weak-labels``."""

from __future__ import annotations

from typing import Annotated

import typer

from mien.cli import showing_progress
from papers._command import AsJson, DataHome, Figures, Out, Quick, Seed, choose, show_report


def main(
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="yale, yale-smoothed, yale-crops, orl, lfw, dimension, clusters, "
            "tracks, retrieval or soft. Repeat for several.",
            show_default="all",
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
    quick: Quick = False,
    seed: Seed = 0,
    data_home: DataHome = None,
    out: Out = None,
    figures: Figures = None,
    as_json: AsJson = False,
) -> None:
    """Recognise, cluster and retrieve from groups without names, beside the paper's numbers."""
    from papers.weak_labels.report import PARTS, reproduce_weak_labels

    with showing_progress():
        report = reproduce_weak_labels(
            data_home,
            parts=choose(part, PARTS, "part"),
            repeats=groupings or (2 if quick else 100),
            starts=starts or (5 if quick else 100),
            random_state=seed,
        )
    show_report(report, out, as_json, figures)
