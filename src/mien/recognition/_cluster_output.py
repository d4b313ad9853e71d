"""Folders of people, a table and an overview of what was sorted."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mien._core.atomic import write_atomically
from mien._core.text import count, safe_text
from mien._core.validation import check_choice
from mien.errors import InputError
from mien.media import write_image
from mien.recognition._cluster import PeopleFound, cluster, list_places, person_name
from mien.recognition._people import SORTED_TABLE, UNSORTED
from mien.reports import Report

__all__ = ["HOW", "check_new", "cluster_files", "in_words", "open_journal", "write_people"]

HOW = ("link", "copy", "table")
JOURNAL = ".faces.journal"
_SHOWN = 24
_LONGEST = 200
_PEOPLE_SHOWN = 300
#: So many faces and no other person are worth a word.
_MANY_OF_ONE = 10


def check_new(out: Path, resume: bool = False, *sources: Path) -> None:
    """Refuse a folder with something in it, unless it is that of an interrupted run."""
    for source in sources:
        if out.resolve().is_relative_to(source.resolve()):
            raise InputError(f"{str(out)!r} is inside {str(source)!r}: choose a folder outside it")
    if not out.exists():
        return
    if not out.is_dir():
        raise InputError(f"{str(out)!r} exists and is not a folder")
    found = {entry.name for entry in out.iterdir()}
    if resume and (not found or JOURNAL in found):
        return
    if found:
        why = "it holds no interrupted run" if resume else "choose another folder, or --resume"
        raise InputError(f"{str(out)!r} exists and is not empty: {why}")


def open_journal(out: Path) -> Path:
    """Make the folder; returns where the journal of an unfinished run lies in it."""
    out.mkdir(parents=True, exist_ok=True)
    return out / JOURNAL


def cluster_files(
    photos: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    resume: bool = False,
    add: bool = False,
    keep: bool = False,
    how: str = "link",
    **settings: Any,
) -> PeopleFound:
    """Sort the faces of photographs or a video by person, and write one folder per person.

    Parameters
    ----------
    photos : path or sequence of path
        Folders and files of pictures with any number of faces each, or one video.
    out : path
        Folder to write; it must be new, or that of an interrupted run if ``resume``.
    resume : bool
        Continue an interrupted run.
    add : bool
        ``out`` holds an earlier result that was written with ``keep``: only photographs that are
        new or have changed are analysed, its people stay together and keep their numbers.
    keep : bool
        Keep the templates of the faces in ``out``, so that photographs can be added later.
    how : {"link", "copy", "table"}
        As in :meth:`PeopleFound.write`.
    **settings
        Of :func:`cluster`.

    Returns
    -------
    PeopleFound
        As it was written.
    """
    check_choice("how", how, HOW)
    place = Path(out)
    if add:
        if not ((place / SORTED_TABLE).is_file() and (place / JOURNAL).exists()):
            raise InputError(
                f"{str(place)!r} holds no sorted photographs to add to: sort them with --keep first"
            )
        settings["before"] = place / SORTED_TABLE
    check_new(place, resume or add, *list_places(photos))
    if (place / JOURNAL).is_dir() and settings.get("scheduler") is None:
        raise InputError(
            f"the faces in {str(place)!r} were found by workers: give a scheduler again "
            "(--scheduler local)"
        )
    found = cluster(photos, journal=open_journal(place), **settings)
    write_people(found, place, how, keep=keep or add)
    return found


def write_people(found: PeopleFound, out: Path, how: str = "link", *, keep: bool = False) -> Path:
    """Write a result.

    Parameters
    ----------
    found : PeopleFound
    out : path
        A folder, new or that of the interrupted run which is now complete.
    how : {"link", "copy", "table"}
        Links to the pictures, copies of them, or no folders at all. Faces of a video are written
        as small pictures.
    keep : bool
        Whether the journal with the templates stays.

    Returns
    -------
    Path
        The folder, with ``person-001`` …, ``unsorted``, ``faces.csv`` and ``report.html``. A
        picture is in the folder of everybody on it, with the number of the face in its name if it
        has several; one without a face, or whose faces are all with nobody, is in ``unsorted``.
        :func:`enrol` takes the folder back, also after folders were renamed and files deleted or
        moved.
    """
    check_choice("how", how, HOW)
    check_new(out, resume=True)
    out.mkdir(parents=True, exist_ok=True)
    for entry in out.iterdir():
        if entry.is_dir() and (entry.name.startswith("person-") or entry.name == UNSORTED):
            shutil.rmtree(entry)
    links = _name_links(found)
    if how != "table":
        for name, rows in _folders(found):
            _fill(out / name, found, rows, how, links)
        _fill_failed(out / UNSORTED, found, how)
    write_atomically(out / SORTED_TABLE, _table(found, out, links).encode(), private=True)
    overview(found, out).write(out)
    if keep:
        return out
    if (out / JOURNAL).is_dir():  # of several workers
        shutil.rmtree(out / JOURNAL)
    (out / JOURNAL).unlink(missing_ok=True)
    return out


def _folders(found: PeopleFound) -> Iterable[tuple[str, np.ndarray]]:
    order = np.argsort(found.people, kind="stable")
    cuts = np.flatnonzero(np.diff(found.people[order])) + 1
    for rows in np.split(order, cuts):
        if len(rows) and found.people[rows[0]] >= 0:
            yield str(person_name(int(found.people[rows[0]]))), rows
    placed = {found.faces[k].path for k in np.flatnonzero(found.people >= 0)}
    video = found.source.is_file()
    alone = [
        k for k in np.flatnonzero(found.people < 0) if video or found.faces[k].path not in placed
    ]
    if alone:
        yield UNSORTED, np.asarray(alone)


def _name_links(found: PeopleFound) -> list[str]:
    """The name of every face in the folders: one name is one face, wherever it is moved to."""
    if found.source.is_file():
        return [f"frame-{face.frame:06d}-{face.number}.png" for face in found.faces]
    flat = [_flat_name(face.path, found.source) for face in found.faces]
    times = Counter(flat)
    used = set(times) | {_flat_name(failure.path, found.source) for failure in found.failures}
    names = []
    for name, face in zip(flat, found.faces, strict=True):
        if times[name] > 1:
            stem, suffix = os.path.splitext(name)
            name, more = f"{stem}.face-{face.number + 1}{suffix}", 0
            while name in used:
                more += 1
                name = f"{stem}.face-{face.number + 1}-{more}{suffix}"
            used.add(name)
        names.append(name)
    return names


def _fill(folder: Path, found: PeopleFound, rows: np.ndarray, how: str, links: list[str]) -> None:
    folder.mkdir(exist_ok=True)
    if found.source.is_file():
        for k in _spread(rows):
            write_image(folder / links[k], found.crops[k])
        return
    for k in rows:
        path = found.faces[k].path
        name = _flat_name(path, found.source) if folder.name == UNSORTED else links[k]
        _place(path, folder / name, how)


def _fill_failed(folder: Path, found: PeopleFound, how: str) -> None:
    if found.source.is_file():
        return
    for failure in found.failures:
        folder.mkdir(exist_ok=True)
        _place(failure.path, folder / _flat_name(failure.path, found.source), how)


def _flat_name(path: Path, source: Path) -> str:
    """A name without folders that no other picture of the source has, short enough for a file."""
    parts = path.relative_to(source).parts
    name = "__".join(part.replace("_", "_-") if "__" in part else part for part in parts)
    if len(os.fsencode(name)) <= _LONGEST:
        return name
    # File systems take 255 bytes, and the number of a face may follow.
    stem, suffix = os.path.splitext(name)
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
    kept = os.fsencode(stem)[: _LONGEST - 40].decode("utf-8", "ignore")
    return f"{kept}~{digest}{suffix[:16]}"


def _place(path: Path, target: Path, how: str) -> None:
    if target.is_symlink() or target.exists():
        return
    if how == "copy":
        try:
            shutil.copyfile(path, target)
        except OSError as error:
            raise InputError(f"{str(path)!r} cannot be copied: {error}") from error
    else:
        target.symlink_to(os.path.relpath(path.resolve(), target.parent.resolve()))


def _spread(rows: np.ndarray) -> np.ndarray:
    """At most so many of the rows as are shown, evenly."""
    if len(rows) <= _SHOWN:
        return rows
    return rows[np.linspace(0, len(rows) - 1, _SHOWN).round().astype(int)]


def _table(found: PeopleFound, out: Path, links: list[str]) -> str:
    """All faces; ``file`` is seen from the folder of the table, so that ``mien enrol`` reads it."""
    text = io.StringIO()
    names = ["file", "frame", "face", "x", "y", "w", "h", "person", "group", "log_ratio", "quality"]
    names.append("link")
    table = csv.DictWriter(text, names, lineterminator="\n")
    table.writeheader()
    for k in range(len(found.faces)):
        name = _relative(found.faces[k].path.resolve(), out.resolve())
        row = found.row(k) | {"file": name, "link": links[k]}
        row |= {name: safe_text(v, "csv") for name, v in row.items() if isinstance(v, str)}
        table.writerow(row)
    return text.getvalue()


def overview(found: PeopleFound, out: Path | None = None) -> Report:
    """One page with the faces of everybody, those that fit least last.

    Parameters
    ----------
    found : PeopleFound
        What was sorted.
    out : path or None
        Where the page will stand: faces lead to their files from there.
    """
    report = Report("People", f"in {found.source.name}")
    report.text(in_words(found))
    for person in np.unique(found.people[found.people >= 0])[:_PEOPLE_SHOWN].tolist():
        rows = np.flatnonzero(found.people == person)
        order = rows[np.argsort(-found.log_ratios[rows], kind="stable")]
        shown = _spread(order)
        title = f"{person_name(person)}: {count(len(rows), 'face')}"
        if len(shown) < len(rows):
            title += f", {len(shown)} of them shown"
        report.gallery(found.crops[shown], *_captions(found, shown, out, title))
    if found.n_people > _PEOPLE_SHOWN:
        report.text(
            f"People in the folders that are not shown: {found.n_people - _PEOPLE_SHOWN:,}."
        )
    alone = np.flatnonzero(found.people < 0)
    if alone.size:
        shown = _spread(alone)
        title = f"unsorted: {count(len(alone), 'face')}, {len(shown)} shown"
        report.gallery(found.crops[shown], *_captions(found, shown, out, title))
    if found.failures:
        rows_ = [
            {"file": f.path.name, "reason": f.reason, "detail": f.detail} for f in found.failures
        ]
        report.table("Pictures without a usable face", rows_[:100])
    return report


def _captions(
    found: PeopleFound, rows: np.ndarray, out: Path | None, title: str
) -> tuple[list[str], str, None, list[str] | None]:
    """Under each face its file, or its frame of a video; title, rows as they fit, the links."""
    faces = [found.faces[k] for k in rows]
    words = [face.path.name if face.frame is None else f"frame {face.frame:,}" for face in faces]
    if out is None:
        return words, title, None, None
    root = out.resolve()
    links = [_relative(face.path.resolve(), root) for face in faces]
    return words, title, None, links


def _relative(path: Path, root: Path) -> str:
    """A path seen from a folder; as it is on another drive."""
    try:
        return Path(os.path.relpath(path, root)).as_posix()
    except ValueError:
        return path.as_posix()


def in_words(found: PeopleFound) -> str:
    """The result in a few sentences."""
    n_groups = len(np.unique(found.groups[found.groups >= 0]))
    alone = int(np.count_nonzero(found.people < 0))
    film = found.source.is_file()
    words = (
        f"{count(len(found.faces), 'face')}: {len(found.faces) - alone:,} of "
        f"{count(found.n_people, 'person', 'people')}, {alone:,} unsorted."
    )
    if found.failures:
        words += f" Not used: {count(len(found.failures), 'file')}."
    if n_groups:
        kinds = ("track",) if film else ("burst or copy", "bursts and copies")
        words += f" Together from the start: {count(n_groups, *kinds)}."
    if len(found.cannot_link):
        words += f" Kept apart, because on one picture: {count(len(found.cannot_link), 'pair')}."
    words += (
        f" Faces were joined above a log ratio of {found.threshold:.1f}, which a stranger among "
        f"all others would pass for {100 * found.fpir:g} % of the faces"
    )
    words += {
        True: " (supported by the faces themselves).",
        "shipped": " (by the model card).",
        False: " (not promised: the faces are unlike those of the model card).",
    }[found.promised]
    if found.n_people == 1 and alone == 0 and len(found.faces) >= _MANY_OF_ONE:
        words += (
            " All are one person. If they are not, the pictures are unlike those that the model "
            "knows: enrol a few people, and sort with --gallery."
        )
    return words
