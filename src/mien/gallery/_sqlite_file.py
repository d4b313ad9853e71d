"""The SQLite file of a gallery: how it is made, opened and checked, and what its errors mean."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mien.errors import (
    GalleryBusyError,
    GalleryDamagedError,
    GalleryDiskError,
    GalleryError,
    GalleryFormatError,
    MissingDataError,
)
from mien.gallery._making import beside, check_links, is_being_made, wipe_file, wipe_leftovers
from mien.gallery._picture_index import settle_pictures
from mien.gallery._row_tables import TABLES

__all__ = [
    "APPLICATION",
    "GALLERY_FORMAT",
    "SCHEMA",
    "copy_to_memory",
    "is_full",
    "keep_reserve",
    "make_tables",
    "open_connection",
    "release_reserve",
    "run_script",
    "translating",
]

#: "mien" in ASCII; SQLite keeps it in the header of the file.
APPLICATION = 0x6D69656E
GALLERY_FORMAT = 3
#: Bytes beside a gallery that are given up so that a full disk lets one open it and delete.
_RESERVE = 512 * 1024

#: Tables of today's format; statements are separated by a semicolon at the end of a line.
SCHEMA = """
CREATE TABLE person (
    id INTEGER PRIMARY KEY,
    tag BLOB NOT NULL UNIQUE,
    name BLOB NOT NULL,
    added REAL NOT NULL,
    revision INTEGER NOT NULL,
    hidden INTEGER NOT NULL,
    consent BLOB,
    retain_until REAL,
    "check" BLOB
);
CREATE INDEX person_revision ON person (revision);
CREATE TABLE person_key (person INTEGER PRIMARY KEY, wrapped BLOB NOT NULL, "check" BLOB);
CREATE TABLE template (
    person INTEGER NOT NULL REFERENCES person (id) ON DELETE CASCADE,
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    face INTEGER NOT NULL,
    vector BLOB NOT NULL,
    source BLOB,
    quality REAL,
    added REAL NOT NULL,
    revision INTEGER NOT NULL,
    "check" BLOB,
    PRIMARY KEY (person, digest, face),
    UNIQUE (digest, face)
) WITHOUT ROWID;
CREATE TABLE thumbnail (
    person INTEGER NOT NULL,
    digest BLOB NOT NULL,
    face INTEGER NOT NULL,
    content BLOB NOT NULL,
    "check" BLOB,
    PRIMARY KEY (digest, face)
);
CREATE TABLE removed (
    change INTEGER NOT NULL,
    person INTEGER NOT NULL,
    digest BLOB NOT NULL,
    face INTEGER NOT NULL,
    vector BLOB NOT NULL,
    source BLOB,
    quality REAL,
    added REAL NOT NULL,
    revision INTEGER NOT NULL,
    thumbnail BLOB,
    "check" BLOB,
    PRIMARY KEY (change, digest, face)
);
CREATE TABLE link (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    digest BLOB NOT NULL,
    face INTEGER NOT NULL,
    other BLOB,
    other_face INTEGER,
    person INTEGER,
    added REAL NOT NULL,
    "check" BLOB
);
CREATE INDEX link_face ON link (digest, face);
CREATE TABLE change (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    action TEXT NOT NULL,
    people INTEGER NOT NULL,
    faces INTEGER NOT NULL,
    content BLOB NOT NULL,
    undone REAL,
    "check" BLOB
);
CREATE TABLE usage (person INTEGER PRIMARY KEY, day INTEGER NOT NULL, "check" BLOB);
"""
_OLD = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL, "check" BLOB);
CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    action TEXT NOT NULL,
    person INTEGER,
    people INTEGER NOT NULL,
    templates INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    "check" BLOB
);
"""
_NAMES = {1: {"meta", "person", "template", "audit"}}
_NAMES[2] = _NAMES[1]
_NAMES[3] = {"meta", "audit", *TABLES}


def is_full(error: BaseException) -> bool:
    """Whether there was no room on the disk."""
    name = getattr(error, "sqlite_errorname", "")
    return name in ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_SHMOPEN") or (
        isinstance(error, OSError) and error.errno in (28, 122)
    )


@contextmanager
def translating(path: Path, done: str = "nothing was changed") -> Iterator[None]:
    """Turn what SQLite raises into an error that says what to do, and what was ``done``."""
    try:
        yield
    except sqlite3.Error as error:
        text = str(error)
        if isinstance(error, sqlite3.ProgrammingError):
            raise GalleryError(f"{path} is closed") from error
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise GalleryBusyError(
                f"{path} is in use by another process; {done}: try again, or wait longer with "
                "timeout="
            ) from error
        if name.startswith("SQLITE_READONLY") or "readonly" in text:
            raise GalleryError(
                f"{path} cannot be written ({text}); {done}: it is read-only, or its folder is, "
                "where the journal must be written; open it with read_only=True"
            ) from error
        if name.startswith("SQLITE_NOTADB"):
            raise GalleryFormatError(f"{path} is not a gallery: {text}") from error
        if is_full(error):
            raise GalleryDiskError(f"{path}: the disk is full; {done}") from error
        if name.startswith("SQLITE_CANTOPEN"):
            raise GalleryError(f"{path} cannot be opened: {text}") from error
        if name.startswith("SQLITE_IOERR"):
            raise GalleryDiskError(f"{path}: the disk failed ({text}); {done}") from error
        raise GalleryDamagedError(f"{path} is corrupted: {text}; {done}") from error
    except OSError as error:
        if isinstance(error, MissingDataError):
            raise
        raise GalleryError(f"{path}: {error.strerror or error}; {done}") from error
    except (UnicodeDecodeError, OverflowError) as error:
        raise GalleryDamagedError(f"{path} is corrupted: invalid text in a row") from error


