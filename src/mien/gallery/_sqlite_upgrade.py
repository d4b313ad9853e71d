"""Bringing a gallery of format 1 to today's: checksums for every row, a key of its own."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from mien.gallery._row_codec import RowCodec, seal_identity
from mien.gallery._sealing import Sealer, make_seal
from mien.gallery._sqlite_file import FORMAT, translating
from mien.gallery._summary import Summary

if TYPE_CHECKING:
    from mien.gallery._sqlite_store import SqliteStore

__all__ = ["upgrade"]

_TABLES = ("meta", "person", "template", "audit")


def upgrade(store: SqliteStore, key: bytes | str | None) -> None:
    """Rewrite every row in one transaction: all of it, or nothing.

    Rows of format 1 have no checksums, and a sealed gallery's settings could be altered. From
    here on they cannot. A sealed gallery gets a new key, itself sealed with the passphrase, which
    is stretched with today's numbers; a passphrase that is weak today stays good for it.
    """
    connection = store.connection
    with store.lock, translating(store.path, "it was left as it is, in format 1"):
        connection.execute("BEGIN IMMEDIATE")
        try:
            for table in _TABLES:
                connection.execute(f'ALTER TABLE {table} ADD COLUMN "check" BLOB')
            _rewrite(store, key)
            connection.execute(f"PRAGMA user_version = {FORMAT}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    store.format = FORMAT


def _rewrite(store: SqliteStore, key: bytes | str | None) -> None:
    own = str(store._raw_meta("uuid"))
    sealer: Sealer | None = None
    seal: str | None = None
    if key is not None:
        sealer, seal = make_seal(key, seal_identity(store.features, own), new=False)
    new = RowCodec(store.where, store.features, store.dimension, sealer, store.seal_names, own)
    summary = Summary()
    _rewrite_people(store, new, summary)
    _rewrite_templates(store, new, summary)
    before = summary.trail
    for row in store.query(
        "SELECT id, time, action, person, people, templates, revision FROM audit ORDER BY id"
    ):
        before = new.check_row(b"audit", before, *row)
        store.connection.execute('UPDATE audit SET "check" = ? WHERE id = ?', (before, row[0]))
    summary.trail = before
    settings: dict[str, Any] = dict(store.query("SELECT key, value FROM meta"))
    settings["summary"] = summary.text()
    settings["verifier_mark"] = hashlib.sha256(settings.get("verifier") or b"").hexdigest()
    settings.pop("index", None)
    # Names and templates stood in the file under the old key: everything is rewritten once.
    settings["purge"] = 1
    if seal is not None:
        settings["seal"] = seal
    store.connection.execute("DELETE FROM meta")
    store.connection.executemany(
        "INSERT INTO meta VALUES (?, ?, ?)",
        [(name, value, new.check_row(b"meta", name, value)) for name, value in settings.items()],
    )


def _rewrite_people(store: SqliteStore, new: RowCodec, summary: Summary) -> None:
    for number, _, stored, added, revision in store.query(
        "SELECT id, tag, name, added, revision FROM person"
    ):
        name = store.show_name(stored, number)
        row = (number, new.tag(name), new.hide_name(name, number), float(added), revision)
        check = new.check_row(b"person", *row)
        store.connection.execute(
            'UPDATE person SET tag = ?, name = ?, "check" = ? WHERE id = ?',
            (row[1], row[2], check, number),
        )
        summary.add("person", new.term(check))


def _rewrite_templates(store: SqliteStore, new: RowCodec, summary: Summary) -> None:
    rows = store.query("SELECT person, digest, face, vector, source, quality, added FROM template")
    if not rows:
        return
    vectors = store.show_vectors(rows)
    for (person, digest, face, _, stored, quality, added), vector in zip(
        rows, vectors, strict=True
    ):
        source = store.show_source(stored, digest)
        row = (
            person,
            digest,
            face,
            new.hide_vector(vector, person, digest, face),
            new.hide_source(source, digest),
            None if quality is None else float(quality),
            float(added),
        )
        check = new.check_row(b"template", *row)
        store.connection.execute(
            'UPDATE template SET vector = ?, source = ?, "check" = ? WHERE digest = ? AND face = ?',
            (row[3], row[4], check, digest, face),
        )
        summary.add("template", new.term(check))
