"""The one listing of pictures and videos: which files of a folder are taken, and in which order."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from mien.errors import DataError, MissingDataError

__all__ = [
    "PICTURE_SUFFIXES",
    "VIDEO_SUFFIXES",
    "MediaFiles",
    "find_media",
    "find_pictures",
    "is_picture",
    "is_video",
]

PICTURE_SUFFIXES = frozenset(
    [
        ".jpg",
        ".jpeg",
        ".jpe",
        ".jfif",
        ".mpo",
        ".png",
        ".webp",
        ".bmp",
        ".dib",
        ".tif",
        ".tiff",
        ".pgm",
        ".ppm",
        ".pnm",
        ".gif",
    ]
)
"""How the names of pictures end, in lower case; the content decides how a file is decoded."""
VIDEO_SUFFIXES = frozenset(
    [
        ".mp4",
        ".m4v",
        ".mov",
        ".3gp",
        ".webm",
        ".mkv",
        ".avi",
        ".ogv",
        ".flv",
        ".mpg",
        ".mpeg",
        ".mts",
        ".m2ts",
        ".wmv",
        ".asf",
    ]
)
"""How the names of videos end, in lower case; the content decides how a file is read."""

# What file managers leave behind without hiding it.
_LITTER = {"thumbs.db", "desktop.ini"}


@dataclass(frozen=True)
class MediaFiles:
    """The pictures and videos of a folder.

    Parameters
    ----------
    pictures : list of Path
        Files with the suffix of a picture, in the order of their paths.
    videos : list of Path
        Files with the suffix of a video, in the same order.
    left_out : list of (Path, str)
        What was not looked at although it may hold pictures, such as a folder that cannot be
        read, each with the reason.
    """

    pictures: list[Path] = field(default_factory=list)
    videos: list[Path] = field(default_factory=list)
    left_out: list[tuple[Path, str]] = field(default_factory=list)


def is_picture(path: str | os.PathLike[str]) -> bool:
    """Whether a name ends like that of a picture; nothing is read.

    Examples
    --------
    >>> from mien.media import is_picture
    >>> is_picture("holiday/IMG_0001.JPG"), is_picture("notes.txt")
    (True, False)
    """
    return Path(path).suffix.lower() in PICTURE_SUFFIXES


def is_video(path: str | os.PathLike[str]) -> bool:
    """Whether a name ends like that of a video; nothing is read.

    Examples
    --------
    >>> from mien.media import is_video
    >>> is_video("party.mp4"), is_video("party.jpg")
    (True, False)
    """
    return Path(path).suffix.lower() in VIDEO_SUFFIXES


def find_media(path: str | os.PathLike[str]) -> MediaFiles:
    """List the pictures and videos of a folder and of all folders below it, in a fixed order.

    Parameters
    ----------
    path : path
        A folder; or a single file, which is taken for a picture unless it is named like a video.

    Returns
    -------
    MediaFiles
        Sorted by path. Hidden files and folders are ignored. Links are followed, but every folder
        is visited once, so links that lead back or fan out do no harm.

    Raises
    ------
    MissingDataError
        If there is no such file or folder.
    DataError
        If the folder itself cannot be read. A folder below it that cannot be read is in
        ``left_out``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mien.media import find_media
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("b.jpg", "a.png", "film.mp4", "notes.txt"):
    ...         pathlib.Path(folder, name).touch()
    ...     found = find_media(folder)
    >>> [path.name for path in found.pictures], [path.name for path in found.videos]
    (['a.png', 'b.jpg'], ['film.mp4'])
    """
    root = Path(path)
    if not root.is_dir():
        if not root.exists():
            raise MissingDataError(f"{str(root)!r} is not there")
        return MediaFiles(videos=[root]) if is_video(root) else MediaFiles(pictures=[root])
    found = MediaFiles()
    seen: set[tuple[int, int]] = set()
    waiting = [root]
    while waiting:
        place = waiting.pop()
        if not _is_folder(place):
            (found.videos if is_video(place) else found.pictures).append(place)
            continue
        try:
            status = place.stat()
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            names = sorted(os.listdir(place), reverse=True)
        except OSError as error:
            if place == root:
                raise DataError(f"the folder {str(root)!r} cannot be read: {error}") from error
            found.left_out.append((place, f"the folder cannot be read: {error.strerror}"))
            continue
        for name in names:
            entry = place / name
            if name.startswith(".") or name.lower() in _LITTER:
                continue
            if is_picture(entry) or is_video(entry) or _is_folder(entry):
                waiting.append(entry)
    return found


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a link that leads to itself: reading it as a picture says so by name
        return False


def find_pictures(path: str | os.PathLike[str]) -> list[Path]:
    """List the pictures of a folder and of all folders below it, in a fixed order.

    Parameters
    ----------
    path : path
        A folder, or a single file, which is taken whatever its name.

    Returns
    -------
    list of Path
        As ``find_media(path).pictures``.

    See Also
    --------
    find_media : also lists videos, and what was left out.
    """
    root = Path(path)
    return [root] if root.is_file() else find_media(root).pictures
