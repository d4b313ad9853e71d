"""Whether a gallery file is whole: everything is read and compared with its checksums."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from mien.errors import GalleryDamagedError
from mien.gallery._row_faults import MOST_FAULTS, find_row_faults

if TYPE_CHECKING:
    from mien.gallery._sqlite_store import SqliteStore

__all__ = ["find_faults"]


def find_faults(store: SqliteStore) -> list[str]:
    """Everything that is wrong with the file, one sentence each."""
    faults: list[str] = []
    try:
        with store.reading():
            for (text,) in store.query("PRAGMA integrity_check"):
                if text != "ok":
                    faults.extend(str(text).splitlines())
            for row in store.query("PRAGMA foreign_key_check"):
                faults.append(f"a row of {row[0]} belongs to nobody")
            faults.extend(find_row_faults(store))
            store.check_settings()
    except GalleryDamagedError as error:
        faults.append(str(error))
    mode = stat.S_IMODE(store.path.stat().st_mode)
    if mode & 0o077:
        faults.append(f"others may read the file (its mode is {mode:o}, not 600)")
    return faults[:MOST_FAULTS]
