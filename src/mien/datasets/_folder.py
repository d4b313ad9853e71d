"""One folder per person: how most people keep their pictures."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import numpy as np

from mien._core.validation import check_choice
from mien.datasets._decode import ON_ERROR, decode_all, decode_path, join_failures
from mien.datasets._record import FaceSet
from mien.errors import DataError, ImageError, InputError
from mien.media import find_media

__all__ = ["load_folder"]


def list_folder(root: Path) -> tuple[dict[str, list[Path]], list[str]]:
    """Return the pictures of every person, and what is wrong with the folder as a whole."""
    if root.exists() and not root.is_dir():
        raise DataError(
            f"{str(root)!r} is not a folder; a folder with one folder per person is needed"
        )
    found = find_media(root, links="all")
    names = _folders_in(root)
    people: dict[str, list[Path]] = {name: [] for name in names}
    loose: list[Path] = []
    for path in found.pictures:
        inside = path.relative_to(root).parts
        (people.setdefault(inside[0], []) if len(inside) > 1 else loose).append(path)
    if not found.pictures and not names:
        raise DataError(f"the folder {str(root)!r} is empty")
    if not any(people.values()):
        where = f"; {len(loose):,} picture(s) lie directly in it" if loose else ""
        raise DataError(
            f"no person's folder with pictures is in {str(root)!r}{where}: "
            "put the pictures of each person into a folder with the person's name"
        )
    wrong = [
        f"{str(path)!r} lies beside the people's folders, so nobody is named" for path in loose
    ]
    wrong += [f"{str(path)!r} is left out: {reason}" for path, reason in found.left_out]
    wrong += [f"{str(root / name)!r} holds no pictures" for name in people if not people[name]]
    return {name: files for name, files in people.items() if files}, wrong


def _folders_in(root: Path) -> list[str]:
    """Names of the visible folders directly in a folder, sorted."""
    with os.scandir(root) as entries:
        return sorted(e.name for e in entries if not e.name.startswith(".") and _is_folder(e))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def load_folder(
    path: str | os.PathLike[str],
    *,
    size: int | tuple[int, int] | None = None,
    colour: bool = False,
    fit: str = "crop",
    min_pictures: int = 1,
    on_error: str = "raise",
) -> FaceSet:
    """Read pictures that are kept as one folder per person.

    Parameters
    ----------
    path : path
        A folder with a folder for each person, whose name is the label. Pictures may lie deeper.
        Files are listed by :func:`mien.media.find_media`: those named like pictures are taken, and
        links are followed.
    size : int or (height, width) or None
        Bring every picture to this size; needed where they differ. An integer is a square.
    colour : bool
        True gives RGB, False grey.
    fit : {"crop", "stretch", "pad"}
        What happens when the proportions differ: cut the middle out, distort, or fill with black.
    min_pictures : int
        Leave out people with fewer readable pictures.
    on_error : {"raise", "skip"}
        Whether pictures that cannot be read are an error that names them, or are left out and
        listed in ``skipped``.

    Returns
    -------
    FaceSet
        People and their pictures in the order of their names. ``metadata`` has ``file`` (relative
        to ``path``) and ``original_size`` (height, width).

    Raises
    ------
    MissingDataError, DataError, ImageError
        If there is no folder, nobody in it, or pictures cannot be read.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from mien.datasets import load_folder
    >>> from mien.media import write_image
    >>> with tempfile.TemporaryDirectory() as root:
    ...     for person in ("ann", "bob"):
    ...         (pathlib.Path(root) / person).mkdir()
    ...         for n in (1, 2):
    ...             _ = write_image(f"{root}/{person}/{n}.png", np.zeros((8, 6), np.uint8))
    ...     load_folder(root).people.tolist()
    ['ann', 'ann', 'bob', 'bob']
    """
    check_choice("on_error", on_error, ON_ERROR)
    if min_pictures < 1:
        raise InputError(f"min_pictures must be at least 1; got {min_pictures!r}")
    root = Path(path)
    people, wrong = list_folder(root)
    if wrong and on_error == "raise":
        raise ImageError(
            join_failures(
                f"{len(wrong):,} thing(s) in {str(root)!r} cannot be used (on_error='skip' leaves "
                "them out)",
                wrong,
            )
        )
    most = max(map(len, people.values()))
    chosen = {name: files for name, files in people.items() if len(files) >= min_pictures}
    if not chosen:
        raise DataError(
            f"nobody in {str(root)!r} has {min_pictures} pictures: the most that one of "
            f"{len(people):,} people has is {most}; lower min_pictures"
        )
    files = [file for mine in chosen.values() for file in mine]
    owner = np.array([name for name, mine in chosen.items() for _ in mine])
    decoded = decode_all(
        [partial(decode_path, file, colour=colour, size=size, fit=fit) for file in files],
        on_error=on_error,
        description="reading pictures",
        already=wrong,
    )
    names = owner[decoded.rows]
    kept = np.array([file.relative_to(root).as_posix() for file in files])[decoded.rows]
    faces = FaceSet(
        decoded.images,
        names,
        {"file": kept, "original_size": decoded.original_size},
        source=f"the folder {root}",
        licence="as the owner of the folder says",
        skipped=decoded.skipped,
    )
    if decoded.skipped and min_pictures > 1:
        labels, counts = np.unique(names, return_counts=True)
        enough = np.isin(names, labels[counts >= min_pictures])
        if not enough.any():
            raise DataError(
                f"nobody in {str(root)!r} has {min_pictures} readable pictures: "
                f"{len(decoded.skipped):,} of {len(files):,} were skipped; lower min_pictures"
            )
        faces = faces.select(enough)
    return faces
