"""A session that loads nothing twice, many pairs in one run, and one picture against many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mien.cli._app import app
from mien.errors import DataError, ImageError, InputError
from mien.recognition import Recogniser, _verify, read_pairs, verify, verify_pairs
from tests.near import assert_near


def test_a_session_says_what_the_functions_say(album: Path, tmp_path: Path) -> None:
    from mien.recognition import enrol

    enrol(album / "Ann" / "0.png", tmp_path / "g", person="Ann", n_jobs=1)
    a, b = album / "Ann" / "0.png", album / "Ann" / "1.png"
    with Recogniser(gallery=tmp_path / "g", n_jobs=1) as session:
        assert_near(session.verify(a, b).log_ratio, verify(a, b).log_ratio, digits=4)
        (many,) = session.verify_many(a, [b])
        assert many.answer is not None
        assert session.enrol([b], person="Ann").added == 1
        assert session.identify(a)[0].faces[0].candidates[0][0] == "Ann"
        model = session.model
        assert session.model is model  # nothing is loaded again


def test_the_people_of_a_gallery_decide_about_pairs(album: Path, tmp_path: Path) -> None:
    from mien.gallery import Gallery
    from mien.recognition import enrol

    enrol(album, tmp_path / "g", n_jobs=1)
    a, b = album / "Ann" / "0.png", album / "Ann" / "1.png"
    answer, shipped = verify(a, b, gallery=tmp_path / "g"), verify(a, b)
    # Rendered people look alike to the engine: two of them say so, and more is asked for.
    assert answer.threshold is not None
    assert shipped.threshold is not None
    assert answer.promised is not True  # two people support nothing
    assert answer.log_ratio < shipped.log_ratio
    with Gallery.open(tmp_path / "g") as opened:
        (same,) = verify_pairs([(a, b)], gallery=opened)
        with Recogniser(gallery=opened) as session:
            assert_near(session.verify(a, b).log_ratio, answer.log_ratio, digits=6)
    assert same.answer is not None
    assert_near(same.answer.log_ratio, answer.log_ratio, digits=6)
    with pytest.raises(InputError, match="not both"):
        verify(a, b, gallery=tmp_path / "g", model=tmp_path / "m")


def test_what_a_session_needs(tmp_path: Path) -> None:
    with Recogniser() as session, pytest.raises(InputError, match="no gallery to search"):
        session.identify("a.jpg")
    with pytest.raises(InputError, match="its own model"):
        Recogniser(gallery=tmp_path / "g", model=tmp_path / "m")


def test_files_are_looked_for_before_anything_is_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def load(*_: object) -> None:
        raise AssertionError("a model was loaded")

    monkeypatch.setattr(_verify, "open_model", load)
    with pytest.raises(ImageError, match=r"nosuch\.jpg' does not exist"):
        verify(tmp_path / "nosuch.jpg", tmp_path / "b.jpg")


def test_one_failure_never_stops_the_others(album: Path, tmp_path: Path) -> None:
    rows = ["Ann/0.png,Ann/0.png,1", "Ann/0.png,Ann/meadow.png,", "no.png,Ann/0.png,0",
            "Ann/0.png,Bob/1.png,no"]  # fmt: skip
    table = tmp_path / "pairs.csv"
    lines = [",".join(str(album / w) if "/" in w else w for w in row.split(",")) for row in rows]
    table.write_text("a,b,same\n" + "\n".join(lines) + "\n")
    result = CliRunner().invoke(app, ["verify", "--pairs", str(table), "--json"])
    assert result.exit_code == 1, result.exception
    told = json.loads(result.stdout)
    assert [bool(one["error"]) for one in told] == [False, True, True, False]
    assert told[0]["same"] is True
    assert (told[0]["truth"], told[3]["truth"]) == (True, False)
    assert "no face was found" in told[1]["error"]
    shown = CliRunner().invoke(app, ["verify", "--pairs", str(table)])
    assert len(shown.stdout.splitlines()) == 4
    assert "failed 2" in shown.stderr
    assert "agree with the column same" in shown.stderr


def test_each_picture_is_looked_at_once(album: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mien.recognition import _recogniser

    seen: list[Path] = []
    real = _recogniser.analyse_pictures

    def analyse(paths: list[Path], *args: object, **kwargs: object) -> object:
        seen.extend(paths)
        return real(paths, *args, **kwargs)

    monkeypatch.setattr(_recogniser, "analyse_pictures", analyse)
    a, b, c = (album / "Ann" / f"{k}.png" for k in range(3))
    results = list(verify_pairs([(a, b), (b, c), (a, c), (a, a)], n_jobs=1))
    assert seen == [a, b, c]
    assert [one.error for one in results] == [None] * 4


def test_tables_of_pairs(tmp_path: Path) -> None:
    table = tmp_path / "p.csv"
    for text, words in (("x,y\n1,2\n", "columns a and b"), ("a,b\n1,\n", "line 2"),
                        ("a,b\n", "no pairs"), ("a,b,same\n1,2,maybe\n", "maybe")):  # fmt: skip
        table.write_text(text)
        with pytest.raises(DataError, match=words):
            read_pairs(table)
