"""``mien data``: what a newcomer sees, what a program reads, and how it fails."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from mien.cli._app import app
from mien.errors import ImageError, MissingDataError
from mien.media import read_image, write_image


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["data", *arguments])


@pytest.fixture
def album(tmp_path: Path) -> Path:
    for k, (person, count) in enumerate({"ann": 3, "bob": 1, "[cid]": 2}.items()):
        (tmp_path / "album" / person).mkdir(parents=True)
        for n in range(count):
            pixels = np.full((20 + n, 16), 40 * (k + 1), np.uint8)
            write_image(tmp_path / "album" / person / f"{n}.png", pixels)
    return tmp_path / "album"


def test_list_without_a_place_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MIEN_DATA", raising=False)
    result = _run("list")
    assert result.exit_code == 0
    assert "rendered" in result.stdout
    assert "not found" in result.stdout
    assert "MIEN_DATA" in result.stdout


def test_list_of_real_sets(data_home: Path) -> None:
    result = _run("list", "--data-home", str(data_home), "--json")
    rows = {row["name"]: row for row in json.loads(result.stdout)}
    counts = {name: (rows[name]["pictures"], rows[name]["people"]) for name in rows}
    assert counts["orl"] == (400, 40)
    assert counts["yale"] == (156, 15)
    assert counts["lfw"] == counts["lfw dlib"] == (13_233, 5_749)
    assert all(row["licence"] and not row["problem"] for row in rows.values())


def test_show_counts_and_lays_out_a_sheet(album: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.png"
    result = _run("show", str(album), "--size", "10", "--out", str(sheet), "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert (summary["pictures"], summary["people"]) == (6, 3)
    assert summary["people with one picture"] == 1
    assert summary["original sizes"] == {"smallest": [20, 16], "largest": [22, 16]}
    pixels = read_image(sheet)
    assert pixels.shape == (3 * 12 + 2, 3 * 12 + 2)
    # A row a person in the order of their names; white where somebody has no more pictures.
    expected = [[120, 120, 255], [40, 40, 40], [80, 255, 255]]
    np.testing.assert_array_equal(pixels[6::12, 6::12], expected)


def test_show_speaks_plainly(album: Path) -> None:
    (album / "ann" / "bad[red].jpg").write_bytes(b"")
    result = _run("show", str(album), "--skip")
    assert result.exit_code == 0, result.output
    assert "96×96" in result.stdout
    assert "20×16 to 22×16" in result.stdout
    assert "0 bytes" in result.stdout
    failed = _run("show", str(album))
    assert isinstance(failed.exception, ImageError)
    assert "bad[red].jpg" in str(failed.exception)


def test_show_of_nothing_says_what_there_is() -> None:
    result = _run("show", "oral")
    assert isinstance(result.exception, MissingDataError)
    assert "neither a known set (rendered, orl, yale, lfw)" in str(result.exception)
