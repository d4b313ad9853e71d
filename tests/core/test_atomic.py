"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from mien._core import atomic
from mien._core.atomic import atomic_path, write_atomically
from mien.errors import DataError


@pytest.mark.parametrize("unnamed", [True, False])
@pytest.mark.parametrize("private", [True, False])
def test_new_replaced_and_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unnamed: bool, private: bool
) -> None:
    if not unnamed:
        monkeypatch.setattr(atomic, "_open_unnamed", lambda folder: None)
    target = tmp_path / "file"
    for content in (b"first", b"second, longer", b"3"):
        write_atomically(target, content, private=private)
        assert target.read_bytes() == content
        assert os.listdir(tmp_path) == ["file"]
    assert not private or stat.S_IMODE(target.stat().st_mode) == 0o600

    def fail_halfway() -> None:
        with atomic_path(target, private=private) as place:
            place.write_bytes(b"half")
            raise KeyError

    with pytest.raises(KeyError):
        fail_halfway()
    assert target.read_bytes() == b"3"
    assert os.listdir(tmp_path) == ["file"]


def test_a_private_file_has_no_name_until_it_is_whole(tmp_path: Path) -> None:
    """So that a killed process leaves nothing of a gallery's export."""
    descriptor = atomic._open_unnamed(tmp_path)
    if descriptor is None:
        pytest.skip("this system has no files without a name")
    os.close(descriptor)
    with atomic_path(tmp_path / "file", private=True) as place:
        place.write_bytes(b"templates")
        assert os.listdir(tmp_path) == []
    assert os.listdir(tmp_path) == ["file"]


def test_where_files_cannot_get_a_name_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(1, "not allowed")

    monkeypatch.setattr(os, "link", refuse)
    write_atomically(tmp_path / "file", b"content", private=True)
    assert (tmp_path / "file").read_bytes() == b"content"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("private", [True, False])
def test_names_at_the_limit_and_beyond(tmp_path: Path, private: bool) -> None:
    longest = os.pathconf(tmp_path, "PC_NAME_MAX")
    write_atomically(tmp_path / ("x" * longest), b"content", private=private)
    assert (tmp_path / ("x" * longest)).read_bytes() == b"content"
    with pytest.raises(DataError, match="cannot write"):
        write_atomically(tmp_path / ("x" * (longest + 1)), b"content", private=private)
    assert len(os.listdir(tmp_path)) == 1
