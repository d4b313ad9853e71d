"""How far the picture of a face can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FaceQuality"]


@dataclass(frozen=True)
class FaceQuality:
    """Measures of one face in one picture.

    Parameters
    ----------
    size : float
        Distance of the eyes in pixels.
    sharpness : float
        0 (blurred) to 1.
    yaw, pitch, roll : float
        Degrees, estimated from five points: roughly right, good for sorting.
    lower_face_covered : float
        Probability that something covers mouth and chin.
    score : float
        0 to 1, all of these in one number.
    """

    size: float
    sharpness: float
    yaw: float
    pitch: float
    roll: float
    lower_face_covered: float
    score: float
