"""Files that are there whole or not at all, whatever kills the process."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mien.errors import DataError

__all__ = ["atomic_path", "lock_descriptor", "write_atomically"]

_DESCRIPTORS = "/proc/self/fd"


@contextmanager
def atomic_path(path: str | Path, *, private: bool = False, flush: bool = True) -> Iterator[Path]:
    """Give a temporary path that takes the place of ``path`` when the block ends well.

    The temporary file is flushed to the disk before it gets the name, and the folder after it. If
    the block raises, the temporary file is removed and whatever stood at ``path`` stays.

    Parameters
    ----------
    path : str or Path
        Its folder must be there; a file that is there is replaced.
    private : bool
        Readable by its owner only, as models and templates are personal data. Where the system
        allows it, the file has no name until it is whole, so that a killed process leaves nothing;
        the path may then only be opened for writing.
    flush : bool
        False for what is easily made again, such as pictures by the thousand: a machine that
        loses its power may then lose the file.
    """
    target = Path(path)
    if not os.path.isdir(target.parent):
        raise DataError(f"cannot write {target}: the folder {target.parent} does not exist")
    if os.path.isdir(target):
        raise DataError(f"cannot write {target}: there is a folder with that name")
    try:
        unnamed = _open_unnamed(target.parent) if private else None
        if unnamed is not None:
            yield from _name_at_the_end(target, unnamed, flush)
            return
        temporary = _make_beside(target)
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from error
    try:
        yield temporary
        os.chmod(temporary, 0o600 if private else 0o666 & ~_umask())
        if flush:
            _flush(temporary)
        os.replace(temporary, target)
        if flush:
            _flush(target.parent)
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _make_beside(target: Path) -> Path:
    """A new empty file in the same folder."""
    # A file system takes 255 bytes: a name that just fits has no room for more.
    short = os.fsencode(target.name)[:200].decode("utf-8", "ignore")
    handle, name = tempfile.mkstemp(prefix=f".{short}.", dir=target.parent)
    os.close(handle)
    return Path(name)


def _open_unnamed(folder: Path) -> int | None:
    """A file without a name in a folder, for its owner only; None where there are none."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir(_DESCRIPTORS):
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:  # a file system, or a system, without
        return None


def _name_at_the_end(target: Path, descriptor: int, flush: bool) -> Iterator[Path]:
    place = f"{_DESCRIPTORS}/{descriptor}"
    folder = os.open(target.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield Path(place)
        if flush:
            os.fsync(descriptor)
        # With a descriptor of the folder the link is to the file, not to its place in /proc.
        try:
            os.link(place, target.name, dst_dir_fd=folder)
        except OSError as error:
            temporary = _make_beside(target)
            try:
                if isinstance(error, FileExistsError):
                    temporary.unlink()
                    os.link(place, temporary.name, dst_dir_fd=folder)
                else:  # a system that gives no names afterwards
                    shutil.copyfile(place, temporary)
                    if flush:
                        _flush(temporary)
                os.replace(temporary, target)
            finally:
                temporary.unlink(missing_ok=True)
        if flush:
            os.fsync(folder)
    finally:
        os.close(folder)
        os.close(descriptor)


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


def lock_descriptor(descriptor: int, *, wait: bool = False) -> bool | None:
    """Hold an open file until it is closed or the process ends.

    Parameters
    ----------
    descriptor : int
        Of the file.
    wait : bool
        Wait until nobody else holds it.

    Returns
    -------
    bool or None
        Whether it is held now; None where the system cannot tell.
    """
    try:
        import fcntl
    except ImportError:  # not a POSIX system
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True
