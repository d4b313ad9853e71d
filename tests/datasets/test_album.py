"""An album of rendered people: what is written, and what is refused."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from mien.datasets import make_album
from mien.errors import InputError
from mien.media import read_image


@pytest.fixture(scope="module")
def album(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("albums") / "album"
    return make_album(place, n_people=3, n_strangers=1, n_named=2, n_unsorted=2)


def test_files_and_answers_agree(album: Path) -> None:
    assert sorted(path.name for path in (album / "photos").iterdir()) == ["Ann", "Bob", "Cleo"]
    assert all(len(list(path.iterdir())) == 2 for path in (album / "photos").iterdir())
    with open(album / "answers.csv", newline="", encoding="utf-8") as table:
        answers = {row["file"]: row["person"] for row in csv.DictReader(table)}
    assert set(answers) == {path.name for path in (album / "unsorted").iterdir()}
    assert sorted(answers.values()) == sorted(["Ann", "Bob", "Cleo", "stranger"] * 2)
    for name in ("a.jpg", "b.jpg", "c.jpg", "party.jpg", "masked.jpg"):
        assert read_image(album / name, colour=True).ndim == 3


def test_the_same_seed_gives_the_same_people(album: Path, tmp_path: Path) -> None:
    settings = {"n_people": 3, "n_strangers": 1, "n_named": 2, "n_unsorted": 2}
    again = make_album(tmp_path / "again", **settings)
    other = make_album(tmp_path / "other", random_state=5, **settings)
    first = read_image(album / "a.jpg")
    np.testing.assert_array_equal(read_image(again / "a.jpg"), first)
    assert (read_image(other / "a.jpg") != first).any()


def test_refusals(album: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not empty"):
        make_album(album)
    for wrong in ({"n_people": 2}, {"n_people": 13}, {"n_named": 1}, {"random_state": -1}):
        with pytest.raises(InputError, match="whole number from"):
            make_album(tmp_path / "none", **wrong)
    assert not (tmp_path / "none").exists()
