"""The thin-plate warp: exact at landmarks, affine where it should be, smooth between."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import RBFInterpolator

from mien.errors import InputError
from mien.features import mean_shape, warp_faces
from mien.features._warp import spline_weights
from tests.near import assert_near

POINTS = np.array([[12.0, 14], [34, 15], [23, 26], [15, 36], [32, 37]])


def _smooth_picture(size: int = 60) -> np.ndarray:
    y, x = np.mgrid[:size, :size] / size
    return (0.5 + 0.3 * np.sin(5 * x) * np.cos(4 * y)).astype(np.float32)


def test_weights_equal_scipys_thin_plate() -> None:
    values = np.random.default_rng(0).normal(size=(5, 2))
    where = np.random.default_rng(1).uniform(0, 48, (20, 2))
    for stiffness in (0.0, 3.0):
        theirs = RBFInterpolator(
            POINTS, values, kernel="thin_plate_spline", degree=1, smoothing=stiffness
        )(where)
        assert_near(spline_weights(POINTS, where, stiffness) @ values, theirs, digits=8)


def test_landmarks_come_to_the_template() -> None:
    picture = _smooth_picture()
    bent = POINTS + np.random.default_rng(2).uniform(-3, 3, POINTS.shape)
    template = np.round(mean_shape(bent[None]))
    warped = warp_faces(picture[None], bent[None], template)[0]
    for (x, y), (u, v) in zip(bent, template.astype(int), strict=True):
        left, top = int(x), int(y)
        a, b = x - left, y - top
        window = picture[top : top + 2, left : left + 2]
        expected = np.array([1 - b, b]) @ window @ np.array([1 - a, a])
        assert warped[v, u] == pytest.approx(expected, abs=1e-4)


def test_a_shift_is_a_shift_everywhere() -> None:
    picture = _smooth_picture()
    warped = warp_faces(picture[None], POINTS[None] + [5, 3], POINTS)[0]
    np.testing.assert_allclose(warped, picture[3:51, 5:53], atol=1e-5)


def test_colour_and_large_faces() -> None:
    picture = np.repeat(np.repeat(_smooth_picture(), 6, axis=0), 6, axis=1)
    colour = np.stack([picture, 1 - picture, picture / 2], axis=-1)
    points = POINTS * 6 + 2.5
    warped = warp_faces(colour[None], points[None], POINTS)[0]
    assert warped.shape == (48, 48, 3)
    np.testing.assert_allclose(warped[..., 0], _smooth_picture()[:48, :48], atol=0.02)
    np.testing.assert_allclose(warped[..., 1], 1 - warped[..., 0], atol=1e-5)


def test_mean_shape_fills_the_picture() -> None:
    shape = mean_shape(np.stack([POINTS, POINTS * 3 + 100]), size=48, margin=0.25)
    spread = (shape.max(axis=0) - shape.min(axis=0)).max()
    assert spread == pytest.approx(0.5 * 47)
    assert_near((shape.max(axis=0) + shape.min(axis=0)) / 2, 23.5, digits=7)


def test_bad_landmarks_are_refused() -> None:
    picture = _smooth_picture()[None]
    with pytest.raises(InputError, match="at least 3"):
        warp_faces(picture, POINTS[None, :2])
    with pytest.raises(InputError, match="one line"):
        warp_faces(picture, POINTS[None], np.repeat(POINTS[:, :1], 2, axis=1))
    with pytest.raises(InputError, match="NaN"):
        warp_faces(picture, np.full((1, 5, 2), np.nan))
    with pytest.raises(InputError, match="1 images have landmarks for 2"):
        warp_faces(picture, np.stack([POINTS, POINTS]))
