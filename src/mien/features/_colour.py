"""Colour and coarse texture of a whole picture: LUV histogram and block DCT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import skimage
from scipy.fft import dct

from mien._core.progress import track
from mien._core.validation import check_images
from mien.errors import InputError

__all__ = ["block_dct", "colour_texture", "luv_histogram"]

# What LUV reaches for colours of sRGB, rounded outwards.
_LUV_RANGE = ((0.0, 100.0), (-84.0, 176.0), (-135.0, 108.0))
# The order of JPEG: the mean, one ripple across, one down, two down, …
_ZIGZAG = ((0, 0), (0, 1), (1, 0), (2, 0), (1, 1), (0, 2), (0, 3), (1, 2), (2, 1), (3, 0))


def _pictures(images: Any) -> list[np.ndarray]:
    """Colour pictures as a list of float32 (h, w, 3); they may differ in size."""
    if not isinstance(images, np.ndarray) or images.dtype == object:
        pictures = [check_images("images", np.asarray(one)[None], colour=True)[0] for one in images]
        if not pictures:
            raise InputError("images is empty: at least one picture is needed")
        return pictures
    return list(check_images("images", images, colour=True))


def _to_luv(picture: np.ndarray) -> np.ndarray:
    # Public in scikit-image, and missing in the list of names of its stub.
    luv: np.ndarray = skimage.color.rgb2luv(picture)  # type: ignore[attr-defined]
    return luv


def luv_histogram(images: Any, bins: int = 16) -> np.ndarray:
    """Joint histogram of the colours of a picture in the LUV space.

    Parameters
    ----------
    images : (n, h, w, 3) or a sequence of (h, w, 3)
        ``uint8``, or floats in [0, 1].
    bins : int
        For each of the three channels.

    Returns
    -------
    (n, bins³) float32
        The part of the pixels in each bin: every row sums to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.features import luv_histogram
    >>> luv_histogram(np.zeros((2, 8, 8, 3), np.uint8)).shape
    (2, 4096)
    """
    return np.stack([_histogram(_to_luv(picture), bins) for picture in _pictures(images)])


def _histogram(luv: np.ndarray, bins: int) -> np.ndarray:
    codes = np.zeros(luv.shape[:2], dtype=np.int64)
    for channel, (low, high) in enumerate(_LUV_RANGE):
        scaled = (luv[..., channel] - low) / (high - low) * bins
        codes = codes * bins + np.clip(scaled.astype(np.int64), 0, bins - 1)
    counts = np.bincount(codes.ravel(), minlength=bins**3)
    return (counts / codes.size).astype(np.float32)


def block_dct(images: Any, grid: int = 16, n_coefficients: int = 4) -> np.ndarray:
    """First DCT coefficients of the lightness in each block of a grid.

    Parameters
    ----------
    images : (n, h, w, 3) or a sequence of (h, w, 3)
        ``uint8``, or floats in [0, 1]. Sides that the grid does not divide are resized.
    grid : int
        Blocks across and down.
    n_coefficients : int
        Kept of each block, in zigzag order from the mean on; at most 10.

    Returns
    -------
    (n, grid² · n_coefficients) float32
        Lightness from 0 to 1; the first coefficient of a block is its mean, and all are scaled
        alike whatever the size of the picture.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.features import block_dct
    >>> features = block_dct(np.full((1, 32, 48, 3), 255, np.uint8))
    >>> features.shape, features[0, :4].round(3).tolist()
    ((1, 1024), [1.0, 0.0, 0.0, 0.0])
    """
    if not 1 <= n_coefficients <= len(_ZIGZAG):
        raise InputError(f"n_coefficients must be from 1 to {len(_ZIGZAG)}; got {n_coefficients}")
    return np.stack(
        [_blocks(_to_luv(p)[..., 0] / 100, grid, n_coefficients) for p in _pictures(images)]
    )


def _blocks(lightness: np.ndarray, grid: int, n_coefficients: int) -> np.ndarray:
    # A block must have a pixel for the highest ripple that is kept.
    least = max(max(place) for place in _ZIGZAG[:n_coefficients]) + 1
    sides = [max(least, round(side / grid)) * grid for side in lightness.shape]
    if tuple(sides) != lightness.shape:
        lightness = skimage.transform.resize(lightness, sides, anti_aliasing=True)
    high, wide = sides[0] // grid, sides[1] // grid
    blocks = lightness.reshape(grid, high, grid, wide).transpose(0, 2, 1, 3)
    spectrum = dct(dct(blocks, axis=2, norm="ortho"), axis=3, norm="ortho")
    rows, columns = np.transpose(_ZIGZAG[:n_coefficients])
    return (spectrum[:, :, rows, columns] / np.sqrt(high * wide)).astype(np.float32).ravel()


def colour_texture(images: Sequence[Any] | np.ndarray) -> np.ndarray:
    """The retrieval features of the weak-label paper: 4,096 of colour and 1,024 of texture.

    Parameters
    ----------
    images : (n, h, w, 3) or a sequence of (h, w, 3)
        ``uint8``, or floats in [0, 1].

    Returns
    -------
    (n, 5120) float32
        :func:`luv_histogram` with 16 bins a channel, then :func:`block_dct` with 4 coefficients
        on a 16×16 grid. The paper does not say how the two are weighed; here neither is scaled.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.features import colour_texture
    >>> colour_texture(np.zeros((1, 32, 32, 3), np.uint8)).shape
    (1, 5120)
    """
    rows = []
    for picture in track(_pictures(images), "colour and texture"):
        luv = _to_luv(picture)
        rows.append(np.concatenate([_histogram(luv, 16), _blocks(luv[..., 0] / 100, 16, 4)]))
    return np.stack(rows)
