"""Enrolling, merging and deleting: each function is one transaction."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from mien.errors import ConsentError, InputError
from mien.gallery._protocol import NewTemplates, Removed
from mien.gallery._row_faces import give_face
from mien.gallery._row_forget import forget_traces, merged_into
from mien.gallery._row_links import find_refused
from mien.gallery._row_people import add_people, show_consent

if TYPE_CHECKING:
    from mien.gallery._row_store import RowStore

__all__ = [
    "announce_removal",
    "delete_person",
    "delete_picture",
    "insert_templates",
    "merge_people",
    "remove_templates",
]


def insert_templates(store: RowStore, new: NewTemplates) -> tuple[int, int]:
    """Add faces, all or none; gives how many are new, and how many a statement refuses."""
    with store.writing("enrol") as revision:
        wanted = find_refused(store, new)
        refused = len(new.names) - len(wanted)
        numbers = add_people(store, [new.names[i] for i in wanted], revision)
        _check_consent(store, new, set(numbers.values()), revision)
        owners = {i: numbers[new.names[i]] for i in wanted}
        entries = list(_entries(store, new, owners, revision))
        inserted = store.execute_many(
            "INSERT INTO template VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            entries,
        )
        if inserted < len(owners):
            entries = _keep_new(store, owners, new, entries)
        for entry in entries:
            store.totals().add("template", store.term(entry[-1]))
        if new.thumbnails is not None:
            _insert_thumbnails(store, new, owners, {(entry[1], entry[2]) for entry in entries})
        if inserted:
            changed = sorted(set(owners.values()))
            store.touch_people(changed, revision)
            one = changed[0] if len(changed) == 1 else None
            store.record("enrol", revision, one, len(changed), inserted)
            if store.journal is not None:
                store.journal.enrolled = inserted
                if one is not None:
                    store.journal.into = one
    return inserted, refused


def _check_consent(store: RowStore, new: NewTemplates, owners: set[int], revision: int) -> None:
    """Set what new people agreed to; refuse those without a consent where one is demanded."""
    if new.consent is None and not new.consent_demanded:
        return
    for number in owners:
        (row,) = store.rows("person", "id = ?", (number,))
        held = show_consent(store, row[6], number)
        if held is None and new.consent is not None:
            hidden = store.hide_text(new.consent, number, b"consent")
            store.replace_person((*row[:4], revision, row[5], hidden, row[7]))
        elif new.consent_demanded and (held is None or not held.is_valid(time.time())):
            name = store.show_name(row[2], number)
            what = "no consent of" if held is None else "an expired consent of"
            raise ConsentError(
                f"{store.where} requires consent before enrolment, and there is {what} {name!r}; "
                "nothing was enrolled: record it with set_consent() or consent="
            )


def _entries(
    store: RowStore, new: NewTemplates, owners: dict[int, int], revision: int
) -> Iterator[tuple[Any, ...]]:
    now = time.time()
    for i, owner in owners.items():
        digest, face = new.digests[i], new.faces[i]
        quality = None if new.qualities is None else new.qualities[i]
        source = None if new.sources is None else new.sources[i]
        row = (
            owner,
            digest,
            face,
            store.hide_vector(new.vectors[i], owner, digest, face),
            store.hide_source(source, owner, digest),
            None if quality is None else float(quality),
            now if new.added is None else float(new.added[i]),
            revision,
        )
        yield (*row, store.check_row(b"template", *row))


def _insert_thumbnails(
    store: RowStore, new: NewTemplates, owners: dict[int, int], added: set[tuple[bytes, int]]
) -> None:
    for i, owner in owners.items():
        key = new.digests[i], new.faces[i]
        content = None if new.thumbnails is None else new.thumbnails[i]
        if content is not None and key in added:
            added.discard(key)
            hidden = store.hide_picture(content, owner, *key)
            store.insert_rows("thumbnail", [(owner, *key, hidden)])


def _keep_new(
    store: RowStore, owners: dict[int, int], new: NewTemplates, entries: list[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """Those that went in; undo everything if a face is somebody else's."""
    kept = []
    for (i, owner), entry in zip(owners.items(), entries, strict=True):
        digest, face = new.digests[i], new.faces[i]
        ((holder, check),) = store.query(
            'SELECT person, "check" FROM template WHERE digest = ? AND face = ?', (digest, face)
        )
        if holder != owner:
            names = store.names_of([owner, holder])
            raise InputError(
                f"face {face} of the picture {digest.hex()[:12]}… belongs to {names[holder]!r} in "
                f"the gallery, so it cannot belong to {names[owner]!r}; nothing was enrolled: move "
                "the face or merge, or give faces= where a picture shows several people"
            )
        if check == entry[-1]:
            kept.append(entry)
    # The same face twice in one call went in once.
    return list({entry[1:3]: entry for entry in reversed(kept)}.values())


