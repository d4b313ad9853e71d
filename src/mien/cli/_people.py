"""``mien people``: list, rename, merge and delete the people in a gallery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mien.cli._display import count, print_json, say
from mien.cli._options import AsJson, GalleryOption, Passphrase, open_with_key
from mien.errors import InputError

if TYPE_CHECKING:
    pass

__all__ = ["delete_person", "list_people", "merge_people", "rename_person"]

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def list_people(
    gallery: GalleryOption, passphrase: Passphrase = False, as_json: AsJson = False
) -> None:
    """List the people in a gallery and how many faces each has."""
    with open_with_key(gallery, passphrase, read_only=True) as opened:
        people, features = opened.people(), opened.features
    if as_json:
        rows = [
            {"name": p.name, "number": p.number, "faces": p.templates, "added": p.added}
            for p in people
        ]
        print_json({"gallery": str(gallery), "features": features, "people": rows})
        return
    if people:
        from datetime import UTC, datetime

        from rich.markup import escape
        from rich.table import Table

        from mien.cli._consoles import console

        table = Table("name", "faces", "since")
        table.columns[1].justify = "right"
        for person in people:
            day = datetime.fromtimestamp(person.added, tz=UTC).date().isoformat()
            table.add_row(escape(person.name), str(person.templates), day)
        console.print(table)
    faces = sum(person.templates for person in people)
    say(f"{count(len(people), 'person', 'people')} with {_faces(faces)} in {gallery}")


def rename_person(
    person: Annotated[str, typer.Argument(metavar="OLD", help="Current name.")],
    name: Annotated[str, typer.Argument(metavar="NEW", help="New name.")],
    gallery: GalleryOption,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """Give a person another name. The old name is deleted from the file."""
    with open_with_key(gallery, passphrase) as opened:
        opened.rename(person, name)
    _answer({"renamed": person, "to": name}, f"{person} is now {name}", as_json)


def merge_people(
    person: Annotated[str, typer.Argument(metavar="FROM", help="Person to merge.")],
    into: Annotated[str, typer.Argument(metavar="INTO", help="Person to merge into.")],
    gallery: GalleryOption,
    yes: Yes = False,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """Merge two people: all faces of the first go to the second.

    mien gallery undo reverts it.
    """
    with open_with_key(gallery, passphrase) as opened:
        known = {entry.name: entry.templates for entry in opened.people()}
        for name in (person, into):
            if name not in known:
                raise InputError(f"nobody in {gallery} is called {name!r}")
        question = (
            f"Give {_faces(known[person])} of {person} to {into}, who has {_faces(known[into])}, "
            f"and remove {person}?"
        )
        if not yes and not typer.confirm(question, err=True):
            raise typer.Exit(1)
        moved = opened.merge(person, into)
    text = f"{_faces(moved)} of {person} moved to {into}; mien gallery undo brings {person} back"
    _answer({"merged": person, "into": into, "faces": moved}, text, as_json)


def delete_person(
    person: Annotated[str, typer.Argument(metavar="NAME", help="Person to delete.")],
    gallery: GalleryOption,
    yes: Yes = False,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """Delete a person and all their faces for good; the bytes in the file are overwritten."""
    with open_with_key(gallery, passphrase) as opened:
        known = {entry.name: entry.templates for entry in opened.people()}
        if person not in known:
            raise InputError(f"nobody in {gallery} is called {person!r}")
        question = f"Delete {person} and {_faces(known[person])} for good?"
        if not yes and not typer.confirm(question, err=True):
            raise typer.Exit(1)
        deleted = opened.delete(person)
    text = f"{person} and {_faces(deleted)} were deleted, and overwritten in the file"
    _answer({"deleted": person, "faces": deleted}, text, as_json)


def _faces(n: int) -> str:
    return count(n, "face")


def _answer(answer: dict[str, object], text: str, as_json: bool) -> None:
    if as_json:
        print_json(answer)
    else:
        say(text)
