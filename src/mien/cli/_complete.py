"""``mien complete``: the covered part of faces in photographs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli._display import note, print_json, say, showing_progress
from mien.cli._models import check_model
from mien.cli._options import AsJson, PictureOut
from mien.cli._outputs import check_file, check_folder

__all__ = ["default_out", "run", "show_pictures"]


def run(
    photo: Annotated[
        Path, typer.Argument(metavar="PHOTO|FOLDER", help="A photograph, or a folder of them.")
    ],
    cover: Annotated[
        str,
        typer.Option(
            help="What is covered: auto finds it; otherwise below-eyes, lower, upper, left, right, "
            "or a picture that is white there."
        ),
    ] = "auto",
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Model file written by mien crops train completer.",
            show_default="the shipped model",
        ),
    ] = None,
    engine: Annotated[str, typer.Option(help="Engine that finds faces: sface or dlib.")] = "sface",
    out: PictureOut = None,
    completed: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|FOLDER",
            help="Also write the completed photograph alone; a folder for a folder.",
        ),
    ] = None,
    same: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PHOTO|FOLDER",
            help="Another photograph of the same person, or a folder of them, such as the one that "
            "was enrolled: the most similar one supplies the missing part. Repeat for several.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Complete the covered part of faces and show original, cover and result side by side.

    mien complete masked.jpg --out completed.png

    mien complete masked.jpg --same people/Ann --out completed.png

    The result is a guess: the mean of faces that resemble the visible part, or what another
    photograph of the person shows there. Do not use it to recognise anybody. Exit code 1: some
    photographs could not be processed.
    """
    if model is not None:
        check_model(model, "mien complete")
    from mien.recognition import complete_files

    out = out or default_out(photo)
    for place in (out, completed):
        (check_folder if photo.is_dir() else check_file)(place)
    with showing_progress():
        done = complete_files(
            photo,
            out,
            cover=cover,
            model=model,
            engine=engine,
            completed=completed,
            same=same or (),
        )
    if as_json:
        print_json(done)
    else:
        show_pictures(done, out)
    if any("error" in picture for picture in done["pictures"]):
        raise typer.Exit(1)


def default_out(source: Path) -> Path:
    """Where a result goes if nothing was said: beside the input."""
    return source.with_name(source.stem + ("-completed" if source.is_dir() else "-completed.png"))


def show_pictures(done: dict[str, Any], out: Path) -> None:
    """What was done with the first pictures, every error, and where the result is."""
    for picture in done["pictures"][:5]:
        say(_describe(picture))
    if len(done["pictures"]) > 5:
        say(f"and {len(done['pictures']) - 5} more")
    for picture in [picture for picture in done["pictures"] if picture.get("error")][:20]:
        note(picture["error"])
    if done["written"]:
        note(f"Result: {out}")


def _describe(picture: dict[str, Any]) -> str:
    if picture.get("error"):
        return f"{picture['file']}: not completed"
    if "faces" not in picture:
        return f"{picture['file']}: completed"
    shares = ", ".join(f"{100 * face['covered']:.0f} %" for face in picture["faces"])
    count = len(picture["faces"])
    faces = f"{count} face{'s' if count > 1 else ''}"
    if picture["completed"] == 0:
        return f"{picture['file']}: {faces}; no cover was found"
    return f"{picture['file']}: {faces}; covered: {shares}"
