"""Choosing by held-out groups: the measure, the folds, and that the choice is near the best."""

from __future__ import annotations

import numpy as np
import pytest

from mien.errors import NotEnoughDataError
from mien.subspace import (
    NearestNeighbourIdentifier,
    RelevantComponents,
    choose_n_components,
    group_consistency,
)
from mien.subspace._consistency import dimension_grid, hold_out_groups


def test_consistency_counts_strangers_that_are_nearer() -> None:
    # From 0 one stranger (1) is nearer than the companion (2); from 2, 1 is nearer as well.
    X = np.array([[0.0], [2.0], [1.0], [1.1]])
    value = group_consistency(X, [0, 0, 1, 1], metric="euclidean")
    assert value == pytest.approx(np.mean([1 / 3, 1 / 3, 1, 1]))
    nobody = group_consistency(X, [0, 0, -1, -1], metric="euclidean")
    assert nobody == pytest.approx(1 / 3)
    # By cosine all points of one side of the origin are alike, whatever their length.
    assert group_consistency(X + 1, [0, 0, 1, 1]) == 1.0
    # Where nothing is left of the points, all strangers stand in the way.
    assert group_consistency(np.empty((4, 0)), [0, 0, 1, 1]) == pytest.approx(1 / 3)


def test_folds_hold_out_whole_groups_once() -> None:
    groups = np.array([5, 5, -1, 2, 2, 7, 7, 9, 9, 9, 4, 8, 8])
    folds = list(hold_out_groups(groups, 0))
    held = np.concatenate([h for _, h in folds])
    assert sorted(groups[held].tolist()) == sorted(groups[(groups != -1) & (groups != 4)].tolist())
    for learn, held_out in folds:
        assert not set(groups[learn]) & set(groups[held_out])
    with pytest.raises(NotEnoughDataError, match="at least 4 groups"):
        list(hold_out_groups(np.array([0, 0, 1, 1, 2, 2]), 0))


def test_grid_ends_at_the_most() -> None:
    assert dimension_grid(3) == [3]
    grid = dimension_grid(70)
    assert grid[0] == 4
    assert grid[-1] == 70
    assert sorted(set(grid)) == grid


def test_choice_without_labels_is_near_the_best_with_labels() -> None:
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(20), 8)
    basis = rng.normal(size=(40, 80))
    signal = 1.4 * rng.normal(size=(20, 10))[people] @ basis[:10]
    X = 0.8 * signal + 0.5 * rng.normal(size=(160, 40)) @ basis + 2 * rng.normal(size=(160, 80))
    train = np.arange(160) % 8 < 6
    groups = (people * 2 + (np.arange(160) % 8 >= 3))[train]
    errors = {}
    for m in dimension_grid(60):
        model = RelevantComponents(m).fit(X[train], groups)
        gallery = NearestNeighbourIdentifier(metric="euclidean").fit(
            model.transform(X[train]), people[train]
        )
        errors[m] = np.mean(gallery.predict(model.transform(X[~train])) != people[~train])
    chosen = choose_n_components(X[train], groups, random_state=0)
    nearest = min(errors, key=lambda m: abs(m - chosen))
    assert errors[nearest] <= min(errors.values()) + 0.1
    assert max(errors.values()) > min(errors.values()) + 0.15
