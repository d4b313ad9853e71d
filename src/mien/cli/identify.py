"""``mien identify``: who is on these pictures, or in this video."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mien.cli._display import console, errors, print_json, showing_progress
from mien.cli.enrol import ask_key
from mien.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from mien.recognition import IdentifiedPicture

__all__ = ["identify"]


def identify(
    images: Annotated[
        list[Path],
        typer.Argument(help="Pictures, folders of pictures, or videos.", metavar="PHOTOS..."),
    ],
    gallery: Annotated[
        Path | None, typer.Option("--gallery", "-g", help="From mien enrol.", metavar="FILE")
    ] = None,
    fpir: Annotated[
        float,
        typer.Option(min=1e-9, max=0.5, help="Part of strangers that may be named as somebody."),
    ] = 0.01,
    top: Annotated[int, typer.Option(min=1, help="Candidates to tell.")] = 3,
    out: Annotated[
        Path | None, typer.Option(help="Folder for pictures with boxes and names.")
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="Look at each so many frames.")] = 5,
    jobs: Annotated[int, typer.Option(min=1, help="Pictures worked on at the same time.")] = 2,
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Ask for the passphrase of a sealed gallery.")
    ] = False,
    model: Annotated[
        Path | None,
        typer.Option(help="Instead of a gallery: from mien train committee.", metavar="FILE"),
    ] = None,
    threshold: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="With --model: least posterior of a name."),
    ] = 0.8,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document a picture, a line each.")
    ] = False,
) -> None:
    """Name everybody on each picture, or say "unknown".

    mien identify party.jpg --gallery people.gallery --out named

    Exit code 1: some pictures could not be used; the others were.
    """
    if (gallery is None) == (model is None):
        raise InputError("give --gallery FILE, or --model FILE of mien train committee")
    if model is not None:
        _ask_committee(model, images, threshold, as_json)
        return
    from mien.recognition import iter_identified

    results = []
    with showing_progress():
        for result in iter_identified(
            list(images), str(gallery), fpir=fpir, top=top, every=every, n_jobs=jobs,
            key=ask_key(passphrase),
        ):  # fmt: skip
            results.append(result)
            if as_json:
                console.file.write(json.dumps(result.to_dict()) + "\n")
            if out is not None and result.error is None:
                _draw(result, out, len(results))
    if not as_json:
        _show(results, fpir)
    if out is not None:
        errors.print(f"The pictures: {out}", markup=False, highlight=False, soft_wrap=True)
    if any(result.error is not None for result in results):
        raise typer.Exit(1)


def _draw(result: IdentifiedPicture, folder: Path, number: int) -> None:
    from mien.media import write_image

    folder.mkdir(parents=True, exist_ok=True)
    write_image(folder / f"{number:04d}_{result.path.stem}.png", result.draw())


def _show(results: list[IdentifiedPicture], fpir: float) -> None:
    from rich.text import Text

    table = _new_table(("picture", "left"), ("person", "left"), ("log ratio", "right"))
    table.add_column("needed", justify="right")
    table.add_column("next likeliest", style="dim")
    here = os.path.commonpath([result.path.absolute().parent for result in results])
    for result in results:
        name = Text(os.path.relpath(result.path.absolute(), here))
        if result.error is not None or not result.faces:
            reason = result.error or "no face found"
            table.add_row(name, Text(reason, style="red" if result.error else "yellow"), "", "", "")
        for face in result.faces:
            others = [(who, ratio) for who, ratio in face.candidates if who != face.person]
            where = f" {face.frames[0]}–{face.frames[1]}" if face.frames else ""
            table.add_row(
                name + Text(where, style="dim"),
                Text(face.person or "unknown", style="bold" if face.person else "yellow"),
                f"{face.log_ratio:+.1f}",
                f"{face.threshold:+.1f}" + ("" if face.promised else "*"),
                Text(", ".join(f"{who} {ratio:+.1f}" for who, ratio in others[:2])),
            )
            name = Text("")
    console.print(table)
    if any(not face.promised for result in results for face in result.faces):
        errors.print(
            f"* the data of the calibration are too few to promise {fpir:g}: extrapolated",
            highlight=False,
        )


def _new_table(*columns: tuple[str, Any]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name, justify in columns:
        table.add_column(name, justify=justify, overflow="fold")
    return table


def _ask_committee(model: Path, images: list[Path], threshold: float, as_json: bool) -> None:
    """Committees name pictures that are cut out already."""
    from mien.crops import identify as identify_crops
    from mien.files import load

    with showing_progress():
        rows = identify_crops(load(model), images, threshold=threshold)
    if as_json:
        print_json(rows)
    else:
        _show_posteriors(rows)
    if any("error" in row for row in rows):
        raise typer.Exit(1)


def _show_posteriors(rows: list[dict[str, Any]]) -> None:
    from rich.text import Text

    table = _new_table(("picture", "left"), ("person", "left"), ("posterior", "right"))
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
