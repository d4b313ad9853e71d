"""``mien crops train encoder`` and ``mien crops encode`` from end to end."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mien.cli._app import app
from mien.errors import DataError, InputError, MissingDataError
from mien.media import write_image
from tests.near import assert_near

SMALL = ["--components", "2", "--reduced", "4", "--side", "32"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    root = tmp_path_factory.mktemp("pictures")
    for n in range(8):
        kind = "plain" if n % 2 else "rough"
        (root / kind).mkdir(exist_ok=True)
        scale = 20 if n % 2 else 200
        pixels = 128 + scale * (rng.random((40, 48, 3)) - 0.5)
        write_image(root / kind / f"{n}.png", pixels.astype(np.uint8))
    return root


@pytest.mark.parametrize("kind", ["super-vector", "fisher"])
@pytest.mark.parametrize("second", ["lbp", "colour"])
def test_from_a_folder_to_features(folder: Path, tmp_path: Path, kind: str, second: str) -> None:
    model = tmp_path / "encoder.mien"
    arguments = ["crops", "train", "encoder", str(folder), "--out", str(model), *SMALL]
    arguments += ["--latent", "1"] if kind == "super-vector" else []
    result = CliRunner().invoke(app, [*arguments, "--kind", kind, "--second", second, "--json"])
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert summary["pictures"] == 8
    out = tmp_path / "features.npz"
    result = CliRunner().invoke(
        app, ["crops", "encode", str(model), str(folder), "--out", str(out)]
    )
    assert result.exit_code == 0, result.output
    assert "8 pictures" in result.output
    with np.load(out) as found:
        assert found["features"].shape == (8, summary["dimensions"])
        assert found["labels"].tolist() == ["plain"] * 4 + ["rough"] * 4
        assert found["files"][0] == "plain/1.png"
        features = found["features"]
    assert_near(np.linalg.norm(features, axis=1), 1, digits=5)
    table = tmp_path / "features.csv"
    result = CliRunner().invoke(
        app, ["crops", "encode", str(model), str(folder), "--out", str(table), "--json"]
    )
    assert json.loads(result.stdout)["pictures"] == 8
    with table.open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0][:3] == ["file", "label", "0"]
    np.testing.assert_allclose(np.array([row[2:] for row in rows[1:]], float), features, atol=1e-5)


def test_what_cannot_be_read_is_told(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "encoder.mien"
    arguments = [
        "crops",
        "train",
        "encoder",
        str(folder),
        "--out",
        str(model),
        *SMALL,
        "--latent",
        "1",
    ]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    (mixed / "text.png").write_text("no picture")
    write_image(mixed / "good.png", np.zeros((40, 40), np.uint8))
    out = tmp_path / "f.npz"
    result = CliRunner().invoke(app, ["crops", "encode", str(model), str(mixed), "--out", str(out)])
    assert result.exit_code == 1, "a picture that cannot be read is told by the exit code"
    assert "text.png" in result.output.replace("\n", "")
    with np.load(out) as found:
        assert found["files"].tolist() == ["good.png"]
    for arguments, error in [
        (["crops", "encode", str(model), str(mixed), "--out", str(tmp_path / "f.txt")], InputError),
        (
            ["crops", "encode", str(model), str(tmp_path / "gone"), "--out", str(out)],
            MissingDataError,
        ),
        (["crops", "train", "encoder", str(_empty(tmp_path)), "--out", str(model)], DataError),
    ]:
        result = CliRunner().invoke(app, arguments)
        assert isinstance(result.exception, error)


def _empty(place: Path) -> Path:
    folder = place / "empty"
    folder.mkdir()
    return folder
