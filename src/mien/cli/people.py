"""``mien people``: who is in a gallery; rename, merge and delete them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from mien.cli._display import console, print_json
from mien.errors import InputError

if TYPE_CHECKING:
    from mien.gallery import Gallery

__all__ = ["people_app"]

people_app = typer.Typer(
    help="Who is in a gallery; rename, merge and delete them.", no_args_is_help=True
)

_File = Annotated[Path, typer.Option("--gallery", "-g", help="The gallery.", metavar="FILE")]
_Passphrase = Annotated[
    bool, typer.Option("--passphrase", help="Ask for the passphrase of a sealed gallery.")
]
_Json = Annotated[
    bool, typer.Option("--json", help="Print the answer for programs, and nothing else.")
]
_Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def _open(gallery: Path, passphrase: bool, *, read_only: bool = False) -> Gallery:
    from mien.gallery import Gallery

    key = typer.prompt("Passphrase", hide_input=True, err=True) if passphrase else None
    return Gallery.open(gallery, key=key, read_only=read_only)


@people_app.command("list")
def list_people(gallery: _File, passphrase: _Passphrase = False, as_json: _Json = False) -> None:
    """Tell who is in the gallery, and with how many faces."""
    with _open(gallery, passphrase, read_only=True) as opened:
        people, features = opened.people(), opened.features
    if as_json:
        rows = [
            {"name": p.name, "number": p.number, "faces": p.templates, "added": p.added}
            for p in people
        ]
        print_json({"gallery": str(gallery), "features": features, "people": rows})
        return
    table = Table("name", "faces", "since")
    table.columns[1].justify = "right"
    for person in people:
        day = datetime.fromtimestamp(person.added, tz=UTC).date().isoformat()
        table.add_row(escape(person.name), str(person.templates), day)
    if people:
        console.print(table)
    faces = sum(person.templates for person in people)
    console.print(
        f"{len(people):,} people with {faces:,} faces in {gallery}", highlight=False, markup=False
    )


@people_app.command("rename")
def rename_person(
    person: Annotated[str, typer.Argument(help="The name now.", metavar="OLD")],
    name: Annotated[str, typer.Argument(help="The name to be.", metavar="NEW")],
    gallery: _File,
    passphrase: _Passphrase = False,
    as_json: _Json = False,
) -> None:
    """Give a person another name; the old one is deleted from the file."""
    with _open(gallery, passphrase) as opened:
        opened.rename(person, name)
    _say({"renamed": person, "to": name}, f"{person} is now {name}", as_json)


@people_app.command("merge")
def merge_people(
    person: Annotated[str, typer.Argument(help="Whose faces move.", metavar="FROM")],
    into: Annotated[str, typer.Argument(help="Who gets them.", metavar="INTO")],
    gallery: _File,
    passphrase: _Passphrase = False,
    as_json: _Json = False,
) -> None:
    """Make one person of two: all faces of the first go to the second."""
    with _open(gallery, passphrase) as opened:
        moved = opened.merge(person, into)
    text = f"{_faces(moved)} of {person} moved to {into}; {person} is no more"
    _say({"merged": person, "into": into, "faces": moved}, text, as_json)


@people_app.command("delete")
def delete_person(
    person: Annotated[str, typer.Argument(help="Who.", metavar="NAME")],
    gallery: _File,
    yes: _Yes = False,
    passphrase: _Passphrase = False,
    as_json: _Json = False,
) -> None:
    """Delete a person with all faces, for good; asks before unless --yes."""
    with _open(gallery, passphrase) as opened:
        known = {entry.name: entry.templates for entry in opened.people()}
        if person not in known:
            raise InputError(f"nobody in {gallery} is called {person!r}")
        question = f"Delete {person} with {_faces(known[person])} for good?"
        if not yes and not typer.confirm(question, err=True):
            raise typer.Exit(1)
        deleted = opened.delete(person)
    text = f"{person} and {_faces(deleted)} deleted, and overwritten in the file"
    _say({"deleted": person, "faces": deleted}, text, as_json)


def _faces(n: int) -> str:
    return "1 face" if n == 1 else f"{n:,} faces"


def _say(answer: dict[str, object], text: str, as_json: bool) -> None:
    if as_json:
        print_json(answer)
    else:
        console.print(text, highlight=False, markup=False)
