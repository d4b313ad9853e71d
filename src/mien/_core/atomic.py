"""Files that are there whole or not at all, whatever kills the process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mien.errors import DataError

__all__ = ["atomic_path", "write_bytes", "write_text"]


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Give a temporary path beside ``path`` that takes its place when the block ends well.

    The temporary file is flushed to the disk before the rename, and the folder after it. If the
    block raises, the temporary file is removed and whatever stood at ``path`` stays. The file is
    readable by its owner only, as models and templates are personal data.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise DataError(f"cannot write {target}: the folder {target.parent} does not exist")
    if target.is_dir():
        raise DataError(f"cannot write {target}: a folder of that name is in the way")
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        _flush(temporary)
        os.replace(temporary, target)
        _flush(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a whole file, atomically."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def write_text(path: str | Path, content: str) -> None:
    """Write a whole text file in UTF-8, atomically."""
    write_bytes(path, content.encode("utf-8"))


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
