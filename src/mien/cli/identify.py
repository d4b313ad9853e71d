"""``mien identify``: who is on these pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import console, print_json, showing_progress

__all__ = ["identify"]


def identify(
    model: Annotated[Path, typer.Argument(help="From mien train committee.", metavar="MODEL")],
    images: Annotated[
        list[Path], typer.Argument(help="Pictures, or folders of pictures.", metavar="IMAGES...")
    ],
    threshold: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Below this posterior a picture is of nobody known."),
    ] = 0.8,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result for programs, and nothing else.")
    ] = False,
) -> None:
    """Name the person on each picture, with the posterior, or say "unknown"."""
    import mien
    from mien.experiments.committee import identify_pictures

    with showing_progress():
        rows = identify_pictures(mien.load(model), images, threshold=threshold)
    if as_json:
        print_json(rows)
    else:
        _show(rows)
    if any("error" in row for row in rows):
        raise typer.Exit(1)


def _show(rows: list[dict]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    table.add_column("picture", overflow="fold")
    table.add_column("person")
    table.add_column("posterior", justify="right")
    table.add_column("next likeliest", style="dim")
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
