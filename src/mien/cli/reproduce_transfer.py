"""``mien reproduce transfer``: Joint Bayesian on LFW, and its transfer between domains."""

from __future__ import annotations

from typing import Annotated

import typer

from mien.cli._display import showing_progress
from mien.cli._reproduce import AsJson, Data, Out, show_report, split_names

__all__ = ["reproduce_transfer"]


def reproduce_transfer(
    out: Out = None,
    data: Data = None,
    quick: Annotated[bool, typer.Option(help="Embeddings only, two repetitions.")] = False,
    repetitions: Annotated[
        int | None, typer.Option(min=1, help="Draws of people. (Default: 10, or 2 if quick.)")
    ] = None,
    domains: Annotated[
        str, typer.Option(help="Shifts to run, with commas between them.")
    ] = "lowres,covered,orl,camera",
    features: Annotated[
        str | None,
        typer.Option(
            help="Features of LFW's own protocol: dlib, sface, lbp, landmarks, or none. "
            "(Default: all, or the embeddings if quick.)"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Set our LFW numbers beside the published ones, and show what transfer brings."""
    from mien.experiments import transfer
    from mien.experiments._transfer_data import DOMAINS

    chosen = split_names(domains, tuple(DOMAINS), "domains")
    described = (
        None if features is None else split_names(features, tuple(transfer.FEATURES), "features")
    )
    with showing_progress():
        report = transfer.reproduce_transfer(
            data, quick=quick, n_repetitions=repetitions, domains=chosen, features=described,
            random_state=seed,
        )  # fmt: skip
    show_report(report, out, as_json)
