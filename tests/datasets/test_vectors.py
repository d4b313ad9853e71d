"""Vectors with identities: their spread is the one asked for, and a seed gives them again."""

from __future__ import annotations

import numpy as np
import pytest

from mien.datasets import make_vectors
from mien.errors import InputError
from tests.near import assert_near


def test_spread_between_and_within_people() -> None:
    X, people = make_vectors(2000, 5, 6, separation=3.0, random_state=0)
    of = X.reshape(2000, 5, 6)
    within = of.var(axis=1, ddof=1).mean()
    between = of.mean(axis=1).var(axis=0, ddof=1).mean() - within / 5
    assert abs(np.sqrt(between / within) - 3.0) < 0.1
    assert np.bincount(people).tolist() == [5] * 2000


def test_seeds() -> None:
    X, _ = make_vectors(4, 2, 3, random_state=1)
    assert_near(make_vectors(4, 2, 3, random_state=1)[0], X)
    assert (make_vectors(4, 2, 3, random_state=2)[0] != X).all()


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"n_people": 0}, "n_people"),
        ({"n_per_person": 1.5}, "n_per_person"),
        ({"n_features": True}, "n_features"),
        ({"separation": -1.0}, "separation"),
        ({"separation": float("nan")}, "separation"),
    ],
)
def test_refusals(wrong: dict[str, float], word: str) -> None:
    with pytest.raises(InputError, match=word):
        make_vectors(**{"n_people": 3, "n_per_person": 2, **wrong})
