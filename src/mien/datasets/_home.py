"""Where the real data are: an argument, or the environment variable MIEN_DATA."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from mien.errors import DataError, MissingDataError
from mien.media import resize_images

__all__ = ["data_home"]

VARIABLE = "MIEN_DATA"
_MAX_BYTES = 4 * 2**30


def data_home(home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of real data.

    Parameters
    ----------
    home : path or None
        The folder; None takes the environment variable ``MIEN_DATA``.

    Raises
    ------
    MissingDataError
        If neither is given, or what is given is not a folder.
    """
    if home is not None:
        path, origin = Path(home), "the argument home"
    elif os.environ.get(VARIABLE):
        path, origin = Path(os.environ[VARIABLE]), f"the environment variable {VARIABLE}"
    else:
        raise MissingDataError(
            "the folder of the real data sets is not known: name it, or set the environment "
            f"variable {VARIABLE} to the folder that holds orl/, yale/ and lfw/"
        )
    path = path.expanduser()
    if not path.is_dir():
        raise MissingDataError(f"{origin} names {str(path)!r}, which is not a folder")
    return path


def find_place(
    name: str, home: str | os.PathLike[str] | None, wanted: str, signs: tuple[str, ...]
) -> Path:
    """Return the folder of a set: ``home/name``, or ``home`` itself.

    Parameters
    ----------
    name : str
        Folder of the set below the home.
    home : path or None
        As in `data_home`.
    wanted : str
        What the set's folder must hold, in words, for the error.
    signs : tuple of str
        Patterns of which one must match in the folder.
    """
    base = data_home(home)
    looked = [base / name, base]
    for place in looked:
        if place.is_dir() and any(next(place.glob(sign), None) is not None for sign in signs):
            return place
    raise MissingDataError(
        f"the set {name!r} was not found: looked for {wanted} in "
        f"{' and '.join(repr(str(place)) for place in looked)}; name another folder, or set "
        f"{VARIABLE} to the folder that holds {name}/"
    )


def read_arrays(path: Path, wanted: dict[str, tuple[str, int]]) -> dict[str, np.ndarray]:
    """Read arrays of an npz file, none of which may hold Python objects.

    Parameters
    ----------
    path : Path
        The file.
    wanted : dict of name to (kinds, ndim)
        Which arrays must be there, with the letters of their allowed ``dtype.kind`` and their
        number of dimensions.
    """
    if not path.is_file():
        raise MissingDataError(f"{str(path)!r} does not exist")
    found: dict[str, Any] = {}
    try:
        # NumPy leaves a damaged file open when it is given the path.
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            n_bytes = sum(member.file_size for member in archive.infolist())
            if n_bytes > _MAX_BYTES:
                raise DataError(
                    f"{str(path)!r} unpacks to {n_bytes:,} bytes, more than {_MAX_BYTES:,}"
                )
            file.seek(0)
            arrays = np.load(file, allow_pickle=False)
            missing = sorted(set(wanted) - set(arrays.files))
            if missing:
                raise DataError(
                    f"{str(path)!r} has no {', '.join(missing)}; it has "
                    f"{', '.join(sorted(arrays.files)) or 'nothing'}"
                )
            for name in wanted:
                found[name] = arrays[name]
    except DataError:
        raise
    except Exception as error:  # zipfile, zlib, struct and NumPy each have their own
        raise DataError(f"{str(path)!r} is not a readable npz file: {error}") from error
    for name, (kinds, ndim) in wanted.items():
        array = found[name]
        if array.dtype.kind not in kinds or array.ndim != ndim:
            raise DataError(
                f"{name} in {str(path)!r} must have {ndim} dimension(s) of kind {kinds!r}; got "
                f"{array.dtype} of shape {array.shape}"
            )
        if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
            bad = int(np.count_nonzero(~np.isfinite(array)))
            raise DataError(f"{name} in {str(path)!r} has {bad} NaN or infinite entries")
    return found


def read_prepared(path: Path, labels: dict[str, str]) -> dict[str, np.ndarray]:
    """Read ``images`` (n, h, w) uint8 and labels, one of each kind per picture, from a file."""
    arrays = read_arrays(path, {"images": ("u", 3), **{k: (v, 1) for k, v in labels.items()}})
    images = arrays["images"]
    if images.dtype != np.uint8 or images.size == 0:
        raise DataError(
            f"images in {str(path)!r} must be uint8 and not empty; got {images.dtype} of shape "
            f"{images.shape}"
        )
    for name in labels:
        if len(arrays[name]) != len(images):
            raise DataError(
                f"{name} in {str(path)!r} has {len(arrays[name])} entries for {len(images)} images"
            )
    return arrays


def fit_prepared(images: np.ndarray, size: int | tuple[int, int] | None, fit: str) -> np.ndarray:
    """Resize where a size is asked for."""
    return images if size is None else resize_images(images, size, fit=fit)
