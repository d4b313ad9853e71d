"""From pictures to faces with vectors: one picture, or a stream of files."""

from __future__ import annotations

import hashlib
import os
import queue
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from mien._core.progress import track
from mien.errors import InputError, MienError
from mien.faces._align import align_face
from mien.faces._detection import detect_faces
from mien.faces._engines import FaceEngine, borrow_engine
from mien.faces._face import FoundFace, PictureResult
from mien.faces._journal import Journal, stamp
from mien.faces._quality import quality_of_crop
from mien.faces._sface import one_thread_each
from mien.faces._worker import ProcessWorker
from mien.media import check_picture, decode_image, read_file

__all__ = ["MAX_FACES", "analyse_image", "analyse_pictures"]

MAX_FACES = 512
"""Maximum number of faces of a picture that are analysed unless the caller says otherwise."""

_AHEAD = 4
_ONE_THREAD = ("dlib", "sface+dlib")  # its network holds the interpreter's lock


def analyse_image(
    image: Any,
    engine: FaceEngine | str = "sface",
    *,
    keep_crops: bool = False,
    max_faces: int | None = MAX_FACES,
    turns: bool = True,
) -> list[FoundFace]:
    """Find the faces of one picture and turn each into a vector.

    Parameters
    ----------
    image : (h, w, 3) or (h, w) uint8
        RGB or grey.
    engine : FaceEngine or str
        A name takes one that is kept loaded (`borrow_engine`).
    keep_crops : bool
        Also keep the aligned faces.
    max_faces : int or None
        Maximum number of faces, the largest first; None for all of them.
    turns : bool
        Whether faces that lie on their side or upside down are looked for, where no upright one
        is found with certainty; see `detect_faces`.

    Returns
    -------
    list of FoundFace
        The largest first; empty if no face was found.
    """
    image = check_picture(image)
    if isinstance(engine, str):
        with borrow_engine(engine) as borrowed:
            return _describe(image, borrowed, keep_crops, max_faces, turns)[0]
    return _describe(image, engine, keep_crops, max_faces, turns)[0]


def _describe(
    image: np.ndarray, engine: FaceEngine, keep_crops: bool, max_faces: int | None, turns: bool
) -> tuple[list[FoundFace], int]:
    """The faces that are asked for, and how many more were found."""
    faces = detect_faces(image, engine) if turns else engine.detect(image)
    found = []
    for face in faces[:max_faces]:
        crop = align_face(image, face)
        quality = quality_of_crop(crop, face)
        vector = engine.embed(image, face)
        found.append(FoundFace(face, vector, quality, crop if keep_crops else None))
    return found, len(faces) - len(found)


def analyse_pictures(
    paths: Iterable[str | os.PathLike[str]],
    engine: str = "sface",
    *,
    n_jobs: int = 2,
    journal: str | os.PathLike[str] | None = None,
    keep_crops: bool = False,
    max_faces: int | None = MAX_FACES,
) -> Iterator[PictureResult]:
    """Analyse any number of picture files, one result after the other.

    Parameters
    ----------
    paths : iterable of path
        In the order of the results; may be a generator.
    engine : {"sface", "dlib", "sface+dlib"}
        As for `load_engine`. Engines are kept loaded for the next call.
    n_jobs : int
        Number of pictures to analyse at the same time, each with its own engine.
    journal : path or None
        Results are also appended to this file, and those that it holds already are not computed
        again: name the same file to go on after an interruption. It holds templates, so only its
        owner may read it; remove it when you are done.
    keep_crops : bool
        Also give the aligned faces. They are not written to the journal.
    max_faces : int or None
        Maximum number of faces per picture, the largest first; None for all of them. A result
        says in ``note`` how many were left out.

    Yields
    ------
    PictureResult
        One for each path, in order, whatever ``n_jobs``. A file that cannot be used gives a result
        with ``error`` and never an exception.

    Notes
    -----
    Memory does not grow with the number of files: at most ``4 n_jobs`` results wait. The progress
    goes to `mien._core.progress`. dlib's network lets only one thread of a process run, so that
    engine gets ``n_jobs`` processes.

    Examples
    --------
    >>> from mien.faces import analyse_pictures
    >>> for result in analyse_pictures(["nobody.jpg"], n_jobs=1):
    ...     print(result.error)
    'nobody.jpg' does not exist
    """
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs < 1:
        raise InputError(f"n_jobs must be an integer of at least 1; got {n_jobs!r}")
    if max_faces is not None and max_faces < 1:
        raise InputError(f"max_faces must be at least 1 or None; got {max_faces!r}")
    if isinstance(paths, (str, os.PathLike)):
        raise InputError(
            "paths must be a list of paths: find_pictures(path) lists those of a folder"
        )
    total = len(paths) if isinstance(paths, Sized) else None
    with borrow_engine(engine) as first:  # what is missing is said before any work
        asked = {"features": first.features, "max_faces": max_faces}
    n_workers = n_jobs if total is None else max(1, min(n_jobs, total))
    start = partial(_start_workers, engine, n_workers, max_faces)
    results = _stream(map(Path, paths), start, journal, asked, keep_crops)
    return track(results, "finding faces", total)


