"""``mien crops train committee``: a committee that names the people of a folder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import print_json, say, showing_progress, warn
from mien.cli._options import AsJson, ModelOut, Seed

__all__ = ["run"]


class Sampling(StrEnum):
    """What differs between the members."""

    subspace = "subspace"
    people = "people"
    images = "images"
    both = "both"


class Fusion(StrEnum):
    """How the members' posteriors become one."""

    sum = "sum"
    product = "product"
    min = "min"
    max = "max"
    vote = "vote"


def run(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="A folder with one folder of cut-out faces per person."
        ),
    ],
    out: ModelOut,
    members: Annotated[int, typer.Option(min=1, help="Number of members.")] = 20,
    sampling: Annotated[
        Sampling, typer.Option(help="What differs between the members.")
    ] = Sampling.subspace,
    fusion: Annotated[
        Fusion, typer.Option(help="How the members' posteriors are combined.")
    ] = Fusion.sum,
    size: Annotated[int, typer.Option(min=8, help="Resize the faces to this many pixels.")] = 64,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Learn to name the people of a folder from a few pictures each, all framed alike.

    mien crops train committee people --out people.mien

    mien crops identify people.mien holiday
    """
    from mien.crops import train_committee
    from mien.files import save

    with showing_progress():
        model, summary = train_committee(
            folder,
            size=size,
            n_members=members,
            sampling=sampling.value,
            fusion=fusion.value,
            random_state=seed,
        )
        save(model, out)
    if as_json:
        print_json(summary | {"model": str(out)})
        return
    for name in summary["skipped"]:
        warn(f"not used: {name}")
    say(
        f"{summary['pictures']:,} pictures of {summary['people']:,} people; {summary['members']} "
        f"members with {summary['eigenfaces of a member']} eigenfaces each."
    )
    if summary["held out"]:
        value, low, high = summary["named rightly"]
        say(
            f"Tested on {summary['held out']} held-out pictures, one per person: "
            f"{100 * value:.1f} % named correctly [{100 * low:.1f}, {100 * high:.1f}]."
        )
    else:
        say("Not tested: nobody has the three pictures that it takes.")
    say(f"Model: {out}")
