"""``python -m papers weak-names``."""

from __future__ import annotations

from typing import Annotated

import typer

from mien.cli import showing_progress
from papers._command import AsJson, DataHome, Out, Quick, Seed, show_report


def main(
    data_home: DataHome = None,
    draws: Annotated[int, typer.Option(min=1, help="Albums per setting.")] = 5,
    seed: Seed = 0,
    quick: Quick = False,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Name the faces of pictures that list who is on them and not where."""
    from papers.weak_names.report import reproduce_weak_names

    with showing_progress():
        report = reproduce_weak_names(
            data_home,
            n_draws=1 if quick else draws,
            n_named=40 if quick else 150,
            engines=("sface",) if quick else ("sface", "dlib"),
            domains=() if quick else ("sface-covered", "sface-lowres"),
            random_state=seed,
        )
    show_report(report, out, as_json)
