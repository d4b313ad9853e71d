"""Names leave as sidecars: those that a person gave, and on request those that mien found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mien.errors import DataError, InputError
from mien.gallery import Gallery
from mien.media import read_xmp, write_image
from mien.recognition import enrol, identify, write_names

pytestmark = pytest.mark.needs("faces")


@pytest.fixture(scope="module")
def gallery(album: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("gallery") / "people.gallery"
    enrol(album, place, n_jobs=1)
    return place


def test_only_confirmed_names_by_default(
    album: Path, gallery: Path, pictures: dict[str, list[np.ndarray]], tmp_path: Path
) -> None:
    known = tmp_path / "known.png"
    known.write_bytes((album / "Ann" / "0.png").read_bytes())
    new = tmp_path / "new.png"
    write_image(new, pictures["Bob"][0][:, ::-1])
    found = {one.path.name: one for one in identify([known, new], gallery, fpir=0.4, n_jobs=1)}
    change = write_names(found["known.png"], gallery)
    assert change is not None
    assert change.added == ["Ann"]
    (region,) = read_xmp(known).regions
    box = found["known.png"].faces[0].found.face.box
    height, width = pictures["Ann"][0].shape[:2]
    expected = box / np.array([width, height, width, height])
    assert region.name == "Ann"
    assert np.abs(np.clip(expected, 0, 1) - region.box).max() < 0.02
    assert write_names(found["new.png"], gallery) is None
    assert not (tmp_path / "new.png.xmp").exists()
    if found["new.png"].faces[0].person is not None:
        assert write_names(found["new.png"], gallery, which="all") is not None
    with pytest.raises(InputError, match="which"):
        write_names(found["new.png"], gallery, which="some")
    with Gallery.open(gallery, read_only=True) as opened:
        assert write_names(found["known.png"], opened) is not None


def test_an_empty_folder_and_a_damaged_video_are_said(
    album: Path, gallery: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="no picture and no video"):
        identify(empty, gallery)
    (tmp_path / "torn.mp4").write_bytes(b"no video")
    found = identify([album / "Ann" / "0.png", tmp_path / "torn.mp4"], gallery, n_jobs=1)
    assert [one.error is None for one in found] == [True, False]
