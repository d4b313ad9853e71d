"""``mien encode``: the pictures of a folder as vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["encode"]


def encode(
    model: Annotated[
        Path, typer.Argument(help="Model file of mien train encoder.", metavar="MODEL")
    ],
    folder: Annotated[
        Path, typer.Argument(help="Pictures, at any depth below this folder.", metavar="FOLDER")
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="features.npz (features, files, labels) or features.csv.", show_default=False
        ),
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary for programs, and nothing else.")
    ] = False,
) -> None:
    """Turn each picture into one vector; the folder that it lies in becomes its label."""
    import mien
    from mien.crops import encode as encode_crops
    from mien.crops import write_features
    from mien.errors import InputError

    if out.suffix.lower() not in (".npz", ".csv"):
        raise InputError(f"--out must end in .npz or .csv; got {out.name!r}")
    with showing_progress():
        result = encode_crops(mien.load(model), folder)
        write_features(result, out)
    n, dimensions = result["features"].shape
    if as_json:
        summary = {"pictures": n, "dimensions": dimensions, "features": str(out)}
        print_json(summary | {"skipped": result["skipped"]})
    else:
        for reason in result["skipped"]:
            errors.print(f"skipped: {reason}", style="yellow", highlight=False, markup=False)
        console.print(
            f"{n:,} pictures, {dimensions:,} numbers each: {out}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
    if result["skipped"]:
        raise typer.Exit(1)
