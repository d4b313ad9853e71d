"""Pictures side by side, each with its words below and a heading above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mien.errors import InputError
from mien.media._images import check_picture

__all__ = ["caption_pictures"]

_INK, _PAPER = "#202020", "#ffffff"


def caption_pictures(
    images: Sequence[Any],
    captions: Sequence[str],
    heading: str = "",
    *,
    side: int = 224,
    colour: str = _INK,
) -> np.ndarray:
    """Lay pictures in a row, each with a caption, and a heading above.

    Parameters
    ----------
    images : sequence of (h, w, 3) or (h, w) uint8
        At least one; each is scaled to ``side`` × ``side``.
    captions : sequence of str
        One for each picture; what is too long ends with an ellipsis.
    heading : str
        Above all of them.
    side : int
        Side of each picture, in pixels.
    colour : str
        Of the heading.

    Returns
    -------
    (height, width, 3) uint8
        A new picture.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.media import caption_pictures
    >>> caption_pictures([np.zeros((9, 9, 3), np.uint8)] * 2, ["a", "b"], "one person?").shape
    (300, 484, 3)
    """
    if len(images) == 0 or len(images) != len(captions):
        raise InputError(f"{len(captions)} captions were given for {len(images)} pictures")
    gap, above, below = 12, 40 if heading else 12, 36
    width = len(images) * (side + gap) + gap
    canvas = Image.new("RGB", (width, above + side + below), _PAPER)
    draw = ImageDraw.Draw(canvas)
    big, small = ImageFont.load_default(size=20), ImageFont.load_default(size=15)
    _write(draw, heading, (gap, 9), big, colour, width - 2 * gap)
    for k, (image, caption) in enumerate(zip(images, captions, strict=True)):
        left = gap + k * (side + gap)
        picture = Image.fromarray(check_picture(image)).resize(
            (side, side), Image.Resampling.BICUBIC
        )
        canvas.paste(picture, (left, above))
        _write(draw, caption, (left, above + side + 8), small, _INK, side)
    return np.array(canvas)


def _write(
    draw: ImageDraw.ImageDraw, text: str, at: tuple[int, int], font: Any, colour: str, room: int
) -> None:
    """Write one line, cut to the room that there is."""
    words = " ".join(text.split())
    shown = words
    while shown and draw.textlength(shown, font=font) > room:
        words = words[:-1]
        shown = words.rstrip() + "…"
    draw.text(at, shown, fill=colour, font=font)
