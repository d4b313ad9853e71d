"""Additive statistics equal the definitions, in any order, batch and shift."""

from __future__ import annotations

import numpy as np
import pytest

from mien._core.statistics import GroupStatistics
from mien.errors import InputError
from tests.near import assert_near


@pytest.fixture(name="data")
def _data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * [1, 2, 3, 4, 5] + 1000
    y = rng.choice(["ann", "bob", "cleo", "d"], size=60)
    return X, y


def _check(moments: GroupStatistics, X: np.ndarray, y: np.ndarray) -> None:
    assert moments.n_samples == len(X)
    assert_near(moments.mean, X.mean(axis=0), digits=8)
    Z = X - X.mean(axis=0)
    assert_near(moments.scatter(), Z.T @ Z, digits=8)
    within = sum(
        ((X[y == g] - X[y == g].mean(0)).T @ (X[y == g] - X[y == g].mean(0)) for g in np.unique(y)),
        start=np.zeros((5, 5)),
    )
    assert_near(moments.within_scatter(), within, digits=8)
    assert_near(moments.between_scatter(), Z.T @ Z - within, digits=7)
    for label, count, mean in zip(
        moments.labels, moments.counts, moments.group_means(), strict=True
    ):
        assert count == np.count_nonzero(y == label)
        assert_near(mean, X[y == label].mean(axis=0), digits=8)
    centre = np.full(5, 990.0)
    assert_near(moments.scatter(centre), (X - 990).T @ (X - 990), digits=8)


@pytest.mark.parametrize("batch", [1, 7, 60])
def test_batches_equal_the_definition(data: tuple[np.ndarray, np.ndarray], batch: int) -> None:
    X, y = data
    moments = GroupStatistics()
    for start in range(0, len(X), batch):
        moments.collect(X[start : start + batch], y[start : start + batch])
    _check(moments, X, y)


def test_merge_in_any_order(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    parts = [GroupStatistics().collect(X[i::3], y[i::3]) for i in range(3)]
    _check(parts[2] + (parts[0] + parts[1]), X, y)
    before = parts[0].scatter()
    _ = parts[0] + parts[1]
    np.testing.assert_array_equal(parts[0].scatter(), before)
    _check(GroupStatistics().merge(parts[1]).merge(parts[0]).merge(parts[2]), X, y)


def test_points_in_no_group_count_in_the_total_only() -> None:
    X = np.arange(12.0).reshape(6, 2) ** 2
    moments = GroupStatistics().collect(X, [-1, 3, 3, -1, 9, 9])
    assert moments.labels.tolist() == [3, 9]
    assert moments.counts.tolist() == [2, 2]
    assert_near(moments.mean, X.mean(axis=0), digits=7)
    assert (moments.n_samples, moments.n_grouped) == (6, 4)
    pairs = (X[[1, 4]] - X[[2, 5]]) / np.sqrt(2)
    assert_near(moments.within_scatter(), pairs.T @ pairs, digits=7)
    Z = X - X.mean(axis=0)
    assert_near(moments.scatter(), Z.T @ Z, digits=7)
    parts = GroupStatistics().collect(X[:3], [None, "a", "a"])
    parts += GroupStatistics().collect(X[3:], [np.nan, "b", "b"])
    assert_near(parts.scatter(), Z.T @ Z, digits=7)
    assert_near(parts.within_scatter(), pairs.T @ pairs, digits=7)
    alone = GroupStatistics().collect(X)
    assert (alone.n_samples, alone.n_groups) == (6, 0)
    assert_near(alone.scatter(), Z.T @ Z, digits=7)


def test_arrays_there_and_back(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    moments = GroupStatistics().collect(X[:40], y[:40])
    again = GroupStatistics.from_arrays(moments.to_arrays()).collect(X[40:], y[40:])
    _check(again, X, y)
    broken = moments.to_arrays() | {"second": np.zeros((4, 5))}
    with pytest.raises(InputError, match="second must be"):
        GroupStatistics.from_arrays(broken)


def test_bad_input_is_named() -> None:
    moments = GroupStatistics().collect(np.zeros((0, 3)), [])
    with pytest.raises(InputError, match=r"\(n, 3\)"):
        moments.collect(np.zeros((2, 4)), [0, 1])
    with pytest.raises(InputError, match="2 entries for 3"):
        moments.collect(np.zeros((3, 3)), [0, 1])
    with pytest.raises(InputError, match="NaN"):
        moments.collect(np.full((1, 3), np.nan), [0])
    with pytest.raises(InputError, match="empty"):
        _ = moments.mean
    with pytest.raises(InputError, match="cannot be added"):
        moments.merge(GroupStatistics().collect(np.ones((1, 4)), [0]))
    assert moments.collect(np.zeros((0, 3)), []).n_samples == 0


def test_many_new_people_grow_linearly() -> None:
    moments = GroupStatistics()
    moved, room = 0, None
    for person in range(5000):
        moments.collect(np.full((1, 2), float(person)), [person])
        if moments._sums is not room:
            room = moments._sums
            moved += len(room)
    assert moments.n_groups == 5000
    # Rows moved to a larger room: a few for each person, not one for each pair of people.
    assert 5000 <= moved <= 5 * 5000
    assert_near(moments.group_means()[1234], [1234, 1234], digits=7)


@pytest.mark.parametrize("bad", [1e300, 1e100, "dates", "text"])
def test_numbers_that_would_overflow_are_refused(bad: object) -> None:
    X = np.random.default_rng(0).normal(size=(12, 3))
    odd = {
        "dates": X.astype("i8").astype("M8[D]"),
        "text": X.astype(str),
    }.get(str(bad))
    batch = X * bad if odd is None else odd
    with pytest.raises(InputError, match=r"scale them first|real numbers"):
        GroupStatistics().collect(batch, np.repeat(np.arange(4), 3))
