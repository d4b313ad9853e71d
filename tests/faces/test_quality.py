"""Quality: pose, sharpness, size, and what is covered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFilter

from mien.errors import DataError, InputError
from mien.faces import (
    Face,
    align_face,
    analyse_image,
    covered_mask,
    covered_probabilities,
    face_quality,
)
from mien.faces import _covered as covered_module
from mien.faces._quality import _head, head_pose
from papers.covered.covers import PLACES, paint_cover, vary_picture
from tests.near import assert_near


def _turn(yaw: float, pitch: float, roll: float) -> np.ndarray:
    """Shadow (5, 2) of the head after a turn; x right, y down, z towards the camera."""
    y, p, r = np.radians([yaw, pitch, roll])
    about_y = np.array([[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]])
    about_x = np.array([[1, 0, 0], [0, np.cos(p), np.sin(p)], [0, -np.sin(p), np.cos(p)]])
    about_z = np.array([[np.cos(r), -np.sin(r), 0], [np.sin(r), np.cos(r), 0], [0, 0, 1]])
    return (about_z @ about_y @ about_x @ _head().T).T[:, :2] * 37 + (200, 90)


@pytest.mark.parametrize(
    "angles", [(0, 0, 0), (35, 0, 0), (0, -20, 0), (-25, 15, 10), (50, 20, -30)]
)
def test_the_pose_of_a_turned_head_is_found(angles: tuple[float, float, float]) -> None:
    assert_near(head_pose(_turn(*angles)), angles, digits=6, scale=1)


def test_signs_of_the_angles() -> None:
    """Nose to the right of the picture: yaw above 0; nose down: pitch; clockwise: roll."""
    frontal, right = _turn(0, 0, 0), _turn(20, 0, 0)
    assert right[2, 0] - right[:2, 0].mean() > frontal[2, 0] - frontal[:2, 0].mean()
    down = _turn(0, 20, 0)
    assert down[2, 1] - down[:2, 1].mean() > frontal[2, 1] - frontal[:2, 1].mean()
    clockwise = _turn(0, 0, 20)
    assert clockwise[1, 1] > clockwise[0, 1]


def test_blur_lowers_sharpness_and_score(astronaut: np.ndarray, face: Face) -> None:
    values = []
    for radius in (0, 1, 2, 4):
        blurred = np.asarray(Image.fromarray(astronaut).filter(ImageFilter.GaussianBlur(radius)))
        values.append(face_quality(blurred, face))
    sharpness = [quality.sharpness for quality in values]
    assert sharpness == sorted(sharpness, reverse=True)
    assert sharpness[0] > 0.7 > 0.3 > sharpness[2]
    assert values[0].score > 2 * values[3].score
    darker = face_quality(astronaut // 2, face)
    assert abs(darker.sharpness - values[0].sharpness) < 0.05


def test_quality_of_a_good_picture(astronaut: np.ndarray, face: Face) -> None:
    quality = face_quality(astronaut, face)
    assert quality.eye_distance == face.eye_distance
    assert abs(quality.yaw) < 15
    assert abs(quality.pitch) < 15
    assert abs(quality.roll) < 8
    assert quality.score > 0.5
    assert face_quality(np.full_like(astronaut, 99), face).sharpness == 0


@pytest.mark.parametrize("colour", [(120, 170, 210), (235, 235, 235), (20, 20, 22)])
def test_a_painted_mask_is_seen(astronaut, sface, colour: tuple[int, int, int]) -> None:
    clean = analyse_image(astronaut, sface, keep_crops=True)[0]
    assert clean.quality.lower_face_covered < 0.5
    assert covered_mask(clean.crop).mean() < 0.05
    masked = astronaut.copy()
    masked[118:182, 188:264] = colour
    found = analyse_image(masked, sface, keep_crops=True)[0]
    assert found.quality.lower_face_covered > 0.8
    assert found.quality.score < clean.quality.score
    mask = covered_mask(found.crop)
    assert mask.shape == (112, 112)
    assert mask.dtype == bool
    assert mask[75:105, 40:72].mean() > 0.8, "the mouth is covered"
    assert mask[:50].mean() < 0.1, "the eyes and the forehead are not"


def test_covered_maps_on_painted_people(data_home: Path) -> None:
    """Rates on other people are in docs/faces.md; here twelve crops of five people at most."""
    from mien.faces import load_engine
    from mien.media import read_image

    engine, rs = load_engine("sface"), np.random.RandomState(0)
    right, clean_marked = [], []
    for path in sorted((data_home / "photos" / "five_people").glob("*/*.jpg"))[::5]:
        image = read_image(path, colour=True)
        crop = align_face(image, engine.detect(image)[0])
        painted, mask = paint_cover(crop, "mask", [], rs)
        found = covered_mask(painted)
        right.append((found & mask).sum() / (found | mask).sum())
        clean_marked.append(covered_mask(crop).mean())
    assert np.median(right) > 0.6
    assert np.median(clean_marked) < 0.05


def test_covers_are_where_they_are_said_to_be() -> None:
    rs = np.random.RandomState(0)
    crop = rs.randint(0, 256, (112, 112, 3)).astype(np.uint8)
    texture = rs.randint(0, 256, (130, 120, 3)).astype(np.uint8)
    for place in PLACES:
        painted, mask = paint_cover(crop, place, [texture], np.random.RandomState(1))
        again, _ = paint_cover(crop, place, [texture], np.random.RandomState(1))
        np.testing.assert_array_equal(painted, again)
        assert 0.01 < mask.mean() < 0.7
        changed = (painted != crop).any(axis=2)
        assert changed[mask].mean() > 0.8
        outside = ~np.asarray(Image.fromarray(mask).filter(ImageFilter.MaxFilter(11)))
        assert not changed[outside].any()
        if place in PLACES[:3]:
            assert mask[80:].mean() > mask[:50].mean()
    assert vary_picture(crop, rs).shape == crop.shape


def test_what_is_no_aligned_face_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for bad in (np.zeros((1, 96, 96, 3), np.uint8), np.zeros((1, 112, 112, 3)), np.zeros(4)):
        with pytest.raises(InputError, match="aligned faces must be uint8"):
            covered_probabilities(bad)
    monkeypatch.setattr(covered_module, "_MODEL", "nothing.npz")
    covered_module._model.cache_clear()
    with pytest.raises(DataError, match="missing or damaged"):
        covered_probabilities(np.zeros((1, 112, 112, 3), np.uint8))
    covered_module._model.cache_clear()
