"""``mien identify``: who is in these photographs and videos?"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mien.cli._display import count, note, note_live, print_json, say, showing_progress, warn
from mien.cli._export import XmpKeywords, XmpOption, check_xmp, note_unconfirmed
from mien.cli._options import (
    AsJson,
    Fpir,
    GalleryOption,
    Impostors,
    Jobs,
    Passphrase,
    ask_key,
    refuse,
)
from mien.cli._outputs import check_folder
from mien.errors import InputError

if TYPE_CHECKING:
    from mien.recognition import IdentifiedFace, IdentifiedPicture

__all__ = ["run"]

_EVERY = 5
_XMP = (None, "none", "sidecar", "embed")


def run(
    photos: Annotated[
        list[Path],
        typer.Argument(metavar="PHOTO", help="Photographs, videos, or folders of them."),
    ],
    gallery: GalleryOption,
    fpir: Fpir = 0.01,
    top: Annotated[int, typer.Option(min=1, help="Number of candidates to show per face.")] = 3,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Also write the pictures with boxes and names here."),
    ] = None,
    xmp: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="Write names as XMP for photo applications: sidecar (beside the photographs), "
            "embed (into them, with exiftool and a backup) or none.",
            show_default="none",
        ),
    ] = None,
    names: XmpOption = None,
    keywords: XmpKeywords = False,
    remember: Annotated[
        bool,
        typer.Option(
            "--remember", help="Store beside the gallery who appears in which file, for mien find."
        ),
    ] = False,
    every: Annotated[
        int | None,
        typer.Option(min=1, help="For videos: analyse every N-th frame.", show_default=str(_EVERY)),
    ] = None,
    impostors: Impostors = "lookalikes",
    jobs: Jobs = 2,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """Name every face in photographs and videos, or call it unknown.

    mien identify party.jpg --gallery people.gallery --out named

    Exit code 1: some files could not be processed; all others were.
    """
    from mien.recognition import count_unconfirmed, iter_identified, open_gallery, write_names
    from mien.recognition import remember as keep_pictures

    if every is not None:
        from mien.media import find_media

        if not any(find_media(place).videos for place in photos):
            refuse("is for videos, and none was given", every=every)
    if xmp not in _XMP:
        raise InputError(f"--xmp must be sidecar, embed or none; got {xmp!r}")
    if xmp in (None, "none"):
        refuse("is for --xmp sidecar or embed", names=names, keywords=keywords)
        xmp = None
    else:
        names = check_xmp(names, embed=xmp == "embed")
    check_folder(out)
    results: list[IdentifiedPicture] = []
    sidecars = kept = unconfirmed = 0
    with (
        open_gallery(gallery, key=ask_key(passphrase), read_only=True) as opened,
        showing_progress(),
    ):
        if remember:
            keep_pictures([], opened)  # a gallery that cannot is refused before the work
        for result in iter_identified(
            list(photos),
            opened,
            fpir=fpir,
            top=top,
            every=every or _EVERY,
            n_jobs=jobs,
            impostors=impostors,
        ):
            results.append(result)
            if out is not None and result.error is None:
                _draw(result, out, len(results))
            if remember:
                keep_pictures([result], opened)
            if xmp is not None:
                change = write_names(
                    result, opened, which=names or "confirmed", place=xmp, keywords=keywords
                )
                sidecars += change is not None and bool(change.added)
                kept += 0 if change is None else len(change.kept)
                unconfirmed += count_unconfirmed(result, change)
    if as_json:
        print_json([result.to_dict() for result in results])
    else:
        _show(results, fpir)
        note_live(*photos)
    if out is not None:
        note(f"Pictures: {out}")
    if xmp is not None:
        what = "Photographs" if xmp == "embed" else "Sidecars"
        note(f"{what} written or changed: {sidecars:,}")
        if kept:
            note(f"Faces that keep the name that another program gave them: {kept:,}")
        note_unconfirmed(unconfirmed)
    if any(result.error is not None for result in results):
        raise typer.Exit(1)


def _draw(result: IdentifiedPicture, folder: Path, number: int) -> None:
    from mien.media import write_image

    folder.mkdir(parents=True, exist_ok=True)
    write_image(folder / f"{number:04d}_{result.path.stem}.png", result.draw())


def _when(face: IdentifiedFace) -> str:
    """When a track is seen: as a time, or by frames where the video does not tell its rate."""
    if face.times is not None:
        begin, end = (f"{int(t) // 60}:{t % 60:04.1f}" for t in face.times)
        return f" {begin}–{end}"
    return f" frames {face.frames[0]}–{face.frames[1]}" if face.frames else ""


def _show(results: list[IdentifiedPicture], fpir: float) -> None:
    from rich.table import Table
    from rich.text import Text

    from mien.cli._consoles import console

    table = Table(box=None, pad_edge=False)
    for title, justify in (("picture", "left"), ("person", "left"), ("log ratio", "right")):
        table.add_column(title, justify=justify, overflow="fold")  # type: ignore[arg-type]
    table.add_column("threshold", justify="right")
    table.add_column("probability", justify="right")
    table.add_column("next candidates", style="dim")
    here = os.path.commonpath([result.path.absolute().parent for result in results])
    for result in results:
        if result.error is not None:
            continue  # a sentence does not fit into a column
        name = Text(os.path.relpath(result.path.absolute(), here))
        if not result.faces:
            table.add_row(name, Text("no face found", style="yellow"), "", "", "", "")
        for face in result.faces:
            others = [(who, ratio) for who, ratio in face.candidates if who != face.person]
            where = _when(face)
            table.add_row(
                name + Text(where, style="dim"),
                Text(face.person or "unknown", style="bold" if face.person else "yellow"),
                f"{face.log_ratio:+.1f}",
                f"{face.threshold:+.1f}" + ("*" if face.promised is False else ""),
                f"{face.probability:.3f}",
                Text(", ".join(f"{who} {ratio:+.1f}" for who, ratio in others)),
            )
            name = Text("")
    if table.row_count:
        console.print(table)
    for result in results:
        if result.error is not None:
            warn(f"not used: {result.path}: {result.error}")
        elif result.note:
            note(f"{result.path}: {result.note}")
    faces = [face for result in results for face in result.faces]
    people = {face.person for face in faces if face.person}
    unknown = sum(face.person is None for face in faces)
    say(
        f"{count(len(results), 'file')}: {count(len(faces), 'face')}, "
        f"{len(faces) - unknown:,} named as {count(len(people), 'person', 'people')}, "
        f"{unknown:,} unknown"
    )
    bounds = [face.bound for face in faces if face.promised is False]
    if bounds:
        note(
            f"* not promised: this gallery's people show that an FPIR of {fpir:g} is at most "
            f"{max(bounds):.3g}; mien gallery check says what would help"
            if all(map(math.isfinite, bounds))
            else f"* not promised: nothing supports an FPIR of {fpir:g} in this gallery"
        )
    elif any(face.promised == "shipped" for face in faces):
        note(f"An FPIR of {fpir:g} rests on the model's card: this gallery has too few people yet")
    elif faces:
        note(
            f"An FPIR of {fpir:g} is supported by {faces[0].n_comparisons:,} comparisons of the "
            "people in this gallery"
        )
