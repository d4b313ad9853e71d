"""How far the picture of a face can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mien.faces._align import align_face
from mien.faces._covered import lower_face_covered
from mien.faces._face import Face

__all__ = ["FaceQuality", "face_quality", "head_pose"]

_SHARP_HALF = 0.02
_FULL_DISTANCE = 32.0
_WIDEST_TURN = 70.0
_STEEPEST = 60.0
# x and y: the mean of YuNet's points over LFW, made symmetric; z: how far they stand out of the
# plane of the eyes, from anatomy. In distances of the eyes.
_HEAD = (
    (-0.5, 0.0, 0.0),
    (0.5, 0.0, 0.0),
    (0.0, 0.568, 0.48),
    (-0.428, 1.019, 0.1),
    (0.428, 1.019, 0.1),
)


@dataclass(frozen=True)
class FaceQuality:
    """Measures of one face in one picture.

    Parameters
    ----------
    eye_distance : float
        Distance between the eyes, in pixels.
    sharpness : float
        0 (blurred, or enlarged from few pixels) to 1.
    yaw, pitch, roll : float
        Degrees, estimated from five points: good for sorting, some ten degrees off. Yaw is
        positive where the nose points to the right of the picture, pitch where it points down,
        roll where the head is turned clockwise in the picture.
    lower_face_covered : float
        Probability that something covers mouth and chin for the larger part.
    score : float
        0 to 1, all of these in one number: a product, so one bad property is enough.

    See Also
    --------
    face_quality : where it comes from.
    """

    eye_distance: float
    sharpness: float
    yaw: float
    pitch: float
    roll: float
    lower_face_covered: float
    score: float


def face_quality(image: np.ndarray, face: Face) -> FaceQuality:
    """Measure how far the picture of a face can be trusted.

    Parameters
    ----------
    image : (h, w, 3) or (h, w) uint8
        RGB or grey.
    face : Face
        One that was found in it.

    Returns
    -------
    FaceQuality
        See there.

    Notes
    -----
    Sharpness is s / (s + 0.02), where s is the variance of the Laplacian of the aligned grey face
    over the variance of that face, so contrast does not count. The pose is that of a rigid head
    of five points whose shadow lies nearest to the landmarks. The score is the product of
    confidence, min(1, eye_distance / 32), the root of sharpness, a fall with yaw to 0 at 70° and
    with pitch to 0 at 60°, and 1 less half the probability of a cover.
    """
    return quality_of_crop(align_face(image, face), face)


def quality_of_crop(crop: np.ndarray, face: Face) -> FaceQuality:
    """The same from the aligned face (112, 112, 3) uint8."""
    distance, sharp = face.eye_distance, _sharpness(crop)
    yaw, pitch, roll = head_pose(face.landmarks)
    covered = float(lower_face_covered(crop[None])[0])
    pose = max(0.0, 1 - (yaw / _WIDEST_TURN) ** 2) * max(0.0, 1 - (pitch / _STEEPEST) ** 2)
    score = min(1.0, distance / _FULL_DISTANCE) * sharp**0.5 * pose * (1 - covered / 2)
    score *= float(np.clip(face.confidence, 0, 1))
    return FaceQuality(distance, sharp, yaw, pitch, roll, covered, score)


def _sharpness(crop: np.ndarray) -> float:
    inner = crop[16:-8, 16:-16].astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
    spread = float(inner.var())
    if spread < 1:
        return 0.0
    across = inner[1:-1, :-2] + inner[1:-1, 2:] + inner[:-2, 1:-1] + inner[2:, 1:-1]
    edges = float((across - 4 * inner[1:-1, 1:-1]).var()) / spread
    return edges / (edges + _SHARP_HALF)


def head_pose(landmarks: np.ndarray) -> tuple[float, float, float]:
    """Yaw, pitch and roll in degrees from five landmarks (5, 2).

    The shadow of a rigid head under a turn R and a scale s is s R₂ P, with R₂ the first two rows.
    The least-squares 2 × 3 matrix is brought to the nearest one with orthonormal rows.
    """
    shape = _head()
    points = np.asarray(landmarks, np.float64)
    matrix = np.linalg.lstsq(shape, points - points.mean(axis=0), rcond=None)[0].T
    u, _, vt = np.linalg.svd(matrix, full_matrices=False)
    rows = u @ vt
    turn = np.vstack([rows, np.cross(rows[0], rows[1])])
    # turn = (roll about z) (yaw about y) (pitch about x)
    yaw = np.arcsin(np.clip(-turn[2, 0], -1, 1))
    pitch = np.arctan2(-turn[2, 1], turn[2, 2])
    roll = np.arctan2(turn[1, 0], turn[0, 0])
    return float(np.degrees(yaw)), float(np.degrees(pitch)), float(np.degrees(roll))


def _head() -> np.ndarray:
    """Five points (5, 3) of a frontal head, about their mean."""
    shape = np.array(_HEAD)
    return shape - shape.mean(axis=0)
