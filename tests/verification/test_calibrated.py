"""The calibrated verifier: weights, promises, probabilities, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import mien
from mien._core.logistic import balance_classes, fit_logistic
from mien.errors import InputError, NotEnoughDataError
from mien.verification import CalibratedVerifier, JointBayesian, TransferJointBayesian
from tests.near import assert_near


def draw(rng, n_people, m=4, noise=(1, 1, 1, 5, 5, 5)):
    y = np.repeat(np.arange(n_people), m)
    return rng.standard_normal((n_people, 6))[y] * 2 + rng.standard_normal((len(y), 6)) * noise, y


def cost(scores, y):
    i, j = np.triu_indices(len(y), 1)
    s, same = scores[i, j], y[i] == y[j]
    return (np.logaddexp(0, -s[same]).mean() + np.logaddexp(0, s[~same]).mean()) / np.log(4)


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    model = JointBayesian().fit(*draw(rng, 200))
    return model, draw(rng, 120), draw(rng, 120)


def test_the_ratio_wins_where_the_cosine_is_blind(world):
    model, held, test = world
    verifier = CalibratedVerifier(model, far=0.01, random_state=0).fit(*held)
    assert verifier.weights_["ratio"] > 0
    assert verifier.cllr_["fusion"] <= min(v for k, v in verifier.cllr_.items() if k != "fusion")
    fused = cost(verifier.score_matrix(test[0]), test[1])
    assert fused == pytest.approx(verifier.cllr_["fusion"], abs=0.05)
    cosine = CalibratedVerifier(model, candidates=("cosine",), random_state=0).fit(*held)
    assert fused < cost(cosine.score_matrix(test[0]), test[1]) - 0.05


def test_a_candidate_that_does_not_help_gets_none():
    # With enough people the ratio is the right one: nothing can be added to it.
    rng = np.random.default_rng(1)
    right = JointBayesian().fit(*draw(rng, 3000))
    verifier = CalibratedVerifier(right, random_state=0).fit(*draw(rng, 200))
    assert verifier.weights_["ratio"] == pytest.approx(1.0, abs=0.15)
    assert verifier.intercept_ == pytest.approx(0.0, abs=0.2)
    assert verifier.weights_["cosine"] == verifier.weights_["l2"] == 0
    rows = verifier.explain()
    assert [row["candidate"] for row in rows] == ["ratio", "cosine", "l2", "fusion"]
    assert rows[-1]["cllr"] == rows[0]["cllr"]


def test_calibration_cures_overconfidence(world):
    _, held, test = world
    loud = JointBayesian().fit(*draw(np.random.default_rng(2), 12, noise=1))  # wrong and sure
    verifier = CalibratedVerifier(loud, candidates=["ratio"], random_state=0).fit(*held)
    raw = cost(loud.score_matrix(test[0]), test[1])
    assert raw > 1
    assert cost(verifier.score_matrix(test[0]), test[1]) < 1


def test_the_promised_rate_is_kept(world):
    model, held, test = world
    verifier = CalibratedVerifier(model, far=0.02, random_state=0).fit(*held)
    X, y = test
    i, j = np.triu_indices(len(y), 1)
    impostor = y[i] != y[j]
    accepted = verifier.decide(X[i[impostor]], X[j[impostor]])
    assert accepted.mean() == pytest.approx(0.02, abs=0.01)
    assert verifier.decide(X[i[~impostor]], X[j[~impostor]]).mean() > 0.1


def test_not_enough_data_to_promise(world):
    model, held, test = world
    verifier = CalibratedVerifier(model, far=1e-7, random_state=0).fit(*held)
    assert np.isnan(verifier.threshold_)
    with pytest.raises(NotEnoughDataError, match="not enough data to promise"):
        verifier.decide(test[0][:1], test[0][1:2])
    assert 0 < verifier.predict_probability(test[0][:1], test[0][1:2])[0] < 1
    three = held[1] < 3
    with pytest.raises(NotEnoughDataError, match="at least 4"):
        CalibratedVerifier(model).fit(held[0][three], held[1][three])


def test_probability_follows_the_prior(world):
    model, held, test = world
    verifier = CalibratedVerifier(model, prior=0.2, random_state=0).fit(*held)
    a, b = test[0][:50], test[0][50:100]
    odds = np.exp(verifier.score_pairs(a, b))
    for prior in (None, 0.5, 0.9):
        p = 0.2 if prior is None else prior
        want = odds * p / (1 - p) / (1 + odds * p / (1 - p))
        assert_near(verifier.predict_probability(a, b, prior), want, digits=7)
    np.testing.assert_array_equal(verifier.decide(a, b), verifier.predict_probability(a, b) >= 0.5)
    with pytest.raises(InputError, match="prior"):
        verifier.predict_probability(a, b, 1.0)


def test_cross_fitting_scores_people_that_the_model_did_not_see(world):
    _, held, test = world
    verifier = CalibratedVerifier(JointBayesian(), cross_fit=True, random_state=0).fit(*held)
    assert verifier.model_.n_people_ == 120
    assert cost(verifier.score_matrix(test[0]), test[1]) < 0.75
    assert_near(
        verifier.score_matrix(test[0][:6], test[0][6:12]).diagonal(),
        verifier.score_pairs(test[0][:6], test[0][6:12]),
        digits=6,
    )


def test_a_transferred_model_offers_its_source_as_well(world, tmp_path):
    model, held, test = world
    transfer = TransferJointBayesian(model, 100.0)
    verifier = CalibratedVerifier(transfer, cross_fit=True, random_state=0).fit(*held)
    assert set(verifier.weights_) == {"ratio", "source", "cosine", "l2"}
    mien.save(verifier, tmp_path / "v.mien")
    loaded = mien.load(tmp_path / "v.mien")
    assert_near(loaded.score_matrix(test[0]), verifier.score_matrix(test[0]), digits=8)
    assert loaded.weights_ == verifier.weights_
    with pytest.raises(InputError, match="candidates"):
        CalibratedVerifier(model, candidates=("source",)).fit(*held)


def test_the_logistic_solver_finds_the_minimum():
    rng = np.random.default_rng(3)
    same = rng.random(4000) < 0.3
    scores = np.column_stack([3.0 * same + rng.standard_normal(4000) * 2, rng.random(4000)])
    weights = balance_classes(same)
    assert weights[same].sum() == pytest.approx(0.5)
    coefficients, offset = fit_logistic(scores, same, weights, ridge=0)
    # Two Gaussians of equal variance: the ratio is (μ₁ − μ₀)/σ² (s − mean), here 3/4 (s − 1.5).
    assert coefficients[0] == pytest.approx(0.75, abs=0.08)
    assert coefficients[1] >= 0
    assert offset == pytest.approx(-0.75 * 1.5, abs=0.3)
    margin = scores @ coefficients + offset
    gradient = weights * (1 / (1 + np.exp(-margin)) - same)
    assert abs(gradient.sum()) < 1e-6
    assert abs(gradient @ scores[:, 0]) < 1e-5
    negative = fit_logistic(-scores[:, :1], same, weights)[0]
    assert negative == pytest.approx([0.0])
