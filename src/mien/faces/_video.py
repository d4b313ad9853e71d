"""From a video to faces in tracks: groups without names for the weak-label learners."""

from __future__ import annotations

import csv
import io
import os
import queue
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mien._core.atomic import write_atomically
from mien._core.progress import track
from mien.errors import DataError, InputError
from mien.faces._analyse import MAX_FACES, analyse_image
from mien.faces._engines import FaceEngine, borrow_engine
from mien.faces._face import FoundFace
from mien.faces._sface import one_thread_each
from mien.media import (
    Frame,
    FrameSource,
    TrackJoiner,
    find_pictures,
    join_tracks,
    number_groups,
    open_frames,
    pairs_in_pictures,
    write_image,
)

__all__ = ["Detection", "VideoResult", "analyse_video", "face_joiner"]

_MAX_MOTION = 0.3
_MIN_OVERLAP = 0.3
_AHEAD = 2
# Cosines of two pictures of one face are above the first in nearly all pairs of neighbouring
# frames, and those of two people are below the second in nearly all pairs.
_UNLIKE = {"sface": 0.25, "dlib": 0.88, "sface+dlib": 0.72}
_ALIKE = {"sface": 0.55, "dlib": 0.95, "sface+dlib": 0.85}


@dataclass(frozen=True, eq=False)
class Detection:
    """One face in one frame.

    Parameters
    ----------
    frame : int
        Number of the frame, from 0.
    found : FoundFace
        Box, landmarks, vector, quality and, where asked for, the crop.
    track : int
        Number of its track, from 0; -1 for none.
    """

    frame: int
    found: FoundFace
    track: int


@dataclass(frozen=True, eq=False)
class VideoResult:
    """The faces of a video.

    Parameters
    ----------
    path : Path
        The video, or the folder of its frames.
    features : str
        What the vectors are.
    detections : list of Detection
        In the order of the frames, the largest face of a frame first.
    n_frames : int
        Frames that were analysed.
    complete : bool
        False if the file promises more frames than could be read.
    cuts : list of int
        Frames with which a new shot begins.
    rate : float
        Frames per second; 0 if unknown.
    """

    path: Path
    features: str
    detections: list[Detection]
    n_frames: int
    complete: bool
    cuts: list[int]
    rate: float

    @property
    def frames(self) -> np.ndarray:
        """Frame (n,) of each detection."""
        return np.array([one.frame for one in self.detections], dtype=np.int64)

    @property
    def boxes(self) -> np.ndarray:
        """Box (n, 4) of each detection: left, top, width, height."""
        return np.array([one.found.face.box for one in self.detections]).reshape(-1, 4)

    @property
    def vectors(self) -> np.ndarray:
        """Vector (n, d) of each detection."""
        if not self.detections:
            return np.zeros((0, 0), np.float32)
        return np.stack([one.found.vector for one in self.detections])

    @property
    def tracks(self) -> np.ndarray:
        """Track (n,) of each detection; -1 for none."""
        return np.array([one.track for one in self.detections], dtype=np.int64)

    @property
    def cannot_link(self) -> np.ndarray:
        """Pairs (n_pairs, 2) of detections of one frame: two people."""
        return pairs_in_pictures(self.frames)

    def write_groups(self, path: str | os.PathLike[str]) -> Path:
        """Write the table that ``mien crops cluster FOLDER --groups TABLE`` reads.

        Parameters
        ----------
        path : path
            The CSV file: file, group, video, frame, box and landmarks. If crops were kept, they
            are written beside it under the names in the column ``file``; its folder is then
            ``FOLDER``.

        Returns
        -------
        Path
            The file. It holds no vector.
        """
        path = Path(path)
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(["file", "group", "video", "frame", "x", "y", "w", "h"])
        counts: dict[int, int] = {}
        for one in self.detections:
            number = counts.setdefault(one.frame, 0)
            counts[one.frame] += 1
            name = f"{self.path.stem}_{one.frame:06d}_{number}.png"
            group = "" if one.track < 0 else one.track
            box = [round(float(value), 2) for value in one.found.face.box]
            table.writerow([name, group, self.path.name, one.frame, *box])
            if one.found.crop is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_image(path.parent / name, one.found.crop)
        return write_atomically(path, text.getvalue().encode(), private=True)


