"""A gallery in one SQLite file; sealed where a key is given."""

from __future__ import annotations

import hashlib
import sqlite3
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from mien.errors import GalleryError
from mien.gallery import _sqlite_purge, _sqlite_upgrade
from mien.gallery._handles import hold, release
from mien.gallery._person_keys import PersonKeys
from mien.gallery._protocol import Removed
from mien.gallery._row_codec import RowCodec, seal_identity
from mien.gallery._row_store import RowStore
from mien.gallery._sealing import Sealer, given_key, make_seal, open_seal
from mien.gallery._sqlite_file import (
    GALLERY_FORMAT,
    copy_to_memory,
    is_full,
    keep_reserve,
    make_tables,
    open_connection,
    release_reserve,
    translating,
)
from mien.gallery._summary import Summary

__all__ = ["SqliteStore", "new_settings"]

T = TypeVar("T")


def new_settings(
    where: str,
    features: str,
    dimension: int,
    model: bytes,
    key: bytes | str | None,
    seal_names: bool,
) -> tuple[RowCodec, dict[str, Any]]:
    """Settings of a new gallery, and what writes their checksums."""
    own = uuid.uuid4().hex
    sealer, seal = None, None
    if key is not None:
        sealer, seal = make_seal(key, seal_identity(features, own))
    named = seal_names and key is not None
    meta: dict[str, Any] = {
        "uuid": own,
        "features": features,
        "dimension": dimension,
        "seal_names": int(named),
        "revision": 0,
        "next_person": 1,
        "verifier": model,
        "verifier_mark": hashlib.sha256(model).hexdigest(),
        "summary": Summary().text(),
    }
    if seal is not None:
        meta["seal"] = seal
    return RowCodec(where, features, dimension, sealer, named, own), meta


