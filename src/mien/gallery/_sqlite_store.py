"""A gallery in one SQLite file: people, templates, the trail; sealed where a key is given."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mien.errors import GalleryError, GalleryKeyError, InputError
from mien.gallery import _sqlite_faces, _sqlite_purge, _sqlite_upgrade, _sqlite_writing
from mien.gallery._handles import hold, release
from mien.gallery._index_key import user_key
from mien.gallery._protocol import IndexWriter, NewTemplates, PeopleBatch, Removed, TemplateRows
from mien.gallery._records import AuditEntry, Person, StoredFace
from mien.gallery._row_codec import RowCodec, seal_identity
from mien.gallery._sealing import Sealer, make_seal, open_seal
from mien.gallery._sqlite_file import (
    connect,
    is_full,
    keep_reserve,
    make_tables,
    release_reserve,
    translating,
)
from mien.gallery._summary import Summary

__all__ = ["SqliteStore"]

_CHUNK = 20_000
_FEW = 500
_PERSON = b"person"
_TEMPLATE = b"template"
_AUDIT = b"audit"
_META = b"meta"
_FIRST = bytes(16)


class SqliteStore(RowCodec):
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
        self.path = path
        self.where = str(path)
        self.read_only = read_only
        self.timeout = timeout
        self.closed = False
        self.counted = (-1, 0)
        self.lock = threading.RLock()
        self.summary: Summary | None = None
        self.connection, self.format = connect(path, read_only=read_only, timeout=timeout)
        self.handle = hold(path)
        try:
            self._unlock(key)
            if self.format == 1 and not read_only:
                _sqlite_upgrade.upgrade(self, key)
                self._unlock(key)
            if self.format > 1:
                self._check_settings()
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
        own = uuid.uuid4().hex
        sealer, seal = None, None
        if key is not None:
            sealer, seal = make_seal(key, seal_identity(features, own))
        named = seal_names and key is not None
        codec = RowCodec(str(path), features, dimension, sealer, named, own)
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
        with translating(path, "the gallery was not made"):
            make_tables(path)
            connection = sqlite3.connect(path, isolation_level=None)
            try:
                connection.execute("BEGIN")
                connection.executemany(
                    "INSERT INTO meta VALUES (?, ?, ?)",
                    [(k, v, codec.check_row(_META, k, v)) for k, v in meta.items()],
                )
                connection.execute("COMMIT")
            finally:
                connection.close()

    def _unlock(self, key: bytes | str | None) -> None:
        """Become able to read rows: the settings are checked once the key is known."""
        raw = {
            name: self._raw_meta(name)
            for name in ("uuid", "features", "dimension", "seal_names", "seal")
        }
        kinds = {"uuid": str, "features": str, "dimension": int, "seal_names": int}
        for name, kind in kinds.items():
            if type(raw[name]) is not kind:
                raise self.corrupted(f"it does not say its {name}")
        if not 1 <= raw["dimension"] <= 2**20 or len(raw["features"]) > 10_000:
            raise self.corrupted("its settings are impossible")
        own = raw["uuid"] if self.format > 1 else None
        sealer: Sealer | None = None
        if raw["seal"] is None:
            if key is not None:
                raise GalleryKeyError(f"{self.path} is not sealed: open it without a key")
        elif key is None:
            raise GalleryKeyError(f"{self.path} is sealed: give its key")
        else:
            identity = seal_identity(raw["features"], own)
            sealer = open_seal(key, str(raw["seal"]), identity, self.where)
        super().__init__(
            self.where, raw["features"], raw["dimension"], sealer, bool(raw["seal_names"]), own
        )

    def _check_settings(self) -> None:
        for name, value, check in self.query('SELECT key, value, "check" FROM meta'):
            self.require_row(check, _META, name, value)
        if self.sealer is not None and self._raw_meta("seal") is None:
            raise self.corrupted("it is sealed and does not say how")

    @property
    def sealed(self) -> bool:
        """Whether templates are encrypted."""
        return self.sealer is not None

    def close(self) -> None:
        """Let the file go."""
        with self.lock:
            if not self.closed:
                self.closed = True
                self.connection.close()
                release(self.handle)

    # ------------------------------------------------------------------------ transactions

    @contextmanager
    def writing(self) -> Iterator[int]:
        """A transaction that is confirmed when the block ends well; gives its revision."""
        if self.read_only:
            raise GalleryError(f"{self.path} was opened with read_only=True")
        with self.lock, translating(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                revision = self.revision() + 1
                self.set_meta("revision", revision)
                self.summary = Summary.parse(self.meta("summary"), self)
                yield revision
                self.set_meta("summary", self.summary.text())
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise
            finally:
                self.summary = None

    def totals(self) -> Summary:
        """The summary of the open transaction."""
        if self.summary is None:
            raise RuntimeError("rows are changed within writing() only")
        return self.summary

    @contextmanager
    def removing(self) -> Iterator[None]:
        """Around a deletion: on a full disk the room that was kept back is given up for it.

        The block must hold a whole transaction; the caller runs it again if this raises
        :class:`_Retry`.
        """
        try:
            yield
        except GalleryError as error:
            cause = error.__cause__
            if cause is not None and is_full(cause) and release_reserve(self.path):
                raise _Retry from error
            raise

    def remove(self, function: Any, *values: Any) -> Any:
        """Run a deletion; if the disk is full, once more with the room that was kept back."""
        try:
            with self.removing():
                return function(self, *values)
        except _Retry:
            return function(self, *values)

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

    def column(self) -> str:
        """The column of checksums, where there is one."""
        return '"check"' if self.format > 1 else "NULL"

    # ------------------------------------------------------------------------ settings

    def _raw_meta(self, key: str) -> Any:
        rows = self.query("SELECT value FROM meta WHERE key = ?", (key,))
        return rows[0][0] if rows else None

    def meta(self, key: str) -> Any:
        rows = self.query(f"SELECT value, {self.column()} FROM meta WHERE key = ?", (key,))
        if not rows:
            return None
        value, check = rows[0]
        self.require_row(check, _META, key, value)
        return value

    def number(self, key: str) -> int:
        value = self.meta(key)
        if type(value) is not int:
            raise self.corrupted(f"it does not say its {key}")
        return value

    def set_meta(self, key: str, value: Any) -> None:
        if value is None:
            self.connection.execute("DELETE FROM meta WHERE key = ?", (key,))
        else:
            self.connection.execute(
                "INSERT INTO meta VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
                'value = excluded.value, "check" = excluded."check"',
                (key, value, self.check_row(_META, key, value)),
            )

    def revision(self) -> int:
        """A number that grows with every change."""
        return self.number("revision")

    def model(self) -> bytes:
        """The file of the model that compares the faces."""
        content = self.meta("verifier")
        if type(content) is not bytes:
            raise self.corrupted("its model is missing")
        return content

    def model_mark(self) -> str:
        """A digest of the model's file."""
        mark = self.meta("verifier_mark")
        return mark if type(mark) is str else hashlib.sha256(self.model()).hexdigest()

    def set_model(self, content: bytes) -> None:
        """Replace the model, and keep the one before; an index of the old one is forgotten."""
        with self.writing() as revision:
            self.set_meta("verifier_before", self.model())
            self.set_meta("verifier", content)
            self.set_meta("verifier_mark", hashlib.sha256(content).hexdigest())
            self.set_meta("index", None)
            self.record("set-model", revision, None, 0, 0)

    def model_before(self) -> bytes | None:
        """The model that was replaced last."""
        content = self.meta("verifier_before")
        return content if type(content) is bytes else None

    def fingerprint(self) -> str:
        """A text that changes whenever a template is added, moved or deleted."""
        if self.format == 1:
            return str(self.revision())
        held = Summary.parse(self.meta("summary"), self)
        return f"{held.counts['template']} {held.sums['template']:x}"

    def calibration(self) -> str | None:
        """The calibration by the gallery's own people that was stored last."""
        text = self.meta("calibration")
        return text if type(text) is str else None

    def set_calibration(self, text: str) -> None:
        """Store a calibration; it holds a few numbers and nothing of a person."""
        with self.writing():
            self.set_meta("calibration", text)

    @property
    def codec(self) -> RowCodec:
        """How what is stored is read."""
        return self

    def seal_text(self) -> str | None:
        """How the gallery is sealed, for an export that the same key opens."""
        text = self.meta("seal")
        return None if text is None else str(text)

    def needs_purge(self) -> bool:
        """Whether somebody removed something and did not come to purging."""
        return self.meta("purge") is not None

    def index_key(self) -> bytes | None:
        """With which the index beside the file is signed."""
        return user_key() if self.sealer is None else self.sealer.index_key

    def index_state(self) -> str | None:
        """What was noted about the index beside the file."""
        state = self.meta("index")
        return state if type(state) is str else None

    def save_index(self, write: IndexWriter) -> None:
        """Note a new index within the transaction in which it is written."""
        with self.writing() as revision:
            self.set_meta("index", write(revision))

    # ------------------------------------------------------------------------ rows

    def replace_person(self, row: tuple[Any, ...]) -> None:
        """Write a person's row (id, tag, name, added, revision) anew; within a transaction."""
        check = self.check_row(_PERSON, *row)
        self._take_out(_PERSON, "id = ?", (row[0],))
        self.connection.execute(
            'UPDATE person SET tag = ?, name = ?, added = ?, revision = ?, "check" = ? '
            "WHERE id = ?",
            (*row[1:], check, row[0]),
        )
        self.totals().add("person", self.term(check))

    def touch_people(self, numbers: Iterable[int], revision: int) -> None:
        """Note that people changed in this revision; within a transaction."""
        for number in sorted(set(numbers)):
            rows = self.person_rows("id = ?", (number,))
            if rows and rows[0][4] != revision:
                self.replace_person((*rows[0][:4], revision))

    def drop_people(self, where: str, values: Sequence[Any]) -> None:
        """Delete rows of people; within a transaction."""
        self._take_out(_PERSON, where, values)
        self.connection.execute(f"DELETE FROM person WHERE {where}", values)

    def template_entry(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """A row of seven values with its checksum."""
        return (*row, self.check_row(_TEMPLATE, *row))

    def drop_templates(self, where: str, values: Sequence[Any]) -> None:
        """Delete templates; within a transaction."""
        self._take_out(_TEMPLATE, where, values)
        self.connection.execute(f"DELETE FROM template WHERE {where}", values)

    def replace_template(self, row: tuple[Any, ...]) -> None:
        """Write one template's row of seven values anew; within a transaction."""
        self.drop_templates("digest = ? AND face = ?", (row[1], row[2]))
        entry = self.template_entry(row)
        self.connection.execute("INSERT INTO template VALUES (?, ?, ?, ?, ?, ?, ?, ?)", entry)
        self.totals().add("template", self.term(entry[-1]))

    def _take_out(self, table: bytes, where: str, values: Sequence[Any]) -> None:
        name = table.decode()
        for (check,) in self.query(f'SELECT "check" FROM {name} WHERE {where}', values):
            if type(check) is not bytes:
                raise self.corrupted(f"a row of {name} has no checksum")
            self.totals().remove(name, self.term(check))

    def person_rows(self, where: str = "1", values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows (id, tag, name, added, revision) of people, each as it was written."""
        found = self.query(
            f"SELECT id, tag, name, added, revision, {self.column()} FROM person WHERE {where}",
            values,
        )
        for *row, check in found:
            self.require_row(check, _PERSON, *row)
        return [tuple(row[:5]) for row in found]

    def template_rows(self, where: str = "1", values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows (person, digest, face, vector, source, quality, added), each as it was written."""
        found = self.query(
            f"{self._templates()} WHERE {where} ORDER BY person, digest, face", values
        )
        return [self._checked_template(row) for row in found]

    def _templates(self) -> str:
        return (
            "SELECT person, digest, face, vector, source, quality, added, "
            f"{self.column()} FROM template"
        )

    def _checked_template(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        self.require_row(row[7], _TEMPLATE, *row[:7])
        return row[:7]

    def record(
        self, action: str, revision: int, person: int | None, people: int, templates: int
    ) -> None:
        """Add to the trail; each entry's checksum covers the one before it."""
        (last,) = self.connection.execute("SELECT max(id) FROM audit").fetchone()
        row = ((last or 0) + 1, time.time(), action, person, people, templates, revision)
        check = self.check_row(_AUDIT, self.totals().trail, *row)
        self.connection.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row, check))
        self.totals().follow(check)

    def trail(self) -> list[AuditEntry]:
        """What was done, from the first."""
        with self.reading():
            rows = self.query(
                "SELECT id, time, action, person, people, templates, revision, "
                f"{self.column()} FROM audit ORDER BY id"
            )
            if self.format > 1:
                before = _FIRST
                for *row, check in rows:
                    self.require_row(check, _AUDIT, before, *row)
                    before = check
                if before != Summary.parse(self.meta("summary"), self).trail:
                    raise self.corrupted("entries of its audit trail are missing")
        return [AuditEntry(*row[1:6]) for row in rows]

    def note(self, action: str, people: int, templates: int) -> None:
        """Add to the trail."""
        with self.writing() as revision:
            self.record(action, revision, None, people, templates)

    # ------------------------------------------------------------------------ people

    def count_people(self) -> int:
        """All people."""
        return int(self.query("SELECT count(*) FROM person")[0][0])

    def count_enrolled(self) -> int:
        """People with at least one template; counted anew only after a change."""
        revision = self.revision()
        if self.counted[0] != revision:
            (n,) = self.query("SELECT count(DISTINCT person) FROM template")[0]
            self.counted = revision, int(n)
        return self.counted[1]

    def find_person(self, name: str) -> int | None:
        """The number of whoever has this name."""
        rows = self.query("SELECT id FROM person WHERE tag = ?", (self.tag(name),))
        return int(rows[0][0]) if rows else None

    def require_person(self, name: str) -> int:
        found = self.find_person(name)
        if found is None:
            raise InputError(f"nobody in {self.path} is called {name!r}")
        return found

    def people(self) -> list[Person]:
        """Everybody."""
        with self.reading():
            counts = dict(self.query("SELECT person, count(*) FROM template GROUP BY person"))
            rows = self.person_rows()
        return [
            Person(self.show_name(name, number), number, counts.get(number, 0), added)
            for number, _, name, added, _ in rows
        ]

    def all_names(self) -> dict[int, str]:
        """Names of everybody by number."""
        return {number: self.show_name(name, number) for number, _, name, *_ in self.person_rows()}

    def get_people(self, ids: Iterable[int]) -> list[Person]:
        """Those of these numbers who are there."""
        found: list[Person] = []
        wanted = list(ids)
        with self.reading():
            for start in range(0, len(wanted), _FEW):
                some = wanted[start : start + _FEW]
                marks = ",".join("?" * len(some))
                counts = dict(
                    self.query(
                        "SELECT person, count(*) FROM template "
                        f"WHERE person IN ({marks}) GROUP BY person",
                        some,
                    )
                )
                found += [
                    Person(self.show_name(name, number), number, counts.get(number, 0), added)
                    for number, _, name, added, _ in self.person_rows(f"id IN ({marks})", some)
                ]
        return found

    def add_people(self, names: Sequence[str], revision: int) -> dict[str, int]:
        """Numbers of the people, new ones for those who were not there; within a transaction."""
        found: dict[str, int] = {}
        now = time.time()
        first = self.number("next_person")
        new: list[str] = []
        for name in dict.fromkeys(names):
            known = self.find_person(name)
            if known is None:
                new.append(name)
            else:
                found[name] = known

        def entries() -> Iterator[tuple[Any, ...]]:
            for number, name in enumerate(new, first):
                row = (number, self.tag(name), self.hide_name(name, number), now, revision)
                check = self.check_row(_PERSON, *row)
                self.totals().add("person", self.term(check))
                yield (*row, check)

        if new:
            self.connection.executemany("INSERT INTO person VALUES (?, ?, ?, ?, ?, ?)", entries())
            self.set_meta("next_person", first + len(new))
        return found | {name: number for number, name in enumerate(new, first)}

    def names_of(self, ids: Iterable[int]) -> dict[int, str]:
        """Names by number, of those who are there."""
        names: dict[int, str] = {}
        wanted = list(ids)
        for start in range(0, len(wanted), _FEW):
            some = wanted[start : start + _FEW]
            marks = ",".join("?" * len(some))
            for number, _, name, *_ in self.person_rows(f"id IN ({marks})", some):
                names[number] = self.show_name(name, number)
        return names

    def gone_since(self, revision: int) -> list[int]:
        """Numbers of people who were deleted or merged since a revision."""
        rows = self.query(
            "SELECT person FROM audit WHERE revision > ? AND person IS NOT NULL "
            "AND action IN ('delete', 'merge', 'move-face')",
            (revision,),
        )
        here = self.names_of({row[0] for row in rows})
        return sorted({int(row[0]) for row in rows} - set(here))

    def people_batches(self, *, after: int | None = None) -> Iterator[PeopleBatch]:
        """Sums of everybody, or of those changed after a revision, by rising number."""
        statement = f"{self._templates()} ORDER BY person"
        values: tuple[int, ...] = ()
        if after is not None:
            statement = (
                "SELECT t.person, t.digest, t.face, t.vector, t.source, t.quality, t.added, "
                f"{'t.' if self.format > 1 else ''}{self.column()} FROM person p JOIN template t "
                "ON t.person = p.id WHERE p.revision > ? ORDER BY t.person"
            )
            values = (after,)
        total = Summary()
        with translating(self.path):
            cursor = self.connection.execute(statement, values)
            yield from self._sum_rows(cursor, total if self.sealed and after is None else None)
        if self.sealed and after is None and self.format > 1:
            Summary.parse(self.meta("summary"), self).require("template", total, self)

    def some_people(self, ids: Iterable[int]) -> PeopleBatch:
        """Sums of the named people, by rising number."""
        parts: list[PeopleBatch] = []
        wanted = sorted(set(map(int, ids)))
        for start in range(0, len(wanted), _FEW):
            some = wanted[start : start + _FEW]
            marks = ",".join("?" * len(some))
            with self.lock, translating(self.path):
                cursor = self.connection.execute(
                    f"{self._templates()} WHERE person IN ({marks}) ORDER BY person", some
                )
                parts.extend(self._sum_rows(cursor, None))
        if not parts:
            return PeopleBatch(
                np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, self.dimension), "f4")
            )
        return PeopleBatch(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def sample(self, n_people: int, n_pictures: int) -> tuple[np.ndarray, np.ndarray]:
        """Templates (n, d) of the first people, and their numbers (n,)."""
        with self.reading():
            people = self.query(
                "SELECT DISTINCT person FROM template ORDER BY person LIMIT ?", (n_people,)
            )
            statement = f"{self._templates()} WHERE person = ? ORDER BY digest, face LIMIT ?"
            rows = [
                self._checked_template(row)
                for (number,) in people
                for row in self.query(statement, (number, n_pictures))
            ]
        if not rows:
            return np.zeros((0, self.dimension), np.float32), np.zeros(0, np.int64)
        return self.show_vectors(rows), np.asarray([row[0] for row in rows], dtype=np.int64)

    def _sum_rows(self, cursor: sqlite3.Cursor, total: Summary | None) -> Iterator[PeopleBatch]:
        kept: list[Any] = []
        while True:
            rows = cursor.fetchmany(_CHUNK)
            for row in rows:
                self._checked_template(row)
                if total is not None:
                    total.add("template", self.term(row[7]))
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

    # ------------------------------------------------------------------------ changes

    def insert(self, new: NewTemplates) -> int:
        """Add faces, all or none; gives how many were not there already."""
        return _sqlite_writing.insert_templates(self, new)

    def contains(self, digest: bytes) -> bool:
        """Whether a face of this picture is there."""
        return bool(self.query("SELECT 1 FROM template WHERE digest = ? LIMIT 1", (digest,)))

    def rename_person(self, old: str, new: str) -> None:
        """Give a person another name."""
        self.remove(_sqlite_writing.rename_person, old, new)

    def merge_people(self, person: str, into: str) -> int:
        """Move all templates of one person to another, and forget the first."""
        moved: int = self.remove(_sqlite_writing.merge_people, person, into)
        return moved

    def delete_person(self, name: str) -> Removed:
        """Delete a person with all templates."""
        removed: Removed = self.remove(_sqlite_writing.delete_person, name)
        return removed

    def delete_picture(self, digest: bytes) -> Removed:
        """Delete all faces of a picture, and whoever has no other."""
        removed: Removed = self.remove(_sqlite_writing.delete_picture, digest)
        return removed

    def add_person(self, name: str) -> bool:
        """Somebody without faces; False where the name is taken."""
        return _sqlite_faces.add_person(self, name)

    def list_faces(
        self, person: str | None, after: str | None, limit: int | None
    ) -> list[StoredFace]:
        """Faces in a fixed order, for reading in pages."""
        return _sqlite_faces.list_faces(self, person, after, limit)

    def get_face(self, identifier: str) -> StoredFace | None:
        """The face with this id."""
        return _sqlite_faces.get_face(self, identifier)

    def find_face(self, digest: bytes, face: int) -> StoredFace | None:
        """A face of a picture."""
        return _sqlite_faces.find_face(self, digest, face)

    def read_vector(self, identifier: str) -> np.ndarray:
        """The template (1, d) of a face."""
        return _sqlite_faces.read_vector(self, identifier)

    def move_face(self, identifier: str, person: str) -> Removed:
        """Give a face to another person."""
        return _sqlite_faces.move_face(self, identifier, person)

    def delete_face(self, identifier: str) -> Removed:
        """Delete one face."""
        removed: Removed = self.remove(_sqlite_faces.delete_face, identifier)
        return removed

    def all_rows(self) -> TemplateRows:
        """Everything, for an export."""
        with self.reading():
            people = [(number, name) for number, _, name, *_ in self.person_rows()]
            templates: list[Any] = self.template_rows()
        return TemplateRows(sorted(people), templates)

    def purge(self, removed: Removed | None) -> None:
        """See that nothing removed is left in the file; None rewrites all of it."""
        if self.read_only:
            raise GalleryError(f"{self.path} was opened with read_only=True")
        _sqlite_purge.purge(self, removed)

    def find_faults(self) -> list[str]:
        """What is wrong, one sentence each."""
        from mien.gallery._sqlite_faults import find_faults

        return find_faults(self)


class _Retry(Exception):
    """There is room now."""
