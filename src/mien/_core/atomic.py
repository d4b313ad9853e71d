"""Files that are there whole or not at all, whatever kills the process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mien.errors import DataError

__all__ = ["atomic_path", "write_atomically"]


@contextmanager
def atomic_path(path: str | Path, *, private: bool = False) -> Iterator[Path]:
    """Give a temporary path beside ``path`` that takes its place when the block ends well.

    The temporary file is flushed to the disk before the rename, and the folder after it. If the
    block raises, the temporary file is removed and whatever stood at ``path`` stays.

    Parameters
    ----------
    path : str or Path
        Its folder must be there; a file that is there is replaced.
    private : bool
        Readable by its owner only, as models and templates are personal data.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise DataError(f"cannot write {target}: the folder {target.parent} does not exist")
    if target.is_dir():
        raise DataError(f"cannot write {target}: a folder of that name is in the way")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        os.chmod(temporary, 0o600 if private else 0o666 & ~_umask())
        _flush(temporary)
        os.replace(temporary, target)
        _flush(target.parent)
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def write_atomically(path: str | Path, content: bytes, *, private: bool = False) -> Path:
    """Write a whole file; its folder is made if it is missing.

    ``private`` makes it readable by its owner only, as everything that shows faces or names is.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from error
    with atomic_path(target, private=private) as temporary:
        temporary.write_bytes(content)
    return target


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    """Read the mask of new files; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
