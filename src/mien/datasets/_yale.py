"""The Yale faces: 165 pictures, 15 people in eleven conditions, nine of them exact duplicates."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path

import numpy as np

from mien._core.validation import check_choice
from mien.datasets._decode import ON_ERROR, decode_all, decode_path
from mien.datasets._home import find_place, fit_prepared, read_prepared
from mien.datasets._record import FaceSet
from mien.errors import MissingDataError

__all__ = ["load_yale"]

LICENCE = "research with acknowledgement; not into any publicly distributed database"
SOURCE = "Yale faces (Belhumeur, Hespanha and Kriegman, 1997)"
PREPARED = {"full": "yale.npz", "64x64": "yale_64x64.npz", "32x32": "yale_32x32.npz"}
SIGNS = ("yale*.npz", "subject01.*", "*/subject01.*")
_LIGHTS = {"centerlight": "center", "leftlight": "left", "rightlight": "right"}
_EXPRESSIONS = ("happy", "sad", "sleepy", "surprised", "wink")
_CONDITIONS = tuple(sorted([*_LIGHTS, *_EXPRESSIONS, "glasses", "noglasses", "normal"]))
_PEOPLE = 15
_NAME = re.compile(r"subject(\d\d)\.([a-z]+)(?:\.[a-z]{3,4})?")


def tree_below(place: Path) -> Path | None:
    """Return the folder that holds subject01.centerlight and so on, if there is one."""
    for sign in ("subject01.*", "*/subject01.*"):
        for found in sorted(place.glob(sign)):
            return found.parent
    return None


def list_tree(tree: Path) -> dict[tuple[int, str], Path]:
    """Return the file of each person and condition; the name may have an extension at its end."""
    found: dict[tuple[int, str], Path] = {}
    for path in sorted(tree.iterdir()):
        match = _NAME.fullmatch(path.name)
        if match and match[2] in _CONDITIONS:
            found.setdefault((int(match[1]), match[2]), path)
    return found


def _mark_duplicates(images: np.ndarray, people: np.ndarray, condition: np.ndarray) -> np.ndarray:
    """Name, for each picture, an earlier condition of the same person with the same pixels."""
    identical = np.full(len(images), "", dtype=condition.dtype)
    first: dict[tuple[int, bytes], str] = {}
    for n, image in enumerate(images):
        key = (int(people[n]), image.tobytes())
        if key in first:
            identical[n] = first[key]
        else:
            first[key] = str(condition[n])
    return identical


def load_yale(
    home: str | os.PathLike[str] | None = None,
    *,
    variant: str = "full",
    size: int | tuple[int, int] | None = None,
    fit: str = "crop",
    duplicates: bool = False,
    on_error: str = "raise",
) -> FaceSet:
    """Read the Yale faces: from the original tree or the prepared files.

    Parameters
    ----------
    home : path or None
        The folder that holds ``yale/``, or that folder itself; None takes ``MIEN_DATA``. In it is
        the original tree (``subject01.centerlight`` …) or ``yale.npz``.
    variant : {"full", "64x64", "32x32"}
        243×320 pixels, or the crops of the face that others have prepared. The tree has the full
        pictures only.
    size : int or (height, width) or None
        Resize to this.
    fit : {"crop", "stretch", "pad"}
        What happens when the proportions differ.
    duplicates : bool
        Whether to keep the nine pictures that equal another one of the same person, pixel by
        pixel, under the name of another condition. Without them 156 remain.
    on_error : {"raise", "skip"}
        Whether missing and damaged files of the tree are an error or left out and listed.

    Returns
    -------
    FaceSet
        ``people`` 1 … 15; ``metadata`` has ``condition``, ``illumination``, ``expression``,
        ``identical_to`` (empty, or the condition that it duplicates) and ``file``.
    """
    check_choice("variant", variant, tuple(PREPARED))
    check_choice("on_error", on_error, ON_ERROR)
    place = find_place("yale", home, f"{PREPARED[variant]} or subject01.centerlight …", SIGNS)
    tree = tree_below(place)
    path = place / PREPARED[variant]
    if path.is_file() or variant != "full" or tree is None:
        names = ("condition", "illumination", "expression", "identical_to")
        arrays = read_prepared(
            path, {"subject": "iu", "filename": "U", **dict.fromkeys(names, "U")}
        )
        faces = FaceSet(
            fit_prepared(arrays["images"], size, fit),
            arrays["subject"],
            {**{name: arrays[name] for name in names}, "file": arrays["filename"]},
            source=f"{SOURCE}, {path}",
            licence=LICENCE,
        )
    else:
        faces = _load_tree(tree, size, fit, on_error)
    return faces if duplicates else faces.select(faces.metadata["identical_to"] == "")


def _load_tree(tree: Path, size: int | tuple[int, int] | None, fit: str, on_error: str) -> FaceSet:
    files = list_tree(tree)
    wanted = [(k, condition) for k in range(1, _PEOPLE + 1) for condition in _CONDITIONS]
    if not files:
        raise MissingDataError(f"{str(tree)!r} has no picture named like 'subject01.centerlight'")
    paths = [files.get((k, name), tree / f"subject{k:02}.{name}") for k, name in wanted]
    decoded = decode_all(
        [partial(decode_path, path) for path in paths],
        on_error=on_error,
        description="reading Yale",
    )
    people = np.array([k for k, _ in wanted])[decoded.rows]
    condition = np.array([name for _, name in wanted])[decoded.rows]
    return FaceSet(
        fit_prepared(decoded.images, size, fit),
        people,
        {
            "condition": condition,
            "illumination": np.array([_LIGHTS.get(name, "ambient") for name in condition]),
            "expression": np.array(
                [name if name in _EXPRESSIONS else "normal" for name in condition]
            ),
            "identical_to": _mark_duplicates(decoded.images, people, condition),
            "file": np.array([path.name for path in paths])[decoded.rows],
        },
        source=f"{SOURCE}, {tree}",
        licence=LICENCE,
        skipped=decoded.skipped,
    )
