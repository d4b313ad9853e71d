"""Skipping without an extra is for the packages at home in it, and for nothing else."""

import tomllib
from pathlib import Path

import pytest

from mien.errors import MissingDependencyError
from tests import extras


def test_every_extra_of_the_package_is_known():
    root = Path(__file__).resolve().parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    theirs = set(project["optional-dependencies"]) - {"all", "docs", "bench", "dev"}
    assert set(extras.EXTRAS) == set(extras.HOMES) == theirs


def test_a_learner_that_asks_for_opencv_fails(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(extras.EXTRAS, "faces", ("a_package_that_does_not_exist",))
    error = MissingDependencyError("cv2", "faces", "finding faces")
    assert extras.explain_missing(error, extras.ROOT / "tests/faces/test_align.py")
    assert extras.explain_missing(error, extras.ROOT / "src/mien/faces/_align.py")
    assert not extras.explain_missing(error, extras.ROOT / "tests/verification/test_scoring.py")
    assert not extras.explain_missing(error, extras.ROOT / "src/mien/sparse/_ksvd.py")
    assert not extras.explain_missing(ValueError("other"), extras.ROOT / "tests/faces/test_x.py")


def test_an_extra_that_is_here_is_no_excuse(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(extras.EXTRAS, "faces", ("json",))
    error = MissingDependencyError("cv2", "faces", "finding faces")
    assert not extras.explain_missing(error, extras.ROOT / "tests/faces/test_align.py")