def merge_people(store: RowStore, person: str, into: str) -> int:
    """Move all templates of one person to another, and forget the first."""
    with store.writing("merge") as revision:
        old, new = store.require_person(person), store.require_person(into)
        if old == new:
            raise InputError(f"{person!r} and {into!r} are already one person")
        rows = store.query(
            "SELECT digest, face FROM template WHERE person = ? ORDER BY digest, face", (old,)
        )
        if store.journal is not None:
            store.journal.into = new
        for digest, face in rows:
            give_face(store, digest, face, new)
        for row in store.rows("link", "person = ?", (old,)):
            # "Not this person" is about the face of one human, whatever the name.
            if store.journal is not None:
                store.journal.dropped_links.append(row)
            store.replace_row("link", (*row[:6], new, row[7]))
            if store.journal is not None:
                store.journal.added_links.append(row[0])
        store.drop_person(old)
        store.touch_people([new], revision)
        store.record("merge", revision, old, 1, len(rows))
    return len(rows)


def delete_person(store: RowStore, name: str) -> Removed:
    """Delete a person with all templates."""
    with store.writing() as revision:
        number = store.require_person(name)
        return remove_templates(store, revision, "person = ?", (number,), {number})


def delete_picture(store: RowStore, digest: bytes) -> Removed:
    """Delete all faces of a picture, and people who have no other."""
    with store.writing() as revision:
        owners = store.query("SELECT DISTINCT person FROM template WHERE digest = ?", (digest,))
        if not owners:
            raise InputError(f"no face of the picture {digest.hex()[:12]}… is in {store.where}")
        holders = {row[0] for row in owners}
        removed = remove_templates(store, revision, "digest = ?", (digest,), holders)
        store.record("delete-source", revision, None, len(owners), removed.templates)
    return removed


def remove_templates(
    store: RowStore, revision: int, where: str, values: tuple[Any, ...], owners: set[int]
) -> Removed:
    """Delete templates, and whoever of their owners has no other; within a transaction."""
    rows = store.query(
        f"SELECT person, digest, vector, source, face FROM template WHERE {where}", values
    )
    store.drop_rows("template", where, values)
    names: list[str] = []
    gone: set[int] = set()
    for number in sorted(owners):
        if store.query("SELECT 1 FROM template WHERE person = ? LIMIT 1", (number,)):
            store.touch_people([number], revision)
            continue
        names.extend(store.names_of([number]).values())
        gone.add(number)
    gone = merged_into(store, gone)
    for number in sorted(gone & owners):
        store.drop_rows("person", "id = ?", (number,))
        store.record("delete", revision, number, 1, sum(row[0] == number for row in rows))
    faces = {(row[1], row[4]) for row in rows}
    secrets = forget_traces(store, gone, faces)
    announce_removal(store, owners)
    secrets += [content for row in rows for content in row[1:4] if content]
    return Removed(len(rows), secrets, names)


def announce_removal(store: RowStore, owners: Iterable[int]) -> None:
    """Whoever opens the gallery next cleans up, should this process not come to it."""
    store.set_meta("purge", 1)
    store.forget_index(owners)
