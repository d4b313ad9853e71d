"""Who is on which picture, which face is meant, and that nobody is named twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mien.errors import DataError, MissingDataError
from mien.faces import Face, FoundFace, PictureResult
from mien.gallery import Identification
from mien.recognition import Failure
from mien.recognition._people import choose_face, count_reasons, list_people


def found(side: float) -> FoundFace:
    points = np.array([[3, 3], [7, 3], [5, 5], [4, 7], [6, 7]]) * side / 10
    return FoundFace(Face([0, 0, side, side], points, 0.9), np.eye(1, 128, dtype=np.float32)[0])


def result(*sides: float, error: str | None = None) -> PictureResult:
    return PictureResult(Path("a.jpg"), "0" * 64, (100, 100), [found(s) for s in sides], error)


def answer(threshold: float, **candidates: float) -> Identification:
    ranked = sorted(candidates.items(), key=lambda item: -item[1])
    best = ranked[0] if ranked else (None, float("-inf"))
    return Identification(best[0], best[1], 0.5, ranked, threshold)


def test_a_folder_a_person(tmp_path: Path) -> None:
    for name in ("Bob/1.jpg", "Ann/deep/2.png", "loose.jpg", "Ann/notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    listed, failures = list_people(tmp_path)
    assert [(p.person, p.path.name) for p in listed] == [("Ann", "2.png"), ("Bob", "1.jpg")]
    assert [(f.path.name, f.reason) for f in failures] == [("loose.jpg", "nobody named")]


def test_a_table(tmp_path: Path) -> None:
    table = tmp_path / "who.csv"
    table.write_text("person,file\nAnn,a b.jpg\nBøb,sub/c.png\n", encoding="utf-8")
    listed, _ = list_people(table)
    assert [(p.person, p.path) for p in listed] == [
        ("Ann", tmp_path / "a b.jpg"),
        ("Bøb", tmp_path / "sub/c.png"),
    ]
    table.write_text("name,file\nAnn,a.jpg\n")
    with pytest.raises(DataError, match="columns file and person; it has name, file"):
        list_people(table)
    table.write_text("file,person\na.jpg,\n")
    with pytest.raises(DataError, match="line 2"):
        list_people(table)


def test_no_folder_no_people(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="does not exist"):
        list_people(tmp_path / "nobody")
    (tmp_path / "a.jpg").write_bytes(b"")
    with pytest.raises(DataError, match="no person's folder"):
        list_people(tmp_path)


@pytest.mark.parametrize(
    ("picture", "reason"),
    [
        (result(error="torn"), "unreadable"),
        (result(), "no face"),
        (result(40, 30), "several faces"),  # 1600 against 900: less than twice the area
    ],
)
def test_pictures_that_nobody_can_use(picture: PictureResult, reason: str) -> None:
    chosen = choose_face(picture)
    assert isinstance(chosen, Failure)
    assert chosen.reason == reason


def test_a_face_that_is_clearly_the_largest() -> None:
    picture = result(40, 28)  # 1600 against 784
    assert choose_face(picture) is picture.faces[0]


def test_the_face_at_a_place_is_taken_from_a_group() -> None:
    picture = result(40, 39, 38)
    place = tuple(float(side) for side in picture.faces[2].face.box)
    assert choose_face(picture, box=place) is picture.faces[2]
    nowhere = choose_face(picture, box=(9000.0, 9000.0, 5.0, 5.0))
    assert isinstance(nowhere, Failure)
    assert "at the place" in nowhere.detail


def test_a_picture_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"")
    with pytest.raises(DataError, match="--person"):
        list_people(tmp_path / "a.jpg")


def test_a_video_among_the_pictures_is_refused_with_a_word(tmp_path: Path) -> None:
    (tmp_path / "Ann").mkdir()
    for name in ("a.jpg", "film.mp4", "b.cr2"):
        (tmp_path / "Ann" / name).write_bytes(b"")
    listed, failures = list_people(tmp_path)
    assert len(listed) == 1
    assert [failure.reason for failure in failures] == ["unreadable", "unreadable"]
    assert "mien cluster" in failures[0].detail


def test_reasons_are_counted() -> None:
    failures = [Failure(Path("x"), reason, "") for reason in ("b", "a", "b")]
    assert list(count_reasons(failures).items()) == [("b", 2), ("a", 1)]
