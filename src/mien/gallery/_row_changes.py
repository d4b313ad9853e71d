"""The history of a gallery: what each change must keep to be undone, and undoing it.

A change notes the rows that it replaced, never a template: vectors stay in their rows, and faces
that were taken out wait in a table of their own. Whoever is deleted for good is taken out of the
history as well (:mod:`mien.gallery._row_forget`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mien.errors import InputError
from mien.gallery._protocol import Removed
from mien.gallery._records import Change

if TYPE_CHECKING:
    from mien.gallery._checked_rows import CheckedRows
    from mien.gallery._row_store import RowStore

__all__ = ["ChangeJournal", "clear", "history", "keep", "parse", "undo", "write_content"]

#: Changes that can be undone; older ones are forgotten.
MOST_CHANGES = 1_000
_UNDONE = "{}"


@dataclass
class ChangeJournal:
    """What a change has replaced so far.

    Attributes
    ----------
    action : str
        What it is called.
    people : dict
        Rows of people as they were before, by number; None for whoever is new.
    created : list
        First and last number of many new people.
    faces : list of (digest, face, person)
        Whose faces they were.
    into : int or None
        Who got them.
    enrolled : int
        New templates; those of this revision.
    added_links, dropped_links : list
        Numbers of new statements, rows of those that were taken back.
    """

    action: str
    people: dict[int, tuple[Any, ...] | None] = field(default_factory=dict)
    created: list[int] = field(default_factory=list)
    faces: list[tuple[bytes, int, int]] = field(default_factory=list)
    into: int | None = None
    enrolled: int = 0
    added_links: list[int] = field(default_factory=list)
    dropped_links: list[tuple[Any, ...]] = field(default_factory=list)

    def note_person(self, number: int, before: tuple[Any, ...] | None) -> None:
        """The first row that a change replaces is the one to go back to."""
        if not (self.created and self.created[0] <= number <= self.created[1]):
            self.people.setdefault(number, before)

    @property
    def empty(self) -> bool:
        return not (
            self.people
            or self.created
            or self.faces
            or self.enrolled
            or self.added_links
            or self.dropped_links
        )

    def numbers(self) -> set[int]:
        """Everybody whom it concerns, but for those who are new in large numbers."""
        found = set(self.people) | {owner for *_, owner in self.faces}
        return found if self.into is None else found | {self.into}


def write_content(journal: ChangeJournal) -> bytes:
    """A journal as it is stored."""
    return json.dumps(
        {
            "people": [
                [number, None if row is None else _pack(row)]
                for number, row in journal.people.items()
            ],
            "created": journal.created,
            "faces": [[digest.hex(), face, owner] for digest, face, owner in journal.faces],
            "into": journal.into,
            "enrolled": journal.enrolled,
            "added_links": journal.added_links,
            "dropped_links": [_pack(row) for row in journal.dropped_links],
        }
    ).encode("utf-8")


def parse(store: CheckedRows, action: str, content: bytes) -> ChangeJournal:
    """Read what :func:`write_content` gave."""
    try:
        held = json.loads(content)
        if not held:
            return ChangeJournal(action)
        return ChangeJournal(
            action,
            {number: None if row is None else _unpack(row) for number, row in held["people"]},
            held["created"],
            [(bytes.fromhex(digest), face, owner) for digest, face, owner in held["faces"]],
            held["into"],
            held["enrolled"],
            held["added_links"],
            [_unpack(row) for row in held["dropped_links"]],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise store.corrupted("an entry of its history is not readable") from error


def _pack(row: tuple[Any, ...]) -> list[Any]:
    return [{"hex": value.hex()} if isinstance(value, bytes) else value for value in row]


def _unpack(row: list[Any]) -> tuple[Any, ...]:
    return tuple(bytes.fromhex(v["hex"]) if isinstance(v, dict) else v for v in row)


def keep(store: CheckedRows, journal: ChangeJournal, revision: int) -> None:
    """Note a change in the history; within its transaction."""
    if journal.empty:
        return
    new = journal.created[1] - journal.created[0] + 1 if journal.created else 0
    people = len(journal.numbers()) + new
    faces = len(journal.faces) + journal.enrolled
    row = (revision, time.time(), journal.action, people, faces, write_content(journal), None)
    store.insert_rows("change", [row])
    old = store.query(f"SELECT id FROM change ORDER BY id DESC LIMIT 1 OFFSET {MOST_CHANGES}")
    if old:
        _drop(store, old[0][0])


def _drop(store: CheckedRows, last: int) -> Removed:
    """Forget changes up to a number, with the faces that wait for them and the keys for those."""
    secrets: list[bytes] = []
    people: set[int] = set()
    for number, _, action, *_, content, _ in store.rows("change", "id <= ?", (last,)):
        journal = parse(store, action, content)
        people |= set(journal.people)
        secrets += traces(journal.people.values())
        for row in store.rows("removed", "change = ?", (number,)):
            secrets += [value for value in row if isinstance(value, bytes)]
    store.drop_rows("removed", "change <= ?", (last,))
    store.drop_rows("change", "id <= ?", (last,))
    for _, _, action, *_, content, _ in store.rows("change"):
        people -= set(parse(store, action, content).people)
    for number in people - set(store.names_of(people)):
        store.drop_rows("person_key", "person = ?", (number,))
    return Removed(0, secrets, [])


def traces(rows: Iterable[tuple[Any, ...] | None]) -> list[bytes]:
    """How values of rows stand in a journal's content."""
    return [
        value.hex().encode()
        for row in rows
        if row is not None
        for value in row
        if isinstance(value, bytes)
    ]


