"""SFace and dlib as one engine: a second opinion about every face."""

from __future__ import annotations

import numpy as np

from mien.faces._dlib import DlibEngine
from mien.faces._engines import scale_to_unit
from mien.faces._face import Face
from mien.faces._sface import SFaceEngine

__all__ = ["FusedEngine", "fuse_vectors"]

# The cosine of two fused vectors is this share of SFace's cosine and the rest of dlib's. dlib's
# cosines lie in a narrower range, so a difference in them counts more. From a logistic regression
# on the pairs of LFW's folds: 0.24 to 0.29 in nine of ten.
_SFACE_SHARE = 0.25
# dlib's detector draws a square around the mean of the five points, this many times as wide as
# their root mean square distance from it (median over 60 faces; 95 of 100 vectors that result
# have a cosine above 0.996 with those of dlib's own boxes).
_SQUARE = 3.81


def fuse_vectors(sface: np.ndarray, dlib: np.ndarray) -> np.ndarray:
    """Vectors (n, 256) of unit length from those of SFace and dlib, each (n, 128) of unit length.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.faces import fuse_vectors
    >>> first, second = np.eye(128)[:2], np.eye(128)[[5, 5]]
    >>> fused = fuse_vectors(first, second)
    >>> float(round(fused[0] @ fused[1], 6))  # different for SFace, the same for dlib
    0.75
    """
    share = np.sqrt(_SFACE_SHARE), np.sqrt(1 - _SFACE_SHARE)
    parts = [weight * np.asarray(X) for weight, X in zip(share, (sface, dlib), strict=True)]
    return np.concatenate(parts, axis=-1)


class FusedEngine:
    """Faces by YuNet; vectors by SFace and by dlib, side by side.

    Notes
    -----
    The cosine of two vectors is the weighted mean of the two engines' cosines, with weights from a
    logistic regression on pairs of LFW, so whatever works on the vectors of one engine works on
    these. Finding faces costs what it costs with SFace; a vector costs the time of both networks.
    """

    name = "sface+dlib"
    dimension = SFaceEngine.dimension + DlibEngine.dimension
    features = (
        f"{name} ({SFaceEngine.features.partition('(')[2].partition(')')[0]}, "
        f"{DlibEngine.features.partition('(')[2].partition(')')[0]}, "
        f"{_SFACE_SHARE:g} of SFace), {dimension} dimensions, unit length"
    )

    def __init__(self) -> None:
        self._first, self._second = SFaceEngine(), DlibEngine()

    def detect(self, image: np.ndarray) -> list[Face]:
        """Find the faces of a picture (h, w, 3) uint8 RGB, the largest first."""
        return self._first.detect(image)

    def embed(self, image: np.ndarray, face: Face) -> np.ndarray:
        """Turn a face into a vector (256,) float32 of unit length."""
        first = self._first.embed(image, face)
        second = self._second.embed(image, _for_dlib(face))
        return scale_to_unit(fuse_vectors(first, second), "the engine 'sface+dlib'")


def _for_dlib(face: Face) -> Face:
    """The face with a box like those of dlib's detector."""
    points = face.landmarks.astype(np.float64)
    middle = points.mean(axis=0)
    side = _SQUARE * float(np.sqrt(np.square(points - middle).sum(axis=1).mean()))
    box = np.array([*(middle - side / 2), side, side], dtype=np.float32)
    return Face(box, face.landmarks, face.confidence)
