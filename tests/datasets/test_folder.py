"""A folder a person: the ordinary case, and everything that people's folders hold besides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mien._core.progress import listening
from mien.datasets import load_faces, load_folder
from mien.errors import DataError, ImageError, InputError, MissingDataError
from mien.media import write_image


def _picture(path: Path, value: int = 100, shape: tuple[int, ...] = (12, 10)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_image(path, np.full(shape, value, np.uint8))


@pytest.fixture
def album(tmp_path: Path) -> Path:
    for k, person in enumerate(["Zoë Ünal", "ann", "张伟"]):
        for n in range(2):
            _picture(tmp_path / "album" / person / f"{n}.png", 10 * k + n)
    return tmp_path / "album"


def test_people_and_pictures_come_in_a_fixed_order(album: Path) -> None:
    faces = load_folder(album)
    assert faces.people.tolist() == ["Zoë Ünal"] * 2 + ["ann"] * 2 + ["张伟"] * 2
    assert faces.images[:, 0, 0].tolist() == [0, 1, 10, 11, 20, 21]
    assert faces.metadata["file"][2] == "ann/0.png"
    assert faces.metadata["original_size"].tolist() == [[12, 10]] * 6
    assert faces.images.dtype == np.uint8
    assert faces.skipped == []
    assert load_folder(str(album), colour=True).images.shape == (6, 12, 10, 3)


def test_progress_is_reported(album: Path) -> None:
    heard: list[tuple[str, int, int | None]] = []
    with listening(lambda *args: heard.append(args)):
        load_folder(album)
    assert heard[-1] == ("reading pictures", 6, 6)


def test_different_sizes_need_a_size(album: Path) -> None:
    _picture(album / "ann" / "large.png", shape=(40, 30))
    with pytest.raises(DataError, match=r"2 different sizes.*12×10 and 40×30.*give size="):
        load_folder(album)
    faces = load_folder(album, size=16)
    assert faces.images.shape == (7, 16, 16)
    assert faces.metadata["original_size"].max() == 40
    assert load_folder(album, size=(8, 6)).images.shape == (7, 8, 6)


def test_hidden_files_and_litter_are_ignored(album: Path) -> None:
    (album / ".git").mkdir()
    (album / ".DS_Store").write_bytes(b"x")
    (album / "ann" / ".DS_Store").write_bytes(b"x")
    (album / "ann" / "Thumbs.db").write_bytes(b"x")
    (album / "README.txt").write_text("about the album")
    assert len(load_folder(album)) == 6


def test_broken_files_are_all_named_or_skipped(album: Path) -> None:
    (album / "ann" / "empty.jpg").write_bytes(b"")
    (album / "ann" / "notes.jpg").write_text("not a picture")
    (album / "ann" / "cut.png").write_bytes((album / "ann" / "0.png").read_bytes()[:40])
    (album / "张伟" / "lost.png").symlink_to(album / "nowhere.png")
    with pytest.raises(ImageError, match=r"^4 of 10 pictures cannot be used") as caught:
        load_folder(album)
    for name in ("empty.jpg", "notes.jpg", "cut.png", "lost.png", "on_error='skip'"):
        assert name in str(caught.value)
    faces = load_folder(album, on_error="skip")
    assert len(faces) == 6
    assert len(faces.skipped) == 4
    assert any("empty.jpg' is empty (0 bytes)" in line for line in faces.skipped)
    with pytest.raises(InputError, match="on_error must be one of"):
        load_folder(album, on_error="ignore")


def test_many_failures_name_the_first_and_count_the_rest(album: Path) -> None:
    for n in range(30):
        (album / "ann" / f"bad{n:02}.jpg").write_bytes(b"")
    with pytest.raises(ImageError, match=r"^30 of 36 .*bad04\.jpg.*; and 25 more$"):
        load_folder(album)


def test_pictures_of_nobody_are_named_or_skipped(album: Path) -> None:
    _picture(album / "loose.png")
    (album / "nobody").mkdir()
    with pytest.raises(ImageError, match=r"loose\.png' lies beside .*nobody' holds no pictures"):
        load_folder(album)
    assert len(load_folder(album, on_error="skip").skipped) == 2


def test_a_person_with_one_picture_is_welcome_unless_more_are_asked(album: Path) -> None:
    _picture(album / "single" / "0.png")
    assert "single" in load_folder(album).people
    assert "single" not in load_folder(album, min_pictures=2).people
    with pytest.raises(
        DataError, match=r"nobody in .* has 3 pictures: the most .* of 4 people.* 2"
    ):
        load_folder(album, min_pictures=3)
    with pytest.raises(InputError, match="min_pictures must be"):
        load_folder(album, min_pictures=0)


def test_skipped_pictures_do_not_count_for_min_pictures(album: Path) -> None:
    (album / "ann" / "1.png").write_bytes(b"")
    faces = load_folder(album, min_pictures=2, on_error="skip")
    assert "ann" not in faces.people
    for path in album.glob("*/1.png"):
        path.write_bytes(b"")
    with pytest.raises(DataError, match="2 readable pictures: 3 of 6 were skipped"):
        load_folder(album, min_pictures=2, on_error="skip")


def test_folders_that_are_none(tmp_path: Path, album: Path) -> None:
    with pytest.raises(MissingDataError, match="nowhere' does not exist"):
        load_folder(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"0\.png' is not a folder"):
        load_folder(album / "ann" / "0.png")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="empty' is empty"):
        load_folder(tmp_path / "empty")
    with pytest.raises(DataError, match=r"2 picture\(s\) lie directly in it"):
        load_folder(album / "ann")
    (tmp_path / "hollow" / "ann").mkdir(parents=True)
    with pytest.raises(DataError, match="no person's folder with pictures"):
        load_folder(tmp_path / "hollow")
    (tmp_path / "bad" / "ann").mkdir(parents=True)
    (tmp_path / "bad" / "ann" / "a.png").write_bytes(b"")
    with pytest.raises(DataError, match="no picture could be read"):
        load_folder(tmp_path / "bad", on_error="skip")


def test_links_in_a_circle_end(album: Path) -> None:
    (album / "ann" / "back").symlink_to(album / "ann", target_is_directory=True)
    (album / "ann" / "up").symlink_to(album, target_is_directory=True)
    (album / "self").symlink_to(album / "self")
    _picture(album / "ann" / "deeper" / "2.png", 12)
    faces = load_folder(album, on_error="skip")
    assert "ann/deeper/2.png" in faces.metadata["file"]
    assert set(faces.people) == {"Zoë Ünal", "ann", "张伟"}


def test_a_person_may_be_a_link_to_a_folder(album: Path, tmp_path: Path) -> None:
    _picture(tmp_path / "elsewhere" / "0.png", 77)
    (album / "eve").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    faces = load_folder(album)
    assert faces.images[faces.people == "eve"].max() == 77


def test_names_that_are_no_unicode_do_not_stop_it(album: Path) -> None:
    import os

    folder = os.fsencode(album) + b"/caf\xe9"
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this file system takes Unicode names only")
    with open(folder + b"/0.png", "wb") as file:
        file.write((album / "ann" / "0.png").read_bytes())
    assert len(load_folder(album)) == 7


def test_one_door_takes_names_and_paths(album: Path) -> None:
    assert len(load_faces(album)) == 6
    with pytest.raises(MissingDataError, match=r"neither a known set \(rendered, orl"):
        load_faces("oral")
    with pytest.raises(DataError, match="is grey"):
        load_faces("orl", colour=True)


def test_real_photographs(data_home: Path) -> None:
    faces = load_folder(data_home / "photos" / "five_people", size=64, colour=True)
    assert faces.images.shape == (55, 64, 64, 3)
    assert faces.n_people == 5
    assert 60 < faces.images.mean() < 180
