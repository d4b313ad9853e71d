"""Names from Takeout, Picasa, sidecars, folders and tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mien.errors import DataError, InputError, MissingDataError
from mien.media import NamedRegion, read_names, write_sidecar
from mien.media import _names as names
from mien.media._names import TakeoutPictures


def make_picture(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (80, 60)).save(path)
    return path


def say(place: Path, title: str, *people: str) -> None:
    content = {"title": title, "people": [{"name": name} for name in people]}
    place.write_text(json.dumps(content), encoding="utf-8")


LONG = "PXL_20240612_181818181.PORTRAIT-01.COVER.long-name.jpg"


@pytest.mark.parametrize(
    ("name", "title", "pictures", "expected"),
    [
        ("IMG.jpg.supplemental-metadata.json", "IMG.jpg", ["IMG.jpg"], "IMG.jpg"),
        ("IMG.jpg.json", "IMG.jpg", ["IMG.jpg"], "IMG.jpg"),
        ("IMG.jpg.suppl.json", "IMG.jpg", ["IMG.jpg"], "IMG.jpg"),
        ("IMG.jpg.supplemental-metadata(1).json", "IMG.jpg", ["IMG.jpg", "IMG(1).jpg"],
         "IMG(1).jpg"),
        ("IMG.jpg(1).json", "IMG.jpg", ["IMG.jpg", "IMG(1).jpg"], "IMG(1).jpg"),
        ("IMG.jpg.supplemental-metadata.json", "IMG.jpg", ["IMG.jpg", "IMG(1).jpg"], "IMG.jpg"),
        (LONG[:46] + ".json", LONG, [LONG], LONG),
        ("IMG_1.jpg.json", "IMG_1.jpg", ["IMG_10.jpg", "IMG_1.jpg"], "IMG_1.jpg"),
        ("IMG_1.jpg.json", "IMG_1.jpg", ["IMG_10.jpg"], None),
        ("metadata.json", "Holiday", ["IMG.jpg"], None),
        ("IMG(2).jpg.json", "IMG(2).jpg", ["IMG(2).jpg"], "IMG(2).jpg"),
        ("1998.json", "1998", ["1998.jpg"], "1998.jpg"),
        ("1998.json", "Holiday", ["1998.jpg"], None),
        ("e\u0301.jpg.json", "\u00e9.jpg", ["\u00e9.jpg"], "\u00e9.jpg"),
    ],
)  # fmt: skip
def test_files_of_takeout_find_their_pictures(
    name: str, title: str, pictures: list[str], expected: str | None
) -> None:
    assert TakeoutPictures(pictures).match(name, title) == expected


def test_pictures_that_share_a_cut_name_are_told_apart_by_title(tmp_path: Path) -> None:
    stems = ["a" * 46 + "1", "a" * 46 + "2"]
    pictures = [f"{stem}.jpg" for stem in stems]
    name = "a" * 46 + ".json"
    known = TakeoutPictures(pictures)
    assert known.match(name, pictures[1]) == pictures[1]
    assert known.match(name, "something else.jpg") is None


@pytest.mark.parametrize(
    ("edited", "owner", "is_one"),
    [
        ("1-edited.jpg", "1.jpg", True),
        ("1-edited(2).jpg", "1(2).jpg", True),
        ("1-EFFECTS.jpg", "1.jpg", True),
        ("1-edited.jpg", "1(2).jpg", False),
        ("1-modifie\u0301.jpg", "1.jpg", True),
        ("1-edi.jpg", "1.jpg", False),
        ("b" * 43 + "-edi.jpg", "b" * 43 + ".jpg", True),
        ("b" * 47 + ".jpg", "b" * 47 + ".jpg", False),
    ],
)
def test_what_an_editor_made_belongs_to_its_picture(edited, owner, is_one):
    known = TakeoutPictures([owner] if edited == owner else [owner, edited])
    assert known.edited(owner) == ([edited] if is_one else [])


def test_a_large_folder_of_takeout_is_matched_name_by_name(monkeypatch):
    """Not every file with every picture: a year of photographs has ten thousand of both."""
    pictures = [f"IMG_2024{k:05d}.jpg" for k in range(3000)]
    known = TakeoutPictures(pictures)
    asked = []
    split = names._split_count
    monkeypatch.setattr(names, "_split_count", lambda text: asked.append(text) or split(text))
    found = [known.match(f"{name}.supplemental-metadata.json", name) for name in pictures]
    assert found == pictures
    assert len(asked) < 10 * len(pictures)


def test_a_takeout_folder(tmp_path: Path) -> None:
    for name in ("1.jpg", "1-edited.jpg", "2.jpg", "2(1).jpg", "3.jpg"):
        make_picture(tmp_path / "Album" / name)
    folder = tmp_path / "Album"
    say(folder / "1.jpg.supplemental-metadata.json", "1.jpg", "Ann", "Bob", "Ann")
    say(folder / "2.jpg.supplemental-metadata.json", "2.jpg", "Cy")
    say(folder / "2.jpg.supplemental-metadata(1).json", "2.jpg", "Di")
    say(folder / "gone.jpg.json", "gone.jpg", "Eve")
    (folder / "metadata.json").write_text('{"title": "Album"}', encoding="utf-8")
    (folder / "broken.json").write_text('{"title": ', encoding="utf-8")
    pictures, left_out = read_names(tmp_path)
    found = {one.path.name: one.names for one in pictures}
    assert found == {
        "1.jpg": ["Ann", "Bob"], "1-edited.jpg": ["Ann", "Bob"], "2.jpg": ["Cy"],
        "2(1).jpg": ["Di"], "3.jpg": [],
    }  # fmt: skip
    assert [path.name for path, _ in left_out] == ["gone.jpg.json"]


def test_picasa(tmp_path: Path) -> None:
    make_picture(tmp_path / "a.jpg")
    (tmp_path / ".picasa.ini").write_text(
        "[Picasa]\nname=x\n[Contacts2]\nabc123=Ann Lee;;\n"
        "[a.jpg]\nbackuphash=1\n"
        "faces=rect64(3f845bcb59418507),abc123;rect64(1000200030004),ffffffffffffffff\n",
        encoding="utf-8",
    )
    (one,), _ = read_names(tmp_path)
    named, unnamed = one.regions
    assert named.name == "Ann Lee"
    corners = np.asarray([0x3F84, 0x5BCB, 0x5941, 0x8507]) / 65535
    expected = (corners[0], corners[1], corners[2] - corners[0], corners[3] - corners[1])
    assert np.allclose(named.box, expected)
    assert unnamed.name is None
    assert np.allclose(unnamed.box, np.asarray([1, 2, 2, 2]) / 65535)


def test_names_with_places_are_not_told_twice(tmp_path: Path) -> None:
    path = make_picture(tmp_path / "a.jpg")
    write_sidecar(path, [NamedRegion("Ann", (0.1, 0.1, 0.2, 0.2))])
    say(tmp_path / "a.jpg.json", "a.jpg", "Ann", "Bob")
    (one,), _ = read_names(tmp_path)
    assert [region.name for region in one.regions] == ["Ann"]
    assert one.names == ["Bob"]
    assert one.sources == ["xmp", "takeout"]


def test_folders_are_believed_last(tmp_path: Path) -> None:
    make_picture(tmp_path / "Ann" / "1.jpg")
    make_picture(tmp_path / "Bob" / "2.jpg")
    pictures, _ = read_names(tmp_path)
    assert [one.names for one in pictures] == [["Ann"], ["Bob"]]
    say(tmp_path / "Bob" / "2.jpg.json", "2.jpg", "Cy")
    pictures, _ = read_names(tmp_path)
    assert [one.names for one in pictures] == [[], ["Cy"]]
    pictures, _ = read_names(tmp_path, ["folder"])
    assert [one.names for one in pictures] == [["Ann"], ["Bob"]]


def test_a_table(tmp_path: Path) -> None:
    table = tmp_path / "names.csv"
    table.write_text("file,people\na.jpg,Ann; Bob\nb.jpg,\n", encoding="utf-8")
    first, second = read_names(table)[0]
    assert (first.path, first.names) == (tmp_path / "a.jpg", ["Ann", "Bob"])
    assert second.names == []
    table.write_text("name\nx\n", encoding="utf-8")
    with pytest.raises(DataError, match="columns"):
        read_names(table)


def test_bad_questions(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError):
        read_names(tmp_path / "nothing")
    make_picture(tmp_path / "a.jpg")
    with pytest.raises(InputError, match="sources"):
        read_names(tmp_path, ["dreams"])


def test_a_broken_sidecar_costs_only_itself(tmp_path: Path) -> None:
    make_picture(tmp_path / "a.jpg")
    make_picture(tmp_path / "b.jpg")
    (tmp_path / "a.jpg.xmp").write_bytes(b"<broken")
    say(tmp_path / "b.jpg.json", "b.jpg", "Bob")
    pictures, left_out = read_names(tmp_path)
    assert [one.names for one in pictures] == [[], ["Bob"]]
    assert [path.name for path, _ in left_out] == ["a.jpg"]
