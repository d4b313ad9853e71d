"""What decoding a picture may cost in pixels, memory, scans and time."""

from __future__ import annotations

import io
import re
import time
from typing import NamedTuple

from mien.errors import ImageError

__all__ = [
    "MAX_PIXELS",
    "MAX_SIDE",
    "JpegFrame",
    "TimedBytes",
    "check_jpeg",
    "choose_reduction",
    "read_jpeg",
]

MAX_PIXELS = 64_000_000
"""Maximum number of pixels that are decoded unless the caller says otherwise."""
MAX_SIDE = 16_384
"""Maximum number of decoded pixels along one side unless the caller says otherwise."""

# A larger JPEG is refused, although it could be decoded at an eighth.
_MAX_STORED_PIXELS = 256_000_000
_MAX_BYTES = 2**30
_MAX_SECONDS = 60.0
# Each scan of a progressive JPEG passes over the whole picture, whatever it adds, at about a
# nanosecond per pixel. Cameras, phones and mozjpeg write 1 to 20.
_MAX_SCANS = 100
_MAX_SCANNED_PIXELS = 3_000_000_000

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_PROGRESSIVE = (0xC2, 0xC6, 0xCA, 0xCE)
_START_OF_SCAN, _END_OF_IMAGE = 0xDA, 0xD9
# Inside a scan 0xFF is followed by a stuffed zero or a restart marker; anything else ends it.
_AFTER_SCAN = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")


class TimedBytes(io.BytesIO):
    """Bytes that a decoder may read for a limited time: decoders ask for them a block at a time."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self._name = name
        self._until = time.monotonic() + _MAX_SECONDS

    def read(self, size: int | None = -1, /) -> bytes:
        """Read as usual, or refuse once the time is over."""
        if time.monotonic() > self._until:
            raise ImageError(f"{self._name} is refused: it takes longer than {_MAX_SECONDS:.0f} s")
        return super().read(size)


class JpegFrame(NamedTuple):
    """What the markers of a JPEG say about the work that it asks for.

    ``kept`` is the number of coefficients per pixel that are kept until the end, 0 for a JPEG that
    is decoded line by line.
    """

    scans: int
    kept: float


def read_jpeg(data: bytes) -> JpegFrame:
    """Walk over the markers of a JPEG, without decoding anything."""
    at, scans, kept, whole = 2, 0, 0.0, 1.0
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # a fill byte
            at += 1
            continue
        if marker == _END_OF_IMAGE:
            break
        if marker == 0x01 or 0xD0 <= marker <= 0xD8:  # markers without a length
            at += 2
            continue
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        if marker in _FRAMES and length >= 8:
            whole = _samples(data[at + 4 : at + 2 + length])
            kept = whole if marker in _PROGRESSIVE else 0.0
        at += 2 + length
        if marker == _START_OF_SCAN:
            scans += 1
            found = _AFTER_SCAN.search(data, at)
            if found is None:
                break
            at = found.start()
    return JpegFrame(scans, kept if scans < 2 else whole)


def _samples(frame: bytes) -> float:
    """Samples per pixel of all components together: 3 for colour at full size, 1.5 for 4:2:0."""
    factors = [frame[at + 1] for at in range(6, len(frame) - 2, 3)]
    shares = [(factor >> 4) * (factor & 15) for factor in factors]
    across = max((factor >> 4 for factor in factors), default=1)
    down = max((factor & 15 for factor in factors), default=1)
    return sum(shares) / max(across * down, 1)


def check_jpeg(frame: JpegFrame, width: int, height: int, name: str) -> None:
    """Refuse a JPEG that asks for more scans or memory than any camera's does."""
    pixels = width * height
    if frame.scans > _MAX_SCANS or frame.scans * pixels > _MAX_SCANNED_PIXELS:
        raise ImageError(
            f"{name} is refused before decoding: it passes over its {pixels:,} pixels "
            f"{frame.scans:,} times"
        )
    if frame.kept * pixels * 2 > _MAX_BYTES:
        raise ImageError(
            f"{name} is refused before decoding: a progressive JPEG of {pixels:,} pixels takes "
            f"{frame.kept * pixels * 2 / 2**30:.1f} GiB"
        )


def choose_reduction(
    width: int, height: int, name: str, max_pixels: int, max_side: int, *, jpeg: bool
) -> int:
    """1, 2, 4 or 8: the factor by which a picture is decoded smaller to stay within the limits.

    Only a JPEG can be decoded at a reduced size; other pictures beyond the limits are refused.
    """
    if width < 1 or height < 1:
        raise ImageError(f"{name} has no pixels: it is {width} wide and {height} high")
    for factor in (1, 2, 4, 8) if jpeg else (1,):
        wide, high = -(-width // factor), -(-height // factor)
        if wide * high <= max_pixels and max(wide, high) <= max_side:
            break
    else:
        factor = 0
    if factor == 0 or width * height > max(_MAX_STORED_PIXELS, max_pixels):
        raise ImageError(
            f"{name} is refused before decoding: it is {width:,} wide and {height:,} high "
            f"({width * height:,} pixels), and the limits are {max_side:,} per side and "
            f"{max_pixels:,} pixels"
        )
    return factor
