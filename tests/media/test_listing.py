"""One listing: what is taken, what is named with its reason, and what cannot hang or explode."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mien.errors import DataError, InputError, MissingDataError
from mien.media import PICTURE_SUFFIXES, VIDEO_SUFFIXES, find_media, find_pictures


def _touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def _names(paths: list[Path], root: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in paths]


def test_everything_that_looks_like_a_picture_is_taken_or_named(tmp_path: Path) -> None:
    for suffix in (*PICTURE_SUFFIXES, ".CR2", ".dng", ".psd", ".txt", ".json", ""):
        _touch(tmp_path / f"a{suffix}")
    for suffix in VIDEO_SUFFIXES:
        _touch(tmp_path / f"film{suffix}")
    _touch(tmp_path / ".hidden.jpg", tmp_path / ".git" / "b.jpg", tmp_path / "Thumbs.db")
    found = find_media(tmp_path)
    assert {path.suffix for path in found.pictures} == PICTURE_SUFFIXES
    assert {path.suffix for path in found.videos} == VIDEO_SUFFIXES
    assert _names([path for path, _ in found.left_out], tmp_path) == ["a.CR2", "a.dng", "a.psd"]
    assert all("export it as JPEG" in reason for _, reason in found.left_out)


def test_the_order_is_that_of_the_paths(tmp_path: Path) -> None:
    for name in ("b/2.jpg", "b/10.jpg", "a.JPG", "c.png", "b/a/9.gif"):
        _touch(tmp_path / name)
    wanted = ["a.JPG", "b/10.jpg", "b/2.jpg", "b/a/9.gif", "c.png"]
    assert _names(find_pictures(tmp_path), tmp_path) == wanted


def test_a_single_file_is_taken_whatever_its_name(tmp_path: Path) -> None:
    _touch(tmp_path / "scan", tmp_path / "film.mp4")
    assert find_pictures(tmp_path / "scan") == [tmp_path / "scan"]
    assert find_media(tmp_path / "film.mp4").videos == [tmp_path / "film.mp4"]
    with pytest.raises(MissingDataError, match="does not exist"):
        find_media(tmp_path / "nothing")
    with pytest.raises(InputError, match="links must be one of"):
        find_media(tmp_path, links="some")


def test_links_that_fan_out_are_listed_once(tmp_path: Path) -> None:
    """Thirty folders of two links each to the next: 2³⁰ ways, one picture."""
    for k in range(30):
        folder = tmp_path / f"d{k}"
        folder.mkdir()
        for name in ("x", "y"):
            (folder / name).symlink_to(tmp_path / f"d{k + 1}", target_is_directory=True)
    _touch(tmp_path / "d30" / "a.jpg")
    assert len(find_pictures(tmp_path)) == 1


def test_nesting_is_no_limit(tmp_path: Path) -> None:
    folders = [str(tmp_path)]
    for _ in range(1500):
        folders.append(folders[-1] + "/d")
        os.mkdir(folders[-1])
    picture = Path(folders[-1] + "/a.jpg")
    picture.touch()
    try:
        assert find_pictures(tmp_path) == [picture]
    finally:  # pytest removes its folders by recursion
        picture.unlink()
        for folder in reversed(folders[1:]):
            os.rmdir(folder)


def test_links_out_of_the_folder(tmp_path: Path) -> None:
    album, outside = tmp_path / "album", tmp_path / "outside"
    _touch(album / "own.jpg", outside / "far.jpg")
    (album / "link.jpg").symlink_to(outside / "far.jpg")
    (album / "linked").symlink_to(outside, target_is_directory=True)
    (album / "lost.jpg").symlink_to(album / "nowhere.jpg")
    (album / "again.jpg").symlink_to(album / "own.jpg")
    names = {
        how: _names(find_media(album, links=how).pictures, album)
        for how in ("files", "all", "none")
    }
    own = ["again.jpg", "lost.jpg", "own.jpg"]
    assert names["none"] == own
    assert sorted(names["files"]) == sorted([*own, "link.jpg"])
    assert sorted(names["all"]) == sorted([*own, "link.jpg", "linked/far.jpg"])
    left = {path.name: reason for path, reason in find_media(album, links="none").left_out}
    assert left.keys() == {"link.jpg", "linked"}
    assert "a link to a folder elsewhere" in left["linked"]


def test_a_folder_that_cannot_be_read_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _touch(tmp_path / "closed" / "a.jpg", tmp_path / "open" / "b.jpg")
    whole = os.listdir

    def closed(path: Path) -> list[str]:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied")
        return whole(path)

    monkeypatch.setattr(os, "listdir", closed)
    found = find_media(tmp_path)
    assert _names(found.pictures, tmp_path) == ["open/b.jpg"]
    assert found.left_out == [(tmp_path / "closed", "the folder cannot be read: Permission denied")]
    with pytest.raises(DataError, match="cannot be read"):
        find_media(tmp_path / "closed")


def test_the_film_of_a_live_photo_is_not_a_video(tmp_path: Path) -> None:
    for name in ("IMG_1.HEIC", "IMG_1.MOV", "IMG_2.MOV", "a.jpg", "a.webm"):
        (tmp_path / name).touch()
    found = find_media(tmp_path)
    assert [path.name for path in found.live] == ["IMG_1.MOV"]
    assert [path.name for path in found.videos] == ["IMG_2.MOV", "a.webm"]
    assert found.left_out == []
    # Named by itself it is what was asked for.
    assert find_media(tmp_path / "IMG_1.MOV").videos == [tmp_path / "IMG_1.MOV"]
