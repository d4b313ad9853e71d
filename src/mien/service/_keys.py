"""Keys of clients: 256 bits, shown once, kept as a digest, per gallery and role."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sqlite3
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from mien._core.validation import check_choice
from mien.errors import InputError

__all__ = ["ROLES", "Grant", "KeyRecord", "KeyStore", "open_state"]

#: From the least to the most; each may do what those before it may.
ROLES = ("read", "write", "admin")
EVERY_GALLERY = "*"
_PREFIX = "mien_"
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
    PRIMARY KEY (owner, token)
);
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
"""


def open_state(folder: Path) -> sqlite3.Connection:
    """The database of a server's own affairs; the folder is readable by its owner only."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / "service.sqlite"
    path.touch(mode=0o600, exist_ok=True)
    connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    connection.executescript(_TABLES)
    return connection


@dataclass(frozen=True)
class Grant:
    """What a request may do: a role on one gallery, or on all of them."""

    owner: str
    gallery: str
    role: str

    def allows(self, gallery: str | None, role: str) -> bool:
        """Whether the role is enough, on this gallery; None is for what concerns all of them."""
        enough = ROLES.index(self.role) >= ROLES.index(role)
        return enough and self.gallery in (EVERY_GALLERY, gallery)


@dataclass(frozen=True)
class KeyRecord:
    """A key as it is listed; the key itself is not kept."""

    id: str
    gallery: str
    role: str
    label: str
    created: float
    expires: float | None
    revoked: float | None


class KeyStore:
    """Keys in the state of a server."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def create(
        self,
        role: str,
        *,
        gallery: str = EVERY_GALLERY,
        label: str = "",
        days: float | None = None,
    ) -> tuple[str, KeyRecord]:
        """A new key, which is given here and never again, and its record.

        Parameters
        ----------
        role : {"read", "write", "admin"}
            What it may do.
        gallery : str
            The gallery that it is for; ``*`` is all of them.
        label : str
            For people to tell keys apart.
        days : float or None
            When it expires; None is never.
        """
        check_choice("role", role, ROLES)
        if days is not None and not days > 0:
            raise InputError(f"days must be greater than 0; got {days!r}")
        key = _PREFIX + secrets.token_urlsafe(32)
        now = time.time()
        record = KeyRecord(
            secrets.token_hex(6), gallery, role, label, now,
            None if days is None else now + 86_400 * days, None,
        )  # fmt: skip
        with self._lock:
            self._connection.execute(
                "INSERT INTO key VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    record.id, _digest(key), gallery, role, label, now, record.expires, None,
                ),
            )  # fmt: skip
        return key, record

    def list(self) -> list[KeyRecord]:
        """All keys, also those that have ended."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT id, gallery, role, label, created, expires, revoked FROM key "
                "ORDER BY created"
            ).fetchall()
        return [KeyRecord(*row) for row in rows]

    def revoke(self, identifier: str) -> None:
        """End a key at once."""
        with self._lock:
            changed = self._connection.execute(
                "UPDATE key SET revoked = ? WHERE id = ? AND revoked IS NULL",
                (time.time(), identifier),
            ).rowcount
        if not changed:
            raise InputError(f"no valid key has the id {identifier!r}")

    def any_valid(self) -> bool:
        """Whether a key exists that opens anything."""
        now = time.time()
        return any(
            key.revoked is None and (key.expires is None or key.expires > now)
            for key in self.list()
        )

    def check(self, key: str) -> Grant | None:
        """What a key may do, or None; the time that this takes does not depend on the key."""
        digest = _digest(key)
        now = time.time()
        with self._lock:
            rows = self._connection.execute(
                "SELECT digest, id, gallery, role, expires, revoked FROM key"
            ).fetchall()
        grant = None
        for known, identifier, gallery, role, expires, revoked in rows:
            same = hmac.compare_digest(known, digest)
            valid = revoked is None and (expires is None or expires > now)
            if same and valid:
                grant = Grant(identifier, gallery, role)
        return grant


def _digest(key: str) -> bytes:
    """A key has 256 random bits, so a plain digest cannot be searched backwards."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
