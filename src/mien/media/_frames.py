"""Frames of a video file, or of a folder of pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mien._core.regular import NotRegularError, open_regular
from mien._core.validation import require_module
from mien.errors import DataError, ImageError, MissingDataError
from mien.media._decoding import read_image
from mien.media._limits import MAX_PIXELS

__all__ = ["Frame", "FrameSource", "open_frames"]

# Containers by their first bytes. Playlists, which name other files or addresses, are not here.
_CONTAINERS = (
    (4, b"ftyp"),
    (4, b"moov"),
    (4, b"mdat"),
    (4, b"wide"),
    (4, b"free"),
    (0, b"\x1aE\xdf\xa3"),
    (8, b"AVI "),
    (0, b"OggS"),
    (0, b"FLV\x01"),
    (0, b"\x00\x00\x01\xba"),
    (0, b"\x00\x00\x01\xb3"),
    (0, b"0&\xb2u\x8ef\xcf\x11"),
)
_TRANSPORT_PACKET = 188
_TRANSPORT_SYNC = 0x47
_CUT = 0.55
_THUMBNAIL = 48
_EVEN = 4.0


class Frame(NamedTuple):
    """A picture (h, w, 3) uint8 RGB, its number in the video and that of its shot, from 0."""

    number: int
    image: np.ndarray
    shot: int


class FrameSource(NamedTuple):
    """Frames that are read one by one, how many the file promises, and how many per second.

    ``cuts`` grows while frames are read: those with which a new shot begins.
    """

    frames: Iterator[Frame]
    promised: int
    rate: float
    cuts: list[int]


def open_frames(path: Path, every: int, pictures: list[Path] | None = None) -> FrameSource:
    """Read every ``every``-th frame of a video file, or of ``pictures`` in their order."""
    cuts: list[int] = []
    if pictures is not None:
        shots = _in_shots(_from_pictures(pictures), every, cuts)
        return FrameSource(shots, len(pictures), 0.0, cuts)
    _check_container(path)
    cv2 = require_module("cv2", "faces", "reading video")
    level = cv2.utils.logging.getLogLevel()
    cv2.utils.logging.setLogLevel(
        cv2.utils.logging.LOG_LEVEL_SILENT
    )  # what goes wrong is said by an error, not on the screen
    try:
        capture = cv2.VideoCapture(str(path.resolve()), cv2.CAP_FFMPEG)
        opened = capture.isOpened()
    except cv2.error:
        opened = False
    finally:
        cv2.utils.logging.setLogLevel(level)
    if not opened:
        raise DataError(f"{str(path)!r} is a damaged video, or of a kind that OpenCV cannot read")
    width, height = (
        int(capture.get(what)) for what in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT)
    )
    if width * height > MAX_PIXELS:
        capture.release()
        raise DataError(
            f"{str(path)!r} has frames of {width} × {height} pixels; the limit is {MAX_PIXELS:,}"
        )
    promised = max(0, int(capture.get(cv2.CAP_PROP_FRAME_COUNT)))
    rate = float(capture.get(cv2.CAP_PROP_FPS))
    frames = _in_shots(_from_capture(cv2, capture), every, cuts)
    return FrameSource(frames, promised, rate if np.isfinite(rate) and rate > 0 else 0.0, cuts)


def _check_container(path: Path) -> None:
    try:
        with open_regular(path) as file:
            head = file.read(_TRANSPORT_PACKET + 1)
    except FileNotFoundError as error:
        raise MissingDataError(f"{str(path)!r} does not exist") from error
    except NotRegularError as error:
        raise DataError(f"{str(path)!r} is not a regular file") from error
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be opened: {error}") from error
    if not head:
        raise DataError(f"{str(path)!r} is empty (0 bytes)")
    transport = (
        len(head) > _TRANSPORT_PACKET
        and head[0] == _TRANSPORT_SYNC
        and head[_TRANSPORT_PACKET] == _TRANSPORT_SYNC
    )
    known = any(head[at : at + len(sign)] == sign for at, sign in _CONTAINERS)
    if not (known or transport):
        raise DataError(
            f"{str(path)!r} is not a video: MP4, MOV, WebM, MKV, AVI, OGG, FLV, MPEG and WMV are "
            "read, by content"
        )


def _from_capture(cv2: Any, capture: Any) -> Iterator[tuple[int, np.ndarray]]:
    number = 0
    try:
        while capture.grab():
            ok, frame = capture.retrieve()
            if ok and frame is not None and frame.ndim == 3 and frame.size:
                yield number, cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)
            number += 1
    finally:
        capture.release()


def _from_pictures(pictures: list[Path]) -> Iterator[tuple[int, np.ndarray]]:
    for number, path in enumerate(pictures):
        try:
            yield number, read_image(path, colour=True)
        except ImageError:
            continue  # one frame less


def _in_shots(
    frames: Iterator[tuple[int, np.ndarray]], every: int, cuts: list[int]
) -> Iterator[Frame]:
    """Every ``every``-th frame with its shot; cuts are looked for between all frames."""
    cv2 = require_module("cv2", "faces", "reading video")
    before = None
    for number, image in frames:
        size = (_THUMBNAIL, _THUMBNAIL)
        small = cv2.resize(image, size, interpolation=cv2.INTER_AREA).astype(np.float64)
        thumbnail = (small - small.mean()).ravel()
        if before is not None and _difference(before, thumbnail) > _CUT:
            cuts.append(number)
        before = thumbnail
        if number % every == 0:
            yield Frame(number, image, len(cuts))


def _difference(first: np.ndarray, second: np.ndarray) -> float:
    """1 less the correlation of two thumbnails; grain on an even picture does not count."""
    spread = np.linalg.norm(first) * np.linalg.norm(second) + _EVEN * first.size
    return float(1 - (first @ second + _EVEN * first.size) / spread)
