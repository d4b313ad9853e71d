"""``mien crops train committee``: a committee that names the people of a folder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import say, showing_progress, tell_training
from mien.cli._options import AsJson, ModelOut, Seed, refuse

__all__ = ["run"]


class Sampling(StrEnum):
    """What differs between the members."""

    subspace = "subspace"
    people = "people"
    images = "images"
    both = "both"


class Priors(StrEnum):
    """How likely everybody is."""

    uniform = "uniform"
    empirical = "empirical"


class Light(StrEnum):
    """What is done to the pictures first."""

    auto = "auto"
    none = "none"
    length = "length"
    local = "local"
    smooth = "smooth"


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
    fixed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of largest eigenfaces that every member has (M0).",
            show_default="a third of a member's",
        ),
    ] = None,
    random: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of other eigenfaces that a member has (M1).",
            show_default="from the number of pictures",
        ),
    ] = None,
    people_per_member: Annotated[
        int | None,
        typer.Option(
            min=2, help="For people and both: people that a member sees.", show_default="half"
        ),
    ] = None,
    pictures_per_member: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="For images and both: pictures per person that a member sees.",
            show_default="a bootstrap",
        ),
    ] = None,
    discriminants: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of discriminants of a member.", show_default="from the pictures"
        ),
    ] = None,
    shrinkage: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Shrinkage of the scatter within people towards a sphere, from 0 to 1.",
            show_default="from the pictures",
        ),
    ] = None,
    mean_shrinkage: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Shrinkage of people's means towards the overall mean, from 0 to 1.",
            show_default="from the pictures",
        ),
    ] = None,
    priors: Annotated[
        Priors, typer.Option(help="Everybody is equally likely, or as likely as in the folder.")
    ] = Priors.uniform,
    light: Annotated[
        Light,
        typer.Option(
            help="Preparation of the pictures: none, unit length, local light removed, the same "
            "blurred by a pixel, or the one with the fewest errors on held-out pictures (auto)."
        ),
    ] = Light.auto,
    size: Annotated[int, typer.Option(min=8, help="Resize the faces to this many pixels.")] = 64,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Learn to name the people of a folder from a few pictures each, all framed alike.

    mien crops train committee people --out people.mien

    mien crops identify people.mien holiday
    """
    if sampling not in (Sampling.people, Sampling.both):
        refuse(f"has no effect with --sampling {sampling}", people_per_member=people_per_member)
    if sampling not in (Sampling.images, Sampling.both):
        refuse(f"has no effect with --sampling {sampling}", pictures_per_member=pictures_per_member)
    from mien.crops import train_committee
    from mien.files import save

    with showing_progress():
        model, summary = train_committee(
            folder,
            size=size,
            n_members=members,
            sampling=sampling.value,
            fusion=fusion.value,
            light=light.value,
            n_fixed=fixed,
            n_random=random,
            n_people=people_per_member,
            n_images=pictures_per_member,
            n_discriminants=discriminants,
            shrinkage="auto" if shrinkage is None else shrinkage,
            mean_shrinkage="auto" if mean_shrinkage is None else mean_shrinkage,
            priors=priors.value,
            random_state=seed,
        )
        save(model, out)
    if not tell_training(summary, out, as_json=as_json):
        return
    say(
        f"{summary['pictures']:,} pictures of {summary['people']:,} people; {summary['members']} "
        f"members with {summary['eigenfaces of a member']} eigenfaces each."
    )
    for row in summary["light"]:
        say(
            f"{'Chosen' if row['chosen'] else 'Tried'}: {row['preparation']}, "
            f"{100 * row['out_of_bag_error']:.1f} % of held-out pictures named wrongly."
        )
    if summary["held out"]:
        value, low, high = summary["named rightly"]
        say(
            f"Tested on {summary['held out']} held-out pictures, one per person: "
            f"{100 * value:.1f} % named correctly [{100 * low:.1f}, {100 * high:.1f}]."
        )
    else:
        say("Not tested: this needs a person with at least three pictures.")
    say(f"Model: {out}")
