"""What verbs say to people, and what they leave alone: the rest of the first hour's list."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from mien.cli._app import app
from mien.cli._identify import _show
from mien.errors import InputError


@pytest.mark.parametrize(
    "words",
    [
        "verify {mine} {mine} --out {mine}",
        "complete {mine} --out {mine}",
        "adapt {folder} --out {gallery}",
    ],
)
def test_what_is_not_ours_is_never_overwritten(words: str, tmp_path: Path) -> None:
    mine, gallery = tmp_path / "a.jpg", tmp_path / "copy.gallery"
    mine.write_bytes(b"\xff\xd8 a photograph")
    gallery.write_bytes(b"SQLite format 3\0 a gallery")
    before = mine.read_bytes(), gallery.read_bytes()
    # Divided first: a temporary folder may have spaces in its name.
    names = {"mine": mine, "gallery": gallery, "folder": tmp_path}
    done = CliRunner().invoke(app, [word.format(**names) for word in words.split()])
    assert done.exit_code != 0
    assert (mine.read_bytes(), gallery.read_bytes()) == before
    assert isinstance(done.exception, InputError)


def face(person: str | None, **more: Any) -> SimpleNamespace:
    return SimpleNamespace(
        person=person, candidates=[("Ann", 9.0), ("Bob", -3.0)], times=None, frames=None,
        log_ratio=9.0, threshold=4.0, promised=True, probability=0.998, n_comparisons=300, **more,
    )  # fmt: skip


def test_identify_says_probabilities_times_totals_and_errors(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    track = face("Ann")
    track.times, track.frames = (61.0, 75.5), (1525, 1887, 12)
    reason = "the file is cut off after 1,024 of 48,210 bytes, so nothing in it can be shown"
    one: Any = SimpleNamespace(path=tmp_path / "a.mp4", faces=[track], error=None, note="")
    torn: Any = SimpleNamespace(path=tmp_path / "torn.jpg", faces=[], error=reason, note="")
    _show([one], 0.01)
    told = capsys.readouterr()
    assert "0.998" in told.out
    assert "1:01.0–1:15.5" in told.out.replace("\n", "")
    assert "1525" not in told.out
    assert "1 file: 1 face, 1 named as 1 person, 0 unknown" in told.out
    _show([one, torn], 0.01)
    told = capsys.readouterr()
    assert reason in told.err  # in one line, not in a column
    assert "2 files: 1 face, 1 named as 1 person, 0 unknown" in told.out
