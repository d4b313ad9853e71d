"""``mien crops complete``: the covered part of cut-out faces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._complete import default_out, show_pictures
from mien.cli._display import print_json, showing_progress
from mien.cli._models import check_model
from mien.cli._options import AsJson, PictureOut

__all__ = ["run"]


def run(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model file of mien crops train completer.")
    ],
    faces: Annotated[
        Path,
        typer.Argument(
            metavar="FACE|FOLDER",
            help="A cut-out face, or a folder of them, framed as the model learned them.",
        ),
    ],
    cover: Annotated[
        str | None,
        typer.Option(
            help="What is covered: below-eyes, lower, upper, left, right, or a picture that is "
            "white there.",
            show_default="that of the training",
        ),
    ] = None,
    out: PictureOut = None,
    scale: Annotated[int, typer.Option(min=1, max=16, help="Enlarge the result this much.")] = 4,
    as_json: AsJson = False,
) -> None:
    """Complete cut-out faces and show original, visible part and result side by side.

    mien crops complete faces.mien masked.png --out completed.png
    """
    check_model(model, "mien crops complete")
    from mien.crops import complete

    out = out or default_out(faces)
    with showing_progress():
        done = complete(model, faces, out, cover=cover, scale=scale)
    if as_json:
        print_json(done)
    else:
        show_pictures(done, out)
