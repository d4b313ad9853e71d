"""Who is on which picture, and which face of a picture is meant."""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mien._core.boxes import overlap_boxes
from mien._core.regular import open_regular
from mien._core.text import check_name
from mien.errors import DataError, InputError, MissingDataError
from mien.faces import FoundFace, PictureResult
from mien.media import find_media, is_picture, is_video

__all__ = [
    "CLEARLY_LARGER",
    "LEAST_CONFIDENCE",
    "SORTED_TABLE",
    "UNSORTED",
    "Failure",
    "LabelledPicture",
    "check_rate",
    "choose_face",
    "count_reasons",
    "digest_file",
    "frame_digest",
    "is_doubtful",
    "label_pictures",
    "list_people",
]

#: A face is clearly the largest where its box has at least so many times the area of the next.
CLEARLY_LARGER = 2.0


#: Detections below these confidences, in photographs and in videos, are mostly no people whom
#: anybody would recognise: see docs/first-hour.md for what was measured.
LEAST_CONFIDENCE = {"sface": (0.8, 0.85), "sface+dlib": (0.8, 0.85)}

#: What ``mien cluster`` writes: the table, and the folder of faces that are with nobody.
SORTED_TABLE, UNSORTED = "faces.csv", "unsorted"
_SAME_FACE = 0.5
_BOX = ("x", "y", "w", "h")
_NO_VIDEO = "it is a video: sort it with `mien cluster`, and give the folder that it writes"


@dataclass(frozen=True)
class LabelledPicture:
    """A picture and the name of the person on it.

    Attributes
    ----------
    path : Path
        The picture, or the video of ``frame``.
    person : str
        The name.
    box : tuple of float or None
        Which face: left, top, width, height in pixels. None: the picture shows one person.
    frame : int or None
        Frame of a video.
    """

    path: Path
    person: str
    box: tuple[float, float, float, float] | None = None
    frame: int | None = None


@dataclass(frozen=True)
class Failure:
    """A picture that gave no template: a failure to acquire, with its reason.

    Attributes
    ----------
    path : Path
        The file.
    reason : str
        "unreadable", "no face", "several faces", "low quality", "nobody named", "bad name" or
        "two names": two words, for counting.
    detail : str
        In a sentence.
    """

    path: Path
    reason: str
    detail: str


def list_people(
    photos: str | os.PathLike[str],
) -> tuple[list[LabelledPicture], list[Failure]]:
    """Pictures with names: a folder with one folder per person, or a table.

    Parameters
    ----------
    photos : path
        A folder whose folders bear the names (pictures may lie deeper), or a CSV file with the
        columns ``file`` (seen from the table's folder) and ``person``. Both may come from
        ``mien cluster``, as they are or with folders renamed: then each name goes to the face
        that was sorted, and the folder ``unsorted`` is left out.

    Returns
    -------
    pictures : list of LabelledPicture
        In the order of their names, or of the table.
    failures : list of Failure
        Pictures that nobody is named for or under a name that no gallery takes, and files that are
        not read.
    """
    listed, failures = _list_named(Path(photos))
    pictures: list[LabelledPicture] = []
    for picture in listed:
        try:
            pictures.append(replace(picture, person=check_name(picture.person)))
        except InputError as error:
            failures.append(Failure(picture.path, "bad name", str(error)))
    if not pictures:
        raise DataError(f"nobody in {str(photos)!r} has a usable name: {failures[-1].detail}")
    return pictures, failures


def _list_named(root: Path) -> tuple[list[LabelledPicture], list[Failure]]:
    """The same, with the names as they are."""
    if root.is_file():
        if is_picture(root) or is_video(root):
            raise DataError(
                f"{str(root)!r} is neither a folder nor a table: to enrol a picture, name the "
                "person with --person"
            )
        return _read_table(root), []
    if not root.is_dir():
        raise MissingDataError(f"{str(root)!r} does not exist: a folder or a CSV file is needed")
    faces = _read_sorted(root / SORTED_TABLE)
    media = find_media(root)
    pictures, failures = [], []
    for path in media.pictures:
        inside = path.relative_to(root).parts
        if len(inside) < 2:
            detail = "it lies beside the people's folders, so nobody is named"
            failures.append(Failure(path, "nobody named", detail))
        elif faces is None:
            pictures.append(LabelledPicture(path, inside[0]))
        elif inside[0] != UNSORTED:
            pictures.append(_find_sorted(path, inside[0], faces, root))
    if faces is not None and not pictures and not _has_folders(root):
        return _read_table(root / SORTED_TABLE), failures
    if not pictures:
        raise DataError(
            f"no person's folder with pictures is in {str(root)!r}: put the pictures of each "
            "person into a folder with the person's name, or give a CSV file with the columns "
            "file and person"
        )
    if faces is None:
        failures += [Failure(path, "unreadable", _NO_VIDEO) for path in media.videos]
    failures += [Failure(path, "unreadable", reason) for path, reason in media.left_out]
    return pictures, failures


