"""Bringing a gallery of an older format to today's, in one transaction: all of it, or nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mien.gallery._person_keys import PersonKeys
from mien.gallery._row_codec import RowCodec, seal_identity
from mien.gallery._row_tables import TABLES
from mien.gallery._sealing import Sealer, make_seal
from mien.gallery._sqlite_file import GALLERY_FORMAT, SCHEMA, run_script, translating
from mien.gallery._summary import Summary

if TYPE_CHECKING:
    from mien.gallery._sqlite_store import SqliteStore

__all__ = ["upgrade"]

_CHUNK = 10_000


def upgrade(store: SqliteStore, key: bytes | str | None) -> None:
    """Rewrite every row.

    Rows of format 1 have no checksums, and a sealed gallery's settings could be altered; it gets
    a new key, itself sealed with the passphrase, which is stretched with today's numbers. Format
    2 had one key for everybody; from format 3 on each person has one.
    """
    connection = store.connection
    done = f"it was left as it is, in format {store.format}"
    with store.lock, translating(store.path, done):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if store.format == 1:
                for table in ("meta", "audit"):
                    connection.execute(f'ALTER TABLE {table} ADD COLUMN "check" BLOB')
            for table in ("template", "person"):
                connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
            connection.execute("DROP INDEX IF EXISTS person_revision")
            run_script(connection, SCHEMA)
            _rewrite(store, key)
            for table in ("template", "person"):
                connection.execute(f"DROP TABLE old_{table}")
            connection.execute(f"PRAGMA user_version = {GALLERY_FORMAT}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    store.format = GALLERY_FORMAT


def _rewrite(store: SqliteStore, key: bytes | str | None) -> None:
    settings: dict[str, Any] = dict(store.query("SELECT key, value FROM meta"))
    own = str(settings["uuid"])
    sealer: Sealer | None = store.sealer
    if store.format == 1 and key is not None:
        identity = seal_identity(store.features, own)
        sealer, settings["seal"] = make_seal(key, identity, new=False)
    wrapped: dict[int, bytes] = {}
    keys: PersonKeys | None = None
    if sealer is not None:
        keys = PersonKeys(
            sealer,
            own.encode(),
            lambda numbers: {number: wrapped[number] for number in numbers if number in wrapped},
            store.where,
        )
    new = RowCodec(
        store.where, store.features, store.dimension, sealer, store.seal_names, own, keys
    )
    summary = Summary()
    found = Summary()
    _copy(store, new, "person", _people(store, new, found, wrapped), summary)
    _copy(store, new, "person_key", iter(wrapped.items()), summary)
    _copy(store, new, "template", _templates(store, new, found), summary)
    if store.format == 1:
        before = summary.trail
        for row in store.query(
            "SELECT id, time, action, person, people, templates, revision FROM audit ORDER BY id"
        ):
            before = new.check_row(b"audit", before, *row)
            store.connection.execute('UPDATE audit SET "check" = ? WHERE id = ?', (before, row[0]))
        summary.trail = before
    else:
        store.check_settings()
        held = Summary.parse(settings.get("summary"), store, ("person", "template"))
        for table in ("person", "template"):
            held.require(table, found, store)
        summary.trail = held.trail
    settings["summary"] = summary.text()
    settings["verifier_mark"] = hashlib.sha256(settings.get("verifier") or b"").hexdigest()
    settings.pop("index", None)
    # Names and templates stood in the file under the old key: everything is rewritten once.
    settings["purge"] = 1
    store.connection.execute("DELETE FROM meta")
    store.connection.executemany(
        "INSERT INTO meta VALUES (?, ?, ?)",
        [(name, value, new.check_row(b"meta", name, value)) for name, value in settings.items()],
    )


def _copy(
    store: SqliteStore, new: RowCodec, table: str, rows: Iterator[tuple[Any, ...]], summary: Summary
) -> None:
    marks = ", ".join("?" * (len(TABLES[table].columns) + 1))

    def entries() -> Iterator[tuple[Any, ...]]:
        for row in rows:
            check = new.check_row(table.encode(), *row)
            summary.add(table, new.term(check))
            yield (*row, check)

    store.connection.executemany(f"INSERT INTO {table} VALUES ({marks})", entries())


def _old_rows(
    store: SqliteStore, table: str, columns: str, found: Summary
) -> Iterator[list[tuple[Any, ...]]]:
    """Rows of the old table as they were written, some at a time."""
    check = '"check"' if store.format > 1 else "NULL"
    cursor = store.connection.execute(f"SELECT {columns}, {check} FROM old_{table}")
    while rows := cursor.fetchmany(_CHUNK):
        if store.format > 1:
            for row in rows:
                store.require_row(row[-1], table.encode(), *row[:-1])
                found.add(table, store.term(row[-1]))
        yield [row[:-1] for row in rows]


def _people(
    store: SqliteStore, new: RowCodec, found: Summary, wrapped: dict[int, bytes]
) -> Iterator[tuple[Any, ...]]:
    for rows in _old_rows(store, "person", "id, tag, name, added, revision", found):
        for number, _, stored, added, revision in rows:
            name = store.show_name(stored, number)
            if new.keys is not None:
                wrapped[number] = new.keys.make(number)
            hidden = new.hide_name(name, number)
            yield (number, new.tag(name), hidden, float(added), revision, 0, None, None)


def _templates(store: SqliteStore, new: RowCodec, found: Summary) -> Iterator[tuple[Any, ...]]:
    columns = "person, digest, face, vector, source, quality, added"
    for rows in _old_rows(store, "template", columns, found):
        vectors = store.show_vectors(rows)
        for (person, digest, face, _, stored, quality, added), vector in zip(
            rows, vectors, strict=True
        ):
            source = store.show_source(stored, person, digest)
            yield (
                person,
                digest,
                face,
                new.hide_vector(vector, person, digest, face),
                new.hide_source(source, person, digest),
                None if quality is None else float(quality),
                float(added),
                0,
            )
