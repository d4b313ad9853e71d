"""``mien people purge`` and ``export``, ``mien gallery move``, ``change-key`` and ``rotate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli._display import count, note, print_json, say
from mien.cli._options import AsJson, GalleryOption, Passphrase, ask_key
from mien.errors import InputError

__all__ = ["change_key", "export_person", "move", "purge_people", "rotate"]


def purge_people(
    gallery: GalleryOption,
    days: Annotated[
        float | None,
        typer.Option(
            help="Also delete people neither enrolled nor recognised for this many days.",
            show_default="what the gallery's policy says",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show who would be deleted; delete nobody.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """Permanently delete people whose retention, consent or time since last use has ended."""
    from mien.gallery import Gallery

    key = ask_key(passphrase)
    with Gallery.open(gallery, key=key, read_only=dry_run) as opened:
        due = opened.due(days=days)
        names = [person.name for person in due]
        if not dry_run and due:
            question = f"Delete {count(len(due), 'person', 'people')} for good: {', '.join(names)}?"
            if not yes and not typer.confirm(question, err=True):
                raise typer.Exit(1)
            for name in names:
                opened.delete(name)
    if as_json:
        print_json({"gallery": str(gallery), "due": names, "deleted": not dry_run})
        return
    what = "would be deleted" if dry_run else "deleted for good"
    for name in names:
        say(f"{name}: {what}")
    say(f"{count(len(due), 'person', 'people')} {what}")


def export_person(
    person: Annotated[str, typer.Argument(metavar="NAME", help="Person whose data to export.")],
    gallery: GalleryOption,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write everything as JSON into this file, readable by its owner only.",
        ),
    ] = None,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """Show or write everything that a gallery stores about a person, for a request for access."""
    import json

    from mien._core.atomic import write_atomically
    from mien.cli._outputs import check_file
    from mien.gallery import Gallery

    check_file(out)
    if out is not None and out.exists():
        raise InputError(f"{out} already exists and is not overwritten")
    with Gallery.open(gallery, key=ask_key(passphrase), read_only=True) as opened:
        held = opened.export_person(person)
    if out is not None:
        write_atomically(out, json.dumps(held, indent=1).encode("utf-8"), private=True)
    if as_json:
        print_json(held)
        return
    say(_describe(held))
    if out is not None:
        note(f"Written: {out}")


def _describe(held: dict[str, Any]) -> str:
    consent = held["consent"]
    agreed = "no consent is recorded" if consent is None else f"consent for {consent['purpose']!r}"
    return (
        f"{held['name']}: {count(len(held['faces']), 'face')}, "
        f"{count(len(held['constraints']), 'constraint')}, {agreed}"
    )


def move(
    source: Annotated[
        Path, typer.Argument(metavar="FROM", help="A gallery: a file or postgresql://…")
    ],
    target: Annotated[
        Path, typer.Argument(metavar="TO", help="New gallery to create: a file or postgresql://…")
    ],
    passphrase: Passphrase = False,
    seal: Annotated[
        bool, typer.Option("--seal", help="Seal the copy; asks for its passphrase, twice.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Copy a whole gallery to another place and compare every row. The original stays."""
    from mien.gallery import move_gallery

    key = ask_key(passphrase)
    rows = move_gallery(source, target, key=key, target_key=ask_key(seal, new=True))
    if as_json:
        print_json({"from": str(source), "to": str(target), "rows": rows})
    else:
        say(f"{rows:,} rows copied to {target} and compared; {source} is unchanged")


def change_key(gallery: GalleryOption, as_json: AsJson = False) -> None:
    """Change the passphrase of a sealed gallery; nobody has to be enrolled again.

    Older backups open only with the old passphrase: once nobody knows it, their data of deleted
    people are unreadable. Restart servers that have the gallery open.
    """
    from mien.gallery import Gallery

    _require_sealed(gallery)
    key = ask_key(True)
    new = ask_key(True, new=True, label="New passphrase")
    with Gallery.open(gallery, key=key) as opened:
        opened.change_key(new or "")
    if as_json:
        print_json({"gallery": str(gallery), "changed": True})
    else:
        say(f"{gallery} opens with the new passphrase from now on")


def rotate(gallery: GalleryOption, as_json: AsJson = False) -> None:
    """Rotate all vectors of a sealed gallery by a new secret rotation.

    Scores do not change. Without the secrets, vectors copied earlier cannot be compared with
    later ones, nor those of two galleries with each other. The key is the stronger protection.
    """
    from mien.gallery import Gallery

    _require_sealed(gallery)
    with Gallery.open(gallery, key=ask_key(True)) as opened:
        turned = opened.rotate()
    if as_json:
        print_json({"gallery": str(gallery), "templates": turned})
    else:
        say(f"{count(turned, 'template')} of {gallery} rotated by a new secret")


def _require_sealed(gallery: Path) -> None:
    """Before a passphrase is asked for that nothing needs."""
    from mien.errors import GalleryKeyError
    from mien.gallery import Gallery

    try:
        Gallery.open(gallery, read_only=True).close()
    except GalleryKeyError:
        return
    raise InputError(
        f"{gallery} is not sealed; a sealed copy is made by mien gallery move FROM TO --seal"
    )
