"""Vectors of people as a search reads them: sums per person, in parts, and small samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mien.gallery._checked_rows import in_parts
from mien.gallery._protocol import PeopleBatch
from mien.gallery._row_tables import TABLES
from mien.gallery._summary import Summary

if TYPE_CHECKING:
    from mien.gallery._checked_rows import CheckedRows

__all__ = ["people_batches", "sample", "some_people"]

_CHUNK = 20_000
_COLUMNS = ", ".join(f"template.{name}" for name in TABLES["template"].columns)
_TEMPLATES = f'SELECT {_COLUMNS}, template."check" FROM template'


def people_batches(store: CheckedRows, after: int | None = None) -> Iterator[PeopleBatch]:
    """Sums of everybody, or of those changed after a revision, by rising number."""
    statement = f"{_TEMPLATES} ORDER BY template.person"
    values: tuple[int, ...] = ()
    if after is not None:
        statement = (
            f"{_TEMPLATES} JOIN person ON template.person = person.id "
            "WHERE person.revision > ? ORDER BY template.person"
        )
        values = (after,)
    total = Summary() if store.sealed and after is None else None
    yield from _sum_rows(store, store.fetch_in_parts(statement, values, _CHUNK), total)
    if total is not None:
        Summary.parse(store.meta("summary"), store).require("template", total, store)


def some_people(store: CheckedRows, ids: Iterable[int]) -> PeopleBatch:
    """Sums of the named people, by rising number."""
    parts: list[PeopleBatch] = []
    for some in in_parts(sorted(set(map(int, ids)))):
        marks = ",".join("?" * len(some))
        rows = store.query(f"{_TEMPLATES} WHERE person IN ({marks}) ORDER BY person", some)
        parts.extend(_sum_rows(store, iter([rows]), None))
    if not parts:
        return PeopleBatch(
            np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, store.dimension), "f4")
        )
    return PeopleBatch(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def sample(store: CheckedRows, n_people: int, n_pictures: int) -> tuple[np.ndarray, np.ndarray]:
    """Templates (n, d) of the first people, and their numbers (n,)."""
    with store.reading():
        people = store.query(
            "SELECT DISTINCT person FROM template ORDER BY person LIMIT ?", (n_people,)
        )
        rows = [
            row
            for (number,) in people
            for row in store.rows(
                "template", "person = ?", (number, n_pictures), "digest, face LIMIT ?"
            )
        ]
    if not rows:
        return np.zeros((0, store.dimension), np.float32), np.zeros(0, np.int64)
    return store.show_vectors(rows), np.asarray([row[0] for row in rows], dtype=np.int64)


def _sum_rows(
    store: CheckedRows, parts: Iterator[list[Any]], total: Summary | None
) -> Iterator[PeopleBatch]:
    kept: list[Any] = []
    while True:
        rows = next(parts, [])
        for row in rows:
            store.require_row(row[-1], b"template", *row[:-1])
            if total is not None:
                total.add("template", store.term(row[-1]))
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
            vectors = store.show_vectors(whole)
            owner = np.asarray([row[0] for row in whole], dtype=np.int64)
            starts = np.flatnonzero(np.diff(owner, prepend=owner[0] - 1))
            sums = np.add.reduceat(vectors, starts, axis=0)
            yield PeopleBatch(owner[starts], np.diff(starts, append=len(owner)), sums)
        if not rows:
            return
