"""Pictures in files, to arrays: the one door through which decoded pixels come in."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

import numpy as np
from PIL import Image, ImageFile, JpegImagePlugin, UnidentifiedImageError

from mien._core.regular import NotRegularError, open_regular
from mien._core.validation import check_choice, require_module
from mien.errors import ImageError, MissingDataError, MissingDependencyError
from mien.media._images import FITS, check_size, fit_image
from mien.media._limits import (
    MAX_PIXELS,
    MAX_SIDE,
    TimedBytes,
    check_jpeg,
    choose_reduction,
    read_jpeg,
)

__all__ = ["DecodedImage", "decode_image", "decode_sized", "open_header", "read_file", "read_image"]

# Only formats without scripts, external programs or fonts behind them.
_FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF", "PPM", "GIF", "AVIF")
_FORMATS_IN_WORDS = "JPEG, PNG, WebP, HEIC, AVIF, BMP, TIFF, PGM/PPM and GIF"
_HEIF_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}
_AVIF_BRANDS = {b"avif", b"avis"}
_MAX_FILE_BYTES = 256 * 2**20
# A decoder is given so many bytes at a time, and the clock is looked at in between.
_BLOCK = 8192
# So many pixels are converted at a time, so that no second whole picture is in memory.
_BAND = 4_000_000
ORIENTATION_TAG = 0x0112
# How a stored picture is a view of the upright one, by the EXIF orientation.
_STORED: dict[int, Callable[[np.ndarray], np.ndarray]] = {
    2: lambda upright: upright[:, ::-1],
    3: lambda upright: upright[::-1, ::-1],
    4: lambda upright: upright[::-1],
    5: lambda upright: upright.swapaxes(0, 1),
    6: lambda upright: np.rot90(upright, 1),
    7: lambda upright: upright[::-1, ::-1].swapaxes(0, 1),
    8: lambda upright: np.rot90(upright, -1),
}
_SIDEWAYS = (5, 6, 7, 8)


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
        JPEG, PNG, WebP, AVIF, BMP, TIFF, PGM/PPM or GIF, and HEIC with the extra ``heif``. One
        still picture: animations and files of several pages are refused.
    colour : bool
        True gives RGB, False grey (the luma of ITU-R 601).
    size : int or (height, width) or None
        Resize to this; an integer is a square.
    fit : {"crop", "stretch", "pad"}
        What happens when the proportions differ: cut the middle out, distort, or fill with black.
    max_pixels : int
        Maximum number of decoded pixels. A larger JPEG is decoded at a half, a quarter or an
        eighth of its size; any other larger picture is refused before a pixel is decoded.
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
        If there is no such file.
    ImageError
        If it is empty, not a picture, damaged, too large or too costly to decode, or of a kind
        that has no fixed range of values (floats, 32-bit integers). The message names the file
        and the reason.
    MissingDependencyError
        If it is a HEIC picture and pillow-heif is not installed.

    Notes
    -----
    Files come from strangers, so a picture has a budget: 256 MiB of file, 256 million stored
    pixels, 100 scans (and 3 × 10⁹ pixels scanned in all), 1 GiB of coefficients, 60 seconds. All
    but the last are checked before decoding.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from mien.media import read_image, write_image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_image(pathlib.Path(folder) / "a.png", np.full((4, 6), 9, np.uint8))
    ...     read_image(path, size=2).tolist()
    [[9, 9], [9, 9]]
    """
    return decode_sized(
        read_file(path),
        repr(os.fspath(path)),
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

    Parameters
    ----------
    data : bytes
        The whole file.
    name : str
        What errors call the picture.
    colour, size, fit, max_pixels, max_side
        As for :func:`read_image`.

    Returns
    -------
    (h, w) or (h, w, 3) uint8
        As from :func:`read_image`.
    """
    return decode_sized(
        data,
        name,
        colour=colour,
        size=size,
        fit=fit,
        max_pixels=max_pixels,
        max_side=max_side,
    ).pixels


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Read a regular file of at most 256 MiB.

    Parameters
    ----------
    path : path
        Opened once. A pipe or a device is refused, and never waited for.

    Returns
    -------
    bytes
        The whole file.

    Raises
    ------
    MissingDataError, ImageError
        If it does not exist; if it is not a regular file, cannot be read, or is too large.
    """
    name = repr(os.fspath(path))
    try:
        with open_regular(path) as file:
            data = file.read(_MAX_FILE_BYTES + 1)
    except FileNotFoundError as error:
        raise MissingDataError(f"{name} does not exist") from error
    except NotRegularError as error:
        raise ImageError(f"{name} is not a regular file") from error
    except (OSError, ValueError) as error:
        raise ImageError(f"{name} cannot be read: {error}") from error
    if len(data) > _MAX_FILE_BYTES:
        raise ImageError(f"{name} is larger than {_MAX_FILE_BYTES:,} bytes")
    return data


def decode_sized(
    data: bytes,
    name: str = "the picture",
    *,
    colour: bool = False,
    size: int | tuple[int, int] | None = None,
    fit: str = "crop",
    max_pixels: int = MAX_PIXELS,
    max_side: int = MAX_SIDE,
) -> DecodedImage:
    """As :func:`decode_image`, with the size that the picture has in its file.

    Returns
    -------
    DecodedImage
        Pixels, and the upright height and width before any reduction.
    """
    wanted = check_size(size)
    check_choice("fit", fit, FITS)
    if not data:
        raise ImageError(f"{name} is empty (0 bytes)")
    try:
        with _quiet(), _open(TimedBytes(data, name), data, name) as image:
            return _to_pixels(image, data, name, colour, wanted, fit, max_pixels, max_side)
    except (ImageError, MissingDependencyError):
        raise
    except UnidentifiedImageError as error:
        text = all(byte in b"\t\r\n\f" or 32 <= byte < 127 for byte in data[:64])
        raise ImageError(
            f"{name} is not a picture{': it is text' if text else ''}; "
            f"{_FORMATS_IN_WORDS} are read, by content"
        ) from error
    except Image.DecompressionBombError as error:
        raise ImageError(f"{name} is refused before decoding: {error}") from error
    except Exception as error:  # each decoder has errors of its own, from struct's to SyntaxError
        raise ImageError(f"{name} cannot be decoded: {error or type(error).__name__}") from error


@contextmanager
def open_header(path: str | os.PathLike[str]) -> Iterator[Image.Image]:
    """A picture whose header was read: size, EXIF and XMP of any kind and size that is read here.

    Whoever asks for pixels goes through :func:`decode_image`, which has limits.
    """
    with open_regular(path) as file, _quiet():
        head = file.read(64)
        file.seek(0)
        with _open(file, head, f"{os.fspath(path)!r}") as image:
            yield image


def _open(file: TimedBytes | BinaryIO, data: bytes, name: str) -> ImageFile.ImageFile:
    """Read the header; no pixel is decoded."""
    if data[:3] == b"\xff\xd8\xff":
        # Not by Image.open, which refuses the size of a picture before it could be reduced.
        return JpegImagePlugin.jpeg_factory(file)
    formats: tuple[str, ...] = _FORMATS
    brands = {data[at : at + 4] for at in (8, *range(16, 64, 4))} if data[4:8] == b"ftyp" else set()
    if brands & _HEIF_BRANDS and not brands & _AVIF_BRANDS:
        heif = require_module("pillow_heif", "heif", f"{name}: a HEIC picture")
        heif.register_heif_opener()
        formats = ("HEIF",)
    return Image.open(file, formats=formats)


def _to_pixels(
    image: ImageFile.ImageFile,
    data: bytes,
    name: str,
    colour: bool,
    size: tuple[int, int] | None,
    fit: str,
    max_pixels: int,
    max_side: int,
) -> DecodedImage:
    width, height = image.size
    jpeg = image.format in ("JPEG", "MPO")
    reduction = choose_reduction(width, height, name, max_pixels, max_side, jpeg=jpeg)
    # An MPO is a JPEG with a preview behind it; a HEIF names its primary picture.
    if image.format not in ("MPO", "HEIF") and getattr(image, "is_animated", False):
        raise ImageError(
            f"{name} is an animation, or has several pages ({image.format}): one still picture "
            "is needed"
        )
    orientation = _orientation(image)
    if jpeg:
        check_jpeg(read_jpeg(data), width, height, name)
        if size is not None:
            # JPEG decodes to 1/2, 1/4 or 1/8 for much less; three times the target keeps detail.
            while reduction < 8 and min(width, height) // (2 * reduction) >= 3 * max(size):
                reduction *= 2
        if reduction > 1:
            image.draft(None, (max(1, width // reduction), max(1, height // reduction)))
        image.decodermaxblock = _BLOCK
    image.load()
    pixels = _to_upright(image, name, "RGB" if colour else "L", orientation)
    if size is not None and pixels.shape[:2] != size:
        pixels = np.array(fit_image(Image.fromarray(pixels), size, fit))
    original = (width, height) if orientation in _SIDEWAYS else (height, width)
    return DecodedImage(pixels, original)


def _orientation(image: Image.Image) -> int:
    """Read how the camera was held; a damaged note about it does not damage the picture."""
    try:
        return int(image.getexif().get(ORIENTATION_TAG, 1))
    except Exception:
        return 1


def _to_upright(image: Image.Image, name: str, mode: str, orientation: int) -> np.ndarray:
    """Pixels (h, w) or (h, w, 3) in 8 bits; converted in bands, written where they belong."""
    width, height = image.size
    shape = (width, height) if orientation in _SIDEWAYS else (height, width)
    upright = np.empty(shape if mode == "L" else (*shape, 3), dtype=np.uint8)
    stored = _STORED.get(orientation, lambda pixels: pixels)(upright)
    levels = _levels(image, name)
    rows = max(1, _BAND // width)
    for top in range(0, height, rows):
        bottom = min(top + rows, height)
        band = image if rows >= height else image.crop((0, top, width, bottom))
        stored[top:bottom] = np.asarray(_to_eight_bits(band, mode, levels))
    return upright


def _levels(image: Image.Image, name: str) -> np.ndarray | None:
    """The 8-bit value (65536,) of each 16-bit one; None for a picture that has 8 bits already."""
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format in ("PPM", "PNG")):
        top = 65535
        if image.format == "TIFF":
            bits = getattr(image, "tag_v2", {}).get(258, (16,))
            top = 2 ** int(bits[0] if isinstance(bits, tuple) else bits) - 1
        values = (np.arange(65536) * 255 + top // 2) // top
        return np.minimum(values, 255).astype(np.uint8)
    if image.mode in ("I", "F"):
        kind = "floating-point" if image.mode == "F" else "32-bit integer"
        raise ImageError(f"{name} has {kind} pixels, which have no fixed range: save it as 8-bit")
    return None


def _to_eight_bits(image: Image.Image, mode: str, levels: np.ndarray | None) -> Image.Image:
    """Convert any mode with a known range of values to "L" or "RGB"."""
    if levels is not None:
        return Image.fromarray(levels[np.clip(np.asarray(image), 0, 65535)]).convert(mode)
    if image.has_transparency_data:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, (255, 255, 255, 255))
        image = Image.alpha_composite(white, image)
    return image.convert(mode)
