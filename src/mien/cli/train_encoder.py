"""``mien train encoder``: vectors for pictures, learned without any label."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["train_encoder"]


class Second(StrEnum):
    """What is described beside the gradients."""

    lbp = "lbp"
    colour = "colour"


class Kind(StrEnum):
    """How a picture's descriptors become one vector."""

    super_vector = "super-vector"
    fisher = "fisher"


def train_encoder(
    folder: Annotated[
        Path, typer.Argument(help="Pictures, at any depth below this folder.", metavar="FOLDER")
    ],
    out: Annotated[Path, typer.Option(help="Model file to write.", show_default=False)],
    second: Annotated[Second, typer.Option(help="The second view, beside gradients.")] = Second.lbp,
    kind: Annotated[Kind, typer.Option(help="What to encode with.")] = Kind.super_vector,
    components: Annotated[int, typer.Option(min=1, help="Components of the mixture.")] = 16,
    latent: Annotated[int, typer.Option(min=1, help="Latent variables of a component.")] = 8,
    reduced: Annotated[int, typer.Option(min=1, help="Directions kept of each view.")] = 32,
    patch: Annotated[int, typer.Option(min=4, help="Side of a patch in pixels.")] = 16,
    step: Annotated[int, typer.Option(min=1, help="Distance of patches in pixels.")] = 8,
    side: Annotated[
        int, typer.Option(min=16, help="Shorter side that larger pictures are reduced to.")
    ] = 128,
    seed: Annotated[int, typer.Option(help="Seed of the draws.", min=0)] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary for programs, and nothing else.")
    ] = False,
) -> None:
    """Learn to turn a picture into one vector, from pictures without names.

    mien train encoder pictures --out encoder.mien

    mien encode encoder.mien pictures --out features.npz
    """
    import mien
    from mien.crops import train_encoder as train

    with showing_progress():
        model, summary = train(
            folder,
            second=second.value,
            kind=kind.value,
            n_components=components,
            n_latent=latent,
            n_reduced=reduced,
            patch=patch,
            step=step,
            side=side,
            random_state=seed,
        )
        mien.save(model, out)
    if as_json:
        print_json(summary | {"model": str(out)})
        return
    for reason in summary["skipped"]:
        errors.print(f"skipped: {reason}", style="yellow", highlight=False, markup=False)
    console.print(
        f"{summary['pictures']:,} pictures; gradients and {second.value}, {kind.value}: "
        f"{summary['dimensions']:,} numbers a picture. The model: {out}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
