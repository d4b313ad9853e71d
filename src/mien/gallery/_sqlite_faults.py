"""Whether a gallery file is whole: everything is read and compared with its checksums."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import numpy as np

from mien.errors import GalleryDamagedError
from mien.gallery._checks import UNIT
from mien.gallery._sqlite_file import translating
from mien.gallery._summary import Summary

if TYPE_CHECKING:
    from mien.gallery._sqlite_store import SqliteStore

__all__ = ["find_faults"]

_MOST_FAULTS = 20


def find_faults(store: SqliteStore) -> list[str]:
    """Everything that is wrong with the file, one sentence each."""
    faults: list[str] = []
    try:
        with store.reading():
            for (text,) in store.query("PRAGMA integrity_check"):
                if text != "ok":
                    faults.extend(str(text).splitlines())
            for row in store.query("PRAGMA foreign_key_check"):
                faults.append(f"a row of {row[0]} belongs to nobody")
            found = Summary()
            faults.extend(_faults_of_people(store, found))
            faults.extend(_faults_of_templates(store, found))
            if store.format > 1:
                wanted = Summary.parse(store.meta("summary"), store)
                both = [wanted.fault(table, found) for table in ("person", "template")]
                faults.extend(fault for fault in both if fault is not None)
                store._check_settings()
            store.trail()
    except GalleryDamagedError as error:
        faults.append(str(error))
    mode = stat.S_IMODE(store.path.stat().st_mode)
    if mode & 0o077:
        faults.append(f"others may read the file (its mode is {mode:o}, not 600)")
    return faults[:_MOST_FAULTS]


def _faults_of_people(store: SqliteStore, found: Summary) -> list[str]:
    faults = []
    last = store.number("next_person")
    for *row, check in store.query(
        f"SELECT id, tag, name, added, revision, {store.column()} FROM person"
    ):
        number, tag, name = row[:3]
        try:
            store.require_row(check, b"person", *row)
            if store.format > 1:
                found.add("person", store.term(check))
            if store.tag(store.show_name(name, number)) != tag or not 1 <= number < last:
                faults.append(f"person {number} has a name that does not fit its row")
        except GalleryDamagedError as error:
            faults.append(str(error))
    return faults


def _faults_of_templates(store: SqliteStore, found: Summary) -> list[str]:
    faults: list[str] = []
    with translating(store.path):
        cursor = store.connection.execute(
            "SELECT person, digest, face, vector, source, quality, added, "
            f"{store.column()} FROM template ORDER BY person"
        )
        while rows := cursor.fetchmany(10_000):
            good = []
            for *row, check in rows:
                try:
                    store.require_row(check, b"template", *row)
                    if store.format > 1:
                        found.add("template", store.term(check))
                    store.show_source(row[4], row[1])
                    good.append(row)
                except GalleryDamagedError as error:
                    faults.append(f"{error} (of person {row[0]!r:.20})")
            if good:
                lengths = np.linalg.norm(store.show_vectors(good).astype(np.float64), axis=1)
                for row in np.flatnonzero(~(np.abs(lengths - 1) <= UNIT)):
                    faults.append(f"a template of person {good[row][0]} is not of unit length")
    return faults
