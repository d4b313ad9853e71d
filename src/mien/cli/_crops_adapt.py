"""``mien crops adapt``: a verifier moved to your own cut-out faces or vectors."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mien.cli._crops_train_verification import EStep, Far, Rounds, WhichEStep, show_verifier
from mien.cli._display import showing_progress
from mien.cli._models import check_model
from mien.cli._options import AsJson, ModelOut, Scheduler, refuse

__all__ = ["run"]


class Centring(StrEnum):
    """Whose mean is taken for the origin."""

    shrunken = "shrunken"
    target = "target"
    source = "source"


def run(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="Model file of mien crops train verification or adapt."
        ),
    ],
    faces: Annotated[
        Path,
        typer.Argument(
            metavar="FACES",
            help="A folder with one folder of cut-out faces per person, or an .npz file with X and "
            "y; whichever the model learned from.",
        ),
    ],
    out: ModelOut,
    far: Far = None,
    source_people: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Number of people that the source model counts for; its share falls as you add "
            "people.",
            show_default="chosen on held-out people",
        ),
    ] = None,
    strength: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Fixed weight of the source model (the paper's lambda), instead of "
            "--source-people.",
        ),
    ] = None,
    centring: Annotated[
        Centring, typer.Option(help="Mean of the source, of your people, or between the two.")
    ] = Centring.shrunken,
    e_step: WhichEStep = EStep.exact,
    rounds: Rounds = None,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Adapt a verifier to the people in a folder or in a table of vectors.

    mien crops adapt crowd.mien family --out family.mien
    """
    check_model(model, "mien crops adapt")
    if strength is not None:
        refuse("is given by --strength already", source_people=source_people)
    from mien.crops import adapt
    from mien.files import load, save

    with showing_progress():
        adapted, summary = adapt(
            load(model),
            faces,
            far=far,
            source_people="auto" if source_people is None else source_people,
            strength=strength,
            centring=centring.value,
            e_step=e_step.value,
            scheduler=scheduler,
            **({} if rounds is None else {"max_iter": rounds}),
        )
        save(adapted, out)
    show_verifier(summary, out, as_json=as_json)
