"""Folds of people and capped draws."""

from __future__ import annotations

import numpy as np
import pytest

from mien._core.logistic import mean_ratio_cost, ratio_costs
from mien._core.sampling import assign_folds, cap_rows
from tests.near import assert_near


@pytest.mark.parametrize("n_splits", [2, 3, 5])
def test_a_person_is_in_one_fold_and_folds_are_of_equal_weight(n_splits: int) -> None:
    rng = np.random.RandomState(0)
    people = rng.permutation(np.repeat([f"p{k}" for k in range(30)], np.arange(1, 31)))
    fold = assign_folds(people, n_splits, rng)
    for name in np.unique(people):
        assert len(np.unique(fold[people == name])) == 1
    rows = np.bincount(fold, minlength=n_splits)
    members = [len(np.unique(people[fold == k])) for k in range(n_splits)]
    assert max(members) - min(members) <= 1
    assert rows.max() - rows.min() <= 30


def test_folds_follow_the_seed() -> None:
    people = np.arange(40)
    first, again, other = (assign_folds(people, 4, np.random.RandomState(s)) for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_a_cap_draws_without_replacement_and_keeps_the_order() -> None:
    rows = np.arange(100, 200)
    drawn = cap_rows(rows, 30, np.random.default_rng(0))
    assert len(drawn) == len(np.unique(drawn)) == 30
    assert (np.diff(drawn) > 0).all()
    assert cap_rows(rows, 100, np.random.default_rng(0)) is rows


def test_costs_are_bits() -> None:
    same = np.array([True, True, False])
    assert_near(ratio_costs(np.array([0.0, np.log(3), np.log(3)]), same), [1, np.log2(4 / 3), 2])
    assert mean_ratio_cost(np.array([0.0, np.log(3), np.log(3)]), same) == pytest.approx(
        ((1 + np.log2(4 / 3)) / 2 + 2) / 2
    )
