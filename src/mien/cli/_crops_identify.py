"""``mien crops identify``: name cut-out faces with a committee."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli._display import print_json, showing_progress
from mien.cli._models import check_model
from mien.cli._options import AsJson

__all__ = ["run"]


def run(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model file of mien crops train committee.")
    ],
    faces: Annotated[
        list[Path], typer.Argument(metavar="FACE", help="Cut-out faces, or folders of them.")
    ],
    threshold: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Minimum posterior probability of a name."),
    ] = 0.8,
    as_json: AsJson = False,
) -> None:
    """Name each cut-out face, or call it unknown.

    mien crops identify people.mien holiday

    Exit code 1: some files could not be read; all others were named.
    """
    check_model(model, "mien crops identify")
    from mien.crops import identify
    from mien.files import load

    with showing_progress():
        rows = identify(load(model), faces, threshold=threshold)
    if as_json:
        print_json(rows)
    else:
        _show(rows)
    if any("error" in row for row in rows):
        raise typer.Exit(1)


def _show(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from mien.cli._consoles import console

    table = Table(box=None, pad_edge=False)
    table.add_column("picture", overflow="fold")
    table.add_column("person", overflow="fold")
    table.add_column("posterior", justify="right")
    table.add_column("next candidates", style="dim")
    for row in rows:
        if "error" in row:
            table.add_row(Text(row["picture"]), Text(row["error"], style="red"), "", "")
            continue
        known = row["person"] == row["likeliest"][0][0]
        first, *second = row["likeliest"]
        others = second if known else [first, *second]
        table.add_row(
            Text(row["picture"]),
            Text(str(row["person"]), style="bold" if known else "yellow"),
            f"{row['posterior']:.3f}",
            Text(", ".join(f"{name} {posterior:.3f}" for name, posterior in others)),
        )
    console.print(table)
