"""People of an earlier result: who was together, and under which number."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mien._core.validation import NO_GROUP
from mien.errors import DataError, MissingDataError

if TYPE_CHECKING:
    from mien.recognition._cluster import ClusteredFace

__all__ = ["keep_numbers", "read_numbers"]

_PREFIX = "person-"


def read_numbers(table: Path, faces: Sequence[ClusteredFace]) -> np.ndarray:
    """Person (n,) of each face from 0 in the table of an earlier result; -1 for those not in it.

    A face is known by its file, its frame and its number in the picture. Those that were with
    nobody are new again.
    """
    root = table.parent
    known: dict[tuple[Path, str, str], int] = {}
    try:
        with table.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                person = row["person"] or ""
                if person.startswith(_PREFIX) and person[len(_PREFIX) :].isdecimal():
                    place = (root / row["file"]).resolve(), row["frame"] or "", row["face"]
                    known[place] = int(person[len(_PREFIX) :]) - 1
    except FileNotFoundError as error:
        raise MissingDataError(f"{str(table)!r} does not exist") from error
    except (OSError, KeyError, UnicodeError, csv.Error) as error:
        raise DataError(
            f"{str(table)!r} is not a table of faces that mien cluster wrote"
        ) from error
    return np.asarray(
        [
            known.get(
                (
                    face.path.resolve(),
                    "" if face.frame is None else str(face.frame),
                    str(face.number),
                ),
                NO_GROUP,
            )
            for face in faces
        ],
        dtype=np.int64,
    )


def keep_numbers(labels: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The same partition (n,), in which people who were known keep their numbers.

    Others get the numbers after them, the largest first. Where two who were known are one person
    now, the smaller number stays.
    """
    first = np.full(int(labels.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, labels[known != NO_GROUP], known[known != NO_GROUP])
    new = np.flatnonzero(first == np.iinfo(np.int64).max)
    first[new] = int(known.max(initial=-1)) + 1 + np.arange(len(new))
    numbers: np.ndarray = first[labels]
    return numbers
