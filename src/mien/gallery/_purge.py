"""Deleting what was deleted: the journal, freed pages, and a look at the bytes that remain."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from mien.errors import GalleryBusyError
from mien.gallery._handles import file_holds_any, holds_any
from mien.gallery._schema import translating
from mien.gallery._store import Store

__all__ = ["beside", "purge", "wipe_file"]

# Looking costs about a second a gigabyte and pattern; beyond this, rewriting is cheaper.
_MOST_LOOKED_AT = 4 * 2**30
_PIECE = 40


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def pieces_of(content: bytes) -> list[bytes]:
    """Parts of a value that betray it, also where the rest was overwritten."""
    if len(content) <= 2 * _PIECE:
        return [content]
    middle = len(content) // 2
    return [content[:_PIECE], content[middle : middle + _PIECE], content[-_PIECE:]]


def wipe_file(path: Path) -> None:
    """Overwrite a file with zeros, then remove it."""
    if not path.exists():
        return
    with open(path, "r+b") as file:
        left = os.fstat(file.fileno()).st_size
        while left > 0:
            left -= file.write(bytes(min(left, 2**20)))
        file.flush()
        os.fsync(file.fileno())
    path.unlink(missing_ok=True)


def purge(store: Store, values: Sequence[bytes] | None, timeout: float) -> None:
    """Empty the journal, give freed pages back, and rewrite the file if a value is still there.

    Parameters
    ----------
    store : Store
        In no transaction.
    values : list of bytes or None
        What must not be found afterwards; None rewrites the file in any case.
    timeout : float
        How long to wait for readers of older states, in seconds.
    """
    with store.lock, translating(store.path):
        _empty_journal(store, timeout)
        patterns = None if values is None else [p for v in values for p in pieces_of(v)]
        if patterns is None or _is_left(store, patterns):
            store.connection.execute("VACUUM")
        else:
            # Every step of it must be run; it gives no rows.
            store.connection.execute("PRAGMA incremental_vacuum").fetchall()
        store.connection.execute("BEGIN IMMEDIATE")
        store.set_meta("purge", None)
        store.connection.execute("COMMIT")
        _empty_journal(store, timeout)


def _is_left(store: Store, patterns: Sequence[bytes]) -> bool:
    """Whether the file or its journal holds one of them; the third file has numbers only."""
    journal = beside(store.path, "-wal")
    size = store.path.stat().st_size + (journal.stat().st_size if journal.exists() else 0)
    if size * len(patterns) > _MOST_LOOKED_AT:
        return True
    return holds_any(store.handle, patterns) or file_holds_any(journal, patterns)


def _empty_journal(store: Store, timeout: float) -> None:
    """Bring the journal into the file and cut it to nothing."""
    deadline = time.monotonic() + timeout
    # SQLite would wait by itself, as long as for a write.
    store.connection.execute("PRAGMA busy_timeout = 0")
    try:
        while store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > deadline:
                raise GalleryBusyError(
                    f"it was deleted, but another process reads {store.path}, so that old pages "
                    "stay in its journal: call purge() when that process is done"
                )
            time.sleep(0.02)
    finally:
        store.connection.execute(f"PRAGMA busy_timeout = {int(1000 * store.timeout)}")
