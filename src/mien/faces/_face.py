"""What is found in a picture: a face, and what is known about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mien.errors import InputError

if TYPE_CHECKING:
    from mien.faces._quality import FaceQuality

__all__ = ["Face", "FoundFace", "PictureResult"]


@dataclass(frozen=True, eq=False)
class Face:
    """A face in a picture.

    Parameters
    ----------
    box : (4,) float32
        Left, top, width, height in pixels; may reach beyond the picture.
    landmarks : (5, 2) float32
        x, y of the right eye, the left eye, the nose, the right and the left corner of the mouth.
        Right and left are the person's: in a picture that is not mirrored the right eye is on the
        left.
    confidence : float
        Between 0 and 1. Those of two engines do not compare.

    Examples
    --------
    >>> from mien.faces import Face
    >>> face = Face([10, 10, 40, 50], [[20, 30], [40, 30], [30, 40], [22, 50], [38, 50]], 0.9)
    >>> face.eye_distance
    20.0
    """

    box: np.ndarray
    landmarks: np.ndarray
    confidence: float

    def __post_init__(self) -> None:
        for name, shape in (("box", (4,)), ("landmarks", (5, 2))):
            array = _finite_float32(name, getattr(self, name), shape)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if self.box[2] <= 0 or self.box[3] <= 0:
            raise InputError(f"box has no area: width and height are {self.box[2:].tolist()}")
        object.__setattr__(self, "confidence", float(self.confidence))

    @property
    def area(self) -> float:
        """Area of the box in pixels."""
        return float(self.box[2]) * float(self.box[3])

    @property
    def eye_distance(self) -> float:
        """Distance of the eyes in pixels."""
        return float(np.linalg.norm(self.landmarks[0] - self.landmarks[1]))


def _finite_float32(name: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
    try:
        array = np.array(values, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers of shape {shape}; got {values!r:.80}") from error
    if array.shape != shape:
        raise InputError(f"{name} must have the shape {shape}; got {array.shape}")
    if not np.all(np.isfinite(array)):
        raise InputError(f"{name} has NaN or infinite entries")
    return array


@dataclass(frozen=True, eq=False)
class FoundFace:
    """A face with its vector.

    Parameters
    ----------
    face : Face
        Where it is.
    vector : (128,) float32
        The engine's vector, of unit length: a template, so personal data.
    quality : FaceQuality or None
        How far the picture of the face can be trusted.
    crop : (112, 112, 3) uint8 or None
        The aligned face, where crops were asked for.
    """

    face: Face
    vector: np.ndarray
    quality: FaceQuality | None = None
    crop: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class PictureResult:
    """What a picture file gave.

    Parameters
    ----------
    path : Path
        The file.
    digest : str
        SHA-256 of its bytes; ``""`` where it could not be read.
    size : (height, width)
        Of the upright picture as it was analysed (a very large JPEG is decoded at a reduced
        size); (0, 0) if it could not be decoded.
    faces : list of FoundFace
        The largest first; empty if none was found.
    error : str or None
        Why the picture could not be used. A picture without a face is not an error.
    left_out : int
        Smaller faces that were found and not analysed, because they are more than ``max_faces``.
    """

    path: Path
    digest: str
    size: tuple[int, int]
    faces: list[FoundFace]
    error: str | None = None
    left_out: int = 0

    @property
    def note(self) -> str:
        """What is to be said about the faces of the picture; mostly nothing."""
        if not self.left_out:
            return ""
        total = len(self.faces) + self.left_out
        return f"the largest {len(self.faces):,} of {total:,} faces were analysed"

    @property
    def acquired(self) -> bool:
        """Whether there is a face; the others are failures to acquire."""
        return bool(self.faces)
