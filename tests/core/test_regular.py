"""Nothing but a regular file is ever opened, or waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mien._core.regular import NotRegularError, open_regular
from mien.errors import DataError, InputError
from mien.media import open_frames, picture_time, read_xmp, upright_size
from mien.recognition._people import digest_file

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")


def test_a_file_is_opened_and_a_folder_is_not(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    with open_regular(tmp_path / "a") as file:
        assert file.read() == b"content"
    with pytest.raises(NotRegularError, match="not a regular file"):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "nothing")


@needs_pipes
def test_nobody_waits_for_a_pipe(tmp_path: Path) -> None:
    """A pipe in a folder of photographs kept mien cluster waiting for its time for ever."""
    pipe = tmp_path / "pipe.jpg"
    os.mkfifo(pipe)
    with pytest.raises(NotRegularError):
        open_regular(pipe)
    assert picture_time(pipe) is not None  # of the file itself
    assert digest_file(pipe) is None
    with pytest.raises(InputError):
        upright_size(pipe)
    with pytest.raises(DataError, match="not a regular file"):
        open_frames(pipe, every=1)
    found = read_xmp(pipe)
    assert not found.regions
    assert not found.names
