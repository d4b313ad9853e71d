"""Whether the rows of a gallery are whole, and fit each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mien.errors import GalleryDamagedError
from mien.gallery._checks import UNIT
from mien.gallery._row_changes import parse
from mien.gallery._row_people import show_consent
from mien.gallery._row_tables import TABLES
from mien.gallery._summary import Summary

if TYPE_CHECKING:
    from mien.gallery._row_store import RowStore

__all__ = ["MOST_FAULTS", "find_row_faults"]

MOST_FAULTS = 20
_CHUNK = 10_000


def find_row_faults(store: RowStore) -> list[str]:
    """Everything that is wrong, one sentence each."""
    faults: list[str] = []
    found = Summary()
    wanted = Summary.parse(store.meta("summary"), store)
    for table in TABLES:
        faults.extend(_faults_of(store, table, found))
        fault = wanted.fault(table, found)
        if fault is not None:
            faults.append(fault)
    try:
        store.trail()
    except GalleryDamagedError as error:
        faults.append(str(error))
    return faults


def _faults_of(store: RowStore, table: str, found: Summary) -> list[str]:
    faults: list[str] = []
    columns = ", ".join(TABLES[table].columns)
    look: Callable[..., list[str]] | None = _LOOKS.get(table)
    statement = f'SELECT {columns}, "check" FROM {table}'
    for rows in store.fetch_in_parts(statement, (), _CHUNK):
        good = []
        for row in rows:
            try:
                store.require_row(row[-1], table.encode(), *row[:-1])
                found.add(table, store.term(row[-1]))
                good.append(row[:-1])
            except GalleryDamagedError as error:
                faults.append(f"{error} ({TABLES[table].columns[0]} {row[0]!r:.20})")
        if look is not None:
            try:
                faults.extend(look(store, good))
            except GalleryDamagedError as error:
                faults.append(str(error))
    return faults


def _look_at_people(store: RowStore, rows: list[Any]) -> list[str]:
    last = store.number("next_person")
    faults = []
    for number, tag, name, _, _, _, consent, _ in rows:
        show_consent(store, consent, number)
        if store.tag(store.show_name(name, number)) != tag or not 1 <= number < last:
            faults.append(f"person {number} has a name that does not fit its row")
    return faults


def _look_at_keys(store: RowStore, rows: list[Any]) -> list[str]:
    if store.keys is None:
        return ["an open gallery has keys of people"] if rows else []
    for number, wrapped in rows:
        store.keys.unwrap(number, wrapped)
    return []


def _look_at_templates(store: RowStore, rows: list[Any]) -> list[str]:
    for row in rows:
        store.show_source(row[4], row[0], row[1])
    if not rows:
        return []
    lengths = np.linalg.norm(store.show_vectors(rows).astype(np.float64), axis=1)
    return [
        f"a template of person {rows[i][0]} is not of unit length"
        for i in np.flatnonzero(~(np.abs(lengths - 1) <= UNIT))
    ]


def _look_at_removed(store: RowStore, rows: list[Any]) -> list[str]:
    for row in rows:
        if row[9] is not None:
            store.show_picture(row[9], *row[1:4])
    return _look_at_templates(store, [row[1:9] for row in rows])


def _look_at_thumbnails(store: RowStore, rows: list[Any]) -> list[str]:
    for row in rows:
        store.show_picture(row[3], *row[:3])
    return []


def _look_at_changes(store: RowStore, rows: list[Any]) -> list[str]:
    for row in rows:
        parse(store, row[2], row[5])
    return []


_LOOKS: dict[str, Callable[..., list[str]]] = {
    "person": _look_at_people,
    "person_key": _look_at_keys,
    "template": _look_at_templates,
    "removed": _look_at_removed,
    "thumbnail": _look_at_thumbnails,
    "change": _look_at_changes,
}
