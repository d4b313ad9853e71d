"""The committee's error law, and the report's numbers against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from mien.committee import committee_report, predicted_error
from mien.errors import InputError
from tests.near import assert_near


def _simulate(n_members: int, rho: float, n: int = 40_000, seed: int = 0) -> tuple:
    """Members whose errors have variance 0.25 and correlation rho."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    common, own = rng.normal(size=n), rng.normal(size=(n_members, n))
    errors = 0.5 * (np.sqrt(rho) * common + np.sqrt(1 - rho) * own)
    return truth + errors, truth


@pytest.mark.parametrize("rho", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("n_members", [2, 5, 20])
def test_the_law_holds_on_simulated_members(rho: float, n_members: int) -> None:
    members, truth = _simulate(n_members, rho)
    report = committee_report(members, truth)
    law = 0.25 * (1 / n_members + rho * (1 - 1 / n_members))
    assert report.average_error == pytest.approx(0.25, rel=0.05)
    assert report.error_correlation == pytest.approx(rho, abs=0.02)
    assert report.committee_error == pytest.approx(law, rel=0.08)
    assert report.predicted_error == pytest.approx(report.committee_error, rel=0.05)
    assert report.strength is None


def test_a_common_bias_is_outside_the_law() -> None:
    members, truth = _simulate(10, 0.0)
    report = committee_report(members + 1.0, truth)
    # Nothing averages a bias away: E_com stays above the bias squared, the law promises less.
    assert report.committee_error > 1.0
    assert report.predicted_error < 0.5 * report.committee_error


@pytest.mark.parametrize("seed", range(40))
def test_the_committee_is_never_worse_than_its_average_member(seed: int) -> None:
    rng = np.random.default_rng(seed)
    t, n, c = rng.integers(1, 9), rng.integers(1, 30), rng.integers(2, 7)
    members = rng.dirichlet(np.full(c, rng.choice([0.05, 1, 20])), size=(t, n))
    truth = rng.integers(0, c, size=n)
    report = committee_report(members, truth)
    # Naive, straight from the definitions.
    target = np.eye(c)[truth]
    average = np.mean([((p - target) ** 2).sum(axis=1).mean() for p in members])
    together = ((members.mean(axis=0) - target) ** 2).sum(axis=1).mean()
    spread = np.mean([((p - members.mean(axis=0)) ** 2).sum(axis=1).mean() for p in members])
    assert report.average_error == pytest.approx(average)
    assert report.committee_error == pytest.approx(together)
    assert_near(report.diversity, spread, digits=8, scale=1)
    assert report.committee_error <= report.average_error * (1 + 1e-9)
    numbers = rng.normal(size=(t, n)) * 10 + rng.normal()
    plain = committee_report(numbers, rng.normal(size=n))
    assert plain.committee_error <= plain.average_error * (1 + 1e-9)


def test_equally_strong_members_obey_the_law_exactly() -> None:
    rng = np.random.default_rng(0)
    base = rng.dirichlet(np.ones(4), size=300)
    truth = rng.integers(0, 4, size=300)
    # Each member is wrong about its own third of the samples, and right elsewhere.
    members = np.stack([np.eye(4)[truth]] * 3)
    for t in range(3):
        members[t, t::3] = base[:100]
        truth[t::3] = truth[:1]
        members[t, t::3] = base[:100]
    members = np.where(np.abs(members - np.eye(4)[truth]) > 1, np.eye(4)[truth], members)
    report = committee_report(members, truth)
    errors = (members - np.eye(4)[truth]).reshape(3, -1)
    rho = np.mean(np.corrcoef(errors)[np.triu_indices(3, 1)])
    assert report.error_correlation == pytest.approx(rho)


def test_decisions_are_counted() -> None:
    members = np.array(
        [
            [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]],
            [[0.6, 0.4], [0.1, 0.9], [0.2, 0.8], [0.7, 0.3]],
        ]
    )
    report = committee_report(
        members, ["b", "a", "a", "x"], classes=["b", "a"], unique_share=[0.6, 0.7]
    )
    # Right: first member 1st and 3rd; second member 1st, 2nd and 3rd. "x" is nobody's column.
    assert report.member_error_rates == [0.5, 0.25]
    assert report.strength == pytest.approx(0.625)
    assert report.disagreement == pytest.approx(0.25)
    # Averages: b, a (0.45 against 0.55), a, b.
    assert report.committee_error_rate == pytest.approx(0.25)
    assert report.unique_share == pytest.approx(0.65)
    assert report.as_dict()["n_members"] == 2


def test_degenerate_committees() -> None:
    perfect = committee_report([[[1.0, 0.0]], [[1.0, 0.0]]], [0])
    assert (perfect.average_error, perfect.committee_error, perfect.predicted_error) == (0, 0, 0)
    alone = committee_report([[[0.6, 0.4]]], [1])
    assert alone.committee_error == alone.average_error == pytest.approx(0.72)
    assert alone.predicted_error == pytest.approx(0.72)
    assert alone.disagreement == 0
    assert predicted_error(0.3, 0.5, 1) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("members", "truth", "message"),
    [
        (np.ones((2, 3)), [1.0], r"shape \(3,\)"),
        (np.ones((2, 3, 2)), [0, 1], "3 samples"),
        (np.ones(3), [0], r"\(T, n, c\)"),
        (np.full((1, 1, 2), np.nan), [0], "NaN"),
        ([["a"]], [0], "numbers"),
    ],
)
def test_bad_input_is_refused(members: object, truth: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        committee_report(members, truth)


def test_classes_must_name_every_column() -> None:
    with pytest.raises(InputError, match="2 columns"):
        committee_report([[[0.5, 0.5]]], ["a"], classes=["a"])


def test_the_law_is_an_identity_for_the_pooled_correlation() -> None:
    rng = np.random.default_rng(5)
    # Members of very different strength, whose errors share a part.
    truth, common = rng.normal(size=400), rng.normal(size=400)
    members = [truth + k * (common + rng.normal(size=400)) for k in (0.1, 0.5, 1.0, 3.0)]
    report = committee_report(members, truth)
    law = predicted_error(report.average_error, report.pooled_correlation, 4)
    assert law == pytest.approx(report.committee_error, rel=1e-9)
    errors = np.asarray(members) - truth
    products = errors @ errors.T
    pooled = (products.sum() - np.trace(products)) / 3 / np.trace(products)
    assert report.pooled_correlation == pytest.approx(pooled, rel=1e-9)
    assert committee_report(members[:1], truth).pooled_correlation == 1.0
