"""The SQLite file of a gallery: how it is made, opened and checked, and what its errors mean."""

from __future__ import annotations

import os
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mien._core.atomic import atomic_path
from mien.errors import (
    GalleryBusyError,
    GalleryDamagedError,
    GalleryError,
    GalleryFormatError,
    MissingDataError,
)

__all__ = ["APPLICATION", "FORMAT", "connect", "make_file", "translating"]

#: "mien" in ASCII; SQLite keeps it in the header of the file.
APPLICATION = 0x6D69656E
FORMAT = 1

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE person (
    id INTEGER PRIMARY KEY,
    tag BLOB NOT NULL UNIQUE,
    name BLOB NOT NULL,
    added REAL NOT NULL,
    revision INTEGER NOT NULL
);
CREATE INDEX person_revision ON person (revision);
CREATE TABLE template (
    person INTEGER NOT NULL REFERENCES person (id) ON DELETE CASCADE,
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    face INTEGER NOT NULL,
    vector BLOB NOT NULL,
    source BLOB,
    quality REAL,
    added REAL NOT NULL,
    PRIMARY KEY (person, digest, face),
    UNIQUE (digest, face)
) WITHOUT ROWID;
CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    action TEXT NOT NULL,
    person INTEGER,
    people INTEGER NOT NULL,
    templates INTEGER NOT NULL,
    revision INTEGER NOT NULL
);
"""
_NAMES = {"meta", "person", "template", "audit"}


@contextmanager
def translating(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into an error that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        text = str(error)
        if isinstance(error, sqlite3.ProgrammingError):
            raise GalleryError(f"{path} is closed") from error
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise GalleryBusyError(
                f"{path} is in use by another process; nothing was changed: try again, or wait "
                "longer with timeout="
            ) from error
        if name.startswith("SQLITE_READONLY") or "readonly" in text:
            raise GalleryError(
                f"{path} cannot be written ({text}): it is read-only, or its folder is, where "
                "the journal must be written; open it with read_only=True"
            ) from error
        if name.startswith("SQLITE_NOTADB"):
            raise GalleryFormatError(f"{path} is not a gallery: {text}") from error
        if name.startswith("SQLITE_FULL"):
            raise GalleryError(f"{path}: the disk is full; nothing was changed") from error
        if name.startswith("SQLITE_CANTOPEN"):
            raise GalleryError(f"{path} cannot be opened: {text}") from error
        raise GalleryDamagedError(f"{path} is damaged: {text}") from error
    except (UnicodeDecodeError, OverflowError) as error:
        raise GalleryDamagedError(f"{path} is damaged: a text in it is none") from error


def make_file(path: Path, meta: dict[str, bytes | str | int]) -> None:
    """Write an empty gallery, whole or not at all, readable by its owner only."""
    if path.exists():
        raise GalleryError(f"{path} is there already: open it, or choose another name")
    with atomic_path(path, private=True) as temporary, translating(path):
        connection = sqlite3.connect(temporary, isolation_level=None)
        try:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
            connection.execute("BEGIN")
            for statement in _TABLES.split(";\n"):
                connection.execute(statement)
            connection.executemany(
                "INSERT INTO meta VALUES (?, ?)",
                {"uuid": uuid.uuid4().hex, "revision": 0, "next_person": 1, **meta}.items(),
            )
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL")
        finally:
            connection.close()


def connect(path: Path, *, read_only: bool, timeout: float) -> sqlite3.Connection:
    """Open a file that is a gallery of a format that we know, with settings that hold for it."""
    _check_place(path)
    if not read_only and not os.access(path, os.W_OK):
        raise GalleryError(f"{path} is read-only: open it with read_only=True")
    place = path.absolute().as_uri()
    with translating(path):
        connection = _connect(f"{place}?mode={'ro' if read_only else 'rw'}", timeout)
        try:
            if read_only:
                connection = _settle_read_only(connection, place, path, timeout)
            _check_ours(connection, path)
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")
            # A temporary file would hold templates where nobody deletes them.
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA cache_size = -32768")
            if not read_only:
                connection.execute("PRAGMA journal_mode = WAL")
        except BaseException:
            connection.close()
            raise
    return connection


def _connect(place: str, timeout: float) -> sqlite3.Connection:
    return sqlite3.connect(
        place, uri=True, isolation_level=None, timeout=timeout, check_same_thread=False
    )


def _settle_read_only(
    connection: sqlite3.Connection, place: str, path: Path, timeout: float
) -> sqlite3.Connection:
    """A folder in which no lock can be written is read as a file that nobody changes."""
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return connection
    except sqlite3.OperationalError as error:
        name = getattr(error, "sqlite_errorname", "")
        wal = path.with_name(path.name + "-wal")
        if not name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")) or (
            wal.exists() and wal.stat().st_size > 0
        ):
            raise
        connection.close()
        return _connect(f"{place}?mode=ro&immutable=1", timeout)


def _check_place(path: Path) -> None:
    # The file is not opened here: closing it again would drop the locks that SQLite holds on it
    # for other galleries of this process.
    if not path.exists():
        raise MissingDataError(f"no gallery at {path}")
    if not path.is_file():
        raise GalleryFormatError(f"{path} is not a gallery: it is not a file")


def _check_ours(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise GalleryFormatError(
            f"{path} is an SQLite file, and not a gallery of mien (its application is "
            f"{application:#x}, not {APPLICATION:#x})"
        )
    if version > FORMAT or version < 1:
        raise GalleryFormatError(
            f"{path} has the format {version}, and this mien reads up to {FORMAT}: upgrade mien "
            "to read it"
        )
    found = {
        name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
    }
    strange = connection.execute(
        "SELECT count(*) FROM sqlite_master WHERE type IN ('view', 'trigger')"
    ).fetchone()[0]
    if not found >= _NAMES or strange:
        raise GalleryDamagedError(
            f"{path} is damaged: its tables are {', '.join(sorted(found)) or 'none'}"
        )
