"""Checked rows in a database: statements, transactions, settings, tables and the audit trail."""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from mien.errors import GalleryError
from mien.gallery import _row_changes, _row_rotate
from mien.gallery._records import AuditEntry
from mien.gallery._rotation import SECRET, Rotation
from mien.gallery._row_changes import ChangeJournal
from mien.gallery._row_codec import RowCodec
from mien.gallery._row_tables import TABLES
from mien.gallery._summary import Summary

__all__ = ["CheckedRows", "in_parts"]

T = TypeVar("T")
#: Values of one ``IN (…)``.
_FEW = 500
_AUDIT = b"audit"
_FIRST = bytes(16)


class CheckedRows(RowCodec):
    """Rows with checksums; a database beneath runs the statements.

    Statements are written once, in the SQL that SQLite and PostgreSQL share, with ``?`` for
    values. Every changed row goes through :meth:`insert_rows`, :meth:`drop_rows` or
    :meth:`replace_person`, which keep the summary true and, where a change can be undone, note
    what was there before.
    """

    path: Path
    read_only: bool
    lock: threading.RLock

    def __init__(self) -> None:  # rows are readable once RowCodec.__init__ was called
        self._sealed_rotation: bytes | None = None
        self.summary: Summary | None = None
        self.journal: ChangeJournal | None = None
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
                    self.journal = None if undo is None else ChangeJournal(undo)
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

    def revision(self) -> int:
        """A number that grows with every change."""
        return self.number("revision")

    @property
    def sealed(self) -> bool:
        """Whether templates are encrypted."""
        return self.sealer is not None

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

    @property
    def rotated(self) -> bool:
        """Whether templates are turned by a secret before they are sealed."""
        self.load_rotation()
        return self.rotation is not None

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
        """Insert or replace a row; within a transaction."""
        columns, key = TABLES[table]
        where = " AND ".join(f"{name} = ?" for name in key)
        self.drop_rows(table, where, [row[columns.index(name)] for name in key])
        self.insert_rows(table, [row])

    def replace_person(self, row: Sequence[Any], *, quietly: bool = False) -> None:
        """Replace a person's row; within a transaction. Quietly: there is nothing to undo."""
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

    def names_of(self, ids: Iterable[int]) -> dict[int, str]:
        """Names by number, of those who are there."""
        names: dict[int, str] = {}
        for some in in_parts(list(ids)):
            marks = ",".join("?" * len(some))
            for number, _, name, *_ in self.rows("person", f"id IN ({marks})", some):
                names[number] = self.show_name(name, number)
        return names

    def wrapped_keys(self, numbers: list[int]) -> dict[int, bytes]:
        """Data keys of people, wrapped, of those who have one."""
        found: dict[int, bytes] = {}
        for some in in_parts(sorted(numbers)):
            marks = ",".join("?" * len(some))
            found.update(self.rows("person_key", f"person IN ({marks})", some))
        return found

    # ------------------------------------------------------------------------ the audit trail

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


def in_parts(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Some at a time, as many as one statement takes."""
    for start in range(0, len(values), _FEW):
        yield values[start : start + _FEW]
