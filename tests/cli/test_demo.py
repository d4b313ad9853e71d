"""`mien demo`: from nothing to a page, on rendered people and on folders of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mien.cli._app import app

runner = CliRunner()
pytestmark = pytest.mark.needs("plots")


@pytest.fixture(scope="module")
def small_demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    out = tmp_path_factory.mktemp("demo")
    result = runner.invoke(
        app, ["demo", "--people", "8", "--pictures", "6", "--out", str(out / "r")]
    )
    assert result.exit_code == 0, result.output
    return out / "r", result.stdout, result.stderr


def test_it_ends_with_a_summary_and_the_place_of_the_report(
    small_demo: tuple[Path, str, str],
) -> None:
    folder, out, messages = small_demo
    assert "PCA + LDA, nearest neighbour" in out
    assert str(folder / "report.html") in messages.replace("\n", "")


@pytest.mark.needs("faces")
def test_it_tells_how_to_open_the_page_on_its_people(small_demo: tuple[Path, str, str]) -> None:
    from mien.gallery import Gallery

    folder, _, messages = small_demo
    said = messages.replace("\n", "")
    assert f"mien serve --gallery {folder / 'people.gallery'}" in said.replace("'", "")
    with Gallery.open(folder / "people.gallery", read_only=True) as gallery:
        names = [person.name for person in gallery.people()]
        assert {"Ada Lindqvist", "Bruno Costa", "person-001"} <= set(names)
        face = gallery.faces("Ada Lindqvist")[0]
        assert (gallery.thumbnail(face.id) or b"").startswith(b"\xff\xd8")


def test_the_report_shows_people_and_baselines(small_demo: tuple[Path, str, str]) -> None:
    folder, _, _ = small_demo
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "data:image/png;base64" in page
    assert "http" not in page.replace("http-equiv", "")
    parts = json.loads((folder / "report.json").read_text(encoding="utf-8"))["parts"]
    headings = [part["text"] for part in parts if part["kind"] == "heading"]
    assert headings[:2] == ["The people", "Baselines"]
    table = next(p for p in parts if p.get("title") == "Identification and verification")
    for row in table["rows"]:
        value, low, high = row["identified"]
        assert 0 <= low <= value <= high <= 1


def test_a_folder_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mien.demo import _run as demo

    monkeypatch.setattr(demo, "SECTIONS", demo.SECTIONS[:2])
    rng = np.random.default_rng(0)
    for person in ("ann", "bob", "cleo", "dan", "eve", "fay"):
        face = rng.random((20, 20))
        (tmp_path / "faces" / person).mkdir(parents=True)
        for k in range(4):
            noisy = np.clip(face + 0.05 * rng.normal(size=face.shape), 0, 1)
            Image.fromarray((255 * noisy).astype(np.uint8)).save(
                tmp_path / "faces" / person / f"{k}.png"
            )
    (tmp_path / "faces" / "ann" / "broken.png").write_bytes(b"")
    arguments = ["demo", "--data", str(tmp_path / "faces"), "--out", str(tmp_path / "r"), "--json"]
    result = runner.invoke(app, arguments)
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert "6 people, 24 pictures" in document["subtitle"]
    assert "1 could not be read" in document["subtitle"]
    rows = document["parts"][0]["rows"]
    assert rows[0]["result"][0] >= 0.9  # six random patterns are easy to tell apart


@pytest.mark.parametrize("data", ["nothing-of-that-name", "empty"])
def test_bad_data_is_one_sentence(tmp_path: Path, data: str) -> None:
    from mien.errors import MienError

    (tmp_path / "empty").mkdir()
    place = str(tmp_path / data) if data == "empty" else data
    result = runner.invoke(app, ["demo", "--data", place, "--out", str(tmp_path / "r")])
    assert isinstance(result.exception, MienError)
    assert not (tmp_path / "r").exists()
