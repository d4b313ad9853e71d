"""``mien train committee``: a committee that names the people of a folder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["train_committee"]


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


def train_committee(
    folder: Annotated[
        Path,
        typer.Argument(help="A folder with one folder of pictures a person.", metavar="FOLDER"),
    ],
    out: Annotated[Path, typer.Option(help="Model file to write.", show_default=False)],
    members: Annotated[int, typer.Option(min=1, help="Size of the committee.")] = 20,
    sampling: Annotated[Sampling, typer.Option(help="What members differ in.")] = Sampling.subspace,
    fusion: Annotated[Fusion, typer.Option(help="How members are fused.")] = Fusion.sum,
    size: Annotated[int, typer.Option(min=8, help="Side of the grey pictures in pixels.")] = 64,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary for programs, and nothing else.")
    ] = False,
) -> None:
    """Learn to name the people of a folder, from few pictures each.

    Faces should be cut out and aligned alike. Then:

      mien train committee people --out people.mien

      mien identify holiday/*.jpg --model people.mien
    """
    import mien
    from mien.crops import train_committee as train

    with showing_progress():
        model, summary = train(
            folder,
            size=size,
            n_members=members,
            sampling=sampling.value,
            fusion=fusion.value,
            random_state=seed,
        )
        mien.save(model, out)
    if as_json:
        print_json(summary | {"model": str(out)})
        return
    for name in summary["skipped"]:
        errors.print(f"skipped: {name}", style="yellow", highlight=False, markup=False)
    console.print(
        f"{summary['pictures']:,} pictures of {summary['people']:,} people; {summary['members']} "
        f"members, each on {summary['eigenfaces of a member']} eigenfaces.",
        highlight=False,
    )
    if summary["held out"]:
        value, low, high = summary["named rightly"]
        console.print(
            f"Checked on {summary['held out']} pictures held out, one a person: "
            f"{100 * value:.1f} % named rightly [{100 * low:.1f}, {100 * high:.1f}].",
            highlight=False,
        )
    else:
        console.print("Not checked: nobody has a picture to spare (three are needed).")
    console.print(f"The model: {out}", highlight=False, markup=False, soft_wrap=True)
