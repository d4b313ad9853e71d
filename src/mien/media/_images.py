"""Pictures in files, to arrays and back: the one door through which decoded pixels come in."""

from __future__ import annotations

import io
import os
import stat
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from PIL import Image, UnidentifiedImageError

from mien._core.validation import check_choice
from mien.errors import DataError, ImageError, InputError, MissingDataError

__all__ = [
    "MAX_PIXELS",
    "MAX_SIDE",
    "DecodedImage",
    "check_picture",
    "check_size",
    "contact_sheet",
    "decode_file",
    "decode_image",
    "open_picture",
    "read_image",
    "resize_images",
    "write_image",
]

MAX_PIXELS = 64_000_000
"""Most pixels of a picture that is decoded unless the caller says otherwise."""
MAX_SIDE = 16_384
"""Most pixels along one side of a picture that is decoded unless the caller says otherwise."""

# Only formats without scripts, external programs or fonts behind them.
_FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF", "PPM", "GIF")
_FORMATS_IN_WORDS = "JPEG, PNG, WebP, BMP, TIFF, PGM/PPM and GIF"
_FITS = ("crop", "stretch", "pad")
_ORIENTATION_TAG = 0x0112
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


class DecodedImage(NamedTuple):
    """A picture as asked for, and the height and width that it has in its file, upright."""

    pixels: np.ndarray
    original_size: tuple[int, int]


class _Quiet:
    """Silence the decoder's warnings from any number of threads at once.

    ``warnings.catch_warnings`` saves and restores the filters of the whole process, so two threads
    that overlap may restore them in the wrong order. Here the first one in saves, the last one out
    restores.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._saved: warnings.catch_warnings[None] | None = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._saved = warnings.catch_warnings()
                self._saved.__enter__()
                warnings.simplefilter("ignore")
        try:
            yield
        finally:
            with self._lock:
                self._depth -= 1
                if self._depth == 0 and self._saved is not None:
                    self._saved.__exit__(None, None, None)


_quiet = _Quiet()


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


def read_image(
    path: str | os.PathLike[str],
    *,
    colour: bool = False,
    size: int | tuple[int, int] | None = None,
    fit: str = "crop",
    max_pixels: int = MAX_PIXELS,
    max_side: int = MAX_SIDE,
) -> np.ndarray:
    """Decode one picture, judged by its content and not by its name.

    Parameters
    ----------
    path : path
        JPEG, PNG, WebP, BMP, TIFF, PGM/PPM or GIF. The first frame of a still picture; animations
        and files of several pages are refused.
    colour : bool
        True gives RGB, False grey (the luma of ITU-R 601).
    size : int or (height, width) or None
        Resize to this; an integer is a square.
    fit : {"crop", "stretch", "pad"}
        What happens when the proportions differ: cut the middle out, distort, or fill with black.
    max_pixels : int
        Larger pictures are refused by the size in their header, before a pixel is decoded.
    max_side : int
        The same for the longer side.

    Returns
    -------
    (h, w) or (h, w, 3) uint8
        Upright (the EXIF orientation is applied). Transparent parts are laid on white, 16-bit
        values are scaled to 8, CMYK and palettes converted.

    Raises
    ------
    MissingDataError
        Where there is no such file.
    ImageError
        Where it is empty, no picture, damaged, too large, or of a kind that has no fixed range of
        values (floats, 32-bit integers); the message names the file and the reason.

    Notes
    -----
    Pillow's own limit, ``PIL.Image.MAX_IMAGE_PIXELS``, stands above ``max_pixels``.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from mien.media import read_image, write_image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_image(pathlib.Path(folder) / "a.png", np.full((4, 6), 9, np.uint8))
    ...     read_image(path, size=2).tolist()
    [[9, 9], [9, 9]]
    """
    path = Path(path)
    with open_picture(path) as file:
        return decode_file(
            file,
            repr(str(path)),
            colour=colour,
            size=size,
            fit=fit,
            max_pixels=max_pixels,
            max_side=max_side,
        ).pixels


def decode_image(
    data: bytes,
    name: str = "the picture",
    *,
    colour: bool = False,
    size: int | tuple[int, int] | None = None,
    fit: str = "crop",
    max_pixels: int = MAX_PIXELS,
    max_side: int = MAX_SIDE,
) -> np.ndarray:
    """Decode a picture from bytes, such as an upload or a member of an archive.

    Parameters are those of `read_image`; ``name`` is what the errors call the picture.
    """
    return decode_file(
        io.BytesIO(data),
        name,
        colour=colour,
        size=size,
        fit=fit,
        max_pixels=max_pixels,
        max_side=max_side,
    ).pixels


@contextmanager
def open_picture(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file to read; what a folder, a pipe or a lost link is, the error says."""
    try:
        # A pipe would block in open() until somebody writes, so look first.
        regular = stat.S_ISREG(path.stat().st_mode)
        file = path.open("rb") if regular else None
    except FileNotFoundError as error:
        raise MissingDataError(f"{str(path)!r} is not there") from error
    except (OSError, ValueError) as error:
        raise ImageError(f"{str(path)!r} cannot be opened: {error}") from error
    if file is None:
        raise ImageError(f"{str(path)!r} is no regular file")
    with file:
        yield file


