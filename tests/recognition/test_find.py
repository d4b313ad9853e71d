"""Who is on which picture: remembered on request, found by name and day, deleted for good."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mien.cli._app import app
from mien.errors import GalleryError, GalleryFormatError, InputError, MienWarning
from mien.gallery import Gallery, PictureIndex, SeenPicture, Sighting, remove_gallery
from mien.recognition import find, forget_pictures, read_period, remember, report_found
from mien.verification import Verifier

BOX = (0.1, 0.2, 0.3, 0.4)


def take(path: Path, day: str) -> str:
    """A picture of that day; gives its digest."""
    exif = Image.Exif()
    exif[0x0132] = day.replace("-", ":") + " 12:00:00"
    Image.new("RGB", (40, 30), (len(path.name), 80, 40)).save(path, exif=exif)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def seen(path: Path, names: str, frames: tuple[int, ...] = ()) -> Any:
    """What `identify` gives, as far as it is remembered."""
    face = SimpleNamespace(box=np.array([4.0, 6.0, 12.0, 12.0]))
    faces = [
        SimpleNamespace(
            person=name, probability=0.9, found=SimpleNamespace(face=face), frames=frames,
            times=(1.0, 2.5) if frames else None,
        )
        for name in names.split()
    ]  # fmt: skip
    return SimpleNamespace(path=path, faces=faces, error=None, size=(30, 40))


@pytest.fixture
def album(tmp_path: Path, verifier: Verifier) -> Path:
    """Three people; Ann is enrolled from may.jpg, and four files were looked through."""
    digests = {
        name: take(tmp_path / f"{name}.jpg", day)
        for name, day in (
            ("may", "2024-05-31"), ("june", "2024-06-15"), ("july", "2024-07-01"),
            ("x", "2023-01-01"),
        )
    }  # fmt: skip
    (tmp_path / "film.mp4").write_bytes(b"film")
    with Gallery.create(tmp_path / "g", verifier) as gallery:
        gallery.enrol("Ann", np.eye(8)[:1], digests=[digests["may"]], sources=["may.jpg"])
        gallery.enrol("Bob", np.eye(8)[1:2])
        gallery.enrol("Cy", np.eye(8)[2:3])
        pictures = [
            seen(tmp_path / "june.jpg", "Ann Bob"),
            seen(tmp_path / "july.jpg", "Ann Bob Cy"),
            seen(tmp_path / "x.jpg", "Cy"),
            seen(tmp_path / "film.mp4", "Bob", (0, 40, 9)),
            SimpleNamespace(path=tmp_path / "torn.jpg", faces=[], error="torn"),
        ]
        assert remember(pictures, gallery) == 4
    return tmp_path


def names(found: list[Any]) -> list[str]:
    return [one.path.name for one in found]


def test_all_of_them_one_of_them_and_without(album: Path) -> None:
    place = album / "g"
    assert names(find(["Ann", "Bob"], place)) == ["june.jpg", "july.jpg"]
    assert names(find(["Ann", "Bob"], place, without=["Cy"])) == ["june.jpg"]
    assert names(find(["Ann"], place, photos=album)) == ["may.jpg", "june.jpg", "july.jpg"]
    assert set(names(find(["Ann", "Cy"], place, anybody=True, photos=album))) >= {
        "x.jpg",
        "may.jpg",
    }
    assert set(names(find([], place, without=["Ann"]))) == {"x.jpg", "film.mp4"}
    assert names(find(["Ann"], place, confirmed=True, photos=album)) == ["may.jpg"]


def test_days_both_ends_included(album: Path) -> None:
    place = album / "g"
    assert names(find(["Ann"], place, since="2024-06", photos=album)) == ["june.jpg", "july.jpg"]
    assert names(find(["Ann"], place, until="2024-06", photos=album)) == ["may.jpg", "june.jpg"]
    assert names(find(["Ann"], place, since="2024-06-15", until="2024-06-15")) == ["june.jpg"]
    assert names(find(["Ann"], place, since="2025")) == []
    begin, end = read_period("2024-02")
    assert end - begin == pytest.approx(29 * 86400, abs=1)
    for text in ("June", "2024-13", "2024-02-30", "24-06"):
        with pytest.raises(InputError, match="is not a date"):
            read_period(text)


def test_what_is_told_about_a_picture(album: Path) -> None:
    (film,) = [one for one in find(["Bob"], album / "g") if one.path.suffix == ".mp4"]
    assert film.seconds == {"Bob": [(1.0, 2.5)]}
    (may,) = find(["Ann"], album / "g", confirmed=True, photos=album)
    assert may.enrolled == ("Ann",)
    assert not may.looked_through
    assert may.to_dict()["taken"] == "2024-05-31T12:00:00"
    with pytest.raises(InputError, match="is it 'Ann'"):
        find(["Anne"], album / "g")
    with pytest.raises(InputError, match="no name was given"):
        find([], album / "g")


def test_a_deleted_person_leaves_the_index(album: Path) -> None:
    result = CliRunner().invoke(app, ["people", "delete", "Cy", "-g", str(album / "g"), "--yes"])
    assert result.exit_code == 0, result.output
    with closing(sqlite3.connect(album / "g-pictures")) as file:
        assert file.execute("SELECT count(DISTINCT person) FROM sighting").fetchone() == (2,)
    assert "july.jpg" in names(find(["Ann", "Bob"], album / "g"))
    assert find(["Ann"], album / "g", photos=album)[-1].people.keys() == {"Ann", "Bob"}


def test_the_index_holds_no_names_and_goes_for_good(album: Path) -> None:
    index = album / "g-pictures"
    assert stat.S_IMODE(index.stat().st_mode) == 0o600
    content = index.read_bytes()
    for name in (b"Ann", b"Bob", b"Cy"):
        assert name not in content
    assert forget_pictures(album / "g")
    assert not index.exists()
    assert not forget_pictures(album / "g")
    assert names(find(["Ann"], album / "g", photos=album)) == ["may.jpg"]


def test_a_removed_gallery_takes_its_index_along(album: Path) -> None:
    remove_gallery(album / "g")
    assert not (album / "g-pictures").exists()


def test_a_sealed_gallery_remembers_nothing(tmp_path: Path, verifier: Verifier) -> None:
    with (
        Gallery.create(tmp_path / "g", verifier, key=b"k" * 32) as gallery,
        pytest.raises(InputError, match="is sealed"),
    ):
        remember([], gallery)
    assert not (tmp_path / "g-pictures").exists()


def test_a_foreign_or_damaged_index_is_said(tmp_path: Path) -> None:
    (tmp_path / "g-pictures").write_bytes(b"no database at all, but long enough to be read" * 20)
    with pytest.raises(GalleryError, match="corrupted"):
        PictureIndex(tmp_path / "g")
    with closing(sqlite3.connect(tmp_path / "h-pictures")) as file:
        file.execute("CREATE TABLE t (x)")
    with pytest.raises(GalleryFormatError, match="not an index"):
        PictureIndex(tmp_path / "h", read_only=True)
    with pytest.raises(GalleryError, match="cannot be made"):
        PictureIndex(tmp_path / "g-pictures" / "g")  # a file is where a folder should be
    (tmp_path / "i-pictures").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(GalleryError, match="is a link"):
        PictureIndex(tmp_path / "i")


def test_an_index_that_a_killed_process_began_is_made(tmp_path: Path) -> None:
    (tmp_path / "g-pictures").touch()
    assert not PictureIndex.exists(tmp_path / "g")
    with PictureIndex(tmp_path / "g") as first, PictureIndex(tmp_path / "g") as second:
        first.remember([SeenPicture(tmp_path / "a.jpg", "0" * 64)])
        assert len(second) == 1
    assert PictureIndex.exists(tmp_path / "g")


def test_a_damaged_index_is_no_reason_to_keep_a_person(tmp_path: Path, verifier: Verifier) -> None:
    with Gallery.create(tmp_path / "g", verifier) as gallery:
        gallery.add_person("Ann")
        (tmp_path / "g-pictures").write_bytes(b"no database at all, but long enough" * 30)
        with pytest.warns(MienWarning, match=r"the person was deleted, but .* is corrupted"):
            gallery.delete("Ann")
        assert len(gallery) == 0


def test_looking_again_replaces(tmp_path: Path) -> None:
    one = SeenPicture(tmp_path / "a.jpg", "0" * 64, 5.0, "exif", (Sighting(1, BOX, 0.5, False),))
    two = SeenPicture(
        tmp_path / "a.jpg", "1" * 64, None, "", (Sighting(2, BOX, 1.0, True, (0, 1)),)
    )
    with PictureIndex(tmp_path / "g") as index:
        index.remember([one])
        assert index.pictures() == [one]
        index.remember([two])
        assert len(index) == 1
        assert index.pictures() == [two]
        assert index.keep_people([1]) == 1
        assert index.pictures()[0].sightings == ()


def test_the_verb(album: Path) -> None:
    words = ["find", "Ann", "Bob", "--without", "Cy", "-g", str(album / "g")]
    result = CliRunner().invoke(app, [*words, "--links", str(album / "links")])
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [str(album / "june.jpg")]
    (link,) = (album / "links").iterdir()
    assert link.resolve() == (album / "june.jpg").resolve()
    shown = CliRunner().invoke(app, [*words, "--page", str(album / "page"), "--json"])
    (told,) = json.loads(shown.stdout)
    assert told["people"] == {"Ann": 0.9, "Bob": 0.9}
    page = (album / "page" / "report.html").read_text(encoding="utf-8")
    assert 'href="../june.jpg"' in page
    assert CliRunner().invoke(app, [*words, "--from", "2030"]).exit_code == 1


def test_a_page_escapes_and_lists_what_is_gone(album: Path) -> None:
    (album / "june.jpg").rename(album / "june <b>&.jpg")
    page = report_found(find(["Ann"], album / "g", photos=album), album / "page", ["<Ann>"])
    html = page.to_html()
    assert "<Ann>" not in html
    assert "june.jpg" in html  # in the table of what is not there
