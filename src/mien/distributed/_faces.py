"""Faces of very many photographs, found by workers that each keep an engine loaded."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mien._core.progress import report
from mien.distributed._team import open_team, stream
from mien.errors import InputError
from mien.faces import MAX_FACES, PictureResult, analyse_pictures

__all__ = ["analyse"]

#: Pictures of a task, on average: some seconds of work, which is what a killed worker loses.
_PICTURES = 32


class _Setting(NamedTuple):
    """What every part is analysed with."""

    engine: str
    keep_crops: bool
    max_faces: int | None
    journal: str | None


def analyse(
    paths: Iterable[str | os.PathLike[str]],
    engine: str = "sface",
    *,
    client: Any = None,
    n_workers: int | None = None,
    journal: str | os.PathLike[str] | None = None,
    keep_crops: bool = False,
    max_faces: int | None = MAX_FACES,
) -> Iterator[PictureResult]:
    """Find and describe the faces of any number of pictures, on many workers.

    Parameters
    ----------
    paths : iterable of path
        Pictures, as the workers see them: on several machines, in a folder that all of them have.
    engine : {"sface", "dlib", "sface+dlib"}
        Kept loaded by every worker.
    client, n_workers
        As for :func:`fit`.
    journal : path or None
        A folder with one journal per 32 pictures or so, written by the workers: name the same
        folder to go on after an interruption, or when pictures were added. It holds templates;
        remove it when you are done.
    keep_crops : bool
        Also give the aligned faces.
    max_faces : int or None
        Maximum number of faces per picture, the largest first.

    Yields
    ------
    PictureResult
        One for each path, in order. A file that cannot be used gives a result with ``error``.

    See Also
    --------
    mien.faces.analyse_pictures : The same with threads of this process.

    Examples
    --------
    >>> from mien.distributed import analyse
    >>> for result in analyse(["nobody.jpg"], n_workers=1):
    ...     print(result.error)
    'nobody.jpg' does not exist
    """
    if isinstance(paths, (str, os.PathLike)):
        raise InputError(
            "paths must be a list of paths: find_pictures(path) lists those of a folder"
        )
    folder = None
    if journal is not None:
        place = Path(journal)
        if place.exists() and not place.is_dir():
            raise InputError(
                f"the journal {str(place)!r} is a file, of a run without workers: continue that "
                "run, or name another folder"
            )
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = str(place.resolve())
    setting = _Setting(engine, keep_crops, max_faces, folder)
    total = len(paths) if isinstance(paths, (list, tuple)) else None
    return _run(paths, total, setting, client, n_workers)


def _run(
    paths: Iterable[str | os.PathLike[str]],
    total: int | None,
    setting: _Setting,
    client: Any,
    n_workers: int | None,
) -> Iterator[PictureResult]:
    done = 0
    with open_team(client, n_workers, total) as team:
        parts, words = _cut(paths), "parts of pictures"
        for call in stream(team, _analyse, parts, setting, words=words):
            for result in team.get(call):
                yield result
                report("finding faces", done := done + 1, total)


def _cut(paths: Iterable[str | os.PathLike[str]]) -> Iterator[list[str]]:
    """Parts of about 32 pictures that end at certain names: more pictures leave most as they are.

    So the journals of the others are found again when pictures were added in between.
    """
    part: list[str] = []
    for place in paths:
        path = os.fspath(place)
        part.append(path)
        number = zlib.crc32(path.encode("utf-8", "surrogatepass"))
        if number % _PICTURES == 0 or len(part) == 4 * _PICTURES:
            yield part
            part = []
    if part:
        yield part


def _analyse(part: list[str], setting: _Setting) -> list[PictureResult]:
    """Analyse the pictures of a part; what its journal holds is not done again."""
    journal = None
    if setting.journal is not None:
        digest = hashlib.sha256("\0".join(part).encode("utf-8", "surrogatepass")).hexdigest()
        journal = os.path.join(setting.journal, f"{digest[:24]}.journal")
    return list(
        analyse_pictures(
            part,
            setting.engine,
            n_jobs=1,
            journal=journal,
            keep_crops=setting.keep_crops,
            max_faces=setting.max_faces,
        )
    )
