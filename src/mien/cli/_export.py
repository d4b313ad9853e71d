"""``mien export``: names for the applications that people live in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mien.cli._display import count, note, print_json, say, showing_progress
from mien.cli._options import AsJson, GalleryOption, Jobs, Passphrase, ask_key

__all__ = ["XmpKeywords", "XmpOption", "check_xmp", "note_unconfirmed", "run"]

XmpOption = Annotated[
    str | None,
    typer.Option(
        metavar="WHICH",
        help="Names in XMP: confirmed (faces that are enrolled) or all (also names found now).",
        show_default="confirmed",
    ),
]
XmpKeywords = Annotated[
    bool,
    typer.Option("--keywords", help="In XMP: also write hierarchical keywords, People|NAME."),
]


def check_xmp(names: str | None, embed: bool) -> str:
    """Which names to write; exiftool must be there before the work begins."""
    from mien._core.validation import check_choice
    from mien.recognition import NAMES_WRITTEN

    names = names or NAMES_WRITTEN[0]
    check_choice("--names", names, NAMES_WRITTEN)
    if embed:
        from mien.media import find_exiftool

        find_exiftool()
    return names


def note_unconfirmed(found: int) -> None:
    """Say that names were found that nobody confirmed, and how they are written."""
    if found:
        words = "was" if found == 1 else "were"
        note(
            f"{count(found, 'name')} that mien found {words} not written: nobody has confirmed "
            "them by enrolling the face. --names all writes them as well."
        )


def run(
    photos: Annotated[
        list[Path],
        typer.Argument(metavar="PHOTO", help="Photographs, or folders of them."),
    ],
    gallery: GalleryOption,
    names: XmpOption = None,
    keywords: XmpKeywords = False,
    embed: Annotated[
        bool,
        typer.Option(
            "--embed",
            help="Write into the photographs themselves, with exiftool; each is kept as it was in "
            "NAME.EXT_original.",
        ),
    ] = False,
    fpir: Annotated[
        float | None,
        typer.Option(
            min=1e-9,
            max=0.5,
            help="With --names all: maximum share of unknown faces that may wrongly get a name.",
            show_default="0.01",
        ),
    ] = None,
    jobs: Jobs = 2,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """Write the names of faces as XMP for digiKam, Lightroom, Immich, PhotoPrism and others.

    mien export xmp photos --gallery people.gallery

    Sidecars NAME.EXT.xmp are written beside the photographs, which are not touched. What other
    programs wrote is kept, and so are the names that they gave. Exit code 1: some files could not
    be processed; all others were.
    """
    from mien.cli._options import refuse
    from mien.recognition import export_xmp

    which = check_xmp(names, embed)
    if which == "confirmed":
        refuse("is for names that are found (--names all)", fpir=fpir)
    with showing_progress():
        done = export_xmp(
            list(photos),
            gallery,
            which=which,
            place="embed" if embed else "sidecar",
            keywords=keywords,
            fpir=fpir or 0.01,
            n_jobs=jobs,
            key=ask_key(passphrase),
        )
    if as_json:
        print_json(done.to_dict())
    else:
        where = "photograph" if embed else "sidecar"
        say(
            f"{count(done.pictures, 'picture')}: {count(done.added, 'name')} written into "
            f"{count(len(done.changed), where)}; {done.already:,} were there already."
        )
        if done.kept:
            note(f"Faces that keep the name that another program gave them: {done.kept:,}")
        note_unconfirmed(done.unconfirmed)
        for path, reason in done.failures[:10]:
            note(f"not used: {path}: {reason}")
        if embed and done.changed:
            note(
                "The gallery knows pictures by their bytes, and these are new to it now. Enrol "
                "before writing names, not after."
            )
    if done.failures:
        raise typer.Exit(1)
