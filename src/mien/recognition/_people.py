"""Who is on which picture, and which face of a picture is meant."""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mien.errors import DataError, InputError, MissingDataError
from mien.faces import FoundFace, PictureResult
from mien.media import find_media

__all__ = [
    "CLEARLY_LARGER",
    "Failure",
    "LabelledPicture",
    "check_rate",
    "choose_face",
    "count_reasons",
    "digest_file",
    "list_people",
]

#: A face is clearly the largest where its box has at least so many times the area of the next.
CLEARLY_LARGER = 2.0


@dataclass(frozen=True)
class LabelledPicture:
    """A picture and the name of the person on it."""

    path: Path
    person: str


@dataclass(frozen=True)
class Failure:
    """A picture that gave no template: a failure to acquire, with its reason.

    Attributes
    ----------
    path : Path
        The file.
    reason : str
        "unreadable", "no face", "several faces", "low quality", "nobody named" or "two names":
        two words, for counting.
    detail : str
        In a sentence.
    """

    path: Path
    reason: str
    detail: str


def list_people(
    photos: str | os.PathLike[str],
) -> tuple[list[LabelledPicture], list[Failure]]:
    """Pictures with names: a folder with one folder a person, or a table.

    Parameters
    ----------
    photos : path
        A folder whose folders bear the names (pictures may lie deeper), or a CSV file with the
        columns ``file`` (seen from the table's folder) and ``person``.

    Returns
    -------
    pictures : list of LabelledPicture
        In the order of their names, or of the table.
    failures : list of Failure
        Pictures that nobody is named for, and files that look like pictures or videos and are not
        read.
    """
    root = Path(photos)
    if root.is_file():
        return _read_table(root), []
    if not root.is_dir():
        raise MissingDataError(f"{str(root)!r} is not there: a folder or a CSV file is needed")
    found = find_media(root)
    pictures: list[LabelledPicture] = []
    failures = [Failure(path, "unreadable", reason) for path, reason in found.left_out]
    detail = "it is a video: give pictures, or name it with `mien identify`"
    failures += [Failure(path, "unreadable", detail) for path in found.videos]
    for path in found.pictures:
        inside = path.relative_to(root).parts
        if len(inside) < 2:
            detail = "it lies beside the people's folders, so nobody is named"
            failures.append(Failure(path, "nobody named", detail))
        else:
            pictures.append(LabelledPicture(path, inside[0]))
    if not pictures:
        raise DataError(
            f"no person's folder with pictures is in {str(root)!r}: put the pictures of each "
            "person into a folder with the person's name, or give a CSV file with the columns "
            "file and person"
        )
    return pictures, failures


def _read_table(path: Path) -> list[LabelledPicture]:
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            columns = reader.fieldnames or []
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{str(path)!r} is no table that can be read: {error}") from error
    if not {"file", "person"} <= set(columns):
        raise DataError(
            f"{str(path)!r} must have the columns file and person; it has {', '.join(columns)}"
        )
    pictures = []
    for number, row in enumerate(rows, start=2):
        name, person = (row["file"] or "").strip(), (row["person"] or "").strip()
        if not name or not person:
            raise DataError(f"{str(path)!r}, line {number}: file and person must not be empty")
        pictures.append(LabelledPicture(path.parent / name, person))
    if not pictures:
        raise DataError(f"{str(path)!r} lists no pictures")
    return pictures


def choose_face(result: PictureResult, *, min_quality: float = 0.0) -> FoundFace | Failure:
    """The face of a picture that shows one person, or why there is none.

    Where several faces are found, the largest is taken if its box has at least twice the area of
    the next; otherwise the picture is refused, because nobody can say who is meant.
    """
    if result.error is not None:
        return Failure(result.path, "unreadable", result.error)
    if not result.faces:
        return Failure(result.path, "no face", "no face was found")
    face, *others = result.faces
    if others and face.face.area < CLEARLY_LARGER * others[0].face.area:
        detail = f"{len(result.faces)} faces were found, and none is clearly the largest"
        return Failure(result.path, "several faces", detail)
    if face.quality is not None and face.quality.score < min_quality:
        detail = f"its quality is {face.quality.score:.2f}, below {min_quality:g}"
        return Failure(result.path, "low quality", detail)
    return face


def digest_file(path: Path) -> str | None:
    """SHA-256 of a file, as the gallery keeps it; None where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def count_reasons(failures: Sequence[Failure]) -> dict[str, int]:
    """How many pictures failed for each reason, the most frequent first."""
    reasons = [failure.reason for failure in failures]
    return {
        name: reasons.count(name) for name in sorted(set(reasons), key=lambda r: -reasons.count(r))
    }


def check_rate(name: str, value: float) -> None:
    """Refuse a rate or probability that is not between 0 and 1."""
    if not 0 < value < 1:
        raise InputError(f"{name} must be between 0 and 1; got {value!r}")
