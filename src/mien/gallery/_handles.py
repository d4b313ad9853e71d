"""Looking at the bytes of an open gallery without dropping its locks.

POSIX locks belong to a process and a file: whoever closes any descriptor of the file loses all of
them, also those that SQLite holds through another. Then a second process takes itself for the
last one, removes the journal, and the first reads one that is no more. So one descriptor a file
is kept open until the last gallery of this process on it is closed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

__all__ = ["file_holds_any", "hold", "holds_any", "release"]

_CHUNK = 2**24
_lock = threading.Lock()
_held: dict[tuple[int, int], list[int]] = {}


def hold(path: Path) -> tuple[int, int]:
    """Keep the file open; gives what :func:`release` and :func:`holds_any` take."""
    with _lock:
        found = os.stat(path)
        key = found.st_dev, found.st_ino
        if key in _held:
            _held[key][1] += 1
        else:
            _held[key] = [os.open(path, os.O_RDONLY | os.O_CLOEXEC), 1]
        return key


def release(key: tuple[int, int]) -> None:
    """Let go, after the connection was closed."""
    with _lock:
        _held[key][1] -= 1
        if _held[key][1] == 0:
            os.close(_held.pop(key)[0])


def holds_any(key: tuple[int, int], patterns: Sequence[bytes]) -> bool:
    """Whether the held file contains one of the byte strings."""
    return _contains(_held[key][0], patterns)


def file_holds_any(path: Path, patterns: Sequence[bytes]) -> bool:
    """The same of a file on which nobody holds locks, such as the journal."""
    if not path.exists():
        return False
    with open(path, "rb") as file:
        return _contains(file.fileno(), patterns)


def _contains(descriptor: int, patterns: Sequence[bytes]) -> bool:
    overlap = max(map(len, patterns), default=1) - 1
    place, kept = 0, b""
    while chunk := os.pread(descriptor, _CHUNK, place):
        window = kept + chunk
        if any(pattern in window for pattern in patterns):
            return True
        kept = window[len(window) - overlap :] if overlap else b""
        place += len(chunk)
    return False
