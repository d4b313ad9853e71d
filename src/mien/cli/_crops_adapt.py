"""``mien crops adapt``: a verifier moved to your own cut-out faces or vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._crops_train_verification import Far, show_verifier
from mien.cli._display import showing_progress
from mien.cli._models import check_model
from mien.cli._options import AsJson, ModelOut

__all__ = ["run"]


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
    as_json: AsJson = False,
) -> None:
    """Move a verifier to the people of a folder or of a table of vectors.

    mien crops adapt crowd.mien family --out family.mien
    """
    check_model(model, "mien crops adapt")
    from mien.crops import adapt
    from mien.files import load, save

    with showing_progress():
        adapted, summary = adapt(load(model), faces, far=far)
        save(adapted, out)
    show_verifier(summary, out, as_json=as_json)
