"""``python -m papers transfer``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from papers._command import Run, choose, command


@command()
def main(
    run: Run,
    domain: Annotated[
        list[str] | None,
        typer.Option(
            help="Shift to run: lowres, covered, orl or camera. Repeat for several; "
            "none skips them.",
            show_default="all, lowres if --quick",
        ),
    ] = None,
    feature: Annotated[
        list[str] | None,
        typer.Option(
            help="Features for LFW's own protocol: dlib, sface, lbp or landmarks. "
            "Repeat for several; none skips the protocol.",
            show_default="all, sface if --quick",
        ),
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(min=1, help="Random draws of people.", show_default="10, 2 if --quick"),
    ] = None,
) -> Any:
    """Set our LFW numbers beside the published ones, and measure what transfer gains."""
    from papers.transfer.data import DOMAINS
    from papers.transfer.report import FEATURES, reproduce_transfer

    return reproduce_transfer(
        run.data_home,
        quick=run.quick,
        n_repetitions=repetitions,
        domains=None if domain is None else choose(domain, tuple(DOMAINS), "domain"),
        features=None if feature is None else choose(feature, tuple(FEATURES), "feature"),
        random_state=run.seed,
    )
