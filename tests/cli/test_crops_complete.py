"""``mien crops train completer`` and ``mien crops complete``, from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mien.cli._app import app
from mien.datasets import make_faces
from mien.errors import InputError
from mien.media import read_image, write_image

RUN = CliRunner()


def _invoke(*words: object) -> str:
    result = RUN.invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("faces")
    faces = make_faces(15, 2, size=32, random_state=0)
    for n, (image, person) in enumerate(zip(faces.images, faces.people, strict=True)):
        (place / f"p{person}").mkdir(exist_ok=True)
        write_image(place / f"p{person}" / f"{n}.png", image)
    return place


@pytest.fixture(scope="module")
def model(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "faces.mien"
    words = _invoke("crops", "train", "completer", folder, "--out", path, "--completer", "ridge")
    assert "30 faces of 32×32" in words
    return path


def test_one_picture_is_three_side_by_side(model: Path, folder: Path, tmp_path: Path) -> None:
    picture = next(folder.rglob("*.png"))
    out = tmp_path / "completed.png"
    _invoke("crops", "complete", model, picture, "--out", out, "--scale", 1)
    sheet = read_image(out)
    assert sheet.shape == (36, 104)
    original, visible, result = (sheet[2:34, low : low + 32] for low in (2, 36, 70))
    np.testing.assert_array_equal(original, read_image(picture))
    assert np.ptp(visible[13:].astype(int)) == 0
    np.testing.assert_array_equal(visible[:13], original[:13])
    np.testing.assert_array_equal(result[:13], original[:13])
    assert result[13:].std() > 3


def test_folders_other_covers_and_json(model: Path, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "done"
    cover = tmp_path / "cover.png"
    write_image(cover, np.pad(np.full((16, 32), 255, np.uint8), ((16, 0), (0, 0))))
    call = ("crops", "complete", model, folder, "--out", out, "--cover")
    found = json.loads(_invoke(*call, cover, "--json"))
    assert len(found["written"]) == 30
    assert all(Path(path).exists() for path in found["written"])
    assert "and 25 more" in _invoke(*call, "left")


def test_rendered_faces_train_a_dictionary(tmp_path: Path) -> None:
    path = tmp_path / "dictionary.mien"
    summary = json.loads(
        _invoke(
            "crops", "train", "completer", "rendered", "--out", path, "--completer", "dictionary",
            "--atoms", 50, "--rounds", 2, "--faces", 200, "--size", 16, "--json",
            "--checkpoint", tmp_path / "state.npz",
        )
    )  # fmt: skip
    assert summary["faces"] == 200
    assert summary["gain"] > 1
    assert path.exists()


def test_errors(model: Path, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no pictures"):
        _invoke("crops", "complete", model, tmp_path / "empty", "--out", tmp_path / "x")
    with pytest.raises(InputError, match="a cover is one of"):
        _invoke("crops", "complete", model, folder, "--cover", "nose", "--out", tmp_path / "x")
    with pytest.raises(InputError, match="completer must be one of"):
        _invoke(
            "crops", "train", "completer", folder, "--completer", "magic", "--out", tmp_path / "y"
        )
    with pytest.raises(InputError, match="--beta has no effect"):
        _invoke(
            "crops", "train", "completer", folder, "--completer", "pca", "--beta", 3, "--out", "y"
        )
