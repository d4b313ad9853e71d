"""``mien find``: on which photographs and videos are these people?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mien.cli._display import count, note, print_json, say
from mien.cli._options import AsJson, GalleryOption, Passphrase, ask_key
from mien.cli._outputs import check_folder
from mien.errors import InputError

if TYPE_CHECKING:
    from mien.recognition import FoundPicture

__all__ = ["run"]


def run(
    gallery: GalleryOption,
    people: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="People who must all appear.", show_default=False),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Person who must not appear. Repeat for several."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="DATE", help="First day: 2024, 2024-06 or 2024-06-15."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--to", metavar="DATE", help="Last day, included: 2024, 2024-06, 2024-06-15."),
    ] = None,
    anybody: Annotated[
        bool, typer.Option("--any", help="One of the people is enough, instead of all.")
    ] = False,
    confirmed: Annotated[
        bool,
        typer.Option(
            "--confirmed", help="Count only enrolled faces, not faces that mien identify named."
        ),
    ] = False,
    photos: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder that contains the enrolled pictures, if not the current one.",
        ),
    ] = None,
    links: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="New folder for links to the files found."),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write report.html with thumbnails to this folder."),
    ] = None,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """List the photographs and videos in which people appear.

    mien find Ann Bob --without Cy --from 2024-06 --gallery people.gallery

    Searches the pictures that people were enrolled from and those processed by mien identify
    --remember. Exit code 1: nothing was found.
    """
    from mien.recognition import find

    check_folder(page)
    check_folder(links)
    if links is not None and links.exists() and any(links.iterdir()):
        raise InputError(f"{str(links)!r} exists and is not empty: choose another folder")
    found = find(
        people or [],
        gallery,
        without=without or [],
        since=since,
        until=until,
        anybody=anybody,
        confirmed=confirmed,
        photos=photos,
        key=ask_key(passphrase),
    )
    if as_json:
        print_json([one.to_dict() for one in found])
    else:
        _show(found)
    if links is not None and found:
        note(f"Links: {links} ({_link(found, links)})")
    if page is not None and found:
        from mien.recognition import report_found

        note(f"Page: {report_found(found, page, people or []).write(page)}")
    if not found:
        raise typer.Exit(1)


def _show(found: list[FoundPicture]) -> None:
    """One path per line, for people and for pipes."""
    for one in found:
        times = sorted({t for mine in one.seconds.values() for t in mine})
        shown = ", ".join(f"{_clock(a)}–{_clock(b)}" for a, b in times[:5])
        more = " …" if len(times) > 5 else ""
        say(str(one.path) + (f"  {shown}{more}" if shown else ""))
    gone = sum(not one.path.exists() for one in found)
    if not found:
        note("Nothing was found.")
    else:
        note(count(len(found), "picture"))
    if gone:
        note(
            f"{gone:,} of them were not found from here: give the folder that was enrolled with "
            "--photos FOLDER."
        )
    unseen = sum(not one.looked_through for one in found)
    if unseen:
        note(
            f"{unseen:,} of them are known from enrolling only: `mien identify --remember` finds "
            "out who else is on them."
        )


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _link(found: list[FoundPicture], folder: Path) -> str:
    """Links with names of their own; what is not there is left out."""
    folder.mkdir(parents=True, exist_ok=True)
    made = 0
    for one in found:
        path = one.path.absolute()
        if not path.exists():
            continue
        target, more = folder / path.name, 1
        while target.is_symlink() or target.exists():
            more += 1
            target = folder / f"{path.stem}-{more}{path.suffix}"
        target.symlink_to(os.path.relpath(path, folder.resolve()))
        made += 1
    return f"{made:,} of {len(found):,}"
