"""Masks of what is visible: by name, or as a boolean picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from mien.errors import InputError

__all__ = ["MASK_NAMES", "make_mask"]

#: What each name shows.
MASK_NAMES = {
    "periocular": "the top 13 of 32 rows: forehead, brows and eyes",
    "upper": "the upper half",
    "lower": "the lower half",
    "left": "the left half of the picture",
    "right": "the right half of the picture",
}


def make_mask(mask: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A boolean picture (h, w), True where a face is visible.

    Parameters
    ----------
    mask : str or array-like (h, w) of bool
        A name of :data:`MASK_NAMES`, or the picture itself.
    shape : (h, w)
        Of the faces.

    Examples
    --------
    >>> from mien.reconstruction import make_mask
    >>> int(make_mask("periocular", (32, 32)).sum())
    416
    """
    height, width = shape
    if isinstance(mask, str):
        visible = np.zeros(shape, dtype=bool)
        if mask == "periocular":
            visible[: max(1, round(height * 13 / 32))] = True
        elif mask == "upper":
            visible[: (height + 1) // 2] = True
        elif mask == "lower":
            visible[height // 2 :] = True
        elif mask == "left":
            visible[:, : (width + 1) // 2] = True
        elif mask == "right":
            visible[:, width // 2 :] = True
        else:
            raise InputError(
                f"a mask is one of {', '.join(map(repr, MASK_NAMES))} or a boolean picture; "
                f"got {mask!r}"
            )
        return visible
    array = np.asarray(mask)
    if array.dtype != bool or array.shape != tuple(shape):
        raise InputError(
            f"a mask must be booleans of the shape {tuple(shape)}, True where visible; "
            f"got {array.dtype} {array.shape}"
        )
    if not array.any():
        raise InputError("the mask hides everything: at least one pixel must be visible")
    return array
