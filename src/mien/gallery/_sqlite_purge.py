"""Deleting what was deleted: the journal, freed pages, and a look at the bytes that remain."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mien.errors import GalleryBusyError
from mien.gallery._handles import file_holds_any, holds_any
from mien.gallery._making import beside, wipe_file
from mien.gallery._protocol import Removed
from mien.gallery._sqlite_file import keep_reserve, translating

if TYPE_CHECKING:
    from mien.gallery._sqlite_store import SqliteStore

__all__ = ["purge"]

# Looking costs about a second for each gigabyte and pattern; beyond this, rewriting is cheaper.
_MOST_LOOKED_AT = 4 * 2**30
_PIECE = 40
_DONE = (
    "the change was made, but traces of what was removed may be left in the file: they are removed "
    "when the gallery is opened next, or by purge()"
)


def pieces_of(content: bytes) -> list[bytes]:
    """Parts of a value that betray it, also where the rest was overwritten."""
    if len(content) <= 2 * _PIECE:
        return [content]
    middle = len(content) // 2
    return [content[:_PIECE], content[middle : middle + _PIECE], content[-_PIECE:]]


def purge(store: SqliteStore, removed: Removed | None) -> None:
    """Empty the journal, give freed pages back, and rewrite the file if a value is still there.

    Parameters
    ----------
    store : SqliteStore
        In no transaction.
    removed : Removed or None
        What must not be found afterwards; None rewrites the file in any case.
    """
    with store.lock, translating(store.path, _DONE):
        # The index beside the file holds rows of people too.
        wipe_file(beside(store.path, "-index"))
        _empty_journal(store)
        patterns = None if removed is None else _patterns(store, removed)
        if patterns is None or _is_left(store, patterns):
            store.connection.execute("VACUUM")
        else:
            # Every step of it must be run; it gives no rows.
            store.connection.execute("PRAGMA incremental_vacuum").fetchall()
        store.connection.execute("BEGIN IMMEDIATE")
        try:
            store.set_meta("purge", None)
            store.connection.execute("COMMIT")
        except BaseException:
            if store.connection.in_transaction:
                store.connection.execute("ROLLBACK")
            raise
        _empty_journal(store)
        keep_reserve(store.path)


def _patterns(store: SqliteStore, removed: Removed) -> list[bytes]:
    values = list(removed.secrets)
    for name in dict.fromkeys(removed.names):
        content = name.encode("utf-8")
        # Part of somebody else's name or source, it stays.
        shared = store.query(
            "SELECT 1 FROM person WHERE instr(name, ?) UNION ALL "
            "SELECT 1 FROM template WHERE instr(source, ?) UNION ALL "
            "SELECT 1 FROM removed WHERE instr(source, ?) LIMIT 1",
            (content, content, content),
        )
        if not shared:
            values.append(content)
    return [piece for value in values for piece in pieces_of(value)]


def _is_left(store: SqliteStore, patterns: Sequence[bytes]) -> bool:
    """Whether the file or its journal holds one of them; the third file has numbers only."""
    journal = beside(store.path, "-wal")
    size = store.path.stat().st_size + (journal.stat().st_size if journal.exists() else 0)
    if size * len(patterns) > _MOST_LOOKED_AT:
        return True
    return holds_any(store.handle, patterns) or file_holds_any(journal, patterns)


def _empty_journal(store: SqliteStore) -> None:
    """Bring the journal into the file and cut it to nothing."""
    deadline = time.monotonic() + store.timeout
    # SQLite would wait by itself, as long as for a write.
    store.connection.execute("PRAGMA busy_timeout = 0")
    try:
        while store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > deadline:
                raise GalleryBusyError(
                    f"another process reads {store.path}, so that old pages stay in its journal; "
                    f"{_DONE}"
                )
            time.sleep(0.02)
    finally:
        store.connection.execute(f"PRAGMA busy_timeout = {int(1000 * store.timeout)}")
