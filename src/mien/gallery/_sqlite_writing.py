"""Every change of a gallery's rows: each function is one transaction."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mien.errors import InputError
from mien.gallery._protocol import NewTemplates, Removed

if TYPE_CHECKING:
    from mien.gallery._sqlite_store import SqliteStore

__all__ = [
    "announce_removal",
    "delete_person",
    "delete_picture",
    "insert_templates",
    "merge_people",
    "remove_templates",
    "rename_person",
]


def insert_templates(store: SqliteStore, new: NewTemplates) -> int:
    """Add faces, all or none; gives how many were not there already."""
    with store.writing() as revision:
        numbers = store.add_people(new.names, revision)
        owners = [numbers[name] for name in new.names]
        before = store.connection.total_changes
        entries = list(_entries(store, new, owners))
        store.connection.executemany(
            "INSERT INTO template VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (digest, face) DO NOTHING",
            entries,
        )
        inserted = store.connection.total_changes - before
        if inserted < len(owners):
            entries = _keep_new(store, owners, new, entries)
        for entry in entries:
            store.totals().add("template", store.term(entry[-1]))
        if inserted:
            changed = sorted(set(owners))
            store.touch_people(changed, revision)
            one = changed[0] if len(changed) == 1 else None
            store.record("enrol", revision, one, len(changed), inserted)
    return inserted


def _entries(store: SqliteStore, new: NewTemplates, owners: list[int]) -> Iterator[tuple[Any, ...]]:
    now = time.time()
    for i, owner in enumerate(owners):
        digest, face = new.digests[i], new.faces[i]
        quality = None if new.qualities is None else new.qualities[i]
        yield store.template_entry(
            (
                owner,
                digest,
                face,
                store.hide_vector(new.vectors[i], owner, digest, face),
                None if new.sources is None else store.hide_source(new.sources[i], digest),
                None if quality is None else float(quality),
                now if new.added is None else float(new.added[i]),
            )
        )


def _keep_new(
    store: SqliteStore, owners: list[int], new: NewTemplates, entries: list[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """Those that went in; undo everything if a face is somebody else's."""
    kept = []
    for owner, digest, face, entry in zip(owners, new.digests, new.faces, entries, strict=True):
        ((holder, check),) = store.query(
            'SELECT person, "check" FROM template WHERE digest = ? AND face = ?', (digest, face)
        )
        if holder != owner:
            names = store.names_of([owner, holder])
            raise InputError(
                f"face {face} of the picture {digest.hex()[:12]}… belongs to {names[holder]!r} in "
                f"the gallery, so it cannot be of {names[owner]!r}; nothing was enrolled. Delete "
                "or merge, or give faces= where a picture shows several people"
            )
        if check == entry[-1]:
            kept.append(entry)
    # The same face twice in one call went in once.
    return list({entry[1:3]: entry for entry in reversed(kept)}.values())


def rename_person(store: SqliteStore, old: str, new: str) -> None:
    """Give a person another name."""
    with store.writing() as revision:
        number = store.require_person(old)
        if store.find_person(new) not in (None, number):
            raise InputError(f"{new!r} is in the gallery already: merge the two, if they are one")
        ((_, _, _, added, _),) = store.person_rows("id = ?", (number,))
        store.replace_person(
            (number, store.tag(new), store.hide_name(new, number), added, revision)
        )
        store.record("rename", revision, number, 1, 0)
        store.set_meta("purge", 1)


def merge_people(store: SqliteStore, person: str, into: str) -> int:
    """Move all templates of one person to another, and forget the first."""
    with store.writing() as revision:
        old, new = store.require_person(person), store.require_person(into)
        if old == new:
            raise InputError(f"{person!r} and {into!r} are one person already")
        rows = store.template_rows("person = ?", (old,))
        for row, vector in zip(rows, store.show_vectors(rows) if rows else [], strict=True):
            # Sealed templates open in their own row only: they are sealed again.
            hidden = store.hide_vector(vector, new, row[1], row[2])
            store.replace_template((new, row[1], row[2], hidden, *row[4:]))
        store.drop_people("id = ?", (old,))
        store.touch_people([new], revision)
        store.record("merge", revision, old, 1, len(rows))
        announce_removal(store)
    return len(rows)


def delete_person(store: SqliteStore, name: str) -> Removed:
    """Delete a person with all templates."""
    with store.writing() as revision:
        number = store.require_person(name)
        return remove_templates(store, revision, "person = ?", (number,), {number})


def delete_picture(store: SqliteStore, digest: bytes) -> Removed:
    """Delete all faces of a picture, and whoever has no other."""
    with store.writing() as revision:
        owners = store.query("SELECT DISTINCT person FROM template WHERE digest = ?", (digest,))
        if not owners:
            raise InputError(f"no face of the picture {digest.hex()[:12]}… is in {store.path}")
        holders = {row[0] for row in owners}
        removed = remove_templates(store, revision, "digest = ?", (digest,), holders)
        store.record("delete-source", revision, None, len(owners), removed.templates)
    return removed


def remove_templates(
    store: SqliteStore, revision: int, where: str, values: tuple[Any, ...], owners: set[int]
) -> Removed:
    """Delete templates, and whoever of their owners has no other; within a transaction."""
    rows = store.query(f"SELECT person, digest, vector, source FROM template WHERE {where}", values)
    store.drop_templates(where, values)
    names: list[str] = []
    for number in sorted(owners):
        if store.query("SELECT 1 FROM template WHERE person = ? LIMIT 1", (number,)):
            store.touch_people([number], revision)
            continue
        names.extend(store.names_of([number]).values())
        store.drop_people("id = ?", (number,))
        store.record("delete", revision, number, 1, sum(row[0] == number for row in rows))
    announce_removal(store)
    secrets = [content for row in rows for content in row[1:] if content]
    return Removed(len(rows), secrets, names)


def announce_removal(store: SqliteStore) -> None:
    """Whoever opens the file next cleans up, should this process not come to it."""
    store.set_meta("purge", 1)
    store.set_meta("index", None)
