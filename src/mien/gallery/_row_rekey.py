"""Another key for a sealed gallery: data keys of people stay, so nothing is sealed again.

The wrapped data keys, the tags of names and every checksum depend on the gallery's key; they are
made anew in one transaction. Whoever has an older copy of the gallery needs the old key for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mien.errors import InputError
from mien.gallery._person_keys import PersonKeys
from mien.gallery._row_changes import parse, write_content
from mien.gallery._row_codec import RowCodec, seal_identity
from mien.gallery._row_rotate import rotation_identity
from mien.gallery._row_tables import TABLES
from mien.gallery._sealing import make_seal
from mien.gallery._summary import Summary

if TYPE_CHECKING:
    from mien.gallery._row_store import RowStore

__all__ = ["change_key"]

_CHUNK = 10_000


def change_key(store: RowStore, key: bytes | str) -> None:
    """Exchange the gallery's key; one transaction."""
    if store.sealer is None or store.keys is None:
        raise InputError(
            f"{store.where} is not sealed: export it, and import it with the key that it gets"
        )
    sealer, seal = make_seal(key, seal_identity(store.features, store.uuid))
    own = (store.uuid or "").encode()
    keys = PersonKeys(sealer, own, store.wrapped_keys, store.where)
    given = store.where, store.features, store.dimension
    new = RowCodec(*given, sealer, store.seal_names, store.uuid, keys)
    old = store.sealer, store.keys
    try:
        with store.writing() as revision:
            summary = Summary()
            for table in TABLES:
                _sign_again(store, new, table, summary)
            before = summary.trail
            for row in store.query(
                "SELECT id, time, action, person, people, templates, revision FROM audit "
                "ORDER BY id"
            ):
                before = new.check_row(b"audit", before, *row)
                store.execute('UPDATE audit SET "check" = ? WHERE id = ?', (before, row[0]))
            summary.trail = before
            settings = {name: store.meta(name) for name in store.setting_names()}
            settings |= {"seal": seal, "purge": 1}
            if settings.get("rotation") is not None:
                identity = rotation_identity(store)
                secret = old[0].unseal(settings["rotation"], identity, store.where)
                settings["rotation"] = sealer.seal(secret, identity)
            # From here on the rows are read with the new key.
            RowCodec.__init__(
                store, *given, sealer, store.seal_names, store.uuid, keys, store.rotation
            )
            for name, value in settings.items():
                store.set_meta(name, value)
            store.summary = summary
            store.forget_index(None)
            store.record("change-key", revision, None, 0, 0)
    except BaseException:
        RowCodec.__init__(
            store, *given, old[0], store.seal_names, store.uuid, old[1], store.rotation
        )
        raise


def _sign_again(store: RowStore, new: RowCodec, table: str, summary: Summary) -> None:
    columns, key = TABLES[table]
    where = " AND ".join(f"{name} = ?" for name in key)
    set_all = ", ".join(f"{name} = ?" for name in columns)
    places = [columns.index(name) for name in key]
    changed = table in ("person", "person_key", "change")
    statement = f'SELECT {", ".join(columns)}, "check" FROM {table}'
    # Read before it is written: a cursor over rows that change under it is nobody's friend.
    for rows in list(store.fetch_in_parts(statement, (), _CHUNK)):
        entries: list[tuple[Any, ...]] = []
        for *row, check in rows:
            store.require_row(check, table.encode(), *row)
            made = _translate(store, new, table, tuple(row))
            signed = new.check_row(table.encode(), *made)
            summary.add(table, new.term(signed))
            head = (*made, signed) if changed else (signed,)
            entries.append((*head, *(row[i] for i in places)))
        assignments = f'{set_all}, "check" = ?' if changed else '"check" = ?'
        store.execute_many(f"UPDATE {table} SET {assignments} WHERE {where}", iter(entries))


def _translate(store: RowStore, new: RowCodec, table: str, row: tuple[Any, ...]) -> tuple[Any, ...]:
    if table == "person":
        return _retag(store, new, row)
    if table == "person_key" and store.keys is not None and new.keys is not None:
        return row[0], new.keys.wrap(row[0], store.keys.unwrap(*row))
    if table == "change":
        journal = parse(store, row[2], row[5])
        for number, before in journal.people.items():
            if before is not None:
                journal.people[number] = _retag(store, new, before)
        content = row[5] if row[6] is not None else write_content(journal)
        return (*row[:5], content, row[6])
    return row


def _retag(store: RowStore, new: RowCodec, row: tuple[Any, ...]) -> tuple[Any, ...]:
    return (row[0], new.tag(store.show_name(row[2], row[0])), *row[2:])
