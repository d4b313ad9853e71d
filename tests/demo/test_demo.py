"""The frame of the demo: sections that fail are said, not fatal; people are never shared."""

from __future__ import annotations

import numpy as np
import pytest

from mien.datasets import FaceSet
from mien.demo import DemoData, _data
from mien.demo import _run as demo
from mien.errors import MissingDependencyError, NotEnoughDataError
from mien.reports import Report


@pytest.fixture
def faces(monkeypatch: pytest.MonkeyPatch) -> FaceSet:
    """A tiny set in place of the rendered one."""
    rng = np.random.default_rng(0)
    people = np.repeat([f"p{k}" for k in range(8)], 3)
    pictures = np.repeat(rng.random((8, 6, 6)), 3, axis=0).astype(np.float32)
    found = FaceSet(pictures, people)
    monkeypatch.setattr(_data, "make_faces", lambda *args, **kwargs: found)
    return found


def test_nobody_is_on_both_sides(faces: FaceSet) -> None:
    data = demo.load_demo_data()
    assert not set(data.train.people) & set(data.test.people)
    assert len(data.train) + len(data.test) == len(faces)


def test_sections_that_cannot_run_are_named_and_the_others_run(
    faces: FaceSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacks_extra(data: DemoData, report: Report) -> None:
        report.heading("Half of it")
        raise MissingDependencyError("numpy2", "future", "this section")

    def works(data: DemoData, report: Report) -> None:
        report.heading("Works")
        data.add_result("method", "rate", (0.5, 0.4, 0.6))

    monkeypatch.setattr(demo, "SECTIONS", (lacks_extra, works))
    result = demo.run_demo()
    assert len(result.skipped) == 1
    assert "mien[future]" in result.skipped[0]
    parts = result.report.to_dict()["parts"]
    assert [part["kind"] for part in parts] == ["table", "heading", "text", "heading"]
    assert "mien[future]" in parts[2]["text"]
    assert parts[0]["rows"] == [{"method": "method", "measure": "rate", "result": [0.5, 0.4, 0.6]}]


def test_errors_of_ours_are_not_hidden(faces: FaceSet, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(data: DemoData, report: Report) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(demo, "SECTIONS", (broken,))
    with pytest.raises(ZeroDivisionError):
        demo.run_demo()


def test_too_few_people_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    few = FaceSet(np.zeros((6, 4, 4), np.float32), ["a", "a", "b", "b", "c", "c"])
    monkeypatch.setattr(_data, "make_faces", lambda *args, **kwargs: few)
    with pytest.raises(NotEnoughDataError, match=r"at least 4 people.*got 3"):
        demo.load_demo_data()


def test_large_sets_are_limited_and_lone_pictures_left_out() -> None:
    people = np.concatenate([np.repeat(np.arange(200), 12), np.arange(1000, 1050)])
    faces = FaceSet(np.zeros((people.size, 2, 2), np.uint8), people)
    limited = _data._limit(faces, 0)
    names, counts = np.unique(limited.people, return_counts=True)
    assert names.size == _data._MOST_PEOPLE
    assert set(counts) == {_data._MOST_PICTURES}
    assert names.max() < 1000