class _Worker(Protocol):
    """What turns one file into one result."""

    def analyse(self, path: Path, keep_crops: bool) -> PictureResult:
        """Analyse a file; every failure is in the result."""


class _Thread:
    """A worker in this process, with its own engine."""

    def __init__(self, engine: FaceEngine, max_faces: int | None) -> None:
        self._engine = engine
        self._max_faces = max_faces

    def analyse(self, path: Path, keep_crops: bool) -> PictureResult:
        return analyse_file(path, self._engine, keep_crops, self._max_faces)


def _start_workers(
    engine: str, n_workers: int, max_faces: int | None, stack: ExitStack
) -> list[_Worker]:
    """Workers that are given back, or ended, when the stack is left."""
    workers: list[_Worker] = []
    for _ in range(n_workers):
        if n_workers > 1 and engine in _ONE_THREAD:
            process = ProcessWorker(engine, max_faces)
            stack.callback(process.close)
            workers.append(process)
        else:
            workers.append(_Thread(stack.enter_context(borrow_engine(engine)), max_faces))
    return workers


def analyse_file(
    path: Path, engine: FaceEngine, keep_crops: bool, max_faces: int | None
) -> PictureResult:
    """Analyse one file; every failure is in the result."""
    digest, size = "", (0, 0)
    try:
        data = read_file(path)
        digest = hashlib.sha256(data).hexdigest()
        image = decode_image(data, repr(str(path)), colour=True)
        del data
        size = (image.shape[0], image.shape[1])
        found, left_out = _describe(image, engine, keep_crops, max_faces, True)
    except MienError as error:
        return PictureResult(path, digest, size, [], str(error))
    except Exception as error:  # a folder of ten thousand goes on, and says which one it was
        reason = f"{str(path)!r} cannot be analysed: {type(error).__name__}: {error}"
        return PictureResult(path, digest, size, [], reason)
    return PictureResult(path, digest, size, found, left_out=left_out)


def _stream(
    paths: Iterator[Path],
    start: Callable[[ExitStack], list[_Worker]],
    journal: str | os.PathLike[str] | None,
    asked: dict[str, Any],
    keep_crops: bool,
) -> Iterator[PictureResult]:
    """Results in the order of the paths, with a bounded number of them ahead."""
    free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()

    def run(path: Path) -> _Done:
        worker = free.get()
        try:
            before = None if journal is None else stamp(path)
            result = worker.analyse(path, keep_crops)
        finally:
            free.put(worker)
        return _Done(_with_crops(result) if keep_crops else result, before, True)

    def recall(result: PictureResult) -> _Done:
        return _Done(_with_crops(result) if keep_crops else result, None, False)

    with ExitStack() as stack:
        book = None if journal is None else stack.enter_context(Journal(journal, asked))
        workers = start(stack)
        for worker in workers:
            free.put(worker)
        if len(workers) > 1:
            stack.enter_context(one_thread_each())
        pool = ThreadPoolExecutor(len(workers), thread_name_prefix="mien-faces")
        stack.callback(pool.shutdown, wait=True, cancel_futures=True)
        waiting: deque[Future[_Done]] = deque()
        for path in paths:
            known = None if book is None else book.find(path)
            waiting.append(pool.submit(run, path) if known is None else pool.submit(recall, known))
            if len(waiting) >= _AHEAD * len(workers):
                yield _next(waiting, book)
        while waiting:
            yield _next(waiting, book)


class _Done(NamedTuple):
    """A result, the file's stamp before it was read, and whether it is not in the journal yet."""

    result: PictureResult
    stamp: str | None
    new: bool


def _next(waiting: deque[Future[_Done]], book: Journal | None) -> PictureResult:
    done = waiting.popleft().result()
    if book is not None and done.new:
        book.add(done.result, done.stamp)
    return done.result


def _with_crops(result: PictureResult) -> PictureResult:
    """Cut faces out that come from a journal or another process, which give no pictures."""
    if all(found.crop is not None for found in result.faces):
        return result
    try:
        image = decode_image(read_file(result.path), repr(str(result.path)), colour=True)
    except MienError as error:
        return replace(result, faces=[], error=str(error))
    faces = [replace(found, crop=align_face(image, found.face)) for found in result.faces]
    return replace(result, faces=faces)
