"""The rows of a gallery, whatever database keeps them: settings, checked rows, the audit trail."""

from __future__ import annotations

import hashlib
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mien.errors import GalleryError, InputError
from mien.gallery import (
    _row_changes,
    _row_faces,
    _row_links,
    _row_people,
    _row_rekey,
    _row_rotate,
    _row_writing,
)
from mien.gallery._index_key import user_key
from mien.gallery._protocol import (
    CandidateIndex,
    IndexWriter,
    NewTemplates,
    PeopleBatch,
    Removed,
    TemplateRows,
)
from mien.gallery._records import AuditEntry, Change, Constraint, FaceKey, Person, StoredFace
from mien.gallery._rotation import SECRET, Rotation
from mien.gallery._row_changes import Journal
from mien.gallery._row_codec import RowCodec
from mien.gallery._row_tables import TABLES
from mien.gallery._summary import Summary

if TYPE_CHECKING:
    from mien.verification import Scorer

__all__ = ["FEW", "RowStore"]

T = TypeVar("T")
_CHUNK = 20_000
#: Values of one ``IN (…)``.
FEW = 500
_AUDIT = b"audit"
_FIRST = bytes(16)


class RowStore(RowCodec):
    """People, templates and the rest as checked rows; a database beneath runs the statements.

    Statements are written once, in the SQL that SQLite and PostgreSQL share, with ``?`` for
    values. Every changed row goes through :meth:`insert_rows`, :meth:`drop_rows` or
    :meth:`replace_person`, which keep the summary true and, where a change can be undone, note
    what was there before.
    """

    path: Path
    read_only: bool
    lock: threading.RLock

    def __init__(self) -> None:  # rows are readable once RowCodec.__init__ was called
        self.counted = (-1, 0)
        self._sealed_rotation: bytes | None = None
        self.summary: Summary | None = None
        self.journal: Journal | None = None
        self.lock = threading.RLock()

    # ------------------------------------------------------------------------ the database

    @abstractmethod
    def query(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a statement."""

    @abstractmethod
    def execute(self, statement: str, values: Sequence[Any] = ()) -> None:
        """A change, within a transaction."""

    @abstractmethod
    def execute_many(self, statement: str, values: Iterable[Sequence[Any]]) -> int:
        """The same change with many values; gives how many rows were changed."""

    @abstractmethod
    def fetch_in_parts(
        self, statement: str, values: Sequence[Any], size: int
    ) -> Iterator[list[Any]]:
        """Rows of a statement, some at a time."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """Confirmed when the block ends well; nobody else changes this gallery meanwhile."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """All that is read in the block is of one moment."""

    @abstractmethod
    def raw_meta(self, key: str) -> tuple[Any, Any] | None:
        """A setting and its checksum."""

    @abstractmethod
    def put_meta(self, key: str, value: Any, check: bytes | None) -> None:
        """Write a setting; None deletes it."""

    def run(self, function: Callable[..., T], *values: Any) -> T:
        """Make a change, ``function(self, *values)``, which is one transaction.

        A store whose transactions may fail through nobody's fault makes it again.
        """
        return function(self, *values)

    # ------------------------------------------------------------------------ transactions

    @contextmanager
    def writing(self, undo: str | None = None) -> Iterator[int]:
        """A transaction that is confirmed when the block ends well; gives its revision.

        With ``undo`` it can be undone, and is called so in the history.
        """
        if self.read_only:
            raise GalleryError(f"{self.where} was opened with read_only=True")
        with self.lock:
            try:
                with self.transaction():
                    revision = self.revision() + 1
                    self.set_meta("revision", revision)
                    self.load_rotation()
                    self.summary = Summary.parse(self.meta("summary"), self)
                    self.journal = None if undo is None else Journal(undo)
                    yield revision
                    journal, self.journal = self.journal, None
                    if journal is not None:
                        _row_changes.keep(self, journal, revision)
                    self.set_meta("summary", self.summary.text())
            except BaseException:
                if self.keys is not None:
                    self.keys.clear()
                raise
            finally:
                self.summary = self.journal = None

    def totals(self) -> Summary:
        """The summary of the open transaction."""
        if self.summary is None:
            raise RuntimeError("rows are changed within writing() only")
        return self.summary

    # ------------------------------------------------------------------------ settings

    def meta(self, key: str) -> Any:
        found = self.raw_meta(key)
        if found is None:
            return None
        value, check = found
        self.require_row(check, b"meta", key, value)
        return value

    def number(self, key: str) -> int:
        value = self.meta(key)
        if type(value) is not int:
            raise self.corrupted(f"it does not say its {key}")
        return value

    def setting_names(self) -> list[str]:
        """Names of all settings."""
        return [name for (name,) in self.query("SELECT key FROM meta")]

    def set_meta(self, key: str, value: Any) -> None:
        check = None if value is None else self.check_row(b"meta", key, value)
        self.put_meta(key, value, check)

    @property
    def sealed(self) -> bool:
        """Whether templates are encrypted."""
        return self.sealer is not None

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
        self.run(_row_people.set_model, content)

    def model_before(self) -> bytes | None:
        """The model that was replaced last."""
        content = self.meta("verifier_before")
        return content if type(content) is bytes else None

    def fingerprint(self) -> str:
        """A text that changes whenever a template is added, moved or deleted."""
        held = Summary.parse(self.meta("summary"), self)
        return f"{held.counts['template']} {held.sums['template']:x}"

    def calibration(self) -> str | None:
        """The calibration by the gallery's own people that was stored last."""
        text = self.meta("calibration")
        return text if type(text) is str else None

    def set_calibration(self, text: str) -> None:
        """Store a calibration; it holds a few numbers and nothing of a person."""
        self.run(_row_people.set_setting, "calibration", text)

    def policy(self) -> str | None:
        """What the gallery keeps and demands, as it was set."""
        text = self.meta("policy")
        return text if type(text) is str else None

    def set_policy(self, text: str, *, thumbnails: bool) -> Removed:
        """Set it; without thumbnails those that are kept are erased."""
        return self.run(_row_people.set_policy, text, thumbnails)

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
        if self.index_state() is not None:
            # Killed between the two, nothing is noted about the file, and it goes at the next open.
            with self.writing():
                self.set_meta("index", None)
        with self.writing() as revision:
            self.set_meta("index", write(revision))

    def forget_index(self, people: Iterable[int] | None) -> None:
        """Some people, or all, are not as an index has them; within a transaction."""
        self.set_meta("index", None)

    def shared_index(self, scorer: Scorer, mark: str) -> CandidateIndex | None:
        """A file has its index beside it."""
        return None

    # ------------------------------------------------------------------------ rows

    def rows(
        self, table: str, where: str = "1 = 1", values: Sequence[Any] = (), order: str = ""
    ) -> list[tuple[Any, ...]]:
        """Rows of a table as they were written; a row that was altered is an error."""
        columns = TABLES[table].columns
        found = self.query(
            f'SELECT {", ".join(columns)}, "check" FROM {table} WHERE {where}'
            + (f" ORDER BY {order}" if order else ""),
            values,
        )
        name = table.encode()
        for row in found:
            self.require_row(row[-1], name, *row[:-1])
        return [tuple(row[:-1]) for row in found]

    def insert_rows(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows that are not there; within a transaction."""
        name, totals = table.encode(), self.totals()
        marks = ", ".join("?" * (len(TABLES[table].columns) + 1))

        def entries() -> Iterator[tuple[Any, ...]]:
            for row in rows:
                check = self.check_row(name, *row)
                totals.add(table, self.term(check))
                yield (*row, check)

        self.execute_many(f"INSERT INTO {table} VALUES ({marks})", entries())

    def drop_rows(self, table: str, where: str, values: Sequence[Any]) -> None:
        """Delete rows; within a transaction."""
        for (check,) in self.query(f'SELECT "check" FROM {table} WHERE {where}', values):
            if type(check) is not bytes:
                raise self.corrupted(f"a row of {table} has no checksum")
            self.totals().remove(table, self.term(check))
        self.execute(f"DELETE FROM {table} WHERE {where}", values)

    def replace_row(self, table: str, row: Sequence[Any]) -> None:
        """Write a row anew, which may be there; within a transaction."""
        columns, key = TABLES[table]
        where = " AND ".join(f"{name} = ?" for name in key)
        self.drop_rows(table, where, [row[columns.index(name)] for name in key])
        self.insert_rows(table, [row])

    def replace_person(self, row: Sequence[Any], *, quietly: bool = False) -> None:
        """Write a person's row anew; within a transaction. Quietly: there is nothing to undo."""
        check = self.check_row(b"person", *row)
        before = self.rows("person", "id = ?", (row[0],))
        if self.journal is not None and not quietly:
            self.journal.note_person(row[0], before[0] if before else None)
        for (old,) in self.query('SELECT "check" FROM person WHERE id = ?', (row[0],)):
            self.totals().remove("person", self.term(old))
        assignments = ", ".join(f"{name} = ?" for name in TABLES["person"].columns[1:])
        self.execute(
            f'UPDATE person SET {assignments}, "check" = ? WHERE id = ?',
            (*row[1:], check, row[0]),
        )
        self.totals().add("person", self.term(check))

    def touch_people(self, numbers: Iterable[int], revision: int) -> None:
        """Note that people changed in this revision; within a transaction."""
        for some in in_parts(sorted(set(numbers))):
            marks = ",".join("?" * len(some))
            for row in self.rows("person", f"id IN ({marks})", some, "id"):
                if row[4] != revision:
                    self.replace_person((*row[:4], revision, *row[5:]), quietly=True)

    def drop_person(self, number: int) -> None:
        """Delete a person's row; the data key stays for whoever undoes it."""
        if self.journal is not None:
            for row in self.rows("person", "id = ?", (number,)):
                self.journal.note_person(number, row)
        self.drop_rows("person", "id = ?", (number,))

    def record(
        self, action: str, revision: int, person: int | None, people: int, templates: int
    ) -> None:
        """Add to the trail; each entry's checksum covers the one before it."""
        ((last,),) = self.query("SELECT max(id) FROM audit")
        row = ((last or 0) + 1, time.time(), action, person, people, templates, revision)
        check = self.check_row(_AUDIT, self.totals().trail, *row)
        self.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row, check))
        self.totals().follow(check)

    def trail(self) -> list[AuditEntry]:
        """What was done, from the first."""
        with self.reading():
            rows = self.query(
                'SELECT id, time, action, person, people, templates, revision, "check" '
                "FROM audit ORDER BY id"
            )
            before = _FIRST
            for *row, check in rows:
                self.require_row(check, _AUDIT, before, *row)
                before = check
            if before != Summary.parse(self.meta("summary"), self).trail:
                raise self.corrupted("entries of its audit trail are missing")
        return [AuditEntry(*row[1:6]) for row in rows]

    def note(self, action: str, people: int, templates: int) -> None:
        """Add to the trail."""
        self.run(_row_people.note, action, people, templates)

    def wrapped_keys(self, numbers: list[int]) -> dict[int, bytes]:
        """Data keys of people, wrapped, of those who have one."""
        found: dict[int, bytes] = {}
        for some in in_parts(sorted(numbers)):
            marks = ",".join("?" * len(some))
            found.update(self.rows("person_key", f"person IN ({marks})", some))
        return found

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

    def find_people(self, names: Iterable[str]) -> dict[str, int]:
        """Numbers of those of these names who are there."""
        tags = {self.tag(name): name for name in dict.fromkeys(names)}
        return {
            tags[tag]: int(number)
            for some in in_parts(list(tags))
            for tag, number in self.query(
                f"SELECT tag, id FROM person WHERE tag IN ({','.join('?' * len(some))})", some
            )
        }

    def require_person(self, name: str) -> int:
        found = self.find_person(name)
        if found is None:
            raise InputError(f"nobody in {self.where} is called {name!r}")
        return found

    def people(self) -> list[Person]:
        """Everybody."""
        return _row_people.list_people(self)

    def get_people(self, ids: Iterable[int]) -> list[Person]:
        """Those of these numbers who are there."""
        with self.reading():
            return [
                person
                for some in in_parts(list(ids))
                for person in _row_people.list_people(self, some)
            ]

    def all_names(self) -> dict[int, str]:
        """Names of everybody by number."""
        return _row_people.all_names(self)

    def names_of(self, ids: Iterable[int]) -> dict[int, str]:
        """Names by number, of those who are there."""
        names: dict[int, str] = {}
        for some in in_parts(list(ids)):
            marks = ",".join("?" * len(some))
            for number, _, name, *_ in self.rows("person", f"id IN ({marks})", some):
                names[number] = self.show_name(name, number)
        return names

    def gone_since(self, revision: int) -> list[int]:
        """Numbers of people who went, or lost their last face, since a revision."""
        rows = self.query(
            "SELECT DISTINCT person FROM audit WHERE revision > ? AND person IS NOT NULL",
            (revision,),
        )
        here = self.names_of({row[0] for row in rows})
        faceless = self.query(
            "SELECT id FROM person WHERE revision > ? AND NOT EXISTS "
            "(SELECT 1 FROM template WHERE template.person = person.id)",
            (revision,),
        )
        gone = {int(row[0]) for row in rows} - set(here)
        return sorted(gone | {int(row[0]) for row in faceless})

    def _templates(self) -> str:
        columns = ", ".join(f"template.{name}" for name in TABLES["template"].columns)
        return f'SELECT {columns}, template."check" FROM template'

    def people_batches(self, *, after: int | None = None) -> Iterator[PeopleBatch]:
        """Sums of everybody, or of those changed after a revision, by rising number."""
        statement = f"{self._templates()} ORDER BY template.person"
        values: tuple[int, ...] = ()
        if after is not None:
            statement = (
                f"{self._templates()} JOIN person ON template.person = person.id "
                "WHERE person.revision > ? ORDER BY template.person"
            )
            values = (after,)
        total = Summary() if self.sealed and after is None else None
        yield from self._sum_rows(self.fetch_in_parts(statement, values, _CHUNK), total)
        if total is not None:
            Summary.parse(self.meta("summary"), self).require("template", total, self)

    def some_people(self, ids: Iterable[int]) -> PeopleBatch:
        """Sums of the named people, by rising number."""
        parts: list[PeopleBatch] = []
        for some in in_parts(sorted(set(map(int, ids)))):
            marks = ",".join("?" * len(some))
            rows = self.query(
                f"{self._templates()} WHERE person IN ({marks}) ORDER BY person", some
            )
            parts.extend(self._sum_rows(iter([rows]), None))
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
            rows = [
                row
                for (number,) in people
                for row in self.rows(
                    "template", "person = ?", (number, n_pictures), "digest, face LIMIT ?"
                )
            ]
        if not rows:
            return np.zeros((0, self.dimension), np.float32), np.zeros(0, np.int64)
        return self.show_vectors(rows), np.asarray([row[0] for row in rows], dtype=np.int64)

    def _sum_rows(self, parts: Iterator[list[Any]], total: Summary | None) -> Iterator[PeopleBatch]:
        kept: list[Any] = []
        while True:
            rows = next(parts, [])
            for row in rows:
                self.require_row(row[-1], b"template", *row[:-1])
                if total is not None:
                    total.add("template", self.term(row[-1]))
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

    def insert(self, new: NewTemplates) -> tuple[int, int]:
        """Add faces, all or none; gives how many are new, and how many were refused."""
        return self.run(_row_writing.insert_templates, new)

    def contains(self, digest: bytes) -> bool:
        """Whether a face of this picture is there."""
        return bool(self.query("SELECT 1 FROM template WHERE digest = ? LIMIT 1", (digest,)))

    def add_person(self, name: str) -> bool:
        """Somebody without faces; False where the name is taken."""
        return self.run(_row_people.add_person, name)

    def rename_person(self, old: str, new: str) -> None:
        """Give a person another name."""
        self.run(_row_people.rename_person, old, new)

    def hide_person(self, name: str, hidden: bool) -> None:
        """Whether a person is left out of lists."""
        self.run(_row_people.hide_person, name, hidden)

    def set_terms(self, name: str, consent: str | None, retain_until: float | None) -> None:
        """What a person agreed to, as text, and until when the faces are kept."""
        self.run(_row_people.set_terms, name, consent, retain_until)

    def note_use(self, numbers: Iterable[int], day: int) -> None:
        """People were recognised on a day, counted from 1970."""
        self.run(_row_people.note_use, sorted(numbers), day)

    def merge_people(self, person: str, into: str) -> int:
        """Move all templates of one person to another, and forget the first."""
        return self.run(_row_writing.merge_people, person, into)

    def delete_person(self, name: str) -> Removed:
        """Delete a person with all templates."""
        return self.run(_row_writing.delete_person, name)

    def delete_picture(self, digest: bytes) -> Removed:
        """Delete all faces of a picture, and whoever has no other."""
        return self.run(_row_writing.delete_picture, digest)

    def list_faces(
        self, person: str | None, after: str | None, limit: int | None
    ) -> list[StoredFace]:
        """Faces in a fixed order, for reading in pages."""
        return _row_faces.list_faces(self, person, after, limit)

    def get_face(self, identifier: str) -> StoredFace | None:
        """The face with this id."""
        return _row_faces.get_face(self, identifier)

    def find_face(self, digest: bytes, face: int) -> StoredFace | None:
        """A face of a picture."""
        return _row_faces.find_face(self, digest, face)

    def read_vector(self, identifier: str) -> np.ndarray:
        """The template (1, d) of a face."""
        return _row_faces.read_vector(self, identifier)

    def move_faces(self, identifiers: Sequence[str], person: str, *, split: bool) -> list[str]:
        """Give faces to another person; gives who has none left, and is forgotten."""
        return self.run(_row_faces.move_faces, list(identifiers), person, split)

    def remove_faces(self, identifiers: Sequence[str]) -> None:
        """Take faces out so that they can be brought back."""
        self.run(_row_faces.remove_faces, list(identifiers))

    def delete_face(self, identifier: str) -> Removed:
        """Delete one face."""
        return self.run(_row_faces.delete_face, identifier)

    def thumbnail(self, identifier: str) -> bytes | None:
        """The small picture of a face, where one is kept."""
        return _row_faces.read_thumbnail(self, identifier)

    def set_thumbnail(self, identifier: str, content: bytes) -> None:
        """Keep one."""
        self.run(_row_faces.set_thumbnail, identifier, content)

    # ------------------------------------------------------------------------ links, history

    def add_link(self, kind: str, face: FaceKey, other: FaceKey | None, person: str | None) -> int:
        """Keep a statement about a face; gives its number."""
        return self.run(_row_links.add_link, kind, face, other, person)

    def drop_link(self, number: int) -> None:
        """Take a statement back."""
        self.run(_row_links.drop_link, number)

    def links(self) -> list[Constraint]:
        """All statements about faces, from the first."""
        return _row_links.list_links(self)

    def bans(self, faces: Sequence[FaceKey | None]) -> list[tuple[set[int] | None, int | None]]:
        """Per face: who it is not (None: not a face), and who it is by a statement."""
        return _row_links.find_bans(self, faces)

    def find_key(self, identifier: str) -> FaceKey | None:
        """Picture and number of the face with this id."""
        return _row_faces.find_key(self, identifier)

    def history(self, limit: int | None) -> list[Change]:
        """Changes that can be undone, from the last."""
        return _row_changes.history(self, limit)

    def undo(self, expected: int | None) -> tuple[Change, Removed]:
        """Undo the last change that was not undone."""
        return self.run(_row_changes.undo, expected)

    def clear_history(self) -> Removed:
        """Forget how to undo, with everything that was kept for it."""
        return self.run(_row_changes.clear)

    def change_key(self, key: bytes | str) -> None:
        """Exchange the gallery's key; nothing is sealed again."""
        self.run(_row_rekey.change_key, key)

    def rotate(self) -> int:
        """Turn all templates by a new secret; gives how many."""
        return self.run(_row_rotate.rotate)

    @property
    def rotated(self) -> bool:
        """Whether templates are turned by a secret before they are sealed."""
        self.load_rotation()
        return self.rotation is not None

    def load_rotation(self) -> bool:
        """Take over another rotation if there is one; whether there was."""
        if self.sealer is None or self.keys is None:
            return False
        sealed = self.meta("rotation")
        before = None if self.rotation is None else self.rotation.mark
        if sealed is None:
            self.rotation = None
            return before is not None
        if sealed != self._sealed_rotation or before is None:
            identity = _row_rotate.rotation_identity(self)
            secret = self.sealer.unseal(sealed, identity, f"{self.where}: its rotation")
            if len(secret) != SECRET:
                raise self.corrupted("its rotation is not readable")
            self.rotation, self._sealed_rotation = Rotation(secret, self.dimension), sealed
        return self.rotation is not None and self.rotation.mark != before

    def all_rows(self) -> TemplateRows:
        """Everything, for an export."""
        with self.reading():
            people = [(row[0], row[2]) for row in self.rows("person")]
            templates: list[Any] = self.rows("template", order="person, digest, face")
        return TemplateRows(sorted(people), templates)


def in_parts(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Some at a time, as many as one statement takes."""
    for start in range(0, len(values), FEW):
        yield values[start : start + FEW]
