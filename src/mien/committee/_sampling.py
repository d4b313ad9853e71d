"""What each member of a committee sees: which people, which pictures, which columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mien.errors import InputError

__all__ = [
    "draw_columns",
    "draw_pictures",
    "draw_training_people",
    "member_generators",
    "unique_share",
]


def member_generators(n_members: int, random_state: Any) -> list[np.random.Generator]:
    """One generator a member, so that the order in which members are built does not matter."""
    seeds = check_random_state(random_state).randint(0, 2**31 - 1, size=n_members)
    return [np.random.default_rng(int(seed)) for seed in seeds]


def draw_training_people(counts: np.ndarray, n_people: int, rng: np.random.Generator) -> np.ndarray:
    """Choose ``n_people`` people among those with two pictures or more, as a mask (c,)."""
    able = np.flatnonzero(counts >= 2)
    chosen = np.zeros(len(counts), dtype=bool)
    chosen[rng.choice(able, size=n_people, replace=False)] = True
    return chosen


def draw_pictures(
    codes: np.ndarray, counts: np.ndarray, n_images: int | float | None, rng: np.random.Generator
) -> np.ndarray:
    """How often each picture is in a replicate, (n,) int64, person by person.

    Parameters
    ----------
    codes : (n,)
        Number of the person of each picture.
    counts : (c,)
        Pictures of each person.
    n_images : None, int or float
        None: a bootstrap, as many draws with replacement as there are pictures. A number or a
        share of each person's pictures: a subset without replacement, of two at least where the
        person has two.
    rng : numpy.random.Generator
        The member's own.
    """
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    if n_images is None:
        draws = rng.integers(0, np.repeat(counts, counts)) + np.repeat(starts, counts)
        return np.bincount(order[draws], minlength=len(codes))
    wanted = (
        np.ceil(n_images * counts)
        if isinstance(n_images, float)
        else np.full_like(counts, n_images)
    )
    wanted = np.minimum(np.maximum(wanted, 2), counts)
    # A random order within each person; the first ones are the subset.
    shuffled = np.lexsort((rng.random(len(codes)), codes))
    rank = np.arange(len(codes)) - np.repeat(starts, counts)
    multiplicity = np.zeros(len(codes), dtype=np.int64)
    multiplicity[shuffled[rank < np.repeat(wanted, counts)]] = 1
    return multiplicity


def draw_columns(
    n_fixed: int, n_random: int, n_columns: int, rng: np.random.Generator
) -> np.ndarray:
    """The first ``n_fixed`` columns and ``n_random`` of the others, ascending."""
    others = rng.choice(n_columns - n_fixed, size=n_random, replace=False)
    return np.concatenate([np.arange(n_fixed), n_fixed + np.sort(others)])


def unique_share(multiplicities: np.ndarray) -> np.ndarray:
    """Share (T,) of the pictures that each replicate holds; ``multiplicities`` is (T, n).

    A bootstrap of n draws from n pictures is expected to hold ``1 - (1 - 1/n)**n`` of them, which
    tends to 63.2 %.
    """
    array = np.asarray(multiplicities)
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(f"multiplicities must be (n_members, n); got {array.shape}")
    return np.asarray((array > 0).mean(axis=1))
