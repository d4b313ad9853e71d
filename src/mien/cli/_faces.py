"""``mien people faces``, ``move-face``, ``remove-face``; ``mien gallery history`` and ``undo``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mien.cli._display import count, note, print_json, say
from mien.cli._options import AsJson, GalleryOption, Passphrase, open_with_key
from mien.errors import InputError

if TYPE_CHECKING:
    from mien.gallery import Change, Gallery, StoredFace

__all__ = ["list_faces", "move_face", "remove_face", "show_history", "undo"]

_SHORT = 8
_SHORTEST = 4
_SHOWN = 20
_WORDS = {
    "enrol": "enrolled",
    "add-person": "added",
    "rename": "renamed",
    "merge": "merged",
    "move": "moved to another person",
    "split": "made a person of their own",
    "remove-face": "taken out",
    "hide": "hidden",
    "unhide": "shown again",
}
Ids = Annotated[
    list[str],
    typer.Argument(
        metavar="FACE",
        help="Ids of faces, as mien people faces shows them; the first letters are enough.",
    ),
]


def _day(seconds: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d %H:%M")


def list_faces(
    person: Annotated[str, typer.Argument(metavar="NAME", help="Person whose faces to list.")],
    gallery: GalleryOption,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """List the enrolled faces of a person: their ids, pictures and quality."""
    with open_with_key(gallery, passphrase, read_only=True) as opened:
        if person not in {entry.name for entry in opened.people()}:
            raise InputError(f"nobody in {gallery} is called {person!r}")
        faces = opened.faces(person)
    if as_json:
        print_json({"person": person, "faces": [_plain(face) for face in faces]})
        return
    for face in faces:
        quality = "    " if face.quality is None else f"{face.quality:.2f}"
        which = f" (face {face.face + 1})" if face.face else ""
        day = _day(face.added)
        say(f"{face.id[:_SHORT]}  {day}  {quality}  {face.source or 'no file'}{which}")
    note(f"{count(len(faces), 'face')}; mien people remove-face takes one out")


def _plain(face: StoredFace) -> dict[str, Any]:
    return {
        "id": face.id,
        "source": face.source,
        "face": face.face,
        "quality": face.quality,
        "added": face.added,
    }


def _find(opened: Gallery, ids: list[str]) -> list[StoredFace]:
    """The faces that are meant by the beginnings of their ids."""
    faces = opened.faces()
    found = []
    for wanted in dict.fromkeys(ids):
        fitting = [face for face in faces if face.id.startswith(wanted.lower())]
        if len(wanted) < _SHORTEST or not fitting:
            raise InputError(
                f"no face in {opened.path} has the id {wanted!r}: mien people faces NAME lists them"
            )
        if len(fitting) > 1:
            raise InputError(
                f"{len(fitting)} faces have ids that begin with {wanted!r}: give more letters"
            )
        found += fitting
    return found


def remove_face(
    ids: Ids,
    gallery: GalleryOption,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """Take faces out of a gallery. mien gallery undo brings them back.

    mien people faces Ann --gallery people.gallery

    mien people remove-face 3f9a12c4 --gallery people.gallery
    """
    with open_with_key(gallery, passphrase) as opened:
        faces = _find(opened, ids)
        opened.remove_faces([face.id for face in faces])
    _answer("removed", faces, f"{count(len(faces), 'face')} of {_owners(faces)} taken out", as_json)


def move_face(
    ids: Ids,
    to: Annotated[
        str, typer.Option("--to", metavar="NAME", help="Person who gets the faces; may be new.")
    ],
    gallery: GalleryOption,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """Give faces to another person. mien gallery undo brings them back.

    mien people move-face 3f9a12c4 --to Bob --gallery people.gallery
    """
    with open_with_key(gallery, passphrase) as opened:
        faces = _find(opened, ids)
        opened.move_faces([face.id for face in faces], to)
    text = f"{count(len(faces), 'face')} of {_owners(faces)} moved to {to}"
    _answer("moved", faces, text, as_json)


def _owners(faces: list[StoredFace]) -> str:
    return " and ".join(dict.fromkeys(face.person for face in faces))


def _answer(what: str, faces: list[StoredFace], text: str, as_json: bool) -> None:
    if as_json:
        print_json({what: [_plain(face) | {"person": face.person} for face in faces]})
    else:
        say(text)
        note("mien gallery undo brings it back")


def _in_words(change: Change) -> str:
    names = ", ".join(change.names[:3]) + (" …" if len(change.names) > 3 else "")
    done = _WORDS.get(change.action, change.action)
    faces = f"{count(change.faces, 'face')} " if change.faces else ""
    return f"{faces}{done}{f': {names}' if names else ''}"


def show_history(
    gallery: GalleryOption,
    limit: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of changes to show.")
    ] = _SHOWN,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """List the most recent changes to a gallery, newest first. mien gallery undo reverts them."""
    with open_with_key(gallery, passphrase, read_only=True) as opened:
        changes = opened.history(limit)
    if as_json:
        print_json({"changes": [_told(change) for change in changes]})
        return
    for change in changes:
        undone = "" if change.undone is None else "  (undone)"
        say(f"{change.number:>5}  {_day(change.time)}  {_in_words(change)}{undone}")
    if not changes:
        note("no changes that could be undone")


def _told(change: Change) -> dict[str, Any]:
    return {
        "number": change.number,
        "time": change.time,
        "action": change.action,
        "names": list(change.names),
        "faces": change.faces,
        "undone": change.undone,
    }


def undo(
    gallery: GalleryOption,
    to: Annotated[
        int | None,
        typer.Option(
            "--to",
            min=1,
            metavar="NUMBER",
            help="Undo everything back to and including this change of mien gallery history.",
            show_default="the last change only",
        ),
    ] = None,
    passphrase: Passphrase = False,
    as_json: AsJson = False,
) -> None:
    """Undo the last change to a gallery: an enrolment, a name, a merge, a face moved or removed.

    Permanent deletions (mien people delete) cannot be undone.
    """
    with open_with_key(gallery, passphrase) as opened:
        open_changes = [change for change in opened.history() if change.undone is None]
        if to is not None and to not in {change.number for change in open_changes}:
            raise InputError(f"{gallery} has no change {to} that could be undone")
        if not open_changes:
            raise InputError(f"nothing in {gallery} can be undone")
        last = open_changes[0].number if to is None else to
        undone = [opened.undo(change.number) for change in open_changes if change.number >= last]
    if as_json:
        print_json({"undone": [_told(change) for change in undone]})
        return
    for change in undone:
        say(f"undone: {_in_words(change)}")
