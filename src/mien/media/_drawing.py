"""Boxes, points and labels drawn into pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mien.errors import InputError
from mien.media._images import check_picture

__all__ = ["draw_boxes"]

# Okabe and Ito's colours, which colour-blind readers tell apart.
_COLOURS = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7")
_DARK = ("#0072b2", "#009e73", "#d55e00")


def draw_boxes(
    image: Any,
    boxes: Any,
    labels: Sequence[str] | None = None,
    colours: Sequence[str] | None = None,
    *,
    points: Sequence[Any] | None = None,
) -> np.ndarray:
    """Draw boxes, each with a label below it.

    Parameters
    ----------
    image : (h, w, 3) or (h, w) uint8
        RGB or grey.
    boxes : (n, 4)
        Left, top, width and height of each box, in pixels.
    labels : sequence of str or None
        One per box, ``""`` for a box without a label; None for boxes alone.
    colours : sequence of str or None
        One per box, as ``"#e69f00"`` or ``"red"``; None gives each label its own colour.
    points : sequence of (k, 2) or None
        Points to mark inside each box as x, y, such as the landmarks of a face.

    Returns
    -------
    (h, w, 3) uint8
        A new picture.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.media import draw_boxes
    >>> picture = draw_boxes(np.zeros((120, 120, 3), np.uint8), [[30, 30, 50, 50]], ["Ann"])
    >>> picture.shape, bool(picture.any())
    ((120, 120, 3), True)
    """
    boxes = np.asarray(boxes, dtype=np.float64).reshape(-1, 4)
    names = [""] * len(boxes) if labels is None else [str(label) for label in labels]
    if len(names) != len(boxes):
        raise InputError(f"{len(names)} labels were given for {len(boxes)} boxes")
    if colours is None:
        order = list(dict.fromkeys(names))
        colours = [_COLOURS[order.index(name) % len(_COLOURS)] for name in names]
    elif len(colours) != len(boxes):
        raise InputError(f"{len(colours)} colours were given for {len(boxes)} boxes")
    marks = [np.zeros((0, 2))] * len(boxes) if points is None else points
    if len(marks) != len(boxes):
        raise InputError(f"{len(marks)} sets of points were given for {len(boxes)} boxes")
    canvas = Image.fromarray(check_picture(image))
    draw = ImageDraw.Draw(canvas)
    # Labels last, so that no box crosses one.
    for box, colour, inside in zip(boxes, colours, marks, strict=True):
        _draw_box(draw, box, colour, np.asarray(inside, dtype=np.float64), canvas.size)
    for box, name, colour in zip(boxes, names, colours, strict=True):
        if name:
            _draw_label(draw, box, name, colour, canvas.size)
    return np.array(canvas)


def _draw_box(
    draw: ImageDraw.ImageDraw,
    box: np.ndarray,
    colour: str,
    points: np.ndarray,
    size: tuple[int, int],
) -> None:
    left, top, width, height = box.tolist()
    thick = max(1, round(max(size) / 400), round(width / 60))
    corners = (left, top, left + width, top + height)
    try:
        draw.rectangle(corners, outline=colour, width=thick)
    except ValueError as error:
        raise InputError(f"{colour!r} is not a colour: {error}") from error
    radius = max(1.0, width / 50)
    for x, y in points.reshape(-1, 2).tolist():
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)


def _draw_label(
    draw: ImageDraw.ImageDraw, box: np.ndarray, name: str, colour: str, size: tuple[int, int]
) -> None:
    """A label on a bar of its colour, below the box or, where there is no room, inside it."""
    left, top, width, height = box.tolist()
    font = ImageFont.load_default(size=int(np.clip(width / 5, max(11, max(size) / 60), 64)))
    text = draw.textbbox((0, 0), name, font=font)
    wide, high = text[2] - text[0] + 6, text[3] - text[1] + 6
    x = float(np.clip(left, 0, max(0, size[0] - wide)))
    y = float(np.clip(top + height, 0, max(0, size[1] - high)))
    draw.rectangle((x, y, x + wide, y + high), fill=colour)
    ink = "white" if colour in _DARK else "black"
    draw.text((x + 3 - text[0], y + 3 - text[1]), name, fill=ink, font=font)
