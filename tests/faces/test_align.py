"""Alignment, drawing."""

from __future__ import annotations

import numpy as np
import pytest

from mien.errors import InputError
from mien.faces import TEMPLATE, Face, FaceEngine, align_face, annotate, fit_similarity
from tests.near import assert_near


def _turned(
    points: np.ndarray, angle: float, scale: float, shift: tuple[float, float]
) -> np.ndarray:
    c, s = scale * np.cos(angle), scale * np.sin(angle)
    return points @ np.array([[c, s], [-s, c]]) + shift


def test_the_similarity_is_undone() -> None:
    points = _turned(TEMPLATE, 0.4, 2.5, (31, -7))
    matrix = fit_similarity(points, TEMPLATE)
    assert_near(points @ matrix[:, :2].T + matrix[:, 2], TEMPLATE, digits=8)


def test_the_similarity_is_the_one_of_least_squares() -> None:
    rng = np.random.RandomState(0)
    points = _turned(TEMPLATE, -0.3, 0.7, (5, 9)) + rng.normal(0, 2, TEMPLATE.shape)
    matrix = fit_similarity(points, TEMPLATE)
    # The same as linear least squares in a, b, tx, ty.
    ones, none = np.ones(5), np.zeros(5)
    x, y = points.T
    system = np.vstack([np.column_stack([x, -y, ones, none]), np.column_stack([y, x, none, ones])])
    a, b, tx, ty = np.linalg.lstsq(system, TEMPLATE.T.ravel(), rcond=None)[0]
    assert_near(matrix, [[a, -b, tx], [b, a, ty]], digits=8)


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.7])
@pytest.mark.parametrize("method", ["similarity", "thin-plate"])
def test_landmarks_land_on_the_template(method: str, scale: float) -> None:
    points = _turned(TEMPLATE, 0.25, scale, (60, 20))
    side = int(points.max()) + 60
    y, x = np.mgrid[:side, :side]
    for k, (px, py) in enumerate(points):
        spot = np.exp(-((x - px) ** 2 + (y - py) ** 2) / (2 * (2.0 * scale) ** 2))
        image = np.repeat((255 * spot).astype(np.uint8)[..., None], 3, axis=2)
        crop = align_face(image, Face([0, 0, 9, 9], points, 1.0), method=method)[..., 0]
        weights = crop.astype(float) ** 2
        v, u = np.mgrid[:112, :112]
        centre = np.array([(weights * u).sum(), (weights * v).sum()]) / weights.sum()
        np.testing.assert_allclose(centre, TEMPLATE[k], atol=0.6)


def test_the_thin_plate_hits_each_point_and_the_similarity_the_nearest() -> None:
    points = TEMPLATE + np.array([[0, 0], [0, 0], [6, 0], [0, 0], [0, 0]])
    y, x = np.mgrid[:112, :112]
    spot = np.exp(-((x - points[2, 0]) ** 2 + (y - points[2, 1]) ** 2) / 8)
    image = np.repeat((255 * spot).astype(np.uint8)[..., None], 3, axis=2)
    face = Face([0, 0, 9, 9], points, 1.0)
    bent, stiff = (align_face(image, face, method=m)[..., 0] for m in ("thin-plate", "similarity"))
    assert abs(np.unravel_index(bent.argmax(), bent.shape)[1] - TEMPLATE[2, 0]) <= 1
    assert np.unravel_index(stiff.argmax(), stiff.shape)[1] - TEMPLATE[2, 0] > 3


def test_large_faces_are_averaged_not_sampled() -> None:
    """Stripes finer than the crop's pixels come out grey and not as false stripes."""
    points = _turned(TEMPLATE, 0, 8, (0, 0))
    stripes = np.repeat((np.arange(900) % 2 * 255).astype(np.uint8)[None], 900, axis=0)
    crop = align_face(stripes, Face([0, 0, 9, 9], points, 1.0))
    assert crop[5:-5, 5:-5].std() < 12


@pytest.mark.parametrize("size", [64, 112, 160])
def test_sizes_and_methods(astronaut: np.ndarray, face: Face, size: int) -> None:
    for method in ("similarity", "thin-plate"):
        crop = align_face(astronaut, face, size, method)
        assert crop.shape == (size, size, 3)
        assert crop.dtype == np.uint8
        assert crop.std() > 30


def test_what_cannot_be_aligned_is_refused(astronaut: np.ndarray, face: Face) -> None:
    with pytest.raises(InputError, match="method must be one of"):
        align_face(astronaut, face, method="affine")
    with pytest.raises(InputError, match="size must be an integer from 1"):
        align_face(astronaut, face, 0)
    far = Face(face.box, face.landmarks + 10_000, 1.0)
    with pytest.raises(InputError, match="outside the picture"):
        align_face(astronaut, far)
    with pytest.raises(InputError, match="coincide"):
        align_face(astronaut, Face(face.box, np.full((5, 2), 50.0), 1.0))


def test_a_face_at_the_edge_is_aligned(sface: FaceEngine, astronaut: np.ndarray) -> None:
    cut = astronaut[80:, 190:]  # the forehead and an ear are gone
    found = sface.detect(cut)
    assert found
    assert align_face(cut, found[0]).shape == (112, 112, 3)
    assert np.isfinite(sface.embed(cut, found[0])).all()


def test_names_are_drawn_inside_the_picture(astronaut: np.ndarray, face: Face) -> None:
    drawn = annotate(astronaut, [face], ["Eileen Collins"])
    changed = (drawn != astronaut).any(axis=2)
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    x, y, w, h = face.box
    assert abs(rows[0] - y) < 4
    assert rows[-1] > y + h
    assert abs(columns[0] - x) < 4
    inner = changed[int(y + h / 3), int(x + w * 0.4) : int(x + w * 0.6)]
    assert not inner.all(), "the face must stay visible"
    low = Face(face.box + np.array([0, 400, 0, 0]), face.landmarks + np.array([0, 400]), 1.0)
    assert annotate(astronaut, [low, face], ["", "<b>"], ["red", "#00ff00"]).shape == (512, 512, 3)


def test_drawing_refuses_what_does_not_fit(astronaut: np.ndarray, face: Face) -> None:
    with pytest.raises(InputError, match="labels has 2 entries for 1 faces"):
        annotate(astronaut, [face], ["a", "b"])
    with pytest.raises(InputError, match="colours has 0 entries"):
        annotate(astronaut, [face], ["a"], [])
    with pytest.raises(InputError, match="not a colour"):
        annotate(astronaut, [face], ["a"], ["no such colour"])
    np.testing.assert_array_equal(annotate(astronaut, [], []), astronaut)
