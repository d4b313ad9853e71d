"""When a picture was taken: from its EXIF data, or when its file was last written."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from mien.media._decoding import open_header

__all__ = ["PictureTime", "picture_time"]

_EXIF, _TAKEN, _TAKEN_PART, _CHANGED = 0x8769, 0x9003, 0x9291, 0x0132


class PictureTime(NamedTuple):
    """Seconds on some clock, and which: ``"exif"`` is the camera's, ``"file"`` the file's."""

    seconds: float
    clock: str


def picture_time(path: str | os.PathLike[str]) -> PictureTime | None:
    """When a picture was taken, as well as it is known; None if there is no file.

    The camera's clock has no time zone, so times of the two clocks do not compare.
    """
    path = Path(path)
    taken = _exif_seconds(path)
    if taken is not None:
        return PictureTime(taken, "exif")
    try:
        return PictureTime(path.stat().st_mtime, "file")
    except OSError:
        return None


def _exif_seconds(path: Path) -> float | None:
    try:
        with open_header(path) as image:
            tags = image.getexif()
            details = tags.get_ifd(_EXIF)
        words = str(details.get(_TAKEN) or tags.get(_CHANGED) or "").strip("\0 ")
        whole = datetime.strptime(words, "%Y:%m:%d %H:%M:%S").replace(tzinfo=UTC).timestamp()
        part = str(details.get(_TAKEN_PART) or "").strip("\0 ")
        return whole + (float(f"0.{part}") if part.isdecimal() and part.isascii() else 0.0)
    except Exception:  # whatever a file's header holds, it only costs the time stamp
        return None
