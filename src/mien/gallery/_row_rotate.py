"""A new secret rotation for a sealed gallery: every template is turned and sealed again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mien._core.progress import report
from mien.errors import InputError
from mien.gallery._rotation import SECRET, Rotation
from mien.gallery._row_codec import RowCodec
from mien.gallery._row_tables import TABLES

if TYPE_CHECKING:
    from mien.gallery._row_store import RowStore

__all__ = ["pages", "rotate", "rotation_identity"]

_CHUNK = 5_000


def rotation_identity(store: RowCodec) -> bytes:
    """What the sealed secret belongs to."""
    return b"rotation\x00" + (store.uuid or "").encode()


def rotate(store: RowStore) -> int:
    """Turn all templates by a new secret; one transaction, gives how many there are."""
    if store.sealer is None or store.keys is None:
        raise InputError(
            f"{store.where} is not sealed: without a key there is nobody to keep the rotation "
            "secret from. Move it to a sealed one first: mien gallery move FROM TO --seal"
        )
    with store.writing() as revision:
        secret = os.urandom(SECRET)
        old, new = store.rotation, Rotation(secret, store.dimension)
        ((n,),) = store.query("SELECT count(*) FROM template")
        done = 0
        # Places of columns of a template in a row of each table.
        for table, first in (("template", 0), ("removed", 1)):
            for rows in pages(store, table):
                vectors = store.show_vectors([row[first : first + 4] for row in rows])
                store.rotation = new
                try:
                    _write(store, table, first, rows, vectors)
                finally:
                    store.rotation = old
                done += len(rows)
                report("rotating templates", min(done, n), n)
        store.set_meta("rotation", store.sealer.seal(secret, rotation_identity(store)))
        store.set_meta("purge", 1)
        store.forget_index(None)
        store.record("rotate", revision, None, 0, int(n))
    store.load_rotation()
    return int(n)


def pages(store: RowStore, table: str) -> Iterator[list[tuple[Any, ...]]]:
    """All rows by their key, some at a time: they may be changed meanwhile."""
    columns, key = TABLES[table]
    places = [columns.index(name) for name in key]
    order = ", ".join(key)
    after, values = "1 = 1", ()
    while True:
        rows = store.rows(table, after, values, f"{order} LIMIT {_CHUNK}")
        if not rows:
            return
        yield rows
        after = f"({order}) > ({', '.join('?' * len(key))})"
        values = tuple(rows[-1][i] for i in places)


def _write(
    store: RowStore, table: str, first: int, rows: list[tuple[Any, ...]], vectors: Any
) -> None:
    columns, key = TABLES[table]
    name, totals = table.encode(), store.totals()
    changes = []
    for row, vector in zip(rows, vectors, strict=True):
        totals.remove(table, store.term(store.check_row(name, *row)))
        hidden = store.hide_vector(vector, *row[first : first + 3])
        made = (*row[: first + 3], hidden, *row[first + 4 :])
        check = store.check_row(name, *made)
        totals.add(table, store.term(check))
        changes.append((hidden, check, *(row[columns.index(column)] for column in key)))
    where = " AND ".join(f"{column} = ?" for column in key)
    store.execute_many(f'UPDATE {table} SET vector = ?, "check" = ? WHERE {where}', changes)
