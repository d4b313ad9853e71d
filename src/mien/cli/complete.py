"""``mien complete``: the hidden part of a face."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, print_json, showing_progress

__all__ = ["complete"]


def complete(
    model: Annotated[
        Path, typer.Argument(help="Model of `mien train hallucinator`.", metavar="MODEL")
    ],
    image: Annotated[
        Path, typer.Argument(help="A face, or a folder of faces.", metavar="IMAGE|FOLDER")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Picture to write; a folder for a folder. (Default: beside the input.)"),
    ] = None,
    mask: Annotated[
        str | None,
        typer.Option(
            help="What is visible: periocular, upper, lower, left, right, or a picture that is "
            "white there. (Default: that of the training.)"
        ),
    ] = None,
    scale: Annotated[int, typer.Option(min=1, max=16, help="Enlargement.")] = 4,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the paths for programs, and nothing else.")
    ] = False,
) -> None:
    """Complete a face: original, visible part and completion side by side.

    Whatever stands in the hidden part of the picture is not read.
    """
    from mien.experiments.hallucination import complete_pictures

    if out is None:
        suffix = "-completed" if image.is_dir() else "-completed.png"
        out = image.with_name(image.stem + suffix)
    with showing_progress():
        written = complete_pictures(model, image, out, mask=mask, scale=scale)
    if as_json:
        print_json({"written": [str(path) for path in written]})
    else:
        for path in written[:5]:
            console.print(str(path), highlight=False, markup=False, soft_wrap=True)
        if len(written) > 5:
            console.print(f"and {len(written) - 5} more in {out}", highlight=False, markup=False)
