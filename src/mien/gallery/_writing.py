"""Every change of a gallery's rows: each function is one transaction."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mien.errors import InputError
from mien.gallery._store import Store

__all__ = [
    "NewTemplates",
    "Removed",
    "delete_person",
    "delete_picture",
    "insert_templates",
    "merge_people",
    "remove_templates",
    "rename_person",
]


@dataclass(frozen=True)
class NewTemplates:
    """Faces to be added, one entry each; ``added`` is now if it is None."""

    names: list[str]
    vectors: np.ndarray
    digests: list[bytes]
    faces: list[int]
    sources: Sequence[str | None] | None
    qualities: Sequence[float | None] | None
    added: Sequence[float] | None

    def rows(self, store: Store, owners: list[int]) -> Iterator[tuple[Any, ...]]:
        now = time.time()
        for i, owner in enumerate(owners):
            digest, face = self.digests[i], self.faces[i]
            quality = None if self.qualities is None else self.qualities[i]
            yield (
                owner,
                digest,
                face,
                store.hide_vector(self.vectors[i], owner, digest, face),
                None if self.sources is None else store.hide_source(self.sources[i], digest),
                None if quality is None else float(quality),
                now if self.added is None else self.added[i],
            )


class Removed(NamedTuple):
    """How many templates were removed, and what must not be found in the file any more."""

    templates: int
    secrets: list[bytes]
    names: list[str]


def insert_templates(store: Store, new: NewTemplates) -> int:
    """Add faces, all or none; gives how many were not there already."""
    with store.writing() as revision:
        numbers = store.add_people(new.names, revision)
        owners = [numbers[name] for name in new.names]
        before = store.connection.total_changes
        store.connection.executemany(
            "INSERT INTO template VALUES (?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (digest, face) DO NOTHING",
            new.rows(store, owners),
        )
        inserted = store.connection.total_changes - before
        if inserted < len(owners):
            _refuse_conflicts(store, owners, new)
        if inserted:
            changed = sorted(set(owners))
            store.connection.executemany(
                "UPDATE person SET revision = ? WHERE id = ? AND revision < ?",
                ((revision, number, revision) for number in changed),
            )
            one = changed[0] if len(changed) == 1 else None
            store.record("enrol", revision, one, len(changed), inserted)
    return inserted


def _refuse_conflicts(store: Store, owners: list[int], new: NewTemplates) -> None:
    """Undo everything if a face is somebody else's."""
    for owner, digest, face in zip(owners, new.digests, new.faces, strict=True):
        ((holder,),) = store.query(
            "SELECT person FROM template WHERE digest = ? AND face = ?", (digest, face)
        )
        if holder != owner:
            names = store.names_of([owner, holder])
            raise InputError(
                f"face {face} of the picture {digest.hex()[:12]}… belongs to {names[holder]!r} in "
                f"the gallery, so it cannot be of {names[owner]!r}; nothing was enrolled. Delete "
                "or merge, or give faces= where a picture shows several people"
            )


def rename_person(store: Store, old: str, new: str) -> None:
    with store.writing() as revision:
        number = store.require_person(old)
        if store.find_person(new) not in (None, number):
            raise InputError(f"{new!r} is in the gallery already: merge the two, if they are one")
        store.connection.execute(
            "UPDATE person SET tag = ?, name = ? WHERE id = ?",
            (store.tag(new), store.hide_name(new, number), number),
        )
        store.record("rename", revision, number, 1, 0)
        store.set_meta("purge", 1)


def merge_people(store: Store, person: str, into: str) -> int:
    with store.writing() as revision:
        old, new = store.require_person(person), store.require_person(into)
        if old == new:
            raise InputError(f"{person!r} and {into!r} are one person already")
        rows = store.query(
            "SELECT person, digest, face, vector FROM template WHERE person = ?", (old,)
        )
        for (_, digest, face, _), vector in zip(rows, store.show_vectors(rows), strict=True):
            # Sealed templates open in their own row only: they are sealed again.
            store.connection.execute(
                "UPDATE template SET person = ?, vector = ? WHERE digest = ? AND face = ?",
                (new, store.hide_vector(vector, new, digest, face), digest, face),
            )
        store.connection.execute("DELETE FROM person WHERE id = ?", (old,))
        store.connection.execute("UPDATE person SET revision = ? WHERE id = ?", (revision, new))
        store.record("merge", revision, old, 1, len(rows))
        _announce_removal(store)
    return len(rows)


def delete_person(store: Store, name: str) -> Removed:
    with store.writing() as revision:
        number = store.require_person(name)
        removed = remove_templates(store, revision, "person = ?", (number,), {number})
    return removed


def delete_picture(store: Store, digest: bytes) -> Removed:
    with store.writing() as revision:
        owners = store.query("SELECT DISTINCT person FROM template WHERE digest = ?", (digest,))
        if not owners:
            raise InputError(f"no face of the picture {digest.hex()[:12]}… is in {store.path}")
        holders = {row[0] for row in owners}
        removed = remove_templates(store, revision, "digest = ?", (digest,), holders)
        store.record("delete-source", revision, None, len(owners), removed.templates)
    return removed


def remove_templates(
    store: Store, revision: int, where: str, values: tuple[Any, ...], owners: set[int]
) -> Removed:
    """Delete templates, and whoever of their owners has no other."""
    rows = store.query(f"SELECT person, digest, vector, source FROM template WHERE {where}", values)
    store.connection.execute(f"DELETE FROM template WHERE {where}", values)
    names: list[str] = []
    for number in sorted(owners):
        if store.query("SELECT 1 FROM template WHERE person = ? LIMIT 1", (number,)):
            store.connection.execute(
                "UPDATE person SET revision = ? WHERE id = ?", (revision, number)
            )
            continue
        names.extend(store.names_of([number]).values())
        store.connection.execute("DELETE FROM person WHERE id = ?", (number,))
        store.record("delete", revision, number, 1, sum(row[0] == number for row in rows))
    _announce_removal(store)
    secrets = [content for row in rows for content in row[1:] if content]
    return Removed(len(rows), secrets, names)


def _announce_removal(store: Store) -> None:
    """Whoever opens the file next cleans up, should this process not come to it."""
    store.set_meta("purge", 1)
    store.set_meta("index", None)
