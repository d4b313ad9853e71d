"""Arrays of pictures: checks, sizes, sheets, and the way back into files."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from mien._core.atomic import atomic_path
from mien._core.validation import check_choice
from mien.errors import DataError, InputError
from mien.media._limits import MAX_SIDE
from mien.media._outputs import check_output, mark_picture

__all__ = [
    "FITS",
    "check_picture",
    "check_size",
    "contact_sheet",
    "encode_jpeg",
    "encode_png",
    "fit_image",
    "resize_images",
    "write_image",
]

FITS = ("crop", "stretch", "pad")


def check_size(size: Any) -> tuple[int, int] | None:
    """Return (height, width) from an integer, a pair or None, or say what is wrong with it."""
    if size is None:
        return None
    pair = (size, size) if np.ndim(size) == 0 else tuple(size)
    if len(pair) != 2 or not all(
        isinstance(side, (int, np.integer)) and not isinstance(side, bool) and 1 <= side <= MAX_SIDE
        for side in pair
    ):
        raise InputError(
            f"size must be an integer or (height, width), each from 1 to {MAX_SIDE}; got {size!r}"
        )
    return int(pair[0]), int(pair[1])


def check_picture(image: Any) -> np.ndarray:
    """Return one RGB picture (h, w, 3) uint8 in one piece of memory, or say what is wrong."""
    array = np.asarray(image)
    if array.ndim == 2:
        array = np.repeat(array[..., None], 3, axis=2)
    if array.ndim != 3 or array.shape[2] != 3:
        raise InputError(f"image must be (h, w, 3) RGB or (h, w) grey; got {array.shape}")
    if array.size == 0:
        raise InputError(f"image is empty: the shape is {array.shape}")
    if array.dtype != np.uint8:
        raise InputError(f"image must be uint8 from 0 to 255; got {array.dtype}")
    return np.ascontiguousarray(array)


def encode_jpeg(image: Any, *, quality: int = 88, max_side: int | None = None) -> bytes:
    """One RGB picture (h, w, 3) uint8 as the bytes of a JPEG file, without any metadata.

    Parameters
    ----------
    image : (h, w, 3) uint8
        The picture.
    quality : int
        1 to 95.
    max_side : int or None
        A larger picture is made smaller first, so that no side is longer.
    """
    picture = Image.fromarray(check_picture(image))
    if max_side is not None and max(picture.size) > max_side:
        picture.thumbnail((max_side, max_side), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def fit_image(image: Image.Image, size: tuple[int, int], fit: str) -> Image.Image:
    """Resize one picture of any mode to (height, width) with an antialiasing filter."""
    height, width = size
    if image.size == (width, height):
        return image
    box: tuple[float, float, float, float] = (0, 0, image.width, image.height)
    scale_x, scale_y = width / image.width, height / image.height
    if fit == "crop":
        scale = max(scale_x, scale_y)
        dx = max(image.width - width / scale, 0) / 2
        dy = max(image.height - height / scale, 0) / 2
        box = (dx, dy, image.width - dx, image.height - dy)
    elif fit == "pad":
        scale = min(scale_x, scale_y)
        inner = max(round(image.width * scale), 1), max(round(image.height * scale), 1)
        canvas = Image.new(image.mode, (width, height))
        place = ((width - inner[0]) // 2, (height - inner[1]) // 2)
        canvas.paste(image.resize(inner, Image.Resampling.LANCZOS), place)
        return canvas
    return image.resize((width, height), Image.Resampling.LANCZOS, box=box)


def resize_images(
    images: np.ndarray, size: int | tuple[int, int], *, fit: str = "crop"
) -> np.ndarray:
    """Resize pictures with an antialiasing (Lanczos) filter.

    Parameters
    ----------
    images : (n, h, w) or (n, h, w, 3)
        ``uint8``, or floats in [0, 1].
    size : int or (height, width)
        An integer is a square.
    fit : {"crop", "stretch", "pad"}
        As in `read_image`.

    Returns
    -------
    (n, height, width) or (n, height, width, 3)
        ``uint8`` as it came, or ``float32``, cut to [0, 1].
    """
    wanted = check_size(size)
    if wanted is None:
        raise InputError("size must be given")
    check_choice("fit", fit, FITS)
    images = np.asarray(images)
    if not (images.ndim == 3 or (images.ndim == 4 and images.shape[-1] == 3)):
        raise InputError(f"images must be (n, h, w) or (n, h, w, 3); got {images.shape}")
    if images.dtype == np.uint8:
        done = [np.asarray(fit_image(Image.fromarray(image), wanted, fit)) for image in images]
        return np.stack(done) if done else images.reshape(0, *wanted, *images.shape[3:])
    if images.dtype.kind != "f":
        raise InputError(f"images must be uint8, or floats in [0, 1]; got {images.dtype}")
    planes = images.astype(np.float32, copy=False)
    planes = planes[..., None] if planes.ndim == 3 else planes
    out = np.empty((len(images), *wanted, planes.shape[-1]), dtype=np.float32)
    for n, image in enumerate(planes):
        for channel in range(planes.shape[-1]):
            plane = Image.fromarray(np.ascontiguousarray(image[..., channel]))
            out[n, ..., channel] = np.asarray(fit_image(plane, wanted, fit))
    np.clip(out, 0, 1, out=out)
    return out[..., 0] if images.ndim == 3 else out


def _as_uint8(name: str, image: Any) -> np.ndarray:
    array = np.asarray(image)
    if array.dtype == np.uint8:
        return array
    if array.dtype.kind not in "fb" or not np.all(np.isfinite(array)):
        raise InputError(f"{name} must be uint8, or finite floats in [0, 1]; got {array.dtype}")
    return np.round(np.clip(array, 0, 1) * 255).astype(np.uint8)


def contact_sheet(
    images: Sequence[Any] | np.ndarray, columns: int = 10, *, gap: int = 2
) -> np.ndarray:
    """Lay pictures of one size side by side, row by row, on white.

    Parameters
    ----------
    images : (n, h, w) or (n, h, w, 3)
        ``uint8``, or floats in [0, 1].
    columns : int
        Pictures in a row.
    gap : int
        White pixels around each picture.

    Returns
    -------
    (H, W) or (H, W, 3) uint8
    """
    array = _as_uint8("images", images)
    if not (array.ndim == 3 or (array.ndim == 4 and array.shape[-1] == 3)) or len(array) == 0:
        raise InputError(
            f"images must be (n, h, w) or (n, h, w, 3) with n of at least 1; got {array.shape}"
        )
    if columns < 1 or gap < 0:
        raise InputError(f"columns must be at least 1 and gap at least 0; got {columns}, {gap}")
    columns = min(columns, len(array))
    rows = -(-len(array) // columns)
    height, width = array.shape[1] + gap, array.shape[2] + gap
    sheet = np.full((rows * height + gap, columns * width + gap, *array.shape[3:]), 255, np.uint8)
    for n, image in enumerate(array):
        top, left = gap + (n // columns) * height, gap + (n % columns) * width
        sheet[top : top + array.shape[1], left : left + array.shape[2]] = image
    return sheet


def encode_png(image: Any) -> bytes:
    """A picture (h, w) or (h, w, 3), ``uint8`` or floats in [0, 1], as the bytes of a PNG file."""
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(_as_uint8("image", image))).save(buffer, "PNG")
    return buffer.getvalue()


def write_image(path: str | os.PathLike[str], image: Any) -> Path:
    """Write a picture as PNG or JPEG, whichever the name says; the file appears whole or not.

    What shows faces is readable by its owner only, and so is every picture that is written.

    Parameters
    ----------
    path : path
        Ends with .png, .jpg or .jpeg. The folder must exist. A file that mien did not write is
        not overwritten.
    image : (h, w) or (h, w, 3)
        ``uint8``, or floats in [0, 1].

    Returns
    -------
    Path
        Where it was written.
    """
    path = Path(path)
    kind = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}.get(path.suffix.lower())
    if kind is None:
        raise InputError(f"a picture is written as .png, .jpg or .jpeg; got {str(path)!r}")
    array = _as_uint8("image", image)
    if array.size == 0 or not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 3)):
        raise InputError(f"image must be (h, w) or (h, w, 3); got {array.shape}")
    check_output(path)
    buffer = io.BytesIO()
    try:
        # Level 4 takes less than half the time of zlib's usual 6 for a twelfth more bytes.
        Image.fromarray(np.ascontiguousarray(array)).save(
            buffer, kind, compress_level=4, **mark_picture(kind)
        )
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be written: {error}") from error
    with atomic_path(path, private=True, flush=False) as partial:
        partial.write_bytes(buffer.getbuffer())
    return path
