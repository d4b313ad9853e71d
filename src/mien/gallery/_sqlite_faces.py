"""Single faces of a gallery: list, find, move and delete them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import numpy as np

from mien.errors import GalleryDamagedError, InputError
from mien.gallery._protocol import Removed
from mien.gallery._records import StoredFace
from mien.gallery._sqlite_writing import announce_removal, remove_templates

if TYPE_CHECKING:
    from mien.gallery._sqlite_store import SqliteStore

__all__ = [
    "add_person",
    "delete_face",
    "face_id",
    "find_face",
    "get_face",
    "list_faces",
    "move_face",
    "read_vector",
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


def _show(store: SqliteStore, row: Any) -> StoredFace:
    number, name, digest, face, source, quality, added = row
    if type(digest) is not bytes or len(digest) != 32 or type(face) is not int:
        raise GalleryDamagedError(f"{store.path} is corrupted: invalid face record")
    return StoredFace(
        face_id(digest, face),
        store.show_name(name, number),
        digest.hex(),
        face,
        store.show_source(source, digest),
        quality,
        added,
    )


def list_faces(
    store: SqliteStore, person: str | None, after: str | None, limit: int | None
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


def _find_row(store: SqliteStore, identifier: str) -> Any:
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


def get_face(store: SqliteStore, identifier: str) -> StoredFace | None:
    """The face with this id, or None."""
    row = _find_row(store, identifier)
    return None if row is None else _show(store, row)


def find_face(store: SqliteStore, digest: bytes, face: int) -> StoredFace | None:
    """A face of a picture, or None."""
    rows = store.query(f"{_ROWS} WHERE t.digest = ? AND t.face = ?", (digest, face))
    return _show(store, rows[0]) if rows else None


def _require_row(store: SqliteStore, identifier: str) -> Any:
    row = _find_row(store, identifier)
    if row is None:
        raise InputError(f"no face in {store.path} has the id {identifier!r}")
    return row


def read_vector(store: SqliteStore, identifier: str) -> np.ndarray:
    """The template (1, d) of a face."""
    _, _, digest, face, *_ = _require_row(store, identifier)
    return store.show_vectors(store.template_rows("digest = ? AND face = ?", (digest, face)))


def add_person(store: SqliteStore, name: str) -> bool:
    """Somebody without faces; False where the name is there already."""
    with store.writing() as revision:
        if store.find_person(name) is not None:
            return False
        number = store.add_people([name], revision)[name]
        store.record("add-person", revision, number, 1, 0)
    return True


def move_face(store: SqliteStore, identifier: str, person: str) -> Removed:
    """Give a face to another person; whoever has none left is forgotten."""
    with store.writing() as revision:
        old, name, digest, face, *_ = _require_row(store, identifier)
        (row,) = store.template_rows("digest = ? AND face = ?", (digest, face))
        new = store.add_people([person], revision)[person]
        if new == old:
            return Removed(0, [], [])
        hidden = store.hide_vector(store.show_vectors([row])[0], new, digest, face)
        store.replace_template((new, digest, face, hidden, *row[4:]))
        names = []
        if not store.query("SELECT 1 FROM template WHERE person = ? LIMIT 1", (old,)):
            names.append(store.show_name(name, old))
            store.drop_people("id = ?", (old,))
        store.touch_people([old, new], revision)
        store.record("move-face", revision, old, 2, 1)
        announce_removal(store)
    return Removed(1, [], names)


def delete_face(store: SqliteStore, identifier: str) -> Removed:
    """Delete a face; whoever has none left is deleted as well."""
    with store.writing() as revision:
        number, _, digest, face, *_ = _require_row(store, identifier)
        removed = remove_templates(
            store, revision, "digest = ? AND face = ?", (digest, face), {number}
        )
        store.record("delete-face", revision, number, 1, 1)
    return removed
