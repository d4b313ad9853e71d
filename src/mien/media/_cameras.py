"""Live pictures: a camera by address or number, or a file that is played as one."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from mien._core.validation import require_module
from mien.errors import DataError, InputError
from mien.media._frames import open_frames

__all__ = ["Camera", "CameraFrame"]

_SCHEMES = ("rtsp", "rtsps", "rtmp", "http", "https", "udp", "tcp")
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
_SECRETS = re.compile(r"//[^/@]*@")


class CameraFrame(NamedTuple):
    """A picture (h, w, 3) uint8 RGB and its time: since 1970, of a file since its begin."""

    seconds: float
    image: np.ndarray


class Camera:
    """Frames of a camera, at most so many per second; the newest ones if there is no time for all.

    Parameters
    ----------
    source : str or path
        ``rtsp://…`` or another address, the number of a device (``0``), ``/dev/video0``, or a
        video file.
    rate : float
        Frames per second to give. Of a file every N-th frame is given, as fast as they are asked
        for; of a camera those in between are dropped.
    retry : bool
        Whether a camera that is lost is asked for again, after 1, 2, 4 … 60 seconds.
    tell : callable, optional
        Called with a sentence when a camera is lost or found again; without passwords.

    Examples
    --------
    >>> from mien.media import Camera
    >>> with Camera("rtsp://door.local/main") as camera:                    # doctest: +SKIP
    ...     for frame in camera:
    ...         print(frame.seconds, frame.image.shape)
    """

    def __init__(
        self,
        source: str | os.PathLike[str],
        *,
        rate: float = 5.0,
        retry: bool = True,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        if not 0 < rate <= 1000:
            raise InputError(f"rate must be between 0 and 1000 frames per second; got {rate!r}")
        self._source = os.fspath(source)
        self._rate = rate
        self._retry = retry
        self._tell = tell or (lambda _: None)
        self._ended = threading.Event()
        self.live = is_live(self._source)

    @property
    def name(self) -> str:
        """The source without its password, for people to read."""
        return _SECRETS.sub("//", self._source) if self.live else Path(self._source).name

    def __repr__(self) -> str:
        return f"Camera({self.name!r}, rate={self._rate:g})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the iteration, also from another thread."""
        self._ended.set()

    def __iter__(self) -> Iterator[CameraFrame]:
        return self._live_frames() if self.live else self._file_frames()

    def _file_frames(self) -> Iterator[CameraFrame]:
        source = open_frames(Path(self._source), 1)
        rate = source.rate or 25.0
        every = max(1, round(rate / self._rate))
        for frame in source.frames:
            if self._ended.is_set():
                return
            if frame.number % every == 0:
                yield CameraFrame(frame.number / rate, frame.image)

    def _live_frames(self) -> Iterator[CameraFrame]:
        wait = _FIRST_WAIT
        while not self._ended.is_set():
            capture = _open(self._source)
            if capture is not None:
                newest = _Newest(capture)
                try:
                    for frame in newest.frames(self._rate, self._ended):
                        wait = _FIRST_WAIT
                        yield frame
                finally:
                    newest.close()
            if self._ended.is_set():
                return
            if not self._retry:
                if capture is None:
                    raise DataError(f"no camera answers at {self.name!r}")
                return
            self._tell(f"{self.name} gives no pictures; asking again in {wait:g} s")
            self._ended.wait(wait)
            wait = min(2 * wait, _LONGEST_WAIT)


def is_live(source: str) -> bool:
    """Whether a source is a camera and not a file; an unknown kind of address is an error."""
    if source.isdigit() or source.startswith("/dev/video"):
        return True
    named = _ADDRESS.match(source)
    if named is None:
        return False
    if named[1].lower() not in _SCHEMES:
        raise InputError(
            f"the address must begin with one of {', '.join(f'{s}://' for s in _SCHEMES)}; "
            f"got {named[0]}"
        )
    return True


def _open(source: str) -> Any:
    """An open capture, or None."""
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")  # what is wrong is told by Camera
    cv2 = require_module("cv2", "faces", "reading a camera")
    if source.startswith("rtsp"):  # packets over TCP: the default loses some, and faces with them
        os.environ.setdefault("OPENCV_FFMPEG_CAPTURE_OPTIONS", "rtsp_transport;tcp")
    level = cv2.utils.logging.getLogLevel()
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    try:
        if source.isdigit():
            capture = cv2.VideoCapture(int(source))
        elif source.startswith("/dev/"):
            capture = cv2.VideoCapture(source)
        else:
            capture = cv2.VideoCapture(source, cv2.CAP_FFMPEG)
        if capture.isOpened():
            return capture
        capture.release()
    except cv2.error:
        pass
    finally:
        cv2.utils.logging.setLogLevel(level)
    return None


class _Newest:
    """The newest frame of a capture; a thread reads, so that none is older than it must be."""

    def __init__(self, capture: Any) -> None:
        self._capture = capture
        self._news = threading.Condition()
        self._frame: CameraFrame | None = None
        self._over = False
        self._thread = threading.Thread(target=self._read, name="mien-camera", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        cv2 = require_module("cv2", "faces", "reading a camera")
        with contextlib.suppress(cv2.error):
            while not self._over:
                ok, image = self._capture.read()
                if not ok or image is None:
                    break
                if image.ndim != 3 or not image.size:
                    continue
                with self._news:
                    self._frame = CameraFrame(time.time(), cv2.cvtColor(image, cv2.COLOR_BGR2RGB))
                    self._news.notify_all()
        with self._news:
            self._over = True
            self._news.notify_all()
        self._capture.release()

    def frames(self, rate: float, ended: threading.Event) -> Iterator[CameraFrame]:
        pause, next_time = 1 / rate, 0.0
        while not ended.is_set():
            with self._news:
                while self._frame is None and not self._over and not ended.is_set():
                    self._news.wait(0.5)
                frame, self._frame = self._frame, None
            if frame is None:
                if self._over:
                    return
                continue
            if frame.seconds >= next_time:
                next_time = max(next_time + pause, frame.seconds)
                yield frame

    def close(self) -> None:
        self._over = True
        self._thread.join(10)
