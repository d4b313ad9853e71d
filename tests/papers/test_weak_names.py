"""Albums with the shares that were asked for, runs that go on where they stopped, and rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mien.errors import InputError
from papers.weak_names.data import Album, People, draw_album
from papers.weak_names.report import Kept, Setting, _row, _split_columns
from papers.weak_names.run import METHODS, judge
from tests.near import assert_near

N_PEOPLE = 60


@pytest.fixture(scope="module")
def people() -> People:
    """Sixty people with eight vectors, and two hundred with one."""
    who = np.concatenate([np.repeat(np.arange(N_PEOPLE), 8), np.arange(N_PEOPLE, 260)])
    names = np.asarray([f"p{k:03d}" for k in who])
    return People(np.eye(260)[who], names, None)


def draw(people: People, **options: object) -> Album:
    settings = {"n_named": 50, "missing_names": 0.2, "wrong_names": 0.1} | options
    return draw_album(people, np.random.default_rng(0), **settings)  # type: ignore[arg-type]


def test_an_album_is_as_it_was_asked_for(people: People) -> None:
    album = draw(people, missing_faces=0.0, strangers=0.0)
    assert len(album.faces) == 50 * 8
    on_picture = [set(album.truth[album.bags == b]) for b in range(len(album.names))]
    assert {len(shown) for shown in on_picture} == {1, 2, 3, 4, 5, 6}
    listed = sum(len(shown & names) for shown, names in zip(on_picture, album.names, strict=True))
    assert 0.75 < listed / len(album.faces) < 0.85
    wrong = np.mean([bool(n - s) for s, n in zip(on_picture, album.names, strict=True)])
    assert 0.04 < wrong < 0.16
    of_three = draw(people, missing_faces=0.0, strangers=0.0, n_people=3)
    sizes = np.bincount(of_three.bags)
    assert np.mean(sizes == 3) > 0.9
    fewer = draw(people, missing_faces=0.2, strangers=0.5)
    named = np.asarray([name is not None for name in fewer.truth])
    assert 0.74 < named.sum() / 400 < 0.86
    assert 0.4 < (~named).sum() / 400 < 0.6


def test_judging() -> None:
    album = Album(np.zeros((4, 2)), np.arange(4), [], np.asarray(["a", "b", "c", None]))
    found = judge(np.asarray(["a", None, "d", "e"]), album)
    assert found == pytest.approx((1 / 3, 1 / 3, 1 / 2))


def test_the_classifier_gives_each_name_once_per_picture(people: People) -> None:
    album = draw(people, missing_names=0.0, wrong_names=0.5)
    labels = METHODS["(c) classifier on all candidates"](album, None)
    for b, names in enumerate(album.names):
        mine = [label for label in labels[album.bags == b] if label is not None]
        assert len(mine) == len(set(mine)) == min(len(names), int((album.bags == b).sum()))
    assert judge(labels, album).right > 0.6


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    file = tmp_path / "done.jsonl"
    kept = Kept(file)
    assert kept.get(("sface", 0.2, 1), lambda: (1.0, 0.0, 0.0)) == [1, 0, 0]
    assert kept.get(("sface", 0.2, 2), lambda: (0.5, 0.5, 0.0)) == [0.5, 0.5, 0]
    whole = file.read_text()
    file.write_text(whole[:-9])  # the second line was cut off
    again = Kept(file)
    assert again.get(("sface", 0.2, 1), pytest.fail) == [1, 0, 0]
    assert again.get(("sface", 0.2, 2), lambda: (0.25, 0.5, 0.0))[0] == 0.25
    file.write_text("not ours\n" + whole)
    with pytest.raises(InputError, match="line 1"):
        Kept(file)


def test_a_row_has_the_interval_over_albums_and_the_worst_of_them() -> None:
    found = np.asarray([[0.97, 0.03, 0.0], [0.95, 0.04, 0.01]])
    row = _row(Setting("sface", missing=0.1), "WeakNames", found)
    assert (row["names missing"], row["albums"]) == ("10%", 2)
    assert_near(row["right"], (96.0, 96 - 12.7062, 100.0), digits=5)  # t of one degree of freedom
    assert_near([row["least right"], row["most wrong"]], [95.0, 1.0], digits=9)
    assert _row(Setting("sface"), "(a)", found[:1])["right"] == 97.0
    rows = [_row(Setting("sface", missing=m), "(a)", found) for m in (0.1, 0.3)]
    shown, alike = _split_columns(rows)
    assert [row["names missing"] for row in shown] == ["10%", "30%"]
    assert (alike["faces"], alike["albums"]) == ("sface", 2)
    assert "faces" not in shown[0]