def run_script(connection: sqlite3.Connection, script: str) -> None:
    """Run statements within the open transaction."""
    for statement in script.split(";\n"):
        connection.execute(statement)


def make_tables(path: Path) -> None:
    """Write the empty tables of a gallery to a file of our own."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {GALLERY_FORMAT}")
        connection.execute("BEGIN")
        run_script(connection, _OLD + SCHEMA)
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


def open_connection(
    path: Path, *, read_only: bool, timeout: float
) -> tuple[sqlite3.Connection, int]:
    """Open a file that is a gallery of a format that we know; gives its format as well."""
    _check_place(path, timeout)
    check_links(path, writing=not read_only)
    if not read_only and not os.access(path, os.W_OK):
        raise GalleryError(f"{path} is read-only: open it with read_only=True")
    if not read_only:
        wipe_leftovers(path)
        settle_pictures(path)
        _drop_foreign_journal(path)
    with translating(path):
        try:
            return _open(path, read_only, timeout)
        except sqlite3.Error as error:
            if not is_full(error) or not release_reserve(path):
                raise
            return _open(path, read_only, timeout)


def _open(path: Path, read_only: bool, timeout: float) -> tuple[sqlite3.Connection, int]:
    place = path.absolute().as_uri()
    connection = _connect(f"{place}?mode={'ro' if read_only else 'rw'}", timeout)
    try:
        if read_only:
            connection = _settle_read_only(connection, place, path, timeout)
        version = _check_ours(connection, path)
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
    return connection, version


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
        wal = beside(path, "-wal")
        if not name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")) or (
            wal.exists() and wal.stat().st_size > 0
        ):
            raise
        connection.close()
        return _connect(f"{place}?mode=ro&immutable=1", timeout)


def _check_place(path: Path, timeout: float) -> None:
    # The file is not opened here: closing it again would drop the locks that SQLite holds on it
    # for other galleries of this process.
    if not path.exists():
        raise MissingDataError(f"no gallery at {path}")
    if not path.is_file():
        raise GalleryFormatError(f"{path} is not a gallery: it is not a file")
    deadline = time.monotonic() + timeout
    while path.exists() and path.stat().st_size == 0 and is_being_made(path):
        if time.monotonic() > deadline:
            raise GalleryBusyError(f"{path} is being made by another process: try again")
        time.sleep(0.02)
    if path.exists() and path.stat().st_size == 0:
        raise GalleryFormatError(
            f"{path} is not a gallery: it is empty, perhaps because its creation was interrupted; "
            "create it again"
        )


def _drop_foreign_journal(path: Path) -> None:
    """Wipe a journal that belongs to another gallery than the file beside it.

    It was left by a gallery of the same name that was removed or replaced. SQLite would take it
    for this gallery's own, and bring back what was deleted.
    """
    wal = beside(path, "-wal")
    if not wal.exists() or wal.stat().st_size == 0:
        return
    place = path.absolute().as_uri()
    with suppress(sqlite3.Error):
        alone = _uuid(f"{place}?mode=ro&immutable=1")
        joined = _uuid(f"{place}?mode=ro")
        if alone is not None and joined is not None and alone != joined:
            wipe_file(wal)
            wipe_file(beside(path, "-shm"))


def _uuid(place: str) -> str | None:
    connection = _connect(place, 1.0)
    try:
        rows = connection.execute("SELECT value FROM meta WHERE key = 'uuid'").fetchall()
    finally:
        connection.close()
    return str(rows[0][0]) if rows else None


def copy_to_memory(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A copy that may be changed, of a gallery that may not."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.backup(copy)
    copy.execute("PRAGMA foreign_keys = ON")
    connection.close()
    return copy


def _check_ours(connection: sqlite3.Connection, path: Path) -> int:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise GalleryFormatError(
            f"{path} is an SQLite file, and not a gallery of mien (its application is "
            f"{application:#x}, not {APPLICATION:#x})"
        )
    if version > GALLERY_FORMAT or version < 1:
        raise GalleryFormatError(
            f"{path} has the format {version}, and this mien reads up to {GALLERY_FORMAT}: "
            "upgrade mien to read it"
        )
    found = {
        name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
    }
    strange = connection.execute(
        "SELECT count(*) FROM sqlite_master WHERE type IN ('view', 'trigger')"
    ).fetchone()[0]
    if not found >= _NAMES[version] or strange:
        raise GalleryDamagedError(
            f"{path} is corrupted: its tables are {', '.join(sorted(found)) or 'none'}"
        )
    return int(version)


# ------------------------------------------------------------------------------------ reserve


def keep_reserve(path: Path) -> None:
    """Keep a little room on the disk, for deleting when the disk is full; never an error."""
    place = beside(path, "-reserve")
    with suppress(OSError):
        if place.exists() or place.is_symlink():
            return
        free = os.statvfs(path.parent) if hasattr(os, "statvfs") else None
        if free is not None and free.f_bavail * free.f_frsize < 4 * _RESERVE:
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(place, flags | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, bytes(_RESERVE))
        finally:
            os.close(descriptor)


def release_reserve(path: Path) -> bool:
    """Give the room up; whether there was any."""
    place = beside(path, "-reserve")
    try:
        if not stat.S_ISREG(place.lstat().st_mode):
            return False
        place.unlink()
    except OSError:
        return False
    return True
