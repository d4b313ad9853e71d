"""Boxes and names drawn into pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mien.errors import InputError
from mien.faces.engines import check_picture
from mien.faces.face import Face, FoundFace

__all__ = ["annotate"]

# Okabe and Ito's colours, which colour-blind readers tell apart.
_COLOURS = ("#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7")
_DARK = ("#0072b2", "#009e73", "#d55e00")


def annotate(
    image: Any,
    faces: Sequence[Face | FoundFace],
    labels: Sequence[str] | None = None,
    colours: Sequence[str] | None = None,
) -> np.ndarray:
    """Draw a box, and a name below it, for each face.

    Parameters
    ----------
    image : (h, w, 3) or (h, w) uint8
        RGB or grey.
    faces : sequence of Face or FoundFace
        What to draw.
    labels : sequence of str or None
        One for each face, ``""`` for a box alone; None for boxes alone.
    colours : sequence of str or None
        One for each face, as ``"#e69f00"`` or ``"red"``; None gives each label one of its own.

    Returns
    -------
    (h, w, 3) uint8
        A new picture.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.faces import Face, annotate
    >>> face = Face([30, 30, 50, 50], [[40, 45], [70, 45], [55, 55], [45, 65], [65, 65]], 1.0)
    >>> picture = annotate(np.zeros((120, 120, 3), np.uint8), [face], ["Ann"])
    >>> picture.shape, bool(picture.any())
    ((120, 120, 3), True)
    """
    found = [face.face if isinstance(face, FoundFace) else face for face in faces]
    names = [""] * len(found) if labels is None else [str(label) for label in labels]
    if len(names) != len(found):
        raise InputError(f"labels has {len(names)} entries for {len(found)} faces")
    if colours is None:
        order = list(dict.fromkeys(names))
        colours = [_COLOURS[order.index(name) % len(_COLOURS)] for name in names]
    elif len(colours) != len(found):
        raise InputError(f"colours has {len(colours)} entries for {len(found)} faces")
    canvas = Image.fromarray(check_picture(image))
    draw = ImageDraw.Draw(canvas)
    # Names last, so that no box crosses one.
    for face, colour in zip(found, colours, strict=True):
        _draw_box(draw, face, colour, canvas.size)
    for face, name, colour in zip(found, names, colours, strict=True):
        if name:
            _draw_name(draw, face, name, colour, canvas.size)
    return np.array(canvas)


def _draw_box(draw: ImageDraw.ImageDraw, face: Face, colour: str, size: tuple[int, int]) -> None:
    left, top, width, height = (float(value) for value in face.box)
    thick = max(1, round(max(size) / 400), round(width / 60))
    corners = (left, top, left + width, top + height)
    try:
        draw.rectangle(corners, outline=colour, width=thick)
    except ValueError as error:
        raise InputError(f"{colour!r} is no colour: {error}") from error
    radius = max(1.0, width / 50)
    for x, y in face.landmarks.tolist():
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)


def _draw_name(
    draw: ImageDraw.ImageDraw, face: Face, name: str, colour: str, size: tuple[int, int]
) -> None:
    """A name on a bar of its colour, below the box or, where there is no room, inside it."""
    left, top, width, height = (float(value) for value in face.box)
    font = ImageFont.load_default(size=int(np.clip(width / 5, max(11, max(size) / 60), 64)))
    box = draw.textbbox((0, 0), name, font=font)
    wide, high = box[2] - box[0] + 6, box[3] - box[1] + 6
    x = float(np.clip(left, 0, max(0, size[0] - wide)))
    y = float(np.clip(top + height, 0, max(0, size[1] - high)))
    draw.rectangle((x, y, x + wide, y + high), fill=colour)
    ink = "white" if colour in _DARK else "black"
    draw.text((x + 3 - box[0], y + 3 - box[1]), name, fill=ink, font=font)
