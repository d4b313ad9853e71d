"""Single faces of a gallery: list, find, move, take out and delete them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import numpy as np

from mien.errors import GalleryDamagedError, InputError
from mien.gallery._protocol import Removed
from mien.gallery._records import FaceKey, StoredFace

if TYPE_CHECKING:
    from mien.gallery._row_store import RowStore

__all__ = [
    "bring_back",
    "delete_face",
    "face_id",
    "find_face",
    "find_key",
    "get_face",
    "give_face",
    "list_faces",
    "move_faces",
    "read_thumbnail",
    "read_vector",
    "remove_faces",
    "set_thumbnail",
]

_ROWS = (
    "SELECT t.person, p.name, t.digest, t.face, t.source, t.quality, t.added "
    "FROM template t JOIN person p ON p.id = t.person"
)


def face_id(digest: bytes, face: int) -> str:
    """A UUID (version 8) for a face: a part of its picture's digest, and its number in it."""
    content = bytearray(digest[:6] + bytes(3) + digest[7:14])
    content[6] = 0x80 | (face >> 8) & 0x0F
    content[7] = face & 0xFF
    content[8] = 0x80 | digest[6] >> 2
    return str(uuid.UUID(bytes=bytes(content)))


def _parse(identifier: str) -> tuple[bytes, int] | None:
    """The first seven bytes of the digest, the last two bits cleared, and the number."""
    try:
        content = uuid.UUID(identifier).bytes
    except (ValueError, AttributeError, TypeError):
        return None
    face = (content[6] & 0x0F) << 8 | content[7]
    return content[:6] + bytes([(content[8] & 0x3F) << 2]), face


def _show(store: RowStore, row: Any) -> StoredFace:
    number, name, digest, face, source, quality, added = row
    if type(digest) is not bytes or len(digest) != 32 or type(face) is not int:
        raise GalleryDamagedError(f"{store.where} is corrupted: invalid face record")
    return StoredFace(
        face_id(digest, face),
        store.show_name(name, number),
        digest.hex(),
        face,
        store.show_source(source, number, digest),
        quality,
        added,
    )


def list_faces(
    store: RowStore, person: str | None, after: str | None, limit: int | None
) -> list[StoredFace]:
    """Faces of everybody or of one person, in the order of their pictures' digests."""
    conditions: list[str] = []
    values: list[Any] = []
    if person is not None:
        conditions.append("t.person = ?")
        values.append(store.require_person(person))
    if after is not None:
        place = _parse(after)
        if place is None:
            raise InputError(f"{after!r} is not the id of a face")
        found = _find_row(store, after)
        if found is not None:
            conditions.append("(t.digest, t.face) > (?, ?)")
            values += [found[2], found[3]]
        else:
            conditions.append("t.digest > ?")
            values.append(place[0] + b"\xff" * 25)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    statement = f"{_ROWS}{where} ORDER BY t.digest, t.face"
    if limit is not None:
        statement += " LIMIT ?"
        values.append(limit)
    return [_show(store, row) for row in store.query(statement, values)]


def _find_row(store: RowStore, identifier: str) -> Any:
    place = _parse(identifier)
    if place is None:
        return None
    first, face = place
    last = first[:6] + bytes([first[6] | 3]) + b"\xff" * 25
    for row in store.query(
        f"{_ROWS} WHERE t.digest >= ? AND t.digest <= ? AND t.face = ?", (first, last, face)
    ):
        if face_id(row[2], row[3]) == str(uuid.UUID(identifier)):
            return row
    return None


def get_face(store: RowStore, identifier: str) -> StoredFace | None:
    """The face with this id, or None."""
    row = _find_row(store, identifier)
    return None if row is None else _show(store, row)


def find_face(store: RowStore, digest: bytes, face: int) -> StoredFace | None:
    """A face of a picture, or None."""
    rows = store.query(f"{_ROWS} WHERE t.digest = ? AND t.face = ?", (digest, face))
    return _show(store, rows[0]) if rows else None


def find_key(store: RowStore, identifier: str) -> FaceKey | None:
    """Picture and number of the face with this id."""
    row = _find_row(store, identifier)
    return None if row is None else FaceKey(row[2].hex(), row[3])


def read_vector(store: RowStore, identifier: str) -> np.ndarray:
    """The template (1, d) of a face."""
    _, _, digest, face, *_ = _require_row(store, identifier)
    return store.show_vectors(store.rows("template", "digest = ? AND face = ?", (digest, face)))


def read_thumbnail(store: RowStore, identifier: str) -> bytes | None:
    """The small picture of a face, or None."""
    with store.reading():
        row = _find_row(store, identifier)
        if row is None:
            return None
        found = store.rows("thumbnail", "digest = ? AND face = ?", (row[2], row[3]))
    return store.show_picture(found[0][3], *found[0][:3]) if found else None


