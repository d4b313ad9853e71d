"""``mien crops encode``: the pictures of a folder as vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import print_json, say, showing_progress, warn
from mien.cli._models import check_model
from mien.cli._options import AsJson
from mien.errors import InputError

__all__ = ["run"]


def run(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model file of mien crops train encoder.")
    ],
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="Folder of pictures; folders in it are read too."),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="File to write: .npz (features, files, labels) or .csv.",
            show_default=False,
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Turn each picture of a folder into one vector. The name of its folder becomes its label.

    mien crops encode encoder.mien pictures --out features.npz

    Exit code 1: some pictures could not be read; all others were encoded.
    """
    if out.suffix.lower() not in (".npz", ".csv"):
        raise InputError(f"--out must end in .npz or .csv; got {out.name!r}")
    check_model(model, "mien crops encode")
    from mien.crops import encode, write_features
    from mien.files import load

    with showing_progress():
        result = encode(load(model), folder)
        write_features(result, out)
    n, dimensions = result["features"].shape
    if as_json:
        summary = {"pictures": n, "dimensions": dimensions, "features": str(out)}
        print_json(summary | {"skipped": result["skipped"]})
    else:
        for reason in result["skipped"]:
            warn(f"not used: {reason}")
        say(f"{n:,} pictures with {dimensions:,} features each: {out}")
    if result["skipped"]:
        raise typer.Exit(1)
