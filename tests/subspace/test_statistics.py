"""Statistics of groups: batches, merging, saving, and points in no group."""

from __future__ import annotations

import numpy as np
import pytest

import mien
from mien.errors import InputError
from mien.subspace import GroupStatistics, RelevantComponents
from tests.near import assert_near
from tests.subspace.problems import make_problem, naive_scatters


@pytest.mark.parametrize("alone", [0, 6])
def test_parts_in_any_order_equal_the_definition(alone: int) -> None:
    X, groups = make_problem(9, 4, 5, alone=alone)
    total, within = naive_scatters(X, groups)
    parts = [GroupStatistics().collect(X[k::3], groups[k::3]) for k in range(3)]
    merged = parts[2] + parts[0] + parts[1]
    assert_near(merged.scatter(), total, digits=8)
    assert_near(merged.within_scatter(), within, digits=8)
    assert_near(merged.mean, X.mean(axis=0), digits=7)
    assert (merged.n_samples, merged.n_grouped, merged.n_groups) == (36 + alone, 36, 9)


def test_save_load_and_merge_later(tmp_path) -> None:
    X, groups = make_problem(10, 3, 4, alone=3)
    half = len(X) // 2
    mien.save(GroupStatistics().collect(X[:half], groups[:half]), tmp_path / "first.mien")
    first = mien.load(tmp_path / "first.mien")
    first.merge(GroupStatistics().collect(X[half:], groups[half:]))
    assert_near(
        RelevantComponents(None).fit(first).components_,
        RelevantComponents(None, solver="statistics").fit(X, groups).components_,
        digits=7,
    )


def test_a_memory_map_of_float32_is_read_in_batches(tmp_path, monkeypatch) -> None:
    X, groups = make_problem(50, 4, 6, seed=1)
    path = tmp_path / "X.npy"
    np.save(path, X.astype(np.float32))
    mapped = np.load(path, mmap_mode="r")
    monkeypatch.setattr("mien.subspace._base.BATCH_BYTES", 8 * 6 * 30)
    model = RelevantComponents(None, solver="statistics").fit(mapped, groups)
    direct = RelevantComponents(None, solver="svd").fit(X.astype(np.float32), groups)
    assert_near(
        model.components_.T @ model.components_, direct.components_.T @ direct.components_, digits=5
    )


def test_batches_from_an_iterator() -> None:
    X, groups = make_problem(20, 3, 4)
    batches = ((X[k : k + 11], groups[k : k + 11]) for k in range(0, 60, 11))
    model = RelevantComponents(None).fit(GroupStatistics.from_batches(batches))
    assert_near(
        np.abs(model.components_),
        np.abs(RelevantComponents(None).fit(X, groups).components_),
        digits=6,
    )


def test_nothing_and_nonsense_are_refused() -> None:
    with pytest.raises(InputError, match="no batches"):
        GroupStatistics.from_batches([])
    with pytest.raises(InputError, match="shape"):
        GroupStatistics().collect(np.zeros((2, 3)), [0, 0]).collect(np.zeros((2, 4)), [0, 0])
    with pytest.raises(InputError, match="two or more points"):
        RelevantComponents(None).fit(GroupStatistics().collect(np.eye(2), [0, 1]))
    with pytest.raises(InputError, match="groups to whiten"):
        RelevantComponents("auto").fit(GroupStatistics().collect(np.ones((2, 2)), [0, 0]))
