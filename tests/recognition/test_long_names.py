"""Names of files and folders that no gallery or file system takes cost nobody else."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from mien.errors import DataError, InputError
from mien.media import NamedRegion, read_names, write_image, write_sidecar
from mien.recognition._cluster import ClusteredFace, PeopleFound
from mien.recognition._people import label_pictures, list_people

_PIXELS = np.zeros((8, 8, 3), np.uint8)


def _put(path: Path) -> Path:
    """A picture, or a skip where the file system takes no such name."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError:
        pytest.skip("this file system takes no such name")
    path.unlink()
    pixels = path.with_name("p.png")
    write_image(pixels, _PIXELS)
    pixels.rename(path)
    return path


def test_a_bad_name_of_a_folder_costs_nobody_else(tmp_path: Path) -> None:
    for name in ("Ann", "x" * 245, "B\u202eob", unicodedata.normalize("NFD", "José")):
        _put(tmp_path / name / "a.png")
    pictures, failures = list_people(tmp_path)
    assert {picture.person for picture in pictures} == {"Ann", unicodedata.normalize("NFC", "José")}
    assert [failure.reason for failure in failures] == ["bad name", "bad name"]
    assert any("1 to 200 characters; got 245" in failure.detail for failure in failures)
    assert all("\u202e" not in failure.detail for failure in failures)


def test_a_table_with_a_bad_name(tmp_path: Path) -> None:
    _put(tmp_path / "a.png")
    table = tmp_path / "who.csv"
    table.write_text(f"file,person\na.png,Ann\na.png,{'x' * 245}\n")
    pictures, failures = list_people(table)
    assert [picture.person for picture in pictures] == ["Ann"]
    assert [failure.reason for failure in failures] == ["bad name"]
    table.write_text(f"file,person\na.png,{'x' * 245}\n")
    with pytest.raises(DataError, match="has a usable name"):
        list_people(table)
    with pytest.raises(InputError, match="1 to 200 characters"):
        label_pictures([tmp_path], "x" * 245)


@pytest.mark.parametrize("how", ["link", "copy"])
def test_sorting_takes_names_of_any_length(how: str, tmp_path: Path) -> None:
    source = tmp_path / "photos"
    places = [
        _put(source / f"{'x' * 245}.jpg"),
        _put(source / f"{'x' * 244}y.jpg"),
        _put(source / ("d" * 150) / ("e" * 150) / "deep.png"),
        _put(source / f"{'ä' * 120}.png"),
        _put(source / "short.png"),
    ]
    # Two faces on each picture, one with each of two people.
    faces = [
        ClusteredFace(path, None, number, (1.0, 1.0, 4.0, 4.0), 0.9)
        for path in places
        for number in (0, 1)
    ]
    n = len(faces)
    found = PeopleFound(
        source=source, faces=faces, people=np.arange(n) % 2,
        groups=np.full(n, -1), cannot_link=np.zeros((0, 2), int), log_ratios=np.zeros(n),
        threshold=1.0, fpir=0.03, promised="shipped", model="sface", failures=[],
        crops=np.zeros((n, 64, 64, 3), np.uint8),
    )  # fmt: skip
    out = tmp_path / "people"
    found.write(out, how)
    for person, face in (("person-001", 1), ("person-002", 2)):
        names = os.listdir(out / person)
        assert len(names) == len(places)
        assert f"short.face-{face}.png" in names
        assert all((out / person / name).exists() for name in names)
    # ... and what was written is taken back, each picture with its face.
    pictures, failures = list_people(out)
    assert failures == []
    assert len(pictures) == n
    assert all(picture.box is not None for picture in pictures)


def test_a_picture_whose_name_leaves_no_room_for_a_sidecar(tmp_path: Path) -> None:
    long, short = _put(tmp_path / f"{'x' * 250}.png"), _put(tmp_path / "b.png")
    region = NamedRegion("Ann", (0.1, 0.1, 0.5, 0.5))
    write_sidecar(short, [region])
    with pytest.raises(DataError, match="cannot write"):
        write_sidecar(long, [region])
    pictures, left_out = read_names(tmp_path)
    assert [(one.path.name, [r.name for r in one.regions]) for one in pictures if one.regions] == [
        ("b.png", ["Ann"])
    ]
    assert left_out == []
