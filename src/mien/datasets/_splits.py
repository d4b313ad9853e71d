"""Splits by person and by picture, groups within a class, and pairs: all of them seeded.

Every function takes the labels of the people alone and gives indices, so the same split serves
pictures, features and embeddings.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, cast

import numpy as np
from sklearn.utils import check_random_state

from mien._core.validation import NO_GROUP, check_choice, check_integer, check_labels
from mien.errors import InputError, NotEnoughDataError

__all__ = ["make_groups", "make_pairs", "split_people", "split_pictures"]


def _index_people(people: Any) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return who there is (sorted) and, for each of them, the rows of their pictures."""
    labels = check_labels("people", people)
    if labels.size == 0:
        raise InputError("people is empty: there is nothing to split")
    names, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.argsort(inverse, kind="stable")
    return names, np.split(order, np.cumsum(counts)[:-1])


def split_people(
    people: Any, test_size: float | int = 0.5, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Divide the pictures so that nobody is on both sides.

    Parameters
    ----------
    people : (n,)
        Who is on each picture; any labels.
    test_size : float or int
        A fraction in (0, 1) of the people, rounded, or how many people to test on.
    random_state : int, RandomState or None
        Seed of the draw.

    Returns
    -------
    train, test : index arrays
        Ascending, without a person in common; at least one person each.

    Examples
    --------
    >>> from mien.datasets import split_people
    >>> split_people(["ann", "ann", "bob", "bob"], 0.5, random_state=0)
    (array([0, 1]), array([2, 3]))
    """
    names, rows = _index_people(people)
    if isinstance(test_size, Integral) and not isinstance(test_size, bool):
        n_test = int(test_size)
    elif isinstance(test_size, Real) and not isinstance(test_size, bool) and 0 < test_size < 1:
        n_test = min(max(round(float(test_size) * len(names)), 1), len(names) - 1)
    else:
        raise InputError(
            "test_size must be a fraction in (0, 1) or a number of people of at least 1; "
            f"got {test_size!r}"
        )
    if not 1 <= n_test <= len(names) - 1:
        raise NotEnoughDataError(
            f"{n_test} people cannot be held out of {len(names)}: "
            "both sides need at least one person"
        )
    chosen = check_random_state(random_state).permutation(len(names))
    test = np.sort(np.concatenate([rows[k] for k in chosen[:n_test]]))
    train = np.sort(np.concatenate([rows[k] for k in chosen[n_test:]]))
    return train, test


def split_pictures(
    people: Any, n_train: int, n_splits: int = 1, random_state: Any = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Divide each person's pictures: ``n_train`` of everybody to learn from, the rest to test on.

    Parameters
    ----------
    people : (n,)
        Who is on each picture; any labels.
    n_train : int
        Pictures of each person in the training part.
    n_splits : int
        How many independent splits to draw.
    random_state : int, RandomState or None
        Seed of the draws.

    Yields
    ------
    train, test : index arrays
        Ascending. A person with exactly ``n_train`` pictures is in the training part only.
    """
    n_train = check_integer("n_train", n_train, 1)
    n_splits = check_integer("n_splits", n_splits, 1)
    names, rows = _index_people(people)
    few = [
        (str(name), len(mine))
        for name, mine in zip(names, rows, strict=True)
        if len(mine) < n_train
    ]
    if few:
        raise NotEnoughDataError(
            f"{n_train} training pictures of each person are asked for, and {len(few)} of "
            f"{len(names)} people have fewer (such as {few[0][0]!r} with {few[0][1]}): "
            "lower n_train or leave those people out"
        )
    if all(len(mine) == n_train for mine in rows):
        raise NotEnoughDataError(
            f"every one of {len(names)} people has exactly {n_train} pictures, so nothing would "
            "be left to test on: lower n_train"
        )
    rng = check_random_state(random_state)
    n = sum(map(len, rows))

    def draw() -> tuple[np.ndarray, np.ndarray]:
        in_train = np.zeros(n, dtype=bool)
        for mine in rows:
            in_train[rng.permutation(mine)[:n_train]] = True
        return np.flatnonzero(in_train), np.flatnonzero(~in_train)

    return (draw() for _ in range(n_splits))


def make_groups(people: Any, group_size: int, random_state: Any = None) -> np.ndarray:
    """Hide the labels behind small groups of one person each: the weak labels.

    Parameters
    ----------
    people : (n,)
        Who is on each picture; any labels.
    group_size : int
        Pictures in a group: the paper's N_r, at least 2.
    random_state : int, RandomState or None
        Seed of the draw.

    Returns
    -------
    groups : (n,) int64
        The number of each picture's group from 0 on, or -1 for a picture in no group.

    Notes
    -----
    As in section 5.1 of the weak-label paper: groups are filled by random draws without
    replacement within each class, as many groups of exactly ``group_size`` as fit, and a class of
    ``n_c`` pictures leaves ``n_c mod group_size`` of them out. Of seven pictures per person, 6 of
    7 are used (86 %) with groups of 3, 5 of 7 (71 %) with 5, and all with 7. The numbers of the
    groups are drawn as well, so that they tell nothing about who is in them: two groups of one
    person are not neighbours.

    Examples
    --------
    >>> from mien.datasets import make_groups
    >>> groups = make_groups([1] * 7 + [2] * 7, 3, random_state=0)
    >>> sorted(groups.tolist())
    [-1, -1, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    """
    group_size = check_integer("group_size", group_size, 2)
    names, rows = _index_people(people)
    n_groups = sum(len(mine) // group_size for mine in rows)
    if n_groups == 0:
        raise NotEnoughDataError(
            f"no group of {group_size} can be filled: the most pictures of one person are "
            f"{max(map(len, rows))} (of {len(names)} people)"
        )
    rng = check_random_state(random_state)
    numbers = rng.permutation(n_groups)
    groups = np.full(sum(map(len, rows)), NO_GROUP, dtype=np.int64)
    filled = 0
    for mine in rows:
        here = len(mine) // group_size
        members = rng.permutation(mine)[: here * group_size]
        groups[members] = np.repeat(numbers[filled : filled + here], group_size)
        filled += here
    return groups


def _pairs_within(counts: np.ndarray) -> np.ndarray:
    return counts * (counts - 1) // 2


def _unrank_within(ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turn ranks 0, 1, 2, … into (i, j) with i < j, in the order (0,1), (0,2), (1,2), (0,3), …"""
    j = np.floor((np.sqrt(8.0 * ranks + 1) + 1) / 2).astype(np.int64)
    # The root of a large number may round to the wrong side of an integer.
    j -= (j * (j - 1) // 2 > ranks).astype(np.int64)
    j += ((j + 1) * j // 2 <= ranks).astype(np.int64)
    return ranks - j * (j - 1) // 2, j


def _draw_distinct(rng: np.random.RandomState, population: int, n: int) -> np.ndarray:
    """Draw n different numbers below population, in a random order, in memory of the order n."""
    if n * 4 > population:
        return cast(np.ndarray, rng.permutation(population)[:n]).astype(np.int64)
    drawn = np.zeros(0, dtype=np.int64)
    while len(drawn) < n:
        more = rng.randint(0, population, size=n - len(drawn) + 16, dtype=np.int64)
        drawn = np.concatenate([drawn, more])
        drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    return drawn[:n]


def _genuine_pairs(
    rows: list[np.ndarray], n: int | None, balance: str, rng: np.random.RandomState
) -> np.ndarray:
    counts = np.array([len(mine) for mine in rows])
    possible = _pairs_within(counts)
    starts = np.concatenate([[0], np.cumsum(possible)])
    total = int(starts[-1])
    if n is None:
        ranks = np.arange(total)
    elif n > total:
        raise NotEnoughDataError(
            f"{n} genuine pairs are asked for and {len(rows)} people with {counts.sum()} pictures "
            f"have {total}"
        )
    elif balance == "pairs":
        ranks = _draw_distinct(rng, total, n)
    else:
        ranks = _draw_evenly(rng, possible, starts, n)
    owner = np.searchsorted(starts, ranks, side="right") - 1
    i, j = _unrank_within(ranks - starts[owner])
    offsets = np.concatenate([[0], np.cumsum(counts)])
    order = np.concatenate(rows)
    return np.column_stack([order[offsets[owner] + i], order[offsets[owner] + j]])


def _draw_evenly(
    rng: np.random.RandomState, possible: np.ndarray, starts: np.ndarray, n: int
) -> np.ndarray:
    """Draw n ranks so that the owners' shares differ by at most one where they have enough."""
    quota = np.zeros(len(possible), dtype=np.int64)
    while (missing := n - int(quota.sum())) > 0:
        able = np.flatnonzero(quota < possible)
        share = missing // len(able)
        if share == 0:
            quota[rng.permutation(able)[:missing]] += 1
        else:
            quota[able] = np.minimum(quota[able] + share, possible[able])
    chosen = [
        starts[k] + _draw_distinct(rng, int(possible[k]), int(quota[k]))
        for k in np.flatnonzero(quota)
    ]
    return np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)


def _impostor_pairs(
    rows: list[np.ndarray], n: int, balance: str, rng: np.random.RandomState
) -> np.ndarray:
    counts = np.array([len(mine) for mine in rows])
    n_pictures = int(counts.sum())
    total = n_pictures * (n_pictures - 1) // 2 - int(_pairs_within(counts).sum())
    if n > total:
        raise NotEnoughDataError(
            f"{n} impostor pairs are asked for and {len(rows)} people with {n_pictures} pictures "
            f"have {total}"
        )
    order = np.concatenate(rows)
    if balance == "people" and n * 3 > len(rows) * (len(rows) - 1) // 2:
        return cast(np.ndarray, order[_places_of_couples(rng, counts, n)])
    owner = np.repeat(np.arange(len(rows)), counts)
    if n * 3 > total:
        i, j = np.triu_indices(n_pictures, k=1)
        different = owner[i] != owner[j]
        chosen = rng.permutation(total)[:n]
        return np.column_stack([order[i[different][chosen]], order[j[different][chosen]]])
    offsets = np.cumsum(counts) - counts
    found = np.zeros((0, 2), dtype=np.int64)
    while len(found) < n:
        more = n - len(found) + 16
        if balance == "people":
            k = rng.randint(0, len(rows), size=(more, 2), dtype=np.int64)
            place = offsets[k] + (rng.random_sample((more, 2)) * counts[k]).astype(np.int64)
        else:
            place = rng.randint(0, n_pictures, size=(more, 2), dtype=np.int64)
        place = np.sort(place[owner[place[:, 0]] != owner[place[:, 1]]], axis=1)
        found = np.concatenate([found, place])
        if balance == "people":
            code = owner[found[:, 0]] * len(rows) + owner[found[:, 1]]
        else:
            code = found[:, 0] * n_pictures + found[:, 1]
        found = found[np.sort(np.unique(code, return_index=True)[1])]
    return order[found[:n]]


def _places_of_couples(rng: np.random.RandomState, counts: np.ndarray, n: int) -> np.ndarray:
    """Draw impostor pairs evenly over all couples of people, as places in people's order."""
    first, second = np.triu_indices(len(counts), k=1)
    possible = counts[first] * counts[second]
    starts = np.cumsum(possible) - possible
    ranks = _draw_evenly(rng, possible, starts, n)
    couple = np.searchsorted(starts, ranks, side="right") - 1
    within = ranks - starts[couple]
    offsets = np.cumsum(counts) - counts
    a, b = first[couple], second[couple]
    return np.column_stack([offsets[a] + within // counts[b], offsets[b] + within % counts[b]])


def make_pairs(
    people: Any,
    n_genuine: int | None = None,
    n_impostor: int | None = None,
    random_state: Any = None,
    *,
    balance: str = "pairs",
) -> tuple[np.ndarray, np.ndarray]:
    """Draw pairs of pictures of the same person and of two people, without replacement.

    Parameters
    ----------
    people : (n,)
        Who is on each picture; any labels.
    n_genuine : int or None
        Pairs of one person; None takes all there are.
    n_impostor : int or None
        Pairs of two people; None takes as many as there are genuine ones.
    random_state : int, RandomState or None
        Seed of the draw.
    balance : {"pairs", "people"}
        ``"pairs"`` gives every pair the same chance, so people with many pictures dominate.
        ``"people"`` gives every person the same share as far as their pictures go (genuine), and
        takes two people at most once before any two are taken again (impostor).

    Returns
    -------
    pairs : (n_pairs, 2) int64
        Rows of pictures, the genuine pairs first. Never a picture with itself, and no pair
        twice, in either order.
    same : (n_pairs,) bool
        Whether both pictures show the same person.

    Examples
    --------
    >>> from mien.datasets import make_pairs
    >>> pairs, same = make_pairs(["ann", "bob", "ann", "cid"], 1, 2, random_state=0)
    >>> pairs[same].tolist(), pairs[~same].shape
    ([[0, 2]], (2, 2))
    """
    check_choice("balance", balance, ("pairs", "people"))
    if n_genuine is not None:
        n_genuine = check_integer("n_genuine", n_genuine, 0)
    if n_impostor is not None:
        n_impostor = check_integer("n_impostor", n_impostor, 0)
    _, rows = _index_people(people)
    rng = check_random_state(random_state)
    genuine = _genuine_pairs(rows, n_genuine, balance, rng)
    impostor = _impostor_pairs(
        rows, len(genuine) if n_impostor is None else n_impostor, balance, rng
    )
    same = np.zeros(len(genuine) + len(impostor), dtype=bool)
    same[: len(genuine)] = True
    return np.concatenate([genuine, impostor]).astype(np.int64), same
