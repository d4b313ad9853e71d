"""Opening files that others name: regular ones only, and nothing is waited for."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

__all__ = ["NotRegularError", "open_regular"]


class NotRegularError(OSError):
    """What was named is a folder, a pipe, a socket or a device."""


def open_regular(path: str | os.PathLike[str]) -> BufferedReader:
    """Open a regular file for reading; anything else is a `NotRegularError`.

    Parameters
    ----------
    path : path
        Opened once. A pipe that nobody writes to would be waited for without end by `open`.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        if isinstance(error, IsADirectoryError) or Path(path).is_dir():  # Windows refuses a folder
            raise _refuse(path) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _refuse(path)
    return os.fdopen(descriptor, "rb")


def _refuse(path: str | os.PathLike[str]) -> NotRegularError:
    return NotRegularError(errno.EINVAL, "not a regular file", os.fspath(path))