def label_pictures(
    photos: Sequence[str | os.PathLike[str]], person: str
) -> tuple[list[LabelledPicture], list[Failure]]:
    """Pictures, and all pictures of folders, that show one person by name."""
    pictures, failures = [], []
    person = check_name(person)
    for place in photos:
        media = find_media(place)
        pictures += [LabelledPicture(path, person) for path in media.pictures]
        failures += [Failure(path, "unreadable", _NO_VIDEO) for path in media.videos]
        failures += [Failure(path, "unreadable", reason) for path, reason in media.left_out]
    if not pictures:
        raise DataError(f"there is no picture of {person!r} in what was given")
    return pictures, failures


def _has_folders(root: Path) -> bool:
    return any(entry.is_dir() and not entry.name.startswith(".") for entry in root.iterdir())


def _read_sorted(path: Path) -> dict[str, dict[str, str]] | None:
    """Rows of the table of ``mien cluster`` by the name in the folders; None if it is not ours."""
    if not path.is_file():
        return None
    columns, rows = _read_rows(path)
    if not {"link", "file", *_BOX} <= set(columns):
        return None
    return {row["link"]: row for row in rows if row["link"]}


def _find_sorted(
    path: Path, person: str, faces: dict[str, dict[str, str]], root: Path
) -> LabelledPicture:
    """A picture in a folder of ``mien cluster``, with its face; or one that was put there."""
    row = faces.get(path.name)
    if row is None:
        return LabelledPicture(path, person)
    box, frame = _read_place(row, root / SORTED_TABLE)
    return LabelledPicture(path if frame is None else root / row["file"], person, box, frame)


def _read_place(
    row: dict[str, str], table: Path
) -> tuple[tuple[float, float, float, float] | None, int | None]:
    """The box and the frame of a row; None where the table does not tell them."""
    frame = (row.get("frame") or "").strip()
    sides = [(row.get(side) or "").strip() for side in _BOX]
    try:
        left, top, width, height = (float(side) for side in sides) if all(sides) else [0.0] * 4
        box = (left, top, width, height) if width > 0 and height > 0 else None
        return box, int(frame) if frame else None
    except ValueError as error:
        raise DataError(f"{str(table)!r}: the box {sides} is not four numbers") from error


def _read_rows(path: Path) -> tuple[Sequence[str], list[dict[str, str]]]:
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            return reader.fieldnames or [], list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{str(path)!r} is not a readable table: {error}") from error


def _read_table(path: Path) -> list[LabelledPicture]:
    columns, rows = _read_rows(path)
    if not {"file", "person"} <= set(columns):
        raise DataError(
            f"{str(path)!r} must have the columns file and person; it has {', '.join(columns)}"
        )
    boxed = set(_BOX) <= set(columns)
    pictures = []
    for number, row in enumerate(rows, start=2):
        name, person = (row["file"] or "").strip(), (row["person"] or "").strip()
        if boxed and name and person in ("", UNSORTED):
            continue  # a face that is with nobody
        if not name or not person:
            raise DataError(f"{str(path)!r}, line {number}: file and person must not be empty")
        box, frame = _read_place(row, path) if boxed else (None, None)
        pictures.append(LabelledPicture(path.parent / name, person, box, frame))
    if not pictures:
        raise DataError(f"{str(path)!r} lists no pictures of named people")
    return pictures


def choose_face(
    result: PictureResult,
    *,
    min_quality: float = 0.0,
    box: Sequence[float] | None = None,
) -> FoundFace | Failure:
    """The face of a picture that is meant, or why there is none.

    With a ``box`` it is the face at that place. Without one the picture should show one person:
    where several faces are found, the largest is taken if its box has at least twice the area of
    the next; otherwise the picture is refused, because nobody can say who is meant.
    """
    if result.error is not None:
        return Failure(result.path, "unreadable", result.error)
    if not result.faces:
        return Failure(result.path, "no face", "no face was found")
    face, *others = result.faces
    if box is not None:
        face = max(result.faces, key=lambda one: overlap_boxes(one.face.box, box))
        if overlap_boxes(face.face.box, box) < _SAME_FACE:
            return Failure(result.path, "no face", "no face was found at the place in the table")
    elif others and face.face.area < CLEARLY_LARGER * others[0].face.area:
        detail = f"{len(result.faces)} faces were found, and none is clearly the largest"
        return Failure(result.path, "several faces", detail)
    if face.quality is not None and face.quality.score < min_quality:
        detail = f"its quality is {face.quality.score:.2f}, below {min_quality:g}"
        return Failure(result.path, "low quality", detail)
    return face


def is_doubtful(found: FoundFace, engine: str | None, *, video: bool = False) -> bool:
    """Whether a detection is more likely a dog, a flower or a dark patch than a person."""
    photograph, film = LEAST_CONFIDENCE.get(engine or "", (0.0, 0.0))
    return found.face.confidence < (film if video else photograph)


def digest_file(path: Path) -> str | None:
    """SHA-256 of a file, as the gallery keeps it; None where it cannot be read."""
    try:
        with open_regular(path) as file:
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


def frame_digest(video: str | None, number: int) -> str:
    """By what a frame of a video is known: a SHA-256 of the video's and of its number."""
    return hashlib.sha256(f"{video} {number}".encode()).hexdigest()
