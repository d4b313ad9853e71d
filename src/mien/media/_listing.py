"""The one listing of pictures and videos: which files of a folder are taken, and in which order."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mien._core.validation import check_choice
from mien.errors import DataError, MissingDataError

__all__ = [
    "PICTURE_SUFFIXES",
    "VIDEO_SUFFIXES",
    "MediaFiles",
    "find_media",
    "find_pictures",
    "gather_media",
    "is_picture",
    "is_video",
]

PICTURE_SUFFIXES = frozenset(
    {".jpg", ".jpeg", ".jpe", ".jfif", ".mpo", ".png", ".webp", ".bmp", ".dib", ".tif", ".tiff"}
    | {".pgm", ".ppm", ".pnm", ".gif", ".heic", ".heif", ".hif", ".avif"}
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

_RAW = "a camera's raw file, which is not read: export it as JPEG"
_OTHER = "a kind of picture that is not read: export it as JPEG or PNG"
_UNREAD = dict.fromkeys(
    (
        ".3fr", ".arw", ".cr2", ".cr3", ".crw", ".dng", ".erf", ".kdc", ".mrw", ".nef", ".nrw",
        ".orf", ".pef", ".raf", ".raw", ".rw2", ".rwl", ".sr2", ".srf", ".srw", ".x3f",
    ),
    _RAW,
) | dict.fromkeys(
    (".jxl", ".jp2", ".j2k", ".jxr", ".psd", ".xcf", ".exr", ".hdr"), _OTHER
)  # fmt: skip
_LINKS = ("files", "all", "none")

# Films of a few seconds that phones put beside a still of the same name.
_MOTION = {".mov", ".mp4"}
_MOTION_BYTES = 16 * 2**20
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
        What looks like a picture and is not read, such as a camera's raw file, and what was not
        looked into, such as a folder without permission or a link out of the folder; each with
        the reason.
    live : list of Path
        Films of live photos: a still of the same name is among the pictures, so they are not read.
    """

    pictures: list[Path] = field(default_factory=list)
    videos: list[Path] = field(default_factory=list)
    left_out: list[tuple[Path, str]] = field(default_factory=list)
    live: list[Path] = field(default_factory=list)


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


def find_media(path: str | os.PathLike[str], *, links: str = "files") -> MediaFiles:
    """List the pictures and videos of a folder and of all folders below it, in a fixed order.

    Parameters
    ----------
    path : path
        A folder; or a single file, which is taken for a picture unless it is named like a video.
    links : {"files", "all", "none"}
        Which symbolic links that lead out of the folder are followed: those to files, which
        ``mien cluster`` writes; those to folders as well; or none of them, for folders of
        strangers. Links within the folder are no matter: every folder is visited once.

    Returns
    -------
    MediaFiles
        Sorted by path. Hidden files and folders are ignored.

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
    ...     for name in ("b.jpg", "a.png", "film.mp4", "c.cr2", "notes.txt"):
    ...         pathlib.Path(folder, name).touch()
    ...     found = find_media(folder)
    >>> [path.name for path in found.pictures], [path.name for path in found.videos]
    (['a.png', 'b.jpg'], ['film.mp4'])
    >>> [(path.name, reason) for path, reason in found.left_out]
    [('c.cr2', "a camera's raw file, which is not read: export it as JPEG")]
    """
    check_choice("links", links, _LINKS)
    root = Path(path)
    if not root.is_dir():
        if not root.exists():
            raise MissingDataError(f"{str(root)!r} does not exist")
        return MediaFiles(videos=[root]) if is_video(root) else MediaFiles(pictures=[root])
    found = MediaFiles()
    inside = os.path.realpath(root)
    seen: set[tuple[int, int]] = set()
    # A stack and no recursion: folders may be nested deeper than Python's calls.
    waiting = [root]
    while waiting:
        place = waiting.pop()
        if not _is_folder(place):
            _sort_in(place, found)
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
            is_folder = _is_folder(entry)
            if not (is_folder or _looks_like_media(entry)):
                continue
            if entry.is_symlink() and not _may_follow(entry, is_folder, inside, links):
                kind = "folder" if is_folder else "file"
                reason = f"a link to a {kind} elsewhere, which is not followed"
                found.left_out.append((entry, reason))
                continue
            waiting.append(entry)
    return _leave_out_motion(found)


def gather_media(
    places: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
) -> MediaFiles:
    """As :func:`find_media`, of one place or several: folders and files, each file once.

    Parameters
    ----------
    places : path or iterable of path
        What a user named, such as a folder, or files by a pattern of the shell.

    Returns
    -------
    MediaFiles
        In the order of the places.
    """
    if isinstance(places, (str, os.PathLike)):
        return find_media(places)
    found = [find_media(place) for place in places]
    return _leave_out_motion(
        MediaFiles(
            list(dict.fromkeys(path for one in found for path in one.pictures)),
            list(dict.fromkeys(path for one in found for path in one.videos)),
            list(dict.fromkeys(pair for one in found for pair in one.left_out)),
            list(dict.fromkeys(path for one in found for path in one.live)),
        )
    )


def _leave_out_motion(found: MediaFiles) -> MediaFiles:
    """A live photo is a still and a few seconds of film of one name: the still shows everybody."""
    stills = {path.with_suffix("") for path in found.pictures}
    videos = []
    for path in found.videos:
        motion = path.suffix.lower() in _MOTION and path.with_suffix("") in stills
        if motion and _size(path) <= _MOTION_BYTES:
            found.live.append(path)
        else:
            videos.append(path)
    return MediaFiles(found.pictures, videos, found.left_out, found.live)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # reading it says so
        return 0


def _looks_like_media(path: Path) -> bool:
    return is_picture(path) or is_video(path) or path.suffix.lower() in _UNREAD


def _sort_in(path: Path, found: MediaFiles) -> None:
    if is_video(path):
        found.videos.append(path)
    elif is_picture(path):
        found.pictures.append(path)
    else:
        found.left_out.append((path, _UNREAD[path.suffix.lower()]))


def _may_follow(link: Path, is_folder: bool, inside: str, links: str) -> bool:
    """Whether a link is looked at; one that leads nowhere is, so that reading it says so."""
    if links == "all" or (links == "files" and not is_folder):
        return True
    target = os.path.realpath(link)
    return target == inside or target.startswith(inside + os.sep)


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
