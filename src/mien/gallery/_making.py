"""A gallery file comes to be at once, under a name that nobody else has; nothing is left over.

While a gallery is made, its name is an empty file that its maker holds locked, and the content
grows beside it in ``NAME-making-…``. What a killed maker left is wiped by whoever comes next.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mien._core.atomic import lock_descriptor
from mien.errors import DataError, GalleryError

__all__ = [
    "COMPANIONS",
    "beside",
    "check_links",
    "is_being_made",
    "making",
    "replace_index",
    "wipe_file",
    "wipe_leftovers",
]

#: What may lie beside a gallery: journal, shared memory, index, reserve.
COMPANIONS = ("-wal", "-shm", "-journal", "-index", "-reserve")
_MAKING = "-making-"


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def wipe_file(path: Path) -> None:
    """Overwrite a file with zeros, then remove it; a link is removed, its target never touched."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
        descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | os.O_CLOEXEC)
        try:
            left = os.fstat(descriptor).st_size
            while left > 0:
                left -= os.write(descriptor, bytes(min(left, 2**20)))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    path.unlink(missing_ok=True)


def check_links(path: Path, *, writing: bool) -> None:
    """Refuse to write through links: what they lead to is not the gallery's to change."""
    for suffix in ("", *COMPANIONS):
        place = beside(path, suffix)
        if not place.is_symlink():
            continue
        if suffix == "-index" or not writing:
            continue  # the index is removed or not read; a link is never written through
        raise GalleryError(
            f"{place} is a link, and links are not written through: give the path that it leads to"
            if suffix == ""
            else f"{place} is a link, which no gallery makes: remove it"
        )


@contextmanager
def making(path: Path) -> Iterator[Path]:
    """Give a temporary path that takes the gallery's name when the block ends well.

    If it does not, or the process is killed, no gallery of that name exists.
    """
    if not path.parent.is_dir():
        raise DataError(f"cannot write {path}: the folder {path.parent} does not exist")
    holder = _claim(path)
    temporary = beside(path, f"{_MAKING}{secrets.token_hex(4)}")
    lock: int | None = None
    try:
        for suffix in COMPANIONS:
            # Of a gallery that is no more; a journal would bring its people back.
            wipe_file(beside(path, suffix))
        wipe_leftovers(path)
        lock = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        lock_descriptor(lock)
        yield temporary
        os.fsync(lock)
        os.replace(temporary, path)
        _flush_folder(path.parent)
    except BaseException as error:
        for suffix in ("", *COMPANIONS):
            wipe_file(beside(temporary, suffix))
        if path.exists() and os.path.samestat(path.stat(), os.fstat(holder)):
            path.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, DataError):
            raise DataError(f"cannot write {path}: {error.strerror or error}") from error
        raise
    finally:
        if lock is not None:
            os.close(lock)
        os.close(holder)


def replace_index(place: Path, content: bytes) -> None:
    """Write an index whole or not at all; what stood there is wiped first, a link is replaced."""
    temporary = beside(place, f"{_MAKING}{secrets.token_hex(4)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600)
    try:
        lock_descriptor(descriptor)
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view[: 2**24]) :]
        os.fsync(descriptor)
        wipe_file(place)
        os.replace(temporary, place)
    except BaseException:
        wipe_file(temporary)
        raise
    finally:
        os.close(descriptor)


def wipe_leftovers(path: Path) -> None:
    """Wipe what killed processes left while they made a gallery or an index of this name."""
    prefix = path.name + _MAKING
    with suppress(OSError):
        for place in list(path.parent.iterdir()):
            name = place.name
            if not name.startswith((prefix, path.name + "-index" + _MAKING)):
                continue
            base = place
            for suffix in COMPANIONS:
                base = Path(str(base).removesuffix(suffix))
            if base.exists() and not _is_abandoned(base):
                continue
            wipe_file(place)


def is_being_made(path: Path) -> bool:
    """Whether an empty file is held by a process that makes a gallery of it."""
    return path.stat().st_size == 0 and not _is_abandoned(path)


def _claim(path: Path) -> int:
    """Make the name ours: an empty file that was not there, or one that a killed maker left."""
    flags = os.O_RDWR | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _take_over(path, flags)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror or error}") from error
    lock_descriptor(descriptor, wait=True)
    # Between the two somebody may have taken the empty file over.
    if not path.exists() or not os.path.samestat(path.stat(), os.fstat(descriptor)):
        os.close(descriptor)
        raise GalleryError(f"{path} already exists: open it, or choose another name")
    return descriptor


def _take_over(path: Path, flags: int) -> int:
    there = GalleryError(f"{path} already exists: open it, or choose another name")
    try:
        found = path.lstat()
        # Opening a gallery only to look at it would drop the locks that SQLite holds on it.
        if not stat.S_ISREG(found.st_mode) or found.st_size > 0:
            raise there
        descriptor = os.open(path, flags)
    except OSError as error:
        raise there from error
    mine = lock_descriptor(descriptor) and path.exists()
    if not mine or not os.path.samestat(path.stat(), os.fstat(descriptor)):
        os.close(descriptor)
        raise there
    return descriptor


def _is_abandoned(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return True
    try:
        return bool(lock_descriptor(descriptor))
    finally:
        os.close(descriptor)


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
