"""A whole gallery from one store to another, history and trail included; every row is compared."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mien._core.progress import report
from mien.errors import GalleryDamagedError
from mien.gallery._row_changes import parse, write_content
from mien.gallery._row_codec import RowCodec
from mien.gallery._row_rotate import pages
from mien.gallery._row_tables import TABLES

if TYPE_CHECKING:
    from mien.gallery._row_store import RowStore

__all__ = ["copy_rows"]

_CHUNK = 5_000
# Tables with vectors, and the column that they are.
_VECTORS = {"template": 3, "removed": 4}
_SETTINGS = ("verifier_before", "calibration", "policy", "last_link", "next_person")


def copy_rows(source: RowStore, target: RowStore) -> int:
    """Copy all rows to an empty gallery with the same model; gives how many rows there are.

    Names, templates and the rest are opened with the source's keys and sealed with the target's.
    """
    with source.reading():
        total = sum(_count(source, table) for table in TABLES)
        target.run(_write, source, total)
        done = 0
        for table in TABLES:
            if table == "person_key":
                continue
            # Turning vectors rounds them: these are compared beside the rest.
            turned = table in _VECTORS and (source.rotated or target.rotated)
            place = _VECTORS[table] if turned else None
            first, second = (_fingerprint(one, table, place) for one in (source, target))
            if first != second or (turned and not _same_vectors(source, target, table)):
                raise GalleryDamagedError(
                    f"rows of {table} in {target.where} differ from those in {source.where}"
                )
            done += _count(source, table)
            report("comparing rows", done, total)
        if [_plain(entry) for entry in source.trail()] != [
            _plain(entry) for entry in target.trail()[:-1]
        ]:
            raise GalleryDamagedError(f"the trail of {target.where} differs from the source's")
    return done


def _plain(entry: Any) -> tuple[Any, ...]:
    return entry.time, entry.action, entry.person, entry.people, entry.templates


def _count(store: RowStore, table: str) -> int:
    return int(store.query(f"SELECT count(*) FROM {table}")[0][0])


def _write(target: RowStore, source: RowStore, total: int) -> None:
    with target.writing() as revision:
        for key in _SETTINGS:
            value = source.meta(key)
            if value is not None:
                target.set_meta(key, value)
        # A person's data key is made here; those of people whom only the history knows, too.
        if target.keys is not None:
            keys = target.keys
            target.insert_rows(
                "person_key", [(number, keys.make(number)) for number in sorted(_people(source))]
            )
        done = 0
        for table in TABLES:
            if table == "person_key":
                continue
            for rows in _parts(source, table):
                opened = [_open(source, table, row) for row in rows]
                target.insert_rows(table, [_close(target, table, row) for row in opened])
                done += len(rows)
                report("copying rows", done, total)
        target.execute("DELETE FROM audit")
        target.totals().trail = bytes(16)
        for row in source.query(
            "SELECT id, time, action, person, people, templates, revision FROM audit ORDER BY id"
        ):
            check = target.check_row(b"audit", target.totals().trail, *row)
            target.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row, check))
            target.totals().follow(check)
        # Numbers of changes go on where they were.
        last = max(revision, source.revision() + 1)
        target.set_meta("revision", last)
        target.record("import", last, None, _count(source, "person"), _count(source, "template"))


def _people(store: RowStore) -> set[int]:
    found = {number for (number,) in store.query("SELECT id FROM person")}
    found |= {number for (number,) in store.query("SELECT DISTINCT person FROM removed")}
    for row in store.rows("change"):
        found |= set(parse(store, row[2], row[5]).people)
    return found


def _parts(store: RowStore, table: str) -> Iterator[list[tuple[Any, ...]]]:
    columns = ", ".join(TABLES[table].columns)
    for rows in store.fetch_in_parts(f'SELECT {columns}, "check" FROM {table}', (), _CHUNK):
        for row in rows:
            store.require_row(row[-1], table.encode(), *row[:-1])
        yield [tuple(row[:-1]) for row in rows]


def _fingerprint(store: RowStore, table: str, without: int | None = None) -> tuple[int, int]:
    """Number and sum of all rows of a table, as they are without a key; one column left out."""
    n = total = 0
    for rows in _parts(store, table):
        for row in rows:
            opened = [v for i, v in enumerate(_open(store, table, row)) if i != without]
            content = repr(opened).encode("utf-8", "surrogatepass")
            total += int.from_bytes(hashlib.sha256(content).digest(), "little")
            n += 1
    return n, total % 2**256


def _same_vectors(first: RowStore, second: RowStore, table: str) -> bool:
    """Whether the vectors of two stores are the same, to rounding."""
    start = _VECTORS[table] - 3

    def vectors(store: RowStore, rows: list[tuple[Any, ...]]) -> np.ndarray:
        return store.show_vectors([row[start : start + 4] for row in rows])

    both = zip(pages(first, table), pages(second, table), strict=True)
    return all(
        np.allclose(vectors(first, mine), vectors(second, theirs), atol=1e-5)
        for mine, theirs in both
    )


def _open(store: RowCodec, table: str, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row without seals and tags."""
    if table == "person":
        number, _, name, added, revision, hidden, consent, retain = row
        text = None if consent is None else store.show_text(consent, number, b"consent")
        return number, store.show_name(name, number), added, revision, hidden, text, retain
    if table == "template":
        return _open_template(store, row)
    if table == "thumbnail":
        return (*row[:3], store.show_picture(row[3], *row[:3]))
    if table == "removed":
        picture = None if row[9] is None else store.show_picture(row[9], *row[1:4])
        return (row[0], *_open_template(store, row[1:9]), picture)
    if table == "change":
        journal = parse(store, row[2], row[5])  # type: ignore[arg-type]
        people = {
            number: None if before is None else _open(store, "person", before)
            for number, before in journal.people.items()
        }
        rest = [(name, value) for name, value in vars(journal).items() if name != "people"]
        return (*row[:5], people, rest, row[6])
    return row


def _close(store: RowStore, table: str, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The row for a store: tagged and sealed as it does."""
    if table == "person":
        number, name, added, revision, hidden, text, retain = row
        consent = None if text is None else store.hide_text(text, number, b"consent")
        tag, hidden_name = store.tag(name), store.hide_name(name, number)
        return number, tag, hidden_name, added, revision, hidden, consent, retain
    if table == "template":
        return _close_template(store, row)
    if table == "thumbnail":
        return (*row[:3], store.hide_picture(row[3], *row[:3]))
    if table == "removed":
        picture = None if row[9] is None else store.hide_picture(row[9], *row[1:4])
        return (row[0], *_close_template(store, row[1:9]), picture)
    if table == "change":
        from mien.gallery._row_changes import ChangeJournal

        rest = dict(row[6])
        journal = ChangeJournal(
            people={
                number: None if before is None else _close(store, "person", before)
                for number, before in row[5].items()
            },
            **rest,
        )
        content = b"{}" if row[7] is not None else write_content(journal)
        return (*row[:5], content, row[7])
    return row


def _open_template(store: RowCodec, row: tuple[Any, ...]) -> tuple[Any, ...]:
    vector = store.show_vectors([row])[0].tobytes()
    return (*row[:3], vector, store.show_source(row[4], row[0], row[1]), *row[5:])


def _close_template(store: RowCodec, row: tuple[Any, ...]) -> tuple[Any, ...]:
    vector = store.hide_vector(np.frombuffer(row[3], np.float32), *row[:3])
    return (*row[:3], vector, store.hide_source(row[4], row[0], row[1]), *row[5:])
