"""What is done to the vectors first is chosen by the error on pictures that were left out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import Normalizer

import mien
from mien.committee import Committee, RandomSamplingLDA
from mien.errors import InputError
from mien.features import LightNormalizer
from tests.near import assert_near


def _people_under_lamps(n_people: int = 12, n_each: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Pictures 16×16 of people; each has a shade across it, far stronger than who it is."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(n_people), n_each)
    faces = rng.normal(size=(n_people, 16, 16))[y] + 0.8 * rng.normal(size=(len(y), 16, 16))
    across = np.linspace(-1, 1, 16)
    shade = rng.normal(size=(len(y), 2)) * 20
    lamps = shade[:, :1, None] * across[:, None] + shade[:, 1:, None] * across
    bulbs = np.exp(rng.normal(size=(len(y), 1, 1)) * 0.5)
    return (bulbs * (faces + lamps + 30)).reshape(len(y), -1), y


CANDIDATES = [None, Normalizer(), LightNormalizer()]


@pytest.mark.parametrize(
    "committee",
    [
        RandomSamplingLDA(5, preparation=CANDIDATES, random_state=0),
        Committee(KNeighborsClassifier(1), 5, preparation=CANDIDATES, random_state=0),
    ],
    ids=lambda c: type(c).__name__,
)
def test_light_is_taken_out_where_light_is_the_trouble(committee) -> None:
    X, y = _people_under_lamps()
    train = np.arange(len(y)) % 6 < 4
    committee.fit(X[train], y[train])
    assert [row["preparation"] for row in committee.choice_] == [
        "as they are",
        "Normalizer()",
        "LightNormalizer()",
    ]
    errors = [row["out_of_bag_error"] for row in committee.choice_]
    assert [row["chosen"] for row in committee.choice_] == [False, False, True]
    assert errors[2] < errors[0]
    assert isinstance(committee.preparation_, LightNormalizer)
    plain = committee.set_params(preparation=None).fit(X[train], y[train])
    assert plain.choice_ == []


def test_a_single_preparation_is_a_pipeline(tmp_path) -> None:
    X, y = _people_under_lamps()
    model = RandomSamplingLDA(4, preparation=LightNormalizer(), random_state=0).fit(X, y)
    by_hand = RandomSamplingLDA(4, random_state=0).fit(LightNormalizer().fit_transform(X), y)
    light = LightNormalizer().fit(X).transform(X)
    assert_near(model.predict_proba(X), by_hand.predict_proba(light), digits=8)
    again = mien.load(mien.save(model, tmp_path / "committee.mien"))
    assert_near(again.predict_proba(X), model.predict_proba(X), digits=12)
    # Somebody who is enrolled later goes through the same preparation.
    model.remove_person(11).add_person(X[y == 11], 11)
    assert_near(model.predict_proba(X), again.predict_proba(X), digits=6)


def test_two_pictures_each_leave_nothing_to_choose_by() -> None:
    X, y = _people_under_lamps(6, 2)
    with pytest.raises(InputError, match="three or more"):
        RandomSamplingLDA(2, preparation=CANDIDATES, random_state=0).fit(X, y)
    with pytest.raises(InputError, match="empty list"):
        RandomSamplingLDA(2, preparation=[], random_state=0).fit(X, y)


def test_rows_must_be_pictures() -> None:
    with pytest.raises(InputError, match="10 pixels are not pictures of 3 × 3"):
        LightNormalizer().fit(np.ones((2, 10)))
    shaped = LightNormalizer((2, 5), window=3).fit(np.random.default_rng(0).random((2, 10)))
    assert_near(
        np.linalg.norm(shaped.transform(np.random.default_rng(1).random((3, 10))), axis=1),
        1.0,
        digits=6,
    )