def analyse_video(
    path: str | os.PathLike[str],
    engine: str = "sface",
    *,
    every: int = 1,
    n_jobs: int = 2,
    keep_crops: bool = False,
    max_faces: int | None = MAX_FACES,
    max_gap: int = 5,
    min_length: int = 2,
) -> VideoResult:
    """Find the faces of a video and join them into tracks.

    Parameters
    ----------
    path : path
        MP4, MOV, WebM, MKV, AVI, OGG, FLV, MPEG or WMV, by content; or a folder of pictures, which
        are its frames in the order of their names.
    engine : {"sface", "dlib", "sface+dlib"}
        See `load_engine`.
    every : int
        Analyse every N-th frame.
    n_jobs : int
        Frames that are analysed at the same time.
    keep_crops : bool
        Also keep the aligned faces (37 kB each).
    max_faces : int or None
        Maximum number of faces per frame, the largest first; None for all of them.
    max_gap : int
        Maximum number of analysed frames from one detection of a track to the next.
    min_length : int
        Minimum number of detections of a track; shorter ones count as none.

    Returns
    -------
    VideoResult
        Detections with their tracks. Two faces of one frame are two people.

    Raises
    ------
    MissingDataError, DataError
        If there is no file, or it is empty, not a video, damaged from the start, or without a
        frame.

    Notes
    -----
    Two detections are joined where the box moved by less than 0.3 of its side a frame and they
    overlap by 0.3 (intersection over union) and do not look like two people; or where they look
    like one and motion allows it. A cut ends all tracks: a frame whose 48 × 48 pixels correlate
    with those of the frame before by less than 0.45.
    """
    for name, value in (("every", every), ("n_jobs", n_jobs), ("max_gap", max_gap)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise InputError(f"{name} must be an integer of at least 1; got {value!r}")
    place = Path(path)
    source = open_frames(place, every, find_pictures(place) if place.is_dir() else None)
    found: list[tuple[int, int, FoundFace]] = []
    n_frames, last = 0, -1
    with ExitStack() as stack:
        engines = [stack.enter_context(borrow_engine(engine)) for _ in range(n_jobs)]
        first = engines[0]
        steps = _analyse(source, engines, keep_crops, max_faces)
        for step in track(steps, "finding faces", -(-source.promised // every) or None):
            found += [(step.number, step.shot, face) for face in step.faces]
            n_frames, last = n_frames + 1, step.number
    if n_frames == 0:
        raise DataError(f"{str(place)!r} has no frame that can be decoded")
    tracks = _join(found, first.name, every, max_gap, min_length)
    return VideoResult(
        place,
        first.features,
        [
            Detection(frame, face, int(number))
            for (frame, _, face), number in zip(found, tracks, strict=True)
        ],
        n_frames,
        # Containers count loosely: a few frames more or less are nothing.
        last + every >= 0.95 * source.promised - 2,
        source.cuts,
        source.rate,
    )


class _Step(NamedTuple):
    number: int
    shot: int
    faces: list[FoundFace]


def _analyse(
    source: FrameSource, engines: list[FaceEngine], keep_crops: bool, max_faces: int | None
) -> Iterator[_Step]:
    """Frames in order with their faces; a few are ahead, whatever the length of the video."""
    free: queue.SimpleQueue[FaceEngine] = queue.SimpleQueue()
    for engine in engines:
        free.put(engine)

    def run(frame: Frame) -> _Step:
        engine = free.get()
        try:
            faces = analyse_image(
                frame.image, engine, keep_crops=keep_crops, max_faces=max_faces, turns=False
            )
        finally:
            free.put(engine)
        return _Step(frame.number, frame.shot, faces)

    with ExitStack() as stack:
        if len(engines) > 1:
            stack.enter_context(one_thread_each())
        pool = ThreadPoolExecutor(len(engines), thread_name_prefix="mien-video")
        stack.callback(pool.shutdown, wait=True, cancel_futures=True)
        waiting: deque[Future[_Step]] = deque()
        for frame in source.frames:
            waiting.append(pool.submit(run, frame))
            if len(waiting) >= _AHEAD * len(engines):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def face_joiner(engine: str, max_gap: float) -> TrackJoiner:
    """What joins the faces of frames that arrive one by one; frames count as 25 a second.

    Parameters
    ----------
    engine : {"sface", "dlib", "sface+dlib"}
        Whose vectors.
    max_gap : float
        Maximum number of frames between two faces of a track.
    """
    return TrackJoiner(
        max_motion=_MAX_MOTION,
        min_overlap=_MIN_OVERLAP,
        max_gap=max_gap,
        unlike=_UNLIKE[engine],
        alike=_ALIKE[engine],
    )


def _join(
    found: list[tuple[int, int, FoundFace]], engine: str, every: int, max_gap: int, min_length: int
) -> np.ndarray:
    """Tracks (n,) of the detections."""
    if not found:
        return np.zeros(0, dtype=np.int64)
    boxes = np.array([face.face.box for _, _, face in found], dtype=np.float64)
    joined = join_tracks(
        np.column_stack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]]),
        np.array([frame for frame, _, _ in found]),
        max_motion=_MAX_MOTION,
        min_overlap=_MIN_OVERLAP,
        max_gap=max_gap * every,
        vectors=np.stack([face.vector for _, _, face in found]),
        unlike=_UNLIKE[engine],
        alike=_ALIKE[engine],
        shots=np.array([shot for _, shot, _ in found]),
    )
    return number_groups(joined, min_length)
