"""Forgetting people and faces for good: also the history, thumbnails, statements and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mien.gallery._row_changes import ChangeJournal, parse, traces, write_content

if TYPE_CHECKING:
    from mien.gallery._row_store import RowStore

__all__ = ["forget_traces", "merged_into"]


def merged_into(store: RowStore, people: set[int]) -> set[int]:
    """These people, and those whose faces went to them: it is one person under other names."""
    found = set(people)
    journals = _journals(store)
    mentioned = set().union(*(journal.people for _, journal in journals)) if journals else set()
    vanished = mentioned - set(store.names_of(mentioned))
    for _, journal in reversed(journals):
        if journal.into in found:
            found |= set(journal.people) & vanished
    return found


def _journals(store: RowStore) -> list[tuple[tuple[object, ...], ChangeJournal]]:
    rows = store.rows("change", order="id")
    return [(row, parse(store, row[2], row[5])) for row in rows]


def forget_traces(store: RowStore, people: set[int], faces: set[tuple[bytes, int]]) -> list[bytes]:
    """Erase all that is known beside templates and rows of people; within a transaction.

    Gives byte strings that must not be found any more.
    """
    secrets: list[bytes] = []
    for number in people:
        for row in store.rows("removed", "person = ?", (number,)):
            faces.add((row[2], row[3]))
    for row in [row for number in people for row in store.rows("link", "person = ?", (number,))]:
        store.drop_rows("link", "id = ?", (row[0],))
    for digest, face in faces:
        secrets += _forget_face(store, digest, face)
    for row, journal in _journals(store):
        stripped = _strip(journal, people, faces)
        if stripped:
            secrets += stripped
            if journal.empty:
                store.drop_rows("change", "id = ?", (row[0],))
            else:
                store.replace_row("change", (*row[:5], write_content(journal), row[6]))
    for number in people:
        secrets += [row[1] for row in store.rows("person_key", "person = ?", (number,))]
        store.drop_rows("person_key", "person = ?", (number,))
        store.drop_rows("usage", "person = ?", (number,))
    if store.keys is not None:
        store.keys.clear()
    return secrets


def _forget_face(store: RowStore, digest: bytes, face: int) -> list[bytes]:
    here, values = "digest = ? AND face = ?", (digest, face)
    secrets = [row[3] for row in store.rows("thumbnail", here, values)]
    for row in store.rows("removed", here, values):
        secrets += [value for value in (row[2], row[4], row[5], row[9]) if value]
    store.drop_rows("thumbnail", here, values)
    store.drop_rows("removed", here, values)
    store.drop_rows("link", f"({here}) OR (other = ? AND other_face = ?)", (*values, *values))
    return secrets


def _strip(journal: ChangeJournal, people: set[int], faces: set[tuple[bytes, int]]) -> list[bytes]:
    """Take people and faces out of an entry; gives how what was taken out stood there."""
    secrets: list[bytes] = []
    gone = [number for number in journal.people if number in people]
    secrets += traces(journal.people.pop(number) for number in gone)
    kept = [one for one in journal.faces if one[2] not in people and (one[0], one[1]) not in faces]
    if len(kept) < len(journal.faces):
        secrets += [one[0].hex().encode() for one in journal.faces if one not in kept]
        journal.faces = kept
    links = [
        row
        for row in journal.dropped_links
        if row[6] not in people and not {(row[2], row[3]), (row[4], row[5])} & faces
    ]
    if len(links) < len(journal.dropped_links):
        secrets += traces(row for row in journal.dropped_links if row not in links)
        journal.dropped_links = links
    if journal.into in people:
        journal.into = None
        secrets = secrets or [b"\x00 nobody \x00"]
    return secrets
