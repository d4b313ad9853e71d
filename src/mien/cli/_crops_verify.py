"""``mien crops verify``: do two cut-out faces, or two vectors, belong to the same person?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import print_json, showing_progress
from mien.cli._models import check_model
from mien.cli._options import AsJson
from mien.cli._verify import show_answer

__all__ = ["run"]


def run(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="Model file of mien crops train verification or adapt."
        ),
    ],
    first: Annotated[
        Path,
        typer.Argument(
            metavar="FACE", help="A cut-out face, or an .npy vector if the model learned vectors."
        ),
    ],
    second: Annotated[
        Path, typer.Argument(metavar="FACE", help="The face or vector to compare it with.")
    ],
    prior: Annotated[
        float,
        typer.Option(
            min=1e-9, max=1 - 1e-9, help="Prior probability that both show the same person."
        ),
    ] = 0.5,
    as_json: AsJson = False,
) -> None:
    """Compare two cut-out faces or vectors and give the likelihood ratio.

    mien crops verify crowd.mien a.png b.png

    The decision is made at the false accept rate that the model was trained for.
    """
    check_model(model, "mien crops verify")
    from mien.crops import verify
    from mien.files import load

    with showing_progress():
        answer = verify(load(model), first, second, prior=prior)
    if as_json:
        print_json(answer)
    else:
        show_answer(answer)
