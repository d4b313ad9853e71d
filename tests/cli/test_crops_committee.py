"""``mien crops train committee`` and ``mien crops identify`` from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mien.cli._app import app
from mien.datasets import make_faces
from mien.media import write_image


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("people")
    faces = make_faces(5, 5, 24, random_state=0)
    for number, (image, person) in enumerate(zip(faces.images, faces.people, strict=True)):
        (root / f"p{person}").mkdir(exist_ok=True)
        write_image(root / f"p{person}" / f"{number:03d}.png", np.uint8(np.round(255 * image)))
    return root


@pytest.fixture(scope="module")
def model(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "people.mien"
    result = CliRunner().invoke(
        app, ["crops", "train", "committee", str(folder), "--out", str(path), "--size", "24"]
    )
    assert result.exit_code == 0, result.output
    assert "25 pictures of 5 people" in result.output
    assert "5 held-out pictures" in result.output
    return path


def test_names_and_posteriors(folder: Path, model: Path) -> None:
    result = CliRunner().invoke(
        app, ["crops", "identify", str(model), str(folder / "p2"), "--json"]
    )
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert len(rows) == 5
    for row in rows:
        assert row["posterior"] == pytest.approx(row["likeliest"][0][1])
        expected = row["likeliest"][0][0] if row["posterior"] >= 0.8 else "unknown"
        assert row["person"] == expected


def test_unknown_below_the_threshold_and_a_bad_file(
    folder: Path, model: Path, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    write_image(tmp_path / "noise.png", rng.integers(0, 256, (24, 24)).astype(np.uint8))
    (tmp_path / "text.png").write_text("hello")
    arguments = ["crops", "identify", str(model), str(tmp_path), "--threshold", "1"]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 1, "a picture that cannot be read is told by the exit code"
    told = CliRunner().invoke(app, [*arguments, "--json"])
    assert told.exit_code == 1
    noise, text = json.loads(told.stdout)
    assert Path(noise["picture"]).name == "noise.png"
    assert noise["person"] == "unknown"
    assert Path(text["picture"]).name == "text.png"
    assert "error" in text


def test_json_of_training(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.mien"
    arguments = [
        "crops",
        "train",
        "committee",
        str(folder),
        "--out",
        str(out),
        "--size",
        "16",
        "--json",
    ]
    arguments += ["--members", "3", "--sampling", "both", "--fusion", "vote"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert (summary["people"], summary["members"], summary["model"]) == (5, 3, str(out))
    assert out.is_file()
