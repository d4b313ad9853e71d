"""Held-out people: disjoint parts, pairs that keep both kinds, and the choice in doubt."""

from __future__ import annotations

import numpy as np
import pytest

from mien.verification._selection import (
    HeldOutPairs,
    choose_strength,
    hold_out_people,
    pair_people,
    person_losses,
    search_strengths,
)
from tests.near import assert_near


def test_parts_have_disjoint_people_and_equal_weight():
    people = np.repeat(np.arange(23), np.arange(1, 24))
    held = []
    for train, test in hold_out_people(people, 5, np.random.RandomState(0)):
        assert not set(people[train]) & set(people[test])
        held.append(len(test))
    assert sum(held) == len(people)
    assert max(held) - min(held) < 24


@pytest.mark.parametrize("singles", [0, 5000])
def test_many_pairs_are_thinned_and_genuine_ones_stay(singles):
    people = np.concatenate([np.repeat(np.arange(300), 9), 300 + np.arange(singles)])
    pairs = pair_people(np.arange(len(people)), people, np.random.RandomState(0))
    np.testing.assert_array_equal(people[pairs.rows], pairs.people)
    np.testing.assert_array_equal(pairs.same, pairs.people[:, 0] == pairs.people[:, 1])
    assert np.all(np.bincount(pairs.people[pairs.same, 0]) == 15)  # six of nine pictures
    assert 50_000 < np.count_nonzero(~pairs.same) < 70_000
    assert len(np.unique(np.sort(pairs.rows, axis=1), axis=0)) == len(pairs.rows)


def test_losses_of_people_are_cllr_by_person():
    people = np.array([0, 0, 1, 1, 2])
    pairs = pair_people(np.arange(5), people, np.random.RandomState(0))
    zero = person_losses(np.zeros(len(pairs.same)), pairs, calibrate=False)
    assert_near(zero, [1.0, 1.0, np.nan], digits=7)  # a ratio of one costs one bit
    right = np.where(pairs.same, 50.0, -50.0)
    assert_near(person_losses(right, pairs, calibrate=False)[:2], 0, digits=8, scale=1)
    louder = person_losses(right * 7 + 3, pairs, calibrate=True)
    assert_near(louder, person_losses(right, pairs, calibrate=True), digits=6)
    assert isinstance(pairs, HeldOutPairs)


def test_in_doubt_the_default_stays():
    rng = np.random.default_rng(0)
    clear = 0.01 * rng.standard_normal((5, 40)) + np.array([0.0, 1, 2, 3, 4])[:, None]
    assert choose_strength(clear, default=4)[0] == 0
    assert choose_strength(np.zeros((5, 40)), default=3)[0] == 3
    one_odd_person = np.zeros((5, 10))
    one_odd_person[:, 4] = [4, 3, 2, 1, 0]  # only this one would gain
    assert choose_strength(one_odd_person, default=1)[0] == 1
    told_apart = 1e-3 + np.zeros((5, 10)) + np.array([4e-4, 3e-4, 2e-4, 1e-4, 0])[:, None]
    assert choose_strength(told_apart, default=0)[0] == 0  # steady, and next to nothing
    chosen, mean, error = choose_strength(clear, default=0)
    assert chosen == 0
    assert_near(mean, clear.mean(axis=1), digits=7)
    assert error.shape == (5,)


@pytest.mark.parametrize("bottom", [0.0, 2.0, 4.5, 6.0, 8.0, 11.0])
def test_a_search_finds_what_all_candidates_would_give(bottom: float) -> None:
    rng = np.random.default_rng(0)
    candidates = np.arange(12)
    noise = 0.05 * rng.normal(size=(12, 40))
    losses = 0.02 * (candidates - bottom)[:, None] ** 2 + noise + rng.random(40)
    judged = []

    def judge(candidate: int) -> np.ndarray:
        judged.append(candidate)
        return losses[candidate]

    chosen, places, mean, error = search_strengths(12, 5, judge)
    assert chosen == choose_strength(losses, default=5)[0]
    assert len(judged) == len(set(judged)) <= 9
    assert places.tolist() == sorted(judged)
    assert_near(mean, losses[places].mean(axis=1), digits=7)
    assert error.shape == mean.shape
