"""The EM loop, progress, kernels and checks: the small parts of the core."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mien._core import jit
from mien._core.atomic import atomic_path, write_atomically
from mien._core.em import run_em
from mien._core.progress import listening, report, track
from mien._core.validation import (
    check_groups,
    check_images,
    check_labels,
    check_scores,
    find_unknown,
    require_module,
)
from mien.errors import InputError, MissingDependencyError, PerformanceWarning


def test_em_stops_when_the_objective_stands_still() -> None:
    result = run_em(lambda x: (x / 2, -x), 1.0, max_iter=100, tol=1e-3)
    assert result.converged
    assert np.all(np.diff(result.objective) > 0)
    assert abs(result.objective[-1] - result.objective[-2]) <= 1e-3
    assert result.n_iter == len(result.objective) == 11
    assert result.state == 2.0**-11


def test_em_that_does_not_converge_says_so() -> None:
    with pytest.warns(ConvergenceWarning, match="in 3 iterations"):
        result = run_em(lambda x: (x + 1, x), 0.0, max_iter=3, tol=1e-3)
    assert not result.converged
    assert run_em(lambda x: (x + 1, x), 0.0, max_iter=3, tol=0.0).n_iter == 3


def test_progress_reaches_the_listener_only() -> None:
    heard: list[tuple[str, int, int | None]] = []
    assert list(track([1, 2], "before")) == [1, 2]
    with listening(lambda *event: heard.append(event)):
        assert list(track(iter("ab"), "letters")) == ["a", "b"]
        assert list(track([5], "numbers")) == [5]
        report("one", 1, 9)
    report("after", 1)
    assert heard == [("letters", 1, None), ("letters", 2, None), ("numbers", 1, 1), ("one", 1, 9)]


def test_kernels_without_numba_warn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    name = "mien._core._needs_numba"
    real = importlib.import_module

    def missing(module: str) -> object:
        if module == name:
            raise ModuleNotFoundError("No module named 'numba'", name="numba")
        return real(module)

    monkeypatch.setattr(jit.importlib, "import_module", missing)
    jit._load_once.cache_clear()
    with pytest.warns(PerformanceWarning, match=r"mien\[fast\]"):
        assert jit.load_kernels(name) is None
    assert jit.load_kernels(name) is None
    with pytest.raises(ModuleNotFoundError, match="no_such_kernels"):
        jit.load_kernels("mien._core.no_such_kernels")
    jit._load_once.cache_clear()


def test_a_missing_extra_names_itself() -> None:
    with pytest.raises(MissingDependencyError, match=r"Drawing needs no_such.*mien\[plots\]"):
        require_module("no_such.part", "plots", "Drawing")


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([], "empty"),
        ([[1.0]], "one dimension"),
        ([1.0, np.nan], "1 NaN among 2"),
        (["a"], "must be numbers"),
        (None, "NaN|one dimension"),
    ],
)
def test_bad_scores_are_named(scores: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        check_scores("genuine", scores)


def test_labels_of_any_kind() -> None:
    assert check_labels("y", ["b", "a"]).tolist() == ["b", "a"]
    assert check_labels("y", [3.0, 7.0]).dtype.kind == "i"
    assert check_labels("y", np.array(["x", "y"], dtype=object)).dtype.kind == "U"
    for bad, said in [([0.5], "fractions"), ([[1, 2]], "one dimension"), ([1, 2, 3], "3 entries")]:
        with pytest.raises(InputError, match=said):
            check_labels("y", bad, 2 if len(bad) == 3 else None)


def test_groups_with_and_without_names() -> None:
    assert check_groups([7, 7, -1, 2], 4).tolist() == [7, 7, -1, 2]
    assert check_groups(["b", "a", "b"], 3).tolist() == [1, 0, 1]
    with pytest.raises(InputError, match="got 0 among 3 groups"):
        check_groups([0, 1, 2], 3)
    with pytest.raises(InputError, match="at least 2"):
        check_groups([0, 0, -1], 3, at_least=2)


def test_images_become_float32_between_zero_and_one() -> None:
    grey = check_images("faces", np.full((2, 3, 4), 255, dtype=np.uint8))
    assert grey.dtype == np.float32
    assert grey.max() == 1
    assert check_images("faces", np.zeros((2, 3, 4, 3))).shape == (2, 3, 4, 3)
    for bad, said in [
        (np.zeros((3, 4)), "shape"),
        (np.zeros((0, 3, 4)), "empty"),
        (np.zeros((1, 3, 4), dtype=int), "uint8"),
        (np.full((1, 3, 4), np.nan), "NaN"),
        (np.full((1, 3, 4), 2.0), r"\[0, 1\]"),
    ]:
        with pytest.raises(InputError, match=said):
            check_images("faces", bad)
    with pytest.raises(InputError, match="shape"):
        check_images("faces", np.zeros((1, 3, 4)), colour=True)


def test_atomic_writing_replaces_or_leaves(tmp_path: Path) -> None:
    target = tmp_path / "t"
    write_atomically(target, b"old")

    def fail() -> None:
        with atomic_path(target) as temporary:
            temporary.write_text("half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


MISSING = [None, np.nan, float("nan"), np.datetime64("NaT", "D"), -1, -1.0, "-1", "nan", "NaT", ""]


@pytest.mark.parametrize("gone", MISSING, ids=repr)
def test_a_missing_label_among_strings_never_becomes_a_person(gone: object) -> None:
    labels = np.asarray(["ann", gone, "bob", gone, "ann"], dtype=object)
    with pytest.raises(InputError, match=r"2 missing label.*row 1"):
        check_labels("y", labels)
    with pytest.raises(InputError, match="2 missing"):
        check_labels("y", labels.tolist())
    kept = check_labels("y", labels, missing="unknown")
    assert kept.tolist() == ["ann", "-1", "bob", "-1", "ann"]
    assert find_unknown(kept).tolist() == [False, True, False, True, False]
    assert check_groups(labels, 5).tolist() == [0, -1, 1, -1, 0]


@pytest.mark.parametrize("gone", [None, np.nan, -1, -1.0, ""], ids=repr)
def test_a_missing_label_among_numbers_never_becomes_a_person(gone: object) -> None:
    labels = np.asarray([7, gone, 2**60 + 1, 7], dtype=object)
    with pytest.raises(InputError, match=r"1 missing label.*row 1"):
        check_labels("y", labels)
    assert check_labels("y", labels, missing="unknown").tolist() == [7, -1, 2**60 + 1, 7]


def test_missing_labels_of_arrays_with_a_type() -> None:
    for labels in (np.array([3.0, np.nan, 3.0]), np.array([3, -1, 3]), np.array([3.0, -1, 3.0])):
        with pytest.raises(InputError, match="1 missing"):
            check_labels("y", labels)
        assert check_groups(labels, 3).tolist() == [3, -1, 3]
    # NumPy makes text of whatever stands among strings.
    assert check_groups(np.array(["a", -1, "a"]), 3).tolist() == [0, -1, 0]
    assert check_groups(np.array(["a", np.nan, "a"]), 3).tolist() == [0, -1, 0]


def test_classes_may_be_minus_one_and_never_missing() -> None:
    assert check_labels("y", [-1, 1], missing="class").tolist() == [-1, 1]
    assert check_labels("y", ["-1", "1"], missing="class").tolist() == ["-1", "1"]
    for labels in ([None, "a"], [np.nan, 1.0], np.array(["a", np.nan])):
        with pytest.raises(InputError, match="1 missing"):
            check_labels("y", labels, missing="class")


def test_missing_labels_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    for series in (
        pandas.Series(["a", pandas.NA, "a"], dtype="string"),
        pandas.Series(["a", pandas.NaT, "a"], dtype=object),
        pandas.Series([4, None, 4], dtype="Int64"),
    ):
        with pytest.raises(InputError, match="1 missing"):
            check_labels("y", series)
        assert (check_groups(series, 3) == -1).tolist() == [False, True, False]