def decode_file(
    file: BinaryIO,
    name: str,
    *,
    colour: bool = False,
    size: int | tuple[int, int] | None = None,
    fit: str = "crop",
    max_pixels: int = MAX_PIXELS,
    max_side: int = MAX_SIDE,
) -> DecodedImage:
    """Decode an open file; every failure becomes an ImageError that begins with ``name``."""
    wanted = check_size(size)
    check_choice("fit", fit, _FITS)
    head = b""
    try:
        head = file.read(64)
        file.seek(0)
        if not head:
            raise ImageError(f"{name} is empty (0 bytes)")
        with _quiet(), Image.open(file, formats=_FORMATS) as image:
            _check_header(image, name, max_pixels, max_side)
            return _to_pixels(image, name, colour, wanted, fit)
    except ImageError:
        raise
    except UnidentifiedImageError as error:
        text = all(byte in b"\t\r\n\f" or 32 <= byte < 127 for byte in head)
        raise ImageError(
            f"{name} is no picture{': it is text' if text else ''}; "
            f"{_FORMATS_IN_WORDS} are read, by content"
        ) from error
    except Image.DecompressionBombError as error:
        raise ImageError(f"{name} is refused before decoding: {error}") from error
    except Exception as error:  # each decoder has errors of its own, from struct's to SyntaxError
        raise ImageError(f"{name} cannot be decoded: {error or type(error).__name__}") from error


def _check_header(image: Image.Image, name: str, max_pixels: int, max_side: int) -> None:
    """Refuse by what the header says, before a pixel is decoded."""
    width, height = image.size
    if width < 1 or height < 1:
        raise ImageError(f"{name} has no pixels: it is {width} wide and {height} high")
    if width * height > max_pixels or max(width, height) > max_side:
        raise ImageError(
            f"{name} is refused before decoding: it is {width:,} wide and {height:,} high "
            f"({width * height:,} pixels), and the limits are {max_side:,} a side and "
            f"{max_pixels:,} pixels"
        )
    # An MPO is a JPEG with a preview behind it, as phones and cameras write it.
    if image.format != "MPO" and getattr(image, "is_animated", False):
        raise ImageError(
            f"{name} is an animation, or has several pages ({image.format}): one still picture "
            "is needed"
        )


def _to_pixels(
    image: Image.Image, name: str, colour: bool, size: tuple[int, int] | None, fit: str
) -> DecodedImage:
    width, height = image.size
    turn = _TURNS.get(_orientation(image))
    sideways = turn is not None and turn not in (
        Image.Transpose.FLIP_LEFT_RIGHT,
        Image.Transpose.FLIP_TOP_BOTTOM,
        Image.Transpose.ROTATE_180,
    )
    if size is not None and image.format in ("JPEG", "MPO"):
        # JPEG decodes to 1/2, 1/4 or 1/8 for much less; three times the target keeps its detail.
        wanted = 3 * max(size)
        image.draft(None, (wanted, wanted))
    image.load()
    image = _to_eight_bits(image, name, "RGB" if colour else "L")
    if turn is not None:
        image = image.transpose(turn)
    if size is not None:
        image = _fit(image, size, fit)
    original = (width, height) if sideways else (height, width)
    return DecodedImage(np.array(image, dtype=np.uint8), original)


def _orientation(image: Image.Image) -> int:
    """Read how the camera was held; a damaged note about it does not damage the picture."""
    try:
        return int(image.getexif().get(_ORIENTATION_TAG, 1))
    except Exception:
        return 1


def _to_eight_bits(image: Image.Image, name: str, mode: str) -> Image.Image:
    """Convert any mode with a known range of values to "L" or "RGB"."""
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format in ("PPM", "PNG")):
        values = np.asarray(image).astype(np.int64)
        top = 65535
        if image.format == "TIFF":
            bits = getattr(image, "tag_v2", {}).get(258, (16,))
            top = 2 ** int(bits[0] if isinstance(bits, tuple) else bits) - 1
        image = Image.fromarray(np.clip((values * 255 + top // 2) // top, 0, 255).astype(np.uint8))
    if image.mode in ("I", "F"):
        kind = "floating-point" if image.mode == "F" else "32-bit integer"
        raise ImageError(f"{name} has {kind} pixels, which have no fixed range: save it as 8-bit")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, (255, 255, 255, 255))
        image = Image.alpha_composite(white, image)
    return image.convert(mode)


def _fit(image: Image.Image, size: tuple[int, int], fit: str) -> Image.Image:
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
    check_choice("fit", fit, _FITS)
    images = np.asarray(images)
    if not (images.ndim == 3 or (images.ndim == 4 and images.shape[-1] == 3)):
        raise InputError(f"images must be (n, h, w) or (n, h, w, 3); got {images.shape}")
    if images.dtype == np.uint8:
        done = [np.asarray(_fit(Image.fromarray(image), wanted, fit)) for image in images]
        return np.stack(done) if done else images.reshape(0, *wanted, *images.shape[3:])
    if images.dtype.kind != "f":
        raise InputError(f"images must be uint8, or floats in [0, 1]; got {images.dtype}")
    planes = images.astype(np.float32, copy=False)
    planes = planes[..., None] if planes.ndim == 3 else planes
    out = np.empty((len(images), *wanted, planes.shape[-1]), dtype=np.float32)
    for n, image in enumerate(planes):
        for channel in range(planes.shape[-1]):
            plane = Image.fromarray(np.ascontiguousarray(image[..., channel]))
            out[n, ..., channel] = np.asarray(_fit(plane, wanted, fit))
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


def write_image(path: str | os.PathLike[str], image: Any) -> Path:
    """Write a picture as PNG or JPEG, whichever the name says; the file appears whole or not.

    Parameters
    ----------
    path : path
        Ends with .png, .jpg or .jpeg. The folder must exist.
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
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        Image.fromarray(np.ascontiguousarray(array)).save(
            partial, kind, **({"quality": 95} if kind == "JPEG" else {})
        )
        partial.replace(path)
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be written: {error}") from error
    finally:
        partial.unlink(missing_ok=True)
    return path
