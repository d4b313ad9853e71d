"""Covers: which part of a face is hidden, by name or as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from mien.errors import InputError

__all__ = ["COVERS", "make_cover"]

#: Name of a cover -> what it hides.
COVERS = {
    "below-eyes": "all but the top 13 of 32 rows: forehead, brows and eyes stay visible",
    "lower": "the lower half",
    "upper": "the upper half",
    "left": "the left half of the picture",
    "right": "the right half of the picture",
}


def make_cover(cover: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A picture (h, w) of bool, True where a face is covered.

    Parameters
    ----------
    cover : str or array-like (h, w) of bool
        A name of :data:`COVERS`, or the picture itself.
    shape : (h, w)
        Height and width of the faces in pixels.

    See Also
    --------
    FaceCompleter : completes what is covered.
    refine_cover : finds a cover to the pixel.

    Examples
    --------
    >>> from mien.completion import make_cover
    >>> int(make_cover("below-eyes", (32, 32)).sum())
    608
    """
    height, width = shape
    if isinstance(cover, str):
        covered = np.zeros(shape, dtype=bool)
        if cover == "below-eyes":
            covered[max(1, round(height * 13 / 32)) :] = True
        elif cover == "lower":
            covered[(height + 1) // 2 :] = True
        elif cover == "upper":
            covered[: height // 2] = True
        elif cover == "left":
            covered[:, : width // 2] = True
        elif cover == "right":
            covered[:, (width + 1) // 2 :] = True
        else:
            raise InputError(
                f"a cover is one of {', '.join(map(repr, COVERS))} or a picture of booleans; "
                f"got {cover!r}"
            )
        return covered
    array = np.asarray(cover)
    if array.dtype != bool or array.shape != tuple(shape):
        raise InputError(
            f"a cover must be booleans of the shape {tuple(shape)}, True where covered; "
            f"got {array.dtype} {array.shape}"
        )
    if array.all():
        raise InputError("the cover hides everything: at least one pixel must be visible")
    return array
