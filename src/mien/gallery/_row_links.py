"""Statements about faces that somebody made: same person, different people, not a face, not them.

They are kept for good, as long as the faces they are about: not even enrolling a folder again
overrules them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mien.errors import InputError
from mien.gallery._protocol import NewTemplates
from mien.gallery._records import Constraint, FaceKey

if TYPE_CHECKING:
    from mien.gallery._row_store import RowStore

__all__ = [
    "KINDS",
    "add_link",
    "allow",
    "drop_link",
    "find_bans",
    "find_refused",
    "list_links",
    "note_refusal",
]

#: Kinds of statements, and whether each has another face, and a person.
KINDS = {
    "same-person": (True, False),
    "different-people": (True, False),
    "not-sure": (True, False),
    "not-a-face": (False, False),
    "not-this-person": (False, True),
}


def _insert(
    store: RowStore, kind: str, face: tuple[bytes, int], other: Any, person: int | None
) -> int:
    ((last,),) = store.query("SELECT max(id) FROM link")
    # Numbers of statements that were taken back are not given again.
    number = max(last or 0, int(store.meta("last_link") or 0)) + 1
    store.set_meta("last_link", number)
    digest, which = (None, None) if other is None else other
    store.insert_rows("link", [(number, kind, *face, digest, which, person, time.time())])
    if store.journal is not None:
        store.journal.added_links.append(number)
    return number


def _same(store: RowStore, kind: str, face: Any, other: Any, person: int | None) -> int | None:
    """The number of this statement, if it was made before."""
    for row in store.rows("link", "kind = ? AND digest = ? AND face = ?", (kind, *face)):
        if row[6] == person and (None if row[4] is None else (row[4], row[5])) == other:
            return int(row[0])
    return None


def _raw(key: FaceKey) -> tuple[bytes, int]:
    return bytes.fromhex(key.digest), key.face


def add_link(
    store: RowStore, kind: str, face: FaceKey, other: FaceKey | None, person: str | None
) -> int:
    """Keep a statement; the same one twice is one, and a later answer replaces an earlier."""
    with store.writing(kind) as revision:
        first = _raw(face)
        second = None if other is None else _raw(other)
        number = None if person is None else store.require_person(person)
        if second is not None:
            if first == second:
                raise InputError("a face cannot be related to itself: give two faces")
            first, second = min(first, second), max(first, second)
            where = "digest = ? AND face = ? AND other = ? AND other_face = ? AND kind != ?"
            for row in store.rows("link", where, (*first, *second, kind)):
                _drop(store, row)
        known = _same(store, kind, first, second, number)
        if known is not None:
            return known
        made = _insert(store, kind, first, second, number)
        store.record("add-constraint", revision, number, 0 if number is None else 1, 0)
    return made


def _drop(store: RowStore, row: tuple[Any, ...]) -> None:
    if store.journal is not None:
        store.journal.dropped_links.append(row)
    store.drop_rows("link", "id = ?", (row[0],))


def drop_link(store: RowStore, number: int) -> None:
    """Take a statement back."""
    with store.writing("remove-constraint") as revision:
        rows = store.rows("link", "id = ?", (number,))
        if not rows:
            raise InputError(f"no constraint of {store.where} has the number {number}")
        _drop(store, rows[0])
        store.record("remove-constraint", revision, None, 0, 0)


def list_links(store: RowStore) -> list[Constraint]:
    """All statements, from the first."""
    with store.reading():
        rows = store.rows("link", order="id")
        names = store.names_of({row[6] for row in rows if row[6] is not None})
    return [
        Constraint(
            number,
            kind,
            FaceKey(digest.hex(), face),
            None if other is None else FaceKey(other.hex(), other_face),
            names.get(person),
            added,
        )
        for number, kind, digest, face, other, other_face, person, added in rows
    ]


def note_refusal(store: RowStore, digest: bytes, face: int, person: int) -> None:
    """A face is not of a person any more; within a transaction."""
    if _same(store, "not-this-person", (digest, face), None, person) is None:
        _insert(store, "not-this-person", (digest, face), None, person)


def allow(store: RowStore, digest: bytes, face: int, person: int) -> None:
    """A face is of a person after all; within a transaction."""
    where = "kind = 'not-this-person' AND digest = ? AND face = ? AND person = ?"
    for row in store.rows("link", where, (digest, face, person)):
        _drop(store, row)


def _count(store: RowStore) -> int:
    return store.totals().counts["link"] if store.summary is not None else 1


def find_refused(store: RowStore, new: NewTemplates) -> list[int]:
    """Positions of new faces that no statement speaks against; within a transaction."""
    everything = list(range(len(new.names)))
    if _count(store) == 0:
        return everything
    banned = set()
    for _, kind, digest, face, _, _, person, _ in store.rows(
        "link", "kind IN ('not-a-face', 'not-this-person')"
    ):
        banned.add((digest, face, None if kind == "not-a-face" else person))
    numbers = store.find_people(new.names)
    return [
        i
        for i in everything
        if (new.digests[i], new.faces[i], None) not in banned
        and (
            new.names[i] not in numbers
            or (new.digests[i], new.faces[i], numbers[new.names[i]]) not in banned
        )
    ]


def find_bans(
    store: RowStore, faces: Sequence[FaceKey | None]
) -> list[tuple[set[int] | None, int | None]]:
    """Per face: who it is not (None: not a face at all), and who it is because it was said."""
    keys = [None if face is None else _raw(face) for face in faces]
    rows = store.rows("link")
    if not rows or not any(keys):
        return [(set(), None)] * len(faces)
    groups = _Groups((row[2], row[3]) for row in rows)
    for row in rows:
        if row[1] == "same-person":
            groups.join((row[2], row[3]), (row[4], row[5]))
    answers: list[tuple[set[int] | None, int | None]] = []
    for key in keys:
        if key is None:
            answers.append((set(), None))
            continue
        mine = groups.members(key)
        if any(row[1] == "not-a-face" and (row[2], row[3]) == key for row in rows):
            answers.append((None, None))
            continue
        banned = {
            row[6] for row in rows if row[1] == "not-this-person" and (row[2], row[3]) in mine
        }
        for row in rows:
            if row[1] == "different-people":
                first, second = (row[2], row[3]), (row[4], row[5])
                for one, other in ((first, second), (second, first)):
                    if one in mine:
                        banned |= _owners(store, groups.members(other))
        said = _owners(store, mine - {key}) - banned
        answers.append((banned, said.pop() if len(said) == 1 else None))
    return answers


def _owners(store: RowStore, faces: Iterable[tuple[bytes, int]]) -> set[int]:
    found: set[int] = set()
    for digest, face in faces:
        found.update(
            row[0]
            for row in store.query(
                "SELECT person FROM template WHERE digest = ? AND face = ?", (digest, face)
            )
        )
    return found


class _Groups:
    """Faces that are of one person by statements."""

    def __init__(self, faces: Iterable[tuple[bytes, int]]) -> None:
        self._of: dict[tuple[bytes, int], set[tuple[bytes, int]]] = {f: {f} for f in faces}

    def members(self, face: tuple[bytes, int]) -> set[tuple[bytes, int]]:
        return self._of.setdefault(face, {face})

    def join(self, one: tuple[bytes, int], other: tuple[bytes, int]) -> None:
        both = self.members(one) | self.members(other)
        for face in both:
            self._of[face] = both
