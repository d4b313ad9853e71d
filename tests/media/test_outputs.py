"""Nothing that exists and is not ours is overwritten, and an input never."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mien.errors import InputError
from mien.media import check_output, write_image

PICTURE = np.arange(300, dtype=np.uint8).reshape(10, 10, 3)


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_a_foreign_picture_is_never_overwritten(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    Image.fromarray(PICTURE).save(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="was not written by mien"):
        write_image(path, PICTURE)
    assert path.read_bytes() == before


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_our_own_picture_is_replaced(tmp_path: Path, suffix: str) -> None:
    path = write_image(tmp_path / f"a{suffix}", PICTURE)
    before = path.read_bytes()
    write_image(path, 255 - PICTURE)
    assert path.read_bytes() != before


def test_an_input_is_never_overwritten_even_if_it_is_ours(tmp_path: Path) -> None:
    path = write_image(tmp_path / "a.png", PICTURE)
    (tmp_path / "link.png").symlink_to(path)
    for name in ("a.png", "link.png"):
        with pytest.raises(InputError, match="one of the inputs"):
            check_output(tmp_path / name, [path])
    assert check_output(tmp_path / "b.png", [path]) == tmp_path / "b.png"


def test_folders_and_missing_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        check_output(tmp_path)
    with pytest.raises(InputError, match="its folder does not exist"):
        check_output(tmp_path / "none" / "a.png")
