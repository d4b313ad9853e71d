"""``mien gallery``: look after a gallery."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mien.cli._display import count, note, print_json, say
from mien.cli._options import AsJson, GalleryOption, Impostors, Passphrase, ask_key
from mien.cli._outputs import check_folder

if TYPE_CHECKING:
    from mien.recognition import GalleryCheck

__all__ = ["check", "forget"]


def check(
    gallery: GalleryOption,
    fpir: Annotated[
        list[float] | None,
        typer.Option(
            help="Maximum share of unknown faces that may wrongly get a name (FPIR). Repeat for "
            "several.",
            show_default="0.01 and 0.05",
        ),
    ] = None,
    impostors: Impostors = "lookalikes",
    forget_unnamed: Annotated[
        bool,
        typer.Option(
            "--forget-unnamed",
            help="First forget what mien cluster --gallery learned from unnamed faces.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write report.html, with a reliability diagram, into this folder.",
        ),
    ] = None,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """Check a gallery: its file, and whether its people support the stated error rates."""
    from mien.recognition import check_gallery

    check_folder(out)
    found = check_gallery(
        gallery,
        fpirs=tuple(fpir or (0.01, 0.05)),
        impostors=impostors,
        forget_unnamed=forget_unnamed,
        key=ask_key(passphrase),
    )
    page = None if out is None else found.report().write(out)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    if page is not None:
        note(f"Report: {page}")
    if found.faults:
        raise typer.Exit(1)


def forget(
    gallery: GalleryOption,
    as_json: AsJson = False,
) -> None:
    """Delete what mien identify --remember kept about pictures; the gallery itself stays."""
    from mien.recognition import forget_pictures

    done = forget_pictures(gallery)
    if as_json:
        print_json({"gallery": str(gallery), "forgotten": done})
    else:
        say(
            f"What was remembered for {gallery} is deleted, and overwritten."
            if done
            else f"Nothing was remembered for {gallery}."
        )


def _print(found: GalleryCheck) -> None:
    from rich.table import Table

    from mien.cli._consoles import console

    say(
        f"{count(found.people, 'person', 'people')}; compared: "
        f"{count(found.pictures, 'face')} and {count(found.comparisons, 'comparison')} of "
        f"two people; impostors: {found.impostors}."
    )
    if found.unnamed:
        say(f"Of the same camera: {count(found.unnamed, 'unnamed face')}.")
    table = Table("stated FPIR", "promised", "95 % bound", "tried on its people", "misses")
    for one in found.rates:
        tried = f"{_share(one.tried)} [{_share(one.tried_low)}, {_share(one.tried_high)}]"
        table.add_row(
            f"{one.fpir:g}",
            str(one.promised).lower(),
            _share(one.bound),
            "–" if one.tried is None else tried,
            _share(one.misses),
        )

    console.print(table)
    for sentence in [*found.advice(), *found.faults]:
        say(f"- {sentence}")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"
