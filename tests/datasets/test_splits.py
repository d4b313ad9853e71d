"""Splits, groups and pairs: disjoint where they must be, complete, seeded, and honest."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from mien.datasets import make_groups, make_pairs, split_people, split_pictures
from mien.errors import InputError, NotEnoughDataError

LABELS = {
    "gaps": np.array([7] * 4 + [100] * 3 + [-3] * 5 + [8]),
    "strings": np.array(["zoë"] * 4 + ["ann"] * 3 + ["bob"] * 5 + ["cid"]),
    "mixed order": np.array([2, 1, 3, 2, 1, 3, 3, 1, 4, 2, 3, 2, 3]),
    "objects": np.array(["b", "a", "b", "c", "a", "b"], dtype=object),
}


@pytest.mark.parametrize("name", LABELS)
def test_nobody_is_on_both_sides(name: str) -> None:
    people = LABELS[name]
    for seed in range(5):
        train, test = split_people(people, 0.5, random_state=seed)
        assert set(people[train]).isdisjoint(people[test])
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(len(people)))
        assert len(set(people[test])) == round(len(set(people)) * 0.5)


def test_test_size_counts_people() -> None:
    people = np.repeat(np.arange(10), 3)
    assert len(split_people(people, 3, random_state=0)[1]) == 9
    assert len(split_people(people, 0.01, random_state=0)[1]) == 3  # at least one person
    assert len(split_people(people, 0.99, random_state=0)[0]) == 3
    for bad in (0.0, 1.0, -0.5, True, "half", None):
        with pytest.raises(InputError, match="test_size must be"):
            split_people(people, bad)
    for bad in (10, 11, 0):
        with pytest.raises(NotEnoughDataError, match=f"{bad} people cannot be held out of 10"):
            split_people(people, bad)
    with pytest.raises(NotEnoughDataError, match="held out of 1"):
        split_people(["only"] * 4, 0.5)


def test_pictures_are_split_within_each_person() -> None:
    people = np.repeat(["a", "b", "c"], [5, 6, 7])
    splits = list(split_pictures(people, 5, 4, random_state=0))
    assert len(splits) == 4
    for train, test in splits:
        assert Counter(people[train]) == {"a": 5, "b": 5, "c": 5}
        assert Counter(people[test]) == {"b": 1, "c": 2}
        assert set(train).isdisjoint(test)
    assert len({tuple(train) for train, _ in splits}) > 1
    with pytest.raises(NotEnoughDataError, match=r"1 of 3 people have fewer \(such as 'a' with 5"):
        split_pictures(people, 6)
    with pytest.raises(NotEnoughDataError, match="exactly 2 pictures"):
        split_pictures([1, 1, 2, 2], 2)
    with pytest.raises(InputError, match="n_train must be"):
        split_pictures(people, 0)


@pytest.mark.parametrize(("size", "used"), [(3, 6), (5, 5), (7, 7), (2, 6)])
def test_groups_are_those_of_the_paper(size: int, used: int) -> None:
    """Section 5.1: seven a class, groups of 3, 5, 7 use 86, 71 and 100 % of them."""
    people = np.repeat([f"p{k}" for k in range(15)], 7)
    groups = make_groups(people, size, random_state=0)
    numbers, counts = np.unique(groups[groups >= 0], return_counts=True)
    assert set(counts) == {size}
    np.testing.assert_array_equal(numbers, np.arange(15 * (7 // size)))
    for number in numbers:
        assert len(set(people[groups == number])) == 1
    per_person = [np.count_nonzero(groups[people == person] >= 0) for person in set(people)]
    assert set(per_person) == {used}


def test_groups_are_drawn_and_their_numbers_tell_nothing() -> None:
    people = np.repeat(np.arange(50), 6)
    first, second = (make_groups(people, 3, random_state=seed) for seed in (0, 1))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, make_groups(people, 3, random_state=0))
    owner = np.array([people[first == number][0] for number in range(100)])
    # In the order of their numbers, two groups of one person are neighbours by chance only.
    assert np.count_nonzero(np.diff(owner) == 0) < 10
    with pytest.raises(NotEnoughDataError, match=r"no group of 7 can be filled.* are 6"):
        make_groups(people, 7)
    for bad in (1, 0, -1, 2.5, True, "3"):
        with pytest.raises(InputError, match="group_size must be"):
            make_groups(people, bad)


def test_people_with_few_pictures_are_in_no_group() -> None:
    people = np.array(["a", "b", "b", "c", "c", "c"])
    groups = make_groups(people, 2, random_state=0)
    assert groups[0] == -1
    assert sorted(Counter(groups).items()) == [(-1, 2), (0, 2), (1, 2)]


@pytest.mark.parametrize("balance", ["pairs", "people"])
@pytest.mark.parametrize("name", LABELS)
def test_pairs_are_true_and_never_twice(name: str, balance: str) -> None:
    people = LABELS[name]
    possible = list(combinations(range(len(people)), 2))
    n_same = sum(people[i] == people[j] for i, j in possible)
    n_different = len(possible) - n_same
    for n_impostor in {1, 2, n_different // 2, n_different}:
        pairs, same = make_pairs(people, None, n_impostor, random_state=3, balance=balance)
        assert len({frozenset(pair) for pair in pairs.tolist()}) == len(pairs)
        assert np.all(pairs[:, 0] != pairs[:, 1])
        np.testing.assert_array_equal(people[pairs[:, 0]] == people[pairs[:, 1]], same)
        assert same.sum() == n_same
        assert (~same).sum() == n_impostor
    some, same = make_pairs(people, 2, 0, random_state=3, balance=balance)
    assert len(some) == same.sum() == 2


def test_pairs_repeat_with_the_seed_and_differ_without() -> None:
    people = np.repeat(np.arange(30), 5)
    for balance in ("pairs", "people"):
        a, b, c = (make_pairs(people, 50, 70, seed, balance=balance)[0] for seed in (0, 0, 1))
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(a, c)


def test_every_pair_has_the_same_chance() -> None:
    people = np.array([0, 0, 0, 1, 1, 2])
    counts: Counter[frozenset[int]] = Counter()
    for seed in range(1500):
        pairs, _ = make_pairs(people, 1, 1, seed)
        counts.update(frozenset(pair) for pair in pairs.tolist())
    genuine = [counts[frozenset(p)] for p in [(0, 1), (0, 2), (1, 2), (3, 4)]]
    impostor = [n for pair, n in counts.items() if len({int(people[k]) for k in pair}) == 2]
    assert len(impostor) == 11
    # Chi-squared of uniform draws, far in the tail: 3 and 10 degrees of freedom.
    for observed in (genuine, impostor):
        expected = 1500 / len(observed)
        assert sum((n - expected) ** 2 / expected for n in observed) < 30


def test_balance_gives_people_equal_shares() -> None:
    people = np.repeat(["many", "few", "two", "mid"], [40, 4, 2, 10])
    pairs, same = make_pairs(people, 21, 6, random_state=0, balance="people")
    shares = Counter(people[pairs[same, 0]])
    assert shares["two"] == 1  # all that it has
    assert shares["few"] == 6
    assert {shares["many"], shares["mid"]} == {7}
    couples = Counter(frozenset(people[pair]) for pair in pairs[~same])
    assert len(couples) == 6  # each two people once, before any two come again
    pairs, same = make_pairs(people, 0, 13, random_state=0, balance="people")
    couples = Counter(frozenset(people[pair]) for pair in pairs[~same])
    assert sorted(couples.values()) == [2, 2, 2, 2, 2, 3]


def test_large_requests_stay_small_in_memory_and_right() -> None:
    people = np.repeat(np.arange(2000), 10)
    pairs, same = make_pairs(people, 20_000, 50_000, random_state=0, balance="people")
    np.testing.assert_array_equal(people[pairs[:, 0]] == people[pairs[:, 1]], same)
    assert len(np.unique(np.sort(pairs, axis=1), axis=0)) == 70_000
    assert set(np.bincount(people[pairs[same, 0]]).tolist()) == {10}


def test_impossible_pairs_are_refused_with_the_numbers() -> None:
    with pytest.raises(NotEnoughDataError, match=r"7 genuine pairs .* 4 people .* have 4"):
        make_pairs([1, 1, 1, 2, 2, 3, 4], 7, 1)
    with pytest.raises(NotEnoughDataError, match=r"2 impostor pairs .* 1 people .* have 0"):
        make_pairs(["a", "a", "a"], 1, 2)
    with pytest.raises(InputError, match="n_genuine must be"):
        make_pairs([1, 1], -1)
    with pytest.raises(InputError, match="balance must be"):
        make_pairs([1, 1], 1, 0, balance="fair")
    for people in ([], [[1, 2]], [0.5, 1.0]):
        with pytest.raises(InputError):
            make_pairs(people)
