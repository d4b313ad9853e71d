"""``mien complete``: the covered part of a face."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli._display import console, errors, print_json, showing_progress

__all__ = ["complete"]


def complete(
    photo: Annotated[
        Path, typer.Argument(help="A photograph, or a folder of them.", metavar="PHOTO|FOLDER")
    ],
    cover: Annotated[
        str | None,
        typer.Option(
            help="What is covered: auto finds it; or below-eyes, lower, upper, left, right, or a "
            "picture that is white there. Nothing else is changed. (Default: auto; with --cropped "
            "that of the training.)"
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="Model file from mien train completer. (Default: the shipped model.)"),
    ] = None,
    cropped: Annotated[
        bool | None,
        typer.Option(
            "--cropped/--photo",
            help="Whether the pictures are faces that are cut out as the model learned them, or "
            "photographs in which faces are to be found. (Default: cropped with --model.)",
        ),
    ] = None,
    engine: Annotated[str, typer.Option(help="What finds the faces: sface or dlib.")] = "sface",
    out: Annotated[
        Path | None,
        typer.Option(help="Picture to write; a folder for a folder. (Default: beside the input.)"),
    ] = None,
    completed: Annotated[
        Path | None,
        typer.Option(help="Also write the completed photograph alone; a folder for a folder."),
    ] = None,
    scale: Annotated[int, typer.Option(min=1, max=16, help="Enlargement of cropped faces.")] = 4,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what was done for programs, and nothing else.")
    ] = False,
) -> None:
    """Complete the covered part of faces; original, covered part and result side by side.

    mien complete masked.jpg --out completed.png

    The result is a guess: the mean of faces that look alike where this one is visible.
    """
    from mien.crops import complete as complete_crops
    from mien.recognition import complete_files

    if out is None:
        suffix = "-completed" if photo.is_dir() else "-completed.png"
        out = photo.with_name(photo.stem + suffix)
    with showing_progress():
        if model is not None if cropped is None else cropped:
            if completed is not None:
                raise typer.BadParameter("--completed is for photographs, not with --cropped")
            done = complete_crops(
                model, photo, out, cover=None if cover == "auto" else cover, scale=scale
            )
        else:
            done = complete_files(
                photo, out, cover=cover or "auto", model=model, engine=engine, completed=completed
            )
    if as_json:
        print_json(done)
        return
    _say(done, out)
    if not done["written"]:
        raise typer.Exit(2)


def _say(done: dict[str, Any], out: Path) -> None:
    for picture in done["pictures"][:5]:
        console.print(_describe(picture), highlight=False, markup=False, soft_wrap=True)
    if len(done["pictures"]) > 5:
        console.print(f"and {len(done['pictures']) - 5} more", highlight=False, markup=False)
    failed = [picture for picture in done["pictures"] if picture.get("error")]
    for picture in failed[:20]:
        errors.print(picture["error"], highlight=False, markup=False, soft_wrap=True)
    if done["written"]:
        errors.print(f"The result: {out}", highlight=False, markup=False, soft_wrap=True)


def _describe(picture: dict[str, Any]) -> str:
    if picture.get("error"):
        return f"{picture['file']}: not done"
    if "faces" not in picture:
        return f"{picture['file']}: completed"
    shares = ", ".join(f"{100 * face['covered']:.0f} %" for face in picture["faces"])
    count = len(picture["faces"])
    faces = f"{count} face{'s' if count > 1 else ''}"
    if picture["completed"] == 0:
        return f"{picture['file']}: {faces}; nothing was taken as covered"
    return f"{picture['file']}: {faces}, covered by {shares}"