def set_thumbnail(store: RowStore, identifier: str, content: bytes) -> None:
    """Keep a small picture of a face."""
    with store.writing():
        number, _, digest, face, *_ = _require_row(store, identifier)
        hidden = store.hide_picture(content, number, digest, face)
        store.replace_row("thumbnail", (number, digest, face, hidden))


def give_face(store: RowStore, digest: bytes, face: int, new: int) -> int:
    """Give a face with its thumbnail to another person; gives whose it was."""
    here = "digest = ? AND face = ?", (digest, face)
    (row,) = store.rows("template", *here)
    old: int = row[0]
    if old == new:
        return old
    if store.journal is not None:
        store.journal.faces.append((digest, face, old))
    store.replace_row("template", _seal_again(store, row, new))
    for picture in store.rows("thumbnail", *here):
        content = store.show_picture(picture[3], *picture[:3])
        hidden = store.hide_picture(content, new, digest, face)
        store.replace_row("thumbnail", (new, digest, face, hidden))
    return old


def _seal_again(store: RowStore, row: tuple[Any, ...], new: int) -> tuple[Any, ...]:
    """A template's row for another person: sealed values open in their own row only."""
    old, digest, face, _, source, *rest = row
    vector = store.hide_vector(store.show_vectors([row])[0], new, digest, face)
    shown = store.show_source(source, old, digest)
    return (new, digest, face, vector, store.hide_source(shown, new, digest), *rest)


def move_faces(store: RowStore, identifiers: list[str], person: str, split: bool) -> list[str]:
    """Move faces to another person; people without faces left are removed."""
    from mien.gallery._row_links import allow, note_refusal
    from mien.gallery._row_people import add_people

    with store.writing("split" if split else "move") as revision:
        found = [_require_row(store, identifier) for identifier in dict.fromkeys(identifiers)]
        if split and store.find_person(person) is not None:
            raise InputError(
                f"{person!r} is already in the gallery: move the faces to that person instead"
            )
        new = add_people(store, [person], revision)[person]
        owners: dict[int, str] = {}
        for number, name, digest, face, *_ in found:
            if number == new:
                continue
            owners[number] = store.show_name(name, number)
            give_face(store, digest, face, new)
            # Enrolling the picture again does not give the face back.
            allow(store, digest, face, new)
            note_refusal(store, digest, face, number)
        if not owners:
            return []
        if store.journal is not None:
            store.journal.into = new
        gone = []
        for number in sorted(owners):
            if not store.query("SELECT 1 FROM template WHERE person = ? LIMIT 1", (number,)):
                gone.append(owners[number])
                store.drop_person(number)
                store.record("move-face", revision, number, 1, 0)
        store.touch_people([*owners, new], revision)
        store.record("move-face", revision, None, len(owners) + 1, len(found))
    return gone


def remove_faces(store: RowStore, identifiers: list[str]) -> None:
    """Take faces out so that they can be brought back; people stay, also without a face."""
    from mien.gallery._row_links import note_refusal

    with store.writing("remove-face") as revision:
        found = [_require_row(store, identifier) for identifier in dict.fromkeys(identifiers)]
        owners = set()
        for number, _, digest, face, *_ in found:
            here = "digest = ? AND face = ?", (digest, face)
            (row,) = store.rows("template", *here)
            pictures = store.rows("thumbnail", *here)
            content = pictures[0][3] if pictures else None
            store.insert_rows("removed", [(revision, *row, content)])
            store.drop_rows("template", *here)
            store.drop_rows("thumbnail", *here)
            note_refusal(store, digest, face, number)
            owners.add(number)
            if store.journal is not None:
                store.journal.faces.append((digest, face, number))
        store.touch_people(owners, revision)
        store.record("remove-face", revision, None, len(owners), len(found))


def bring_back(store: RowStore, change: int, digest: bytes, face: int, owner: int) -> None:
    """Put a face back that was taken out by a change."""
    here = "change = ? AND digest = ? AND face = ?", (change, digest, face)
    for row in store.rows("removed", *here):
        store.insert_rows("template", [row[1:9]])
        if row[9] is not None:
            store.insert_rows("thumbnail", [(owner, digest, face, row[9])])
        store.drop_rows("removed", *here)


def delete_face(store: RowStore, identifier: str) -> Removed:
    """Delete a face, and its person if it was the last face."""
    from mien.gallery._row_writing import remove_templates

    with store.writing() as revision:
        number, _, digest, face, *_ = _require_row(store, identifier)
        removed = remove_templates(
            store, revision, "digest = ? AND face = ?", (digest, face), {number}
        )
        store.record("delete-face", revision, number, 1, 1)
    return removed


def _require_row(store: RowStore, identifier: str) -> Any:
    row = _find_row(store, identifier)
    if row is None:
        raise InputError(f"no face in {store.where} has the id {identifier!r}")
    return row
