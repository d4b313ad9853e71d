"""Logistic calibration: the right ratios, the stated ridge, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import mien
from mien.errors import InputError
from mien.evaluation import LogisticCalibration, cllr, min_cllr
from tests.near import assert_near


def draw(n_genuine=400, n_impostor=3000, seed=0, distance=2.0):
    rng = np.random.default_rng(seed)
    scores = np.r_[rng.normal(distance, 1, n_genuine), rng.normal(0, 1, n_impostor)]
    return scores, np.arange(scores.size) < n_genuine


@pytest.mark.parametrize("prior", [0.5, 0.01])
def test_minimises_the_stated_objective(prior: float) -> None:
    scores, same = draw()
    model = LogisticCalibration(prior=prior, regularization=2.0).fit(scores, same)
    offset = np.log(prior / (1 - prior))

    def objective(theta):
        ratio = theta[0] * scores + theta[1] + offset
        loss = prior * np.mean(np.logaddexp(0, -ratio[same]))
        loss += (1 - prior) * np.mean(np.logaddexp(0, ratio[~same]))
        return loss + 0.5 * 2.0 / scores.size * (theta[0] * scores.std()) ** 2

    found = minimize(objective, [1.0, 0.0], method="BFGS", options={"gtol": 1e-10})
    assert_near([model.coef_[0], model.intercept_], found.x, digits=4)


def test_gaussian_scores_get_their_true_ratios() -> None:
    scores, same = draw(20000, 20000)
    model = LogisticCalibration().fit(scores, same)
    # N(2, 1) against N(0, 1): the log ratio is 2s − 2
    assert model.coef_[0] == pytest.approx(2, abs=0.06)
    assert model.intercept_ == pytest.approx(-2, abs=0.06)


def test_calibration_lowers_cllr_nearly_to_the_minimum_and_keeps_the_order() -> None:
    scores, same = draw(2000, 20000)
    wrong = 7 * scores + 30
    model = LogisticCalibration().fit(wrong, same)
    other, other_same = draw(2000, 20000, seed=1)
    ratios = model.transform(7 * other + 30)
    assert cllr(7 * other[other_same] + 30, 7 * other[~other_same] + 30) > 1
    cost = cllr(ratios[other_same], ratios[~other_same])
    best = min_cllr(ratios[other_same], ratios[~other_same])
    assert best <= cost <= best + 0.01
    assert np.all(np.diff(ratios[np.argsort(other)]) >= 0)


def test_numbers_of_each_kind_do_not_matter() -> None:
    scores, same = draw(500, 500, seed=3)
    often = np.r_[scores, np.repeat(scores[~same], 9)]
    often_same = np.r_[same, np.zeros(9 * 500, bool)]
    once = LogisticCalibration(regularization=0).fit(scores, same)
    ten = LogisticCalibration(regularization=0).fit(often, often_same)
    assert_near(once.coef_, ten.coef_, digits=6)
    assert_near(once.intercept_, ten.intercept_, digits=6)


def test_separable_scores_get_finite_and_modest_ratios() -> None:
    scores, same = np.arange(20.0), np.arange(20) >= 10
    ratios = LogisticCalibration().fit(scores, same).transform(scores)
    assert np.all(np.isfinite(ratios))
    assert np.all((ratios > 0) == same)
    assert 2 < np.abs(ratios).max() < 10
    with pytest.raises(InputError, match="separates all pairs"):
        LogisticCalibration(regularization=0).fit(scores, same)


def test_constant_scores_say_nothing() -> None:
    model = LogisticCalibration().fit(np.ones(30), np.arange(30) < 10)
    assert_near(model.transform([1.0, 1.0]), 0, digits=8, scale=1)


def test_fusion_of_two_systems_is_not_worse_than_either() -> None:
    rng = np.random.default_rng(5)
    same = np.arange(6000) < 3000
    both = np.where(same[:, None], 1.0, 0.0) + rng.normal(size=(6000, 2)) * [1, 2]
    costs = [
        cllr(ratios[same], ratios[~same])
        for ratios in (
            LogisticCalibration().fit_transform(columns, same)
            for columns in (both, both[:, 0], both[:, 1])
        )
    ]
    assert costs[0] < min(costs[1:])


@pytest.mark.parametrize(
    ("scores", "same", "message"),
    [
        ([1.0, 2.0], [True, True], "one class"),
        ([1.0, 2.0, 3.0], [0, 1, 2], "3 classes"),
        ([1.0, np.nan], [0, 1], "NaN"),
        ([1.0, -np.inf], [0, 1], "infinite"),
        ([1.0, 2.0], [0, 1, 1], "shape"),
        ([1.0, 2.0], [0.0, np.nan], "NaN"),
    ],
)
def test_bad_input(scores, same, message) -> None:
    with pytest.raises(ValueError, match=message):
        LogisticCalibration().fit(scores, same)


def test_round_trip_through_a_file(tmp_path) -> None:
    scores, same = draw(50, 50)
    model = LogisticCalibration(prior=0.1).fit(scores, same)
    mien.save(model, tmp_path / "calibration.mien")
    again = mien.load(tmp_path / "calibration.mien")
    assert_near(again.transform(scores), model.transform(scores), digits=8)
    assert again.get_params() == model.get_params()
