"""Who is on which picture, which face is meant, and that nobody is named twice."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from mien.errors import DataError, MissingDataError
from mien.faces import Face, FoundFace, PictureResult
from mien.gallery import Identification
from mien.recognition import Failure, assign_people
from mien.recognition._people import choose_face, count_reasons, list_people
from tests.near import assert_near


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
    with pytest.raises(MissingDataError, match="not there"):
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


def test_reasons_are_counted() -> None:
    failures = [Failure(Path("x"), reason, "") for reason in ("b", "a", "b")]
    assert list(count_reasons(failures).items()) == [("b", 2), ("a", 1)]


def test_two_faces_of_a_picture_are_two_people() -> None:
    both = [answer(1.0, Ann=9.0, Bob=2.0), answer(1.0, Ann=8.0, Bob=-3.0)]
    # Alone both are Ann. Ann and Bob (8 + 2) beat Ann and unknown (9).
    assert [person for person, _ in assign_people(both)] == ["Bob", "Ann"]
    stranger = [answer(1.0, Ann=9.0, Bob=0.5), answer(1.0, Ann=8.0)]
    assert assign_people(stranger) == [("Ann", 9.0), (None, 8.0)]


def test_nobody_is_named_below_the_threshold() -> None:
    assert assign_people([answer(1.0, Ann=0.5)]) == [(None, 0.5)]
    assert assign_people([answer(0.0, Ann=0.5)]) == [("Ann", 0.5)]
    assert assign_people([Identification(None, float("-inf"), 0.0)])[0][0] is None


@pytest.mark.parametrize("seed", range(5))
def test_the_best_of_all_ways_to_name_a_picture(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ratios = rng.normal(2, 3, (4, 4))
    names = ["a", "b", "c", "d"]
    answers = [answer(1.0, **dict(zip(names, row, strict=True))) for row in ratios]
    gain = np.where(ratios >= 1, ratios - 1, 0)
    best = max(sum(gain[i, j] for i, j in enumerate(order)) for order in permutations(range(4)))
    named = assign_people(answers)
    got = sum(ratio - 1 for person, ratio in named if person is not None)
    assert_near(got, best, digits=6)
    people = [person for person, _ in named if person is not None]
    assert len(set(people)) == len(people)


def test_tracks_that_share_a_frame_are_two_people() -> None:
    tracks = [answer(1.0, Ann=5.0, Bob=2.0), answer(1.0, Ann=6.0), answer(1.0, Ann=4.0)]
    # The first two are seen together, the third is not.
    assert [p for p, _ in assign_people(tracks, [(0, 1)])] == ["Bob", "Ann", "Ann"]
    assert [p for p, _ in assign_people(tracks, [])] == ["Ann", "Ann", "Ann"]
