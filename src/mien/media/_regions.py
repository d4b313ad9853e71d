"""Named places in pictures, and how an orientation turns them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from mien.errors import InputError
from mien.media._decoding import ORIENTATION_TAG, open_header

__all__ = [
    "NamedRegion",
    "PictureNames",
    "StoredPicture",
    "describe_picture",
    "turn_box",
    "upright_size",
]

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class NamedRegion:
    """A place in a picture and whose face is there.

    Attributes
    ----------
    name : str or None
        None where a face is marked and not named.
    box : (left, top, width, height)
        Shares of the width and height of the upright picture, as people see it.
    """

    name: str | None
    box: Box


@dataclass(frozen=True)
class PictureNames:
    """What is known about who is on a picture.

    Attributes
    ----------
    path : Path
        The picture.
    regions : list of NamedRegion
        Names with places.
    names : list of str
        Names without places, without those that have one.
    sources : list of str
        Where this was found: "xmp", "picasa", "takeout", "table" or "folder".
    """

    path: Path
    regions: list[NamedRegion] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class StoredPicture:
    """Width and height as the file has them, and the EXIF orientation (1 to 8)."""

    width: int
    height: int
    orientation: int


def describe_picture(path: Path) -> StoredPicture:
    """Size and orientation from the header of a file; nothing is decoded."""
    try:
        with open_header(path) as image:
            width, height = image.size
            orientation = int(image.getexif().get(ORIENTATION_TAG, 1) or 1)
    except Exception as error:
        raise InputError(f"{str(path)!r} is not a picture whose size can be read") from error
    return StoredPicture(width, height, orientation if 1 <= orientation <= 8 else 1)


def upright_size(path: Path) -> tuple[int, int]:
    """Width and height of a picture as people see it, from its header."""
    stored = describe_picture(path)
    if stored.orientation >= 5:
        return stored.height, stored.width
    return stored.width, stored.height


def turn_box(box: Box, orientation: int, *, to_stored: bool) -> Box:
    """A box of shares in the upright picture from one in the stored picture, or the other way.

    Parameters
    ----------
    box : (left, top, width, height)
        Shares of width and height.
    orientation : int
        The EXIF orientation: how the stored picture must be turned to be upright.
    to_stored : bool
        True from upright to stored, False from stored to upright.
    """
    left, top, width, height = box
    right, bottom = left + width, top + height
    if orientation in (6, 8):
        # The two quarter turns undo each other; all others undo themselves.
        orientation = (8 if orientation == 6 else 6) if to_stored else orientation
    if orientation == 2:
        return 1 - right, top, width, height
    if orientation == 3:
        return 1 - right, 1 - bottom, width, height
    if orientation == 4:
        return left, 1 - bottom, width, height
    if orientation == 5:
        return top, left, height, width
    if orientation == 6:
        return 1 - bottom, left, height, width
    if orientation == 7:
        return 1 - bottom, 1 - right, height, width
    if orientation == 8:
        return top, 1 - right, height, width
    return box
