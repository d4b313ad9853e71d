"""Outputs are tried before the work; full disks, closed pipes and Ctrl-C end in a sentence."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mien.cli._app import app
from mien.cli._outputs import check_file, check_folder, saying_what_is_kept
from mien.errors import DataError, InputError


@pytest.mark.parametrize(
    "words",
    ["demo --out", "evaluate scores.csv --out", "cluster . --out", "data show rendered --out",
     "adapt . --out", "complete a.png --out", "identify a.png -g none --out"],
)  # fmt: skip
def test_a_place_that_cannot_be_written_is_refused_at_once(words: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    result = CliRunner().invoke(app, [*words.split(), str(tmp_path / "file" / "out")])
    assert isinstance(result.exception, InputError), result.output
    assert "cannot be written" in str(result.exception)


def test_a_full_disk_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(InputError, match="No space left"):
        check_folder(tmp_path / "new" / "deeper")
    with pytest.raises(InputError, match="No space left"):
        check_file(tmp_path / "new.png")


def test_places_that_can_be_written_are_left_as_they_are(tmp_path: Path) -> None:
    check_folder(tmp_path / "new" / "deeper")
    check_file(tmp_path / "new.png")
    check_folder(None)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="its folder does not exist"):
        check_file(tmp_path / "new" / "a.png")


def test_an_interruption_says_what_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    import typer

    with pytest.raises(typer.Exit) as stopped, saying_what_is_kept(lambda: "All of it."):
        raise KeyboardInterrupt
    assert stopped.value.exit_code == 130
    assert "Interrupted. All of it." in capsys.readouterr().err
    for there in (False, True):
        keeping = saying_what_is_kept(lambda: "Templates.", journal=lambda there=there: there)
        with pytest.raises(DataError, match="full"), keeping:
            raise DataError("the disk is full")
        assert ("Templates." in capsys.readouterr().err) == there


@pytest.mark.parametrize("full", [False, True])
def test_closed_pipes_and_full_disks_leave_no_traceback(full: bool) -> None:
    if full and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    command = [sys.executable, "-c", "from mien.cli._app import main; main()", "data", "list"]
    if full:
        with open("/dev/full", "wb") as out:
            done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
    else:
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
        os.close(writing)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
