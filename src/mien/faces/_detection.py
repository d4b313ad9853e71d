"""Faces of a picture whichever way it lies: upright first, then turned; tilted heads last."""

from __future__ import annotations

from typing import Any

import numpy as np

from mien.faces._align import CROP_SIDE, TEMPLATE, align_face
from mien.faces._engines import FaceEngine, borrow_engine
from mien.faces._face import Face
from mien.media import check_picture, resize_images

__all__ = ["detect_faces", "find_turn", "turn_face"]

# The confidence that an upright face has and a turned one has not. In 107 photographs 99 % of the
# upright faces had at least 0.905; of the same turned upside down 99 % had at most 0.892, and of
# the same on their side 99 % at most 0.855. dlib's detector finds hardly any turned face.
_SURE = {"sface": 0.9, "sface+dlib": 0.9, "dlib": 0.0}
_CLEARLY_BETTER = 0.03
_SEARCH_SIDE = 640
# YuNet's landmarks of a head that is tilted by 30 degrees are tilted by ten, and its vector is of
# another person; its confidence is highest where the head is upright. Of 58 upright photographs
# 40 % are looked at again by these two limits, and of the same tilted by 20 degrees 93 %.
_TILTING = ("sface",)
_UPRIGHT_CONFIDENCE = 0.93
_UPRIGHT_TILT = 4.0
_TILT_STEP = 30.0
_SMALLEST_TILT = 12.0  # what is measured below it is chance
_TILT_SIDE = 192
_NOTHING_FOUND = 0.6


def detect_faces(image: Any, engine: FaceEngine | str = "sface") -> list[Face]:
    """Find the faces of a picture, also where it lies on its side or upside down.

    Parameters
    ----------
    image : (h, w, 3) or (h, w) uint8
        RGB or grey.
    engine : FaceEngine or str
        A name takes one that is kept loaded (`borrow_engine`).

    Returns
    -------
    list of Face
        The largest first, in the coordinates of the picture as it is given. The landmarks say
        which way a face lies, and `align_face` turns it upright.

    Notes
    -----
    A face that is found with certainty ends the search. Otherwise (no face, or only doubtful ones)
    the picture is also searched in the three other turns, at a longer side of at most 640 pixels;
    where a face is found there with clearly more confidence, the faces of that turn are taken.

    The landmarks of a tilted head are then found again with the head upright: it is turned in
    steps of 30 degrees towards more confidence, and a parabola through the best three gives the
    angle. A tilt below 12 degrees is left as it is. Only for engines whose landmarks need it
    (sface), and only for faces that may be tilted.
    """
    image = check_picture(image)
    if isinstance(engine, str):
        with borrow_engine(engine) as borrowed:
            return detect_faces(image, borrowed)
    faces = _detect_turned(image, engine)
    if engine.name in _TILTING:
        faces = [_straighten(image, face, engine) for face in faces]
    return faces


def _detect_turned(image: np.ndarray, engine: FaceEngine) -> list[Face]:
    """Faces of a picture as it lies or, where that is better, of one of its three turns."""
    faces = engine.detect(image)
    best = max((face.confidence for face in faces), default=0.0)
    if faces and best >= _SURE.get(engine.name, 0.0):
        return faces
    turn = _best_turn(image, engine, best + _CLEARLY_BETTER if faces else 0.0)
    if turn == 0:
        return faces
    found = engine.detect(np.ascontiguousarray(np.rot90(image, turn)))
    if not found:
        return faces
    height, width = image.shape[:2]
    size = (height, width) if turn == 2 else (width, height)
    return [turn_face(face, size, -turn) for face in found]


def _best_turn(image: np.ndarray, engine: FaceEngine, at_least: float) -> int:
    """Quarter turns to the left after which a face is found with most confidence; 0 for none."""
    height, width = image.shape[:2]
    scale = min(1.0, _SEARCH_SIDE / max(height, width))
    if scale < 1:
        size = (max(1, round(height * scale)), max(1, round(width * scale)))
        image = resize_images(image[None], size, fit="stretch")[0]
    chosen, best = 0, at_least
    for turn in (1, 2, 3):
        for face in engine.detect(np.ascontiguousarray(np.rot90(image, turn))):
            if face.confidence > best:
                chosen, best = turn, face.confidence
    return chosen


