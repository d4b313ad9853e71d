"""The dict of a verification: what it holds, its intervals, and failures to acquire."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mien.errors import InputError, NotEnoughDataError
from mien.evaluation import (
    area_under_roc,
    bootstrap_mean_interval,
    bootstrap_verification,
    cllr,
    clopper_pearson_interval,
    draw_people,
    equal_error_rate,
    evaluate_verification,
    min_cllr,
    roc,
    verification_rate,
    wilson_interval,
)
from tests.near import assert_near


def draw_people_scores(n_people: int, per_person: int, seed: int, spread: float = 1.0):
    """Genuine scores whose level depends on the person; impostor scores on both people."""
    rng = np.random.default_rng(seed)
    level = spread * rng.normal(size=n_people)
    own = np.repeat(np.arange(n_people), per_person)
    genuine = 2 + level[own] + 0.3 * rng.normal(size=own.size)
    both = np.column_stack(np.triu_indices(n_people, 1))
    impostor = rng.normal(size=len(both)) + 0.3 * level[both].sum(axis=1)
    return genuine, impostor, (own, both)


def test_values_are_those_of_the_functions_and_json_takes_them() -> None:
    genuine, impostor, people = draw_people_scores(30, 4, 0)
    result = evaluate_verification(
        genuine, impostor, fars=[0.1, 0.01, 1e-6], llr=True, people=people, n_bootstrap=50
    )
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert result["eer"]["value"] == pytest.approx(equal_error_rate(genuine, impostor))
    assert result["auc"]["value"] == pytest.approx(area_under_roc(genuine, impostor))
    assert result["cllr"]["value"] == pytest.approx(cllr(genuine, impostor))
    assert result["min_cllr"]["value"] == pytest.approx(min_cllr(genuine, impostor))
    assert (result["n_genuine"], result["n_impostor"], result["n_people"]) == (120, 435, 30)
    for row in result["verification_rates"]:
        assert row["value"] == verification_rate(genuine, impostor, row["far"])
        assert row["low"] <= row["value"] <= row["high"]
        assert np.mean(genuine >= row["threshold"]) == row["value"]
        assert np.sum(impostor >= row["threshold"]) == row["false_accepts"]
    assert [row["measurable"] for row in result["verification_rates"]] == [True, True, False]
    assert result["verification_rates"][2]["impostors_needed"] == 3_000_000
    without = evaluate_verification(genuine, impostor)
    assert without["intervals"] == "score"
    assert without["cllr"] is None
    assert without["eer"]["low"] < without["eer"]["value"] < without["eer"]["high"]


def test_thinned_curve_lies_on_the_curve() -> None:
    rng = np.random.default_rng(0)
    genuine, impostor = rng.normal(2, 1, 20000), rng.normal(0, 1, 50000)
    curve = evaluate_verification(genuine, impostor)["roc"]
    far, vr, _ = roc(genuine, impostor)
    points = set(zip(far.tolist(), vr.tolist(), strict=True))
    assert 200 < len(curve["far"]) < 1000
    assert set(zip(curve["far"], curve["vr"], strict=True)) <= points | {(1.0, 1.0)}
    assert np.trapezoid(curve["vr"], curve["far"]) == pytest.approx(np.trapezoid(vr, far), abs=1e-3)


def test_failures_count_as_refused() -> None:
    genuine, impostor, people = draw_people_scores(20, 5, 1)
    failed = evaluate_verification(genuine, impostor, fars=[0.1, 1.0], failures=(25, 10))
    padded_genuine = np.r_[genuine, np.full(25, -np.inf)]
    padded_impostor = np.r_[impostor, np.full(10, -np.inf)]
    assert failed["n_genuine"] == 125
    assert failed["eer"]["value"] == pytest.approx(
        equal_error_rate(padded_genuine, padded_impostor)
    )
    assert failed["verification_rates"][0]["value"] == verification_rate(
        padded_genuine, padded_impostor, 0.1
    )
    # a failed comparison says nothing: a log ratio of 0, which costs one bit
    with_ratio = evaluate_verification(genuine, impostor, llr=True, failures=(25, 10))
    assert with_ratio["cllr"]["value"] == pytest.approx(
        cllr(np.r_[genuine, np.zeros(25)], np.r_[impostor, np.zeros(10)])
    )
    by_person = evaluate_verification(
        genuine, impostor, fars=[0.1], failures=(25, 10), people=people, n_bootstrap=200
    )
    row = by_person["verification_rates"][0]
    assert row["low"] <= row["value"] <= row["high"] <= 0.8 + 0.05
    for bad in ((-1, 0), (1,), "ab", (0.5, 0)):
        with pytest.raises(InputError, match="failures"):
            evaluate_verification(genuine, impostor, failures=bad)


def test_bootstrap_equals_repeated_scores() -> None:
    """A draw weighs scores as if they were repeated: so they are, one draw at a time."""
    genuine, impostor, (own, both) = draw_people_scores(8, 3, 2)
    genuine, impostor = genuine.round(1), impostor.round(1)
    names = np.array([f"person {k}" for k in range(8)])
    fars = [0.3, 0.05]
    replicates = bootstrap_verification(
        genuine,
        impostor,
        (names[own], names[both]),
        fars=fars,
        llr=True,
        n_bootstrap=25,
        random_state=3,
    )
    for draw, times in enumerate(draw_people(8, 25, 3).astype(int)):
        g = np.repeat(genuine, times[own])
        i = np.repeat(impostor, times[both[:, 0]] * times[both[:, 1]])
        assert_near(replicates["eer"][draw], equal_error_rate(g, i), digits=8, scale=1)
        assert replicates["auc"][draw] == pytest.approx(area_under_roc(g, i))
        assert replicates["cllr"][draw] == pytest.approx(cllr(g, i))
        assert_near(replicates["min_cllr"][draw], min_cllr(g, i), digits=8, scale=1)
        assert_near(replicates["vr"][draw], verification_rate(g, i, fars), digits=7, scale=1)


def test_bootstrap_is_seeded_and_refuses_bad_people() -> None:
    genuine, impostor, people = draw_people_scores(6, 2, 3)
    first, second = (
        bootstrap_verification(genuine, impostor, people, n_bootstrap=9, random_state=1)["eer"]
        for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    with pytest.raises(InputError, match=r"\(15, 2\)"):
        bootstrap_verification(genuine, impostor, (people[0], people[1][:, 0]))
    with pytest.raises(InputError, match="compare a person with the same person"):
        bootstrap_verification(genuine, impostor, (people[0], np.zeros((15, 2), int)))
    with pytest.raises(InputError, match="two arrays"):
        bootstrap_verification(genuine, impostor, people[0])
    with pytest.raises(NotEnoughDataError, match="two people"):
        bootstrap_mean_interval([1.0, 0.0], ["a", "a"])


def test_intervals_by_person_hold_the_truth_and_those_by_score_do_not() -> None:
    """60 people with 10 correlated scores each: the accepted share is known in the limit."""
    threshold, trials = 1.0, 200
    truth = np.mean(np.random.default_rng(9).normal(2, np.hypot(1, 0.3), 10**6) >= threshold)
    by_person = by_score = 0
    for seed in range(trials):
        genuine, _, (own, _) = draw_people_scores(60, 10, seed)
        hits = genuine >= threshold
        low, high = bootstrap_mean_interval(hits, own, n_bootstrap=300, random_state=seed)
        by_person += low <= truth <= high
        low, high = wilson_interval(hits.sum(), hits.size)
        by_score += low <= truth <= high
    assert 0.88 <= by_person / trials <= 0.99
    assert by_score / trials < 0.7


def test_eer_interval_by_person_holds_the_truth() -> None:
    far_truth = np.random.default_rng(1)
    n = 300_000
    level = far_truth.normal(size=2 * n)
    truth = equal_error_rate(
        2 + level[:n] + 0.3 * far_truth.normal(size=n),
        far_truth.normal(size=n) + 0.3 * (level[:n] + level[n:]),
    )
    held = 0
    for seed in range(60):
        genuine, impostor, people = draw_people_scores(40, 5, seed)
        replicates = bootstrap_verification(
            genuine, impostor, people, n_bootstrap=100, random_state=seed
        )["eer"]
        low, high = np.quantile(replicates, [0.025, 0.975])
        held += low <= truth <= high
    assert held / 60 >= 0.85


def test_a_rate_without_an_error_has_an_interval_by_its_people() -> None:
    """Eight people without an error do not show that nobody errs, however many scores they have."""
    people = np.repeat(np.arange(8), 50)
    pairs = np.stack(np.triu_indices(8, 1), axis=1)
    result = evaluate_verification(
        np.full(400, 2.0), np.zeros(28), fars=[0.1], people=(people, pairs), n_bootstrap=50
    )
    high = wilson_interval(0, 8).high
    assert_near(result["eer"]["high"], high, digits=9)
    assert_near(result["verification_rates"][0]["low"], 1 - high, digits=9)
    assert (result["eer"]["low"], result["verification_rates"][0]["high"]) == (0, 1)
    mean = bootstrap_mean_interval(np.ones(400), people, n_bootstrap=50, random_state=0)
    assert_near(mean.low, 1 - high, digits=9)
    # A mean that is no rate keeps its percentiles.
    assert bootstrap_mean_interval(np.full(400, 0.5), people, n_bootstrap=50) == (0.5, 0.5)


def test_intervals_of_a_proportion() -> None:
    from scipy.stats import binom, binomtest

    for method, function in (("wilson", wilson_interval), ("exact", clopper_pearson_interval)):
        for k, n in ((0, 10), (3, 17), (17, 17), (250, 1000)):
            theirs = binomtest(k, n).proportion_ci(0.9, method=method)
            assert_near(function(k, n, 0.9), theirs, digits=8, scale=1)
    # coverage of the exact interval, summed over all outcomes
    k = np.arange(31)
    low, high = clopper_pearson_interval(k, 30)
    for p in (0.01, 0.2, 0.5):
        assert binom.pmf(k, 30, p)[(low <= p) & (p <= high)].sum() >= 0.95
    for bad in ((3, 2), (-1, 2), (0, 0)):
        with pytest.raises(InputError):
            wilson_interval(*bad)
    with pytest.raises(InputError, match="confidence"):
        wilson_interval(1, 2, confidence=95)
