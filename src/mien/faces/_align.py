"""Upright faces of one size: a similarity, or a thin plate through five points."""

from __future__ import annotations

import numpy as np

from mien._core.validation import check_choice, require_module
from mien.errors import InputError
from mien.faces._face import Face
from mien.media import check_picture

__all__ = ["CROP_SIDE", "TEMPLATE", "align_face", "cut_around", "fit_similarity"]

CROP_SIDE = 112
"""Side of the aligned face that `TEMPLATE` is for."""
TEMPLATE = np.array(
    [
        [38.2946, 51.6963],
        [73.5318, 51.5014],
        [56.0252, 71.7366],
        [41.5493, 92.3655],
        [70.7299, 92.2041],
    ]
)
"""Where the five landmarks go in a crop of 112 × 112 pixels, as SFace was trained with."""
TEMPLATE.setflags(write=False)

_METHODS = ("similarity", "thin-plate")
_MOST_SIDE = 1024


def align_face(
    image: np.ndarray, face: Face, size: int = CROP_SIDE, method: str = "similarity"
) -> np.ndarray:
    """Cut a face out, upright and at a fixed size.

    Parameters
    ----------
    image : (h, w, 3) or (h, w) uint8
        RGB or grey.
    face : Face
        One that was found in it.
    size : int
        Side of the crop.
    method : {"similarity", "thin-plate"}
        ``"similarity"``: turned, scaled and moved so that the landmarks come nearest to
        `TEMPLATE` (least squares); the face keeps its form. ``"thin-plate"``: bent so that every
        landmark lies exactly on it, as in the weak-label paper.

    Returns
    -------
    (size, size, 3) uint8
        Black beyond the picture for a similarity; the nearest pixel for a thin plate.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.faces import Face, align_face
    >>> points = np.array([[38, 52], [74, 52], [56, 72], [42, 92], [71, 92]])
    >>> face = Face([30, 30, 50, 70], points, 1.0)
    >>> align_face(np.zeros((120, 120, 3), np.uint8), face).shape
    (112, 112, 3)
    """
    image = check_picture(image)
    check_choice("method", method, _METHODS)
    if not isinstance(size, (int, np.integer)) or not 1 <= size <= _MOST_SIDE:
        raise InputError(f"size must be an integer from 1 to {_MOST_SIDE}; got {size!r}")
    template = TEMPLATE * (size / CROP_SIDE)
    image, landmarks = _cut(image, face.landmarks.astype(np.float64), size)
    if method == "thin-plate":
        from mien.features import warp_faces  # loads scikit-learn, which nothing else here needs

        warped = warp_faces(image[None], landmarks[None], template, size=size)[0]
        return np.round(warped * 255).astype(np.uint8)
    cv2 = require_module("cv2", "faces", "aligning faces")
    matrix = fit_similarity(landmarks, template)
    return np.asarray(cv2.warpAffine(image, matrix, (size, size), flags=cv2.INTER_LINEAR))


def fit_similarity(points: np.ndarray, template: np.ndarray) -> np.ndarray:
    """The turn, scale and shift (2, 3) that bring points (k, 2) nearest to a template (k, 2).

    With x + iy for a point it is the complex a for which the sum of
    ``|a (z - mean z) - (w - mean w)|²`` is least.
    """
    z = points @ [1, 1j]
    w = template @ [1, 1j]
    centred = z - z.mean()
    spread = float(np.sum(np.abs(centred) ** 2))
    if spread == 0:
        raise InputError("the landmarks of the face coincide")
    a = np.sum(np.conj(centred) * (w - w.mean())) / spread
    if a == 0:
        raise InputError("the landmarks of the face have no direction")
    b = w.mean() - a * z.mean()
    return np.array([[a.real, -a.imag, b.real], [a.imag, a.real, b.imag]])


def cut_around(image: np.ndarray, landmarks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The part of a picture that an aligned face can show, and the landmarks (5, 2) in it."""
    centre = landmarks.mean(axis=0)
    reach = 4 * max(float(np.abs(landmarks - centre).max()), 1.0)
    height, width = image.shape[:2]
    left, top = (int(max(0, low)) for low in np.floor(centre - reach))
    right, bottom = (int(high) for high in np.ceil(np.minimum(centre + reach, [width, height])))
    if right <= left or bottom <= top:
        raise InputError("the face lies outside the picture")
    return image[top:bottom, left:right], landmarks - [left, top]


def _cut(image: np.ndarray, landmarks: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The part of the picture around a face, averaged down where it is far larger than asked.

    Interpolation between pixels sees only four of them, so a face several times larger than the
    crop would show false edges.
    """
    image, landmarks = cut_around(image, landmarks)
    matrix = fit_similarity(landmarks, TEMPLATE * (size / CROP_SIDE))
    shrink = int(1 / np.hypot(*matrix[:, 0]))
    if shrink < 2:
        return np.ascontiguousarray(image), landmarks
    cv2 = require_module("cv2", "faces", "aligning faces")
    wide, high = (max(1, round(side / shrink)) for side in image.shape[1::-1])
    scale = np.array([wide / image.shape[1], high / image.shape[0]])
    small = cv2.resize(np.ascontiguousarray(image), (wide, high), interpolation=cv2.INTER_AREA)
    return small, (landmarks + 0.5) * scale - 0.5
