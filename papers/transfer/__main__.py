"""``python -m papers transfer``."""

from __future__ import annotations

from typing import Annotated

import typer

from mien.cli import showing_progress
from papers._command import AsJson, DataHome, Out, Quick, Seed, choose, show_report


def main(
    domain: Annotated[
        list[str] | None,
        typer.Option(
            help="Shift to run: lowres, covered, orl or camera. Repeat for several; "
            "none skips them.",
            show_default="all, without orl if --quick",
        ),
    ] = None,
    feature: Annotated[
        list[str] | None,
        typer.Option(
            help="Features for LFW's own protocol: dlib, sface, lbp or landmarks. "
            "Repeat for several; none skips the protocol.",
            show_default="all, or dlib and sface if --quick",
        ),
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(min=1, help="Random draws of people.", show_default="10, 2 if --quick"),
    ] = None,
    quick: Quick = False,
    seed: Seed = 0,
    data_home: DataHome = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Set our LFW numbers beside the published ones, and measure what transfer gains."""
    from papers.transfer.data import DOMAINS
    from papers.transfer.report import FEATURES, reproduce_transfer

    with showing_progress():
        report = reproduce_transfer(
            data_home,
            quick=quick,
            n_repetitions=repetitions,
            domains=None if domain is None else choose(domain, tuple(DOMAINS), "domain"),
            features=None if feature is None else choose(feature, tuple(FEATURES), "feature"),
            random_state=seed,
        )
    show_report(report, out, as_json)
