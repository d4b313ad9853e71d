"""Pictures that mien writes carry a mark, and nothing without the mark is ever overwritten."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from PIL import PngImagePlugin

from mien.errors import DataError, InputError

__all__ = ["check_output", "mark_picture"]

_MARK = "written by mien"
_LOOKED_AT = 4096


def mark_picture(kind: str) -> dict[str, Any]:
    """Arguments for Pillow's ``save`` that leave the mark in a PNG or JPEG file."""
    if kind == "JPEG":
        return {"comment": _MARK.encode("ascii"), "quality": 95}
    text = PngImagePlugin.PngInfo()
    text.add_text("Software", _MARK)
    return {"pnginfo": text}


def check_output(
    path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]] = ()
) -> Path:
    """Refuse to write a picture over an input, or over anything that mien did not write.

    Parameters
    ----------
    path : path
        The picture to write. Asked before the work begins, so that none is lost.
    inputs : iterable of path
        Files that are read.
    """
    target = Path(path)
    for one in inputs:
        if Path(one).exists() and target.exists() and os.path.samefile(one, target):
            raise InputError(f"{str(path)!r} is one of the inputs: write to another file")
    if target.is_dir():
        raise InputError(f"{str(path)!r} is a folder: give the name of a file")
    if target.exists() and target.stat().st_size:
        try:
            with open(target, "rb") as file:
                marked = _MARK.encode("ascii") in file.read(_LOOKED_AT)
        except OSError as error:
            raise DataError(f"{str(path)!r} cannot be read: {error.strerror}") from error
        if not marked:
            raise InputError(
                f"{str(path)!r} exists and was not written by mien: write to another file, or "
                "remove it first"
            )
    if not target.parent.is_dir():
        raise InputError(f"{str(path)!r} cannot be written: its folder does not exist")
    return target