class SqliteStore(RowStore):
    """One open gallery file.

    Parameters
    ----------
    path : Path
        Of a gallery.
    key : bytes, str or None
        Of a sealed one.
    read_only : bool
        Change nothing.
    timeout : float
        How long to wait for other processes, in seconds.
    """

    def __init__(
        self, path: Path, key: bytes | str | None, *, read_only: bool, timeout: float
    ) -> None:
        super().__init__()
        self.path = path
        self.where = str(path)
        self.read_only = read_only
        self.timeout = timeout
        self.closed = False
        self.connection, self.format = open_connection(path, read_only=read_only, timeout=timeout)
        self.handle = hold(path)
        try:
            self.unlock(key)
            if self.format < GALLERY_FORMAT:
                if read_only:
                    # An older gallery that must not be changed is brought up to date in memory.
                    self.connection = copy_to_memory(self.connection)
                _sqlite_upgrade.upgrade(self, key)
                self.unlock(key)
            self.check_settings()
            if not read_only:
                keep_reserve(path)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def make(
        path: Path,
        features: str,
        dimension: int,
        model: bytes,
        key: bytes | str | None,
        seal_names: bool,
    ) -> None:
        """Write an empty gallery to a file that is ours alone."""
        codec, meta = new_settings(str(path), features, dimension, model, key, seal_names)
        with translating(path, "the gallery was not made"):
            make_tables(path)
            connection = sqlite3.connect(path, isolation_level=None)
            try:
                connection.execute("BEGIN")
                connection.executemany(
                    "INSERT INTO meta VALUES (?, ?, ?)",
                    [(k, v, codec.check_row(b"meta", k, v)) for k, v in meta.items()],
                )
                connection.execute("COMMIT")
            finally:
                connection.close()

    def unlock(self, key: bytes | str | None) -> None:
        """Become able to read rows: the settings are checked once the key is known."""
        raw: dict[str, Any] = {}
        for name in ("uuid", "features", "dimension", "seal_names", "seal"):
            rows = self.query("SELECT value FROM meta WHERE key = ?", (name,))
            raw[name] = rows[0][0] if rows else None
        kinds = {"uuid": str, "features": str, "dimension": int, "seal_names": int}
        for name, kind in kinds.items():
            if type(raw[name]) is not kind:
                raise self.corrupted(f"it does not say its {name}")
        if not 1 <= raw["dimension"] <= 2**20 or len(raw["features"]) > 10_000:
            raise self.corrupted("its settings are impossible")
        own = raw["uuid"] if self.format > 1 else None
        sealer: Sealer | None = None
        keys: PersonKeys | None = None
        key = given_key(raw["seal"], key, self.where)
        if key is not None:
            identity = seal_identity(raw["features"], own)
            sealer = open_seal(key, str(raw["seal"]), identity, self.where)
            if self.format >= GALLERY_FORMAT:
                keys = PersonKeys(sealer, raw["uuid"].encode(), self.wrapped_keys, self.where)
        names = bool(raw["seal_names"])
        RowCodec.__init__(
            self, self.where, raw["features"], raw["dimension"], sealer, names, own, keys
        )

    def check_settings(self) -> None:
        """Refuse settings that were altered."""
        for name, value, check in self.query('SELECT key, value, "check" FROM meta'):
            self.require_row(check, b"meta", name, value)
        if self.sealer is not None and self.meta("seal") is None:
            raise self.corrupted("its seal settings are missing")
        self.load_rotation()

    def close(self) -> None:
        """Let the file go."""
        with self.lock:
            if not self.closed:
                self.closed = True
                self.connection.close()
                release(self.handle)

    # ------------------------------------------------------------------------ statements

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Confirmed when the block ends well."""
        with self.lock, translating(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All that is read in the block is of one moment."""
        with self.lock, translating(self.path):
            if self.connection.in_transaction:
                yield
                return
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                self.connection.execute("ROLLBACK")

    def run(self, function: Callable[..., T], *values: Any) -> T:
        """Make a change; if the disk is full, once more with the room that was kept back.

        The room is for deleting only: other changes fail.
        """
        try:
            return function(self, *values)
        except GalleryError as error:
            cause = error.__cause__
            removes = function.__name__.startswith(_REMOVING)
            full = cause is not None and is_full(cause)
            if not (removes and full and release_reserve(self.path)):
                raise
        return function(self, *values)

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a statement."""
        with self.lock, translating(self.path):
            return self.connection.execute(statement, values).fetchall()

    def execute(self, statement: str, values: Sequence[Any] = ()) -> None:
        """A change, within a transaction."""
        self.connection.execute(statement, values)

    def execute_many(self, statement: str, values: Iterable[Sequence[Any]]) -> int:
        """The same change with many values; gives how many rows were changed."""
        before = self.connection.total_changes
        self.connection.executemany(statement, values)
        return self.connection.total_changes - before

    def fetch_in_parts(
        self, statement: str, values: Sequence[Any], size: int
    ) -> Iterator[list[Any]]:
        """Rows of a statement, some at a time."""
        with translating(self.path):
            cursor = self.connection.execute(statement, values)
            while rows := cursor.fetchmany(size):
                yield rows

    def raw_meta(self, key: str) -> tuple[Any, Any] | None:
        """A setting and its checksum."""
        rows = self.query('SELECT value, "check" FROM meta WHERE key = ?', (key,))
        return rows[0] if rows else None

    def put_meta(self, key: str, value: Any, check: bytes | None) -> None:
        """Write a setting; None deletes it."""
        if value is None:
            self.connection.execute("DELETE FROM meta WHERE key = ?", (key,))
        else:
            self.connection.execute(
                "INSERT INTO meta VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
                'value = excluded.value, "check" = excluded."check"',
                (key, value, check),
            )

    # ------------------------------------------------------------------------ forgetting

    def purge(self, removed: Removed | None) -> None:
        """See that nothing removed is left in the file; None rewrites all of it."""
        if self.read_only:
            raise GalleryError(f"{self.path} was opened with read_only=True")
        _sqlite_purge.purge(self, removed)

    def find_faults(self) -> list[str]:
        """What is wrong, one sentence each."""
        from mien.gallery._sqlite_faults import find_faults

        return find_faults(self)


_REMOVING = ("delete", "rename", "merge", "remove", "clear", "undo")
