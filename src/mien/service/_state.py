"""The database of a server's own affairs: keys, sessions, answers, jobs; one lock for all."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mien._core.atomic import lock_descriptor
from mien.errors import InputError

__all__ = ["State", "hold_state", "open_state"]

_TABLES = """
CREATE TABLE IF NOT EXISTS key (
    id TEXT PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    gallery TEXT NOT NULL,
    role TEXT NOT NULL,
    label TEXT NOT NULL,
    created REAL NOT NULL,
    expires REAL,
    revoked REAL
);
CREATE TABLE IF NOT EXISTS answer (
    owner TEXT NOT NULL,
    token TEXT NOT NULL,
    request BLOB NOT NULL,
    status INTEGER,
    body BLOB,
    created REAL NOT NULL,
    location TEXT,
    PRIMARY KEY (owner, token)
);
CREATE INDEX IF NOT EXISTS answer_created ON answer (created);
CREATE TABLE IF NOT EXISTS job (
    id TEXT PRIMARY KEY,
    gallery TEXT NOT NULL,
    kind TEXT NOT NULL,
    options TEXT NOT NULL,
    state TEXT NOT NULL,
    stage TEXT NOT NULL,
    done INTEGER NOT NULL,
    total INTEGER,
    detail TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    created REAL NOT NULL,
    changed REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS link (
    digest BLOB PRIMARY KEY,
    expires REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS session (
    digest BLOB PRIMARY KEY,
    csrf TEXT NOT NULL,
    owner TEXT NOT NULL,
    key TEXT,
    gallery TEXT NOT NULL,
    role TEXT NOT NULL,
    created REAL NOT NULL,
    seen REAL NOT NULL
);
"""


class State:
    """One connection that all threads of a server share, one statement at a time.

    Parameters
    ----------
    path : Path
        The database; made readable by its owner only.
    """

    def __init__(self, path: Path) -> None:
        path.touch(mode=0o600, exist_ok=True)
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(
            path, timeout=30, isolation_level=None, check_same_thread=False
        )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("PRAGMA secure_delete = ON")
        self._connection.executescript(_TABLES)
        self._add_column("answer", "location", "TEXT")

    def _add_column(self, table: str, name: str, kind: str) -> None:
        """A column that states of earlier versions do not have."""
        columns = [row[1] for row in self._connection.execute(f"PRAGMA table_info({table})")]
        if name not in columns:
            self._connection.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")

    def read(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query."""
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    def write(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Change something at once; gives how many rows were changed."""
        with self._lock:
            return self._connection.execute(statement, values).rowcount

    def foreign_changes(self) -> int:
        """A number that changes whenever another process has written."""
        return int(self.read("PRAGMA data_version")[0][0])

    def close(self) -> None:
        """Let the file go."""
        with self._lock:
            self._connection.close()


def open_state(folder: Path) -> State:
    """The state of a server; the folder is readable by its owner only."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return State(folder / "service.sqlite")


def hold_state(folder: Path) -> int:
    """Keep other servers from a folder, until the descriptor that this gives is closed.

    Two servers would do the same jobs, and one retried write each.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / "server.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if lock_descriptor(descriptor) is False:
        os.close(descriptor)
        raise InputError(
            f"another server uses the folder {folder}: stop it, or give this one its own (--state)"
        )
    return descriptor