def _straighten(image: np.ndarray, face: Face, engine: FaceEngine) -> Face:
    """The face with the landmarks that are found with the head upright, where it is tilted."""
    angle = _angle_of_eyes(face)
    start = 90.0 * round(angle / 90)
    if face.confidence >= _UPRIGHT_CONFIDENCE and abs(angle - start) <= _UPRIGHT_TILT:
        return face
    confidences: dict[int, float] = {}

    def confidence(step: int) -> float:
        if step not in confidences:
            found = _look_turned(image, face, start + _TILT_STEP * step, engine)
            confidences[step] = _NOTHING_FOUND if found is None else found.confidence
        return confidences[step]

    best = max((0, -1, 1), key=confidence)
    while abs(best) < 6 and (better := max((best, best - 1, best + 1), key=confidence)) != best:
        best = better
    before, here, after = (confidence(best + step) for step in (-1, 0, 1))
    bend = 2 * here - before - after
    tilt = _TILT_STEP * (best + ((after - before) / (2 * bend) if bend > 0 else 0.0))
    if abs(tilt) < _SMALLEST_TILT:
        return face
    upright = _look_turned(image, face, start + tilt, engine)
    return face if upright is None else Face(face.box, upright.landmarks, face.confidence)


def _look_turned(image: np.ndarray, face: Face, angle: float, engine: FaceEngine) -> Face | None:
    """The face again, in a square around it whose side is turned by an angle in degrees."""
    middle = face.box[:2].astype(np.float64) + face.box[2:] / 2
    width = 2.0 * float(face.box[2:].max())
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    turn = width / CROP_SIDE * np.array([[c, s], [-s, c]])

    def place(points: np.ndarray) -> np.ndarray:
        """Points of the square, as if it had the side of `TEMPLATE`, in the picture."""
        return (points - CROP_SIDE / 2) @ turn + middle

    # A face whose landmarks lie like the template's in the square is cut out as the square.
    square = align_face(image, Face(face.box, place(TEMPLATE), 1.0), _TILT_SIDE)
    found = [
        one
        for one in engine.detect(square)
        if np.abs(one.box[:2] + one.box[2:] / 2 - _TILT_SIDE / 2).max() < _TILT_SIDE / 4
    ]
    if not found:
        return None
    best = max(found, key=lambda one: one.confidence)
    landmarks = place(best.landmarks.astype(np.float64) * (CROP_SIDE / _TILT_SIDE))
    return Face(face.box, landmarks, best.confidence)


def _angle_of_eyes(face: Face) -> float:
    """Degrees by which the line of the eyes is turned clockwise in the picture."""
    across = face.landmarks[1] - face.landmarks[0]
    return float(np.degrees(np.arctan2(across[1], across[0])))


def find_turn(face: Face) -> int:
    """Quarter turns to the left (0 to 3) that bring a face nearest to upright."""
    return round(_angle_of_eyes(face) / 90) % 4


def turn_face(face: Face, size: tuple[int, int], turn: int) -> Face:
    """A face of a picture of (height, width) as it lies in ``np.rot90(picture, turn)``."""
    corners = np.stack([face.box[:2], face.box[:2] + face.box[2:]])
    for _ in range(turn % 4):
        corners = _turn_points(corners, size[1])
        face = Face(
            np.concatenate([corners.min(axis=0), np.ptp(corners, axis=0)]),
            _turn_points(face.landmarks, size[1]),
            face.confidence,
        )
        size = (size[1], size[0])
    return face


def _turn_points(points: np.ndarray, width: int) -> np.ndarray:
    """Points (n, 2) of a picture of this width after a quarter turn to the left."""
    return np.column_stack([points[:, 1], width - 1 - points[:, 0]])