def clear(store: RowStore) -> Removed:
    """Forget the whole history."""
    with store.writing() as revision:
        removed = _drop(store, revision)
        store.record("clear-history", revision, None, 0, 0)
        store.set_meta("purge", 1)
    return removed


def history(store: RowStore, limit: int | None) -> list[Change]:
    """Changes from the last."""
    order = "id DESC" if limit is None else f"id DESC LIMIT {int(limit)}"
    with store.reading():
        return [_show(store, row) for row in store.rows("change", order=order)]


def _show(store: RowStore, row: tuple[Any, ...]) -> Change:
    number, when, action, people, faces, content, undone = row
    journal = parse(store, action, content)
    known = store.names_of(journal.numbers())
    names = []
    for one in sorted(journal.numbers()):
        before = journal.people.get(one)
        if before is not None:
            names.append(store.show_name(before[2], one))
        elif one in known:
            names.append(known[one])
    return Change(number, when, action, tuple(names), people, faces, undone)


def undo(store: RowStore, expected: int | None) -> tuple[Change, Removed]:
    """Undo the last change that was not undone; one transaction."""
    with store.writing() as revision:
        found = store.rows("change", "undone IS NULL", (), "id DESC LIMIT 1")
        if not found:
            raise InputError(f"nothing in the history of {store.where} can be undone")
        row = found[0]
        if expected is not None and row[0] != expected:
            raise InputError(
                f"the last change of {store.where} is {row[0]} ({row[2]}), and not {expected}: "
                "somebody changed the gallery in the meantime; look at its history"
            )
        change = _show(store, row)
        removed = _revert(store, parse(store, row[2], row[5]), row[0], revision)
        now = time.time()
        # What was undone needs nothing any more.
        store.replace_row("change", (*row[:5], _UNDONE.encode(), now))
    return Change(*(*_fields(change)[:-1], now)), removed


def _fields(change: Change) -> tuple[Any, ...]:
    return (
        change.number,
        change.time,
        change.action,
        change.names,
        change.people,
        change.faces,
        change.undone,
    )


def _revert(store: RowStore, journal: ChangeJournal, number: int, revision: int) -> Removed:
    from mien.gallery._row_faces import bring_back, give_face
    from mien.gallery._row_writing import announce_removal

    for link in journal.added_links:
        store.drop_rows("link", "id = ?", (link,))
    store.insert_rows("link", journal.dropped_links)
    for one, before in journal.people.items():
        if before is not None:
            _restore_person(store, one, before, revision)
    here = set(store.names_of(journal.numbers()))
    for digest, face, owner in journal.faces:
        if owner not in here:
            continue
        if store.query("SELECT 1 FROM template WHERE digest = ? AND face = ?", (digest, face)):
            give_face(store, digest, face, owner)
        else:
            bring_back(store, number, digest, face, owner)
    removed = Removed(0, [], [])
    if journal.enrolled:
        removed = _take_out(store, number)
    gone = [one for one, before in journal.people.items() if before is None]
    if journal.created:
        gone += list(range(journal.created[0], journal.created[1] + 1))
    names: list[str] = []
    for one in gone:
        if store.query("SELECT 1 FROM template WHERE person = ? LIMIT 1", (one,)):
            continue
        names += store.names_of([one]).values()
        store.drop_rows("person", "id = ?", (one,))
        store.drop_rows("person_key", "person = ?", (one,))
        store.record("undo", revision, one, 1, 0)
    store.touch_people(journal.numbers(), revision)
    store.record("undo", revision, None, len(journal.numbers()), len(journal.faces))
    if removed.templates or names:
        announce_removal(store, {*gone, *journal.numbers()})
    return Removed(removed.templates, removed.secrets, names)


def _restore_person(store: RowStore, number: int, before: tuple[Any, ...], revision: int) -> None:
    name = store.show_name(before[2], number)
    if store.find_person(name) not in (None, number):
        raise InputError(
            f"{name!r} is in {store.where} again: rename that person, then undo once more"
        )
    row = (*before[:4], revision, *before[5:])
    if store.query("SELECT 1 FROM person WHERE id = ?", (number,)):
        store.replace_person(row)
    else:
        store.insert_rows("person", [row])


def _take_out(store: RowStore, change: int) -> Removed:
    """Erase what an enrolment added, for good."""
    rows = store.rows("template", "revision = ?", (change,))
    secrets = [value for row in rows for value in (row[1], row[3], row[4]) if value]
    owners = {row[0] for row in rows}
    where = "EXISTS (SELECT 1 FROM template t WHERE t.revision = ? AND t.digest = thumbnail.digest"
    where += " AND t.face = thumbnail.face)"
    secrets += [row[3] for row in store.rows("thumbnail", where, (change,))]
    store.drop_rows("thumbnail", where, (change,))
    store.drop_rows("template", "revision = ?", (change,))
    store.touch_people(owners, store.revision())
    store.forget_index(owners)
    return Removed(len(rows), secrets, [])
