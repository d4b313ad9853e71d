"""Rows of a gallery: people, templates, the trail of what was done; sealed where a key is given."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mien.errors import GalleryDamagedError, GalleryError, GalleryKeyError, InputError
from mien.gallery._handles import hold, release
from mien.gallery._row_codec import RowCodec, seal_identity
from mien.gallery._schema import connect, make_file, translating
from mien.gallery._sealing import Sealer, make_seal, open_seal

__all__ = ["PeopleBatch", "Store"]

_CHUNK = 20_000
_FEW = 500


class PeopleBatch(NamedTuple):
    """People (g,) by number, how many templates each has, and the sums (g, d) of those."""

    ids: np.ndarray
    counts: np.ndarray
    sums: np.ndarray


class Store(RowCodec):
    """One open gallery file."""

    def __init__(
        self, path: Path, key: bytes | str | None, *, read_only: bool, timeout: float
    ) -> None:
        self.where = str(path)
        self.path = path
        self.read_only = read_only
        self.timeout = timeout
        self.closed = False
        self.counted = (-1, 0)
        self.lock = threading.RLock()
        self.connection = connect(path, read_only=read_only, timeout=timeout)
        self.handle = hold(path)
        try:
            self.uuid = self.text("uuid")
            self.features = self.text("features")
            self.dimension = self.number("dimension")
            self.seal_names = bool(self.number("seal_names"))
            self.sealer = self._unlock(key)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def make(
        path: Path,
        features: str,
        dimension: int,
        verifier: bytes,
        key: bytes | str | None,
        seal_names: bool,
    ) -> None:
        meta: dict[str, bytes | str | int] = {
            "features": features,
            "dimension": dimension,
            "verifier": verifier,
            "seal_names": int(seal_names and key is not None),
        }
        if key is not None:
            meta["seal"] = make_seal(key, seal_identity(features))[1]
        make_file(path, meta)

    def _unlock(self, key: bytes | str | None) -> Sealer | None:
        seal = self.meta("seal")
        if seal is None:
            if key is not None:
                raise GalleryKeyError(f"{self.path} is not sealed: open it without a key")
            return None
        if key is None:
            raise GalleryKeyError(f"{self.path} is sealed: give its key")
        return open_seal(key, str(seal), seal_identity(self.features), str(self.path))

    def close(self) -> None:
        with self.lock:
            if not self.closed:
                self.closed = True
                self.connection.close()
                release(self.handle)

    # Reading and writing.

    @contextmanager
    def writing(self) -> Iterator[int]:
        """A transaction that is confirmed when the block ends well; gives its revision."""
        if self.read_only:
            raise GalleryError(f"{self.path} was opened with read_only=True")
        with self.lock, translating(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                revision = self.number("revision") + 1
                self.set_meta("revision", revision)
                yield revision
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

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with self.lock, translating(self.path):
            return self.connection.execute(statement, values).fetchall()

    def meta(self, key: str) -> Any:
        rows = self.query("SELECT value FROM meta WHERE key = ?", (key,))
        return rows[0][0] if rows else None

    def text(self, key: str) -> str:
        value = self.meta(key)
        if not isinstance(value, str):
            raise GalleryDamagedError(f"{self.path} is damaged: it does not say its {key}")
        return value

    def number(self, key: str) -> int:
        value = self.meta(key)
        if not isinstance(value, int):
            raise GalleryDamagedError(f"{self.path} is damaged: it does not say its {key}")
        return value

    def set_meta(self, key: str, value: Any) -> None:
        if value is None:
            self.connection.execute("DELETE FROM meta WHERE key = ?", (key,))
        else:
            self.connection.execute(
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded"
                ".value",
                (key, value),
            )

    def record(
        self, action: str, revision: int, person: int | None, people: int, templates: int
    ) -> None:
        self.connection.execute(
            "INSERT INTO audit (time, action, person, people, templates, revision) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (time.time(), action, person, people, templates, revision),
        )

    # People.

    def count_enrolled(self) -> int:
        """People with at least one template; counted anew only after a change."""
        revision = self.number("revision")
        if self.counted[0] != revision:
            (n,) = self.query("SELECT count(DISTINCT person) FROM template")[0]
            self.counted = revision, int(n)
        return self.counted[1]

    def find_person(self, name: str) -> int | None:
        rows = self.query("SELECT id FROM person WHERE tag = ?", (self.tag(name),))
        return int(rows[0][0]) if rows else None

    def require_person(self, name: str) -> int:
        found = self.find_person(name)
        if found is None:
            raise InputError(f"nobody in {self.path} is called {name!r}")
        return found

    def add_people(self, names: Sequence[str], revision: int) -> dict[str, int]:
        """Numbers of the people, new ones for those who were not there."""
        found: dict[str, int] = {}
        new: list[str] = []
        for name in dict.fromkeys(names):
            number = self.find_person(name)
            if number is None:
                new.append(name)
            else:
                found[name] = number
        first = self.number("next_person")
        now = time.time()
        self.connection.executemany(
            "INSERT INTO person VALUES (?, ?, ?, ?, ?)",
            (
                (first + i, self.tag(name), self.hide_name(name, first + i), now, revision)
                for i, name in enumerate(new)
            ),
        )
        self.set_meta("next_person", first + len(new))
        return found | {name: first + i for i, name in enumerate(new)}

    def names_of(self, ids: Iterable[int]) -> dict[int, str]:
        names: dict[int, str] = {}
        wanted = list(ids)
        for start in range(0, len(wanted), _FEW):
            some = wanted[start : start + _FEW]
            marks = ",".join("?" * len(some))
            for number, name in self.query(
                f"SELECT id, name FROM person WHERE id IN ({marks})", some
            ):
                names[number] = self.show_name(name, number)
        return names

    def people_batches(self, *, after: int | None = None) -> Iterator[PeopleBatch]:
        """Sums of everybody, or of those changed after a revision, by rising number."""
        statement = "SELECT person, digest, face, vector FROM template ORDER BY person"
        values: tuple[int, ...] = ()
        if after is not None:
            statement = (
                "SELECT t.person, t.digest, t.face, t.vector FROM person p JOIN template t "
                "ON t.person = p.id WHERE p.revision > ? ORDER BY t.person"
            )
            values = (after,)
        with translating(self.path):
            cursor = self.connection.execute(statement, values)
            yield from self._sum_rows(cursor)

    def some_people(self, ids: Iterable[int]) -> PeopleBatch:
        """Sums of the named people, by rising number."""
        parts: list[PeopleBatch] = []
        wanted = sorted(set(map(int, ids)))
        for start in range(0, len(wanted), _FEW):
            some = wanted[start : start + _FEW]
            marks = ",".join("?" * len(some))
            with self.lock, translating(self.path):
                cursor = self.connection.execute(
                    "SELECT person, digest, face, vector FROM template "
                    f"WHERE person IN ({marks}) ORDER BY person",
                    some,
                )
                parts.extend(self._sum_rows(cursor))
        if not parts:
            return PeopleBatch(
                np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, self.dimension), "f4")
            )
        return PeopleBatch(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _sum_rows(self, cursor: sqlite3.Cursor) -> Iterator[PeopleBatch]:
        kept: list[Any] = []
        while True:
            rows = cursor.fetchmany(_CHUNK)
            held = kept + rows
            if not held:
                return
            # The last person of a chunk may go on in the next one.
            cut = len(held)
            if rows:
                while cut > 0 and held[cut - 1][0] == held[-1][0]:
                    cut -= 1
            whole, kept = held[:cut], held[cut:]
            if whole:
                vectors = self.show_vectors(whole)
                owner = np.asarray([row[0] for row in whole], dtype=np.int64)
                starts = np.flatnonzero(np.diff(owner, prepend=owner[0] - 1))
                sums = np.add.reduceat(vectors, starts, axis=0)
                yield PeopleBatch(owner[starts], np.diff(starts, append=len(owner)), sums)
            if not rows:
                return
