"""Faces drawn into the picture in which they were found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mien.errors import InputError
from mien.faces._face import Face, FoundFace
from mien.media import draw_boxes

__all__ = ["annotate"]


def annotate(
    image: Any,
    faces: Sequence[Face | FoundFace],
    labels: Sequence[str] | None = None,
    colours: Sequence[str] | None = None,
) -> np.ndarray:
    """Draw a box with its landmarks, and a name below it, for each face.

    Parameters
    ----------
    image : (h, w, 3) or (h, w) uint8
        RGB or grey.
    faces : sequence of Face or FoundFace
        What to draw.
    labels : sequence of str or None
        One per face, ``""`` for a box without a name; None for boxes alone.
    colours : sequence of str or None
        One per face, as ``"#e69f00"`` or ``"red"``; None gives each label its own colour.

    Returns
    -------
    (h, w, 3) uint8
        A new picture.

    See Also
    --------
    mien.media.draw_boxes : the same for plain boxes.

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
    for what, given in (("labels", labels), ("colours", colours)):
        if given is not None and len(given) != len(found):
            raise InputError(f"{what} has {len(given)} entries for {len(found)} faces")
    boxes = np.array([face.box for face in found]).reshape(-1, 4)
    return draw_boxes(image, boxes, labels, colours, points=[face.landmarks for face in found])
