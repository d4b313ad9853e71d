"""Curves and what is read off them equal the definitions, ties and infinities included."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score, roc_curve

from mien.errors import InputError, NotEnoughDataError
from mien.evaluation import (
    area_under_roc,
    cllr,
    det,
    equal_error_rate,
    min_cllr,
    roc,
    threshold_at_far,
    verification_rate,
)
from tests.near import assert_near


def draw_scores(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores on a coarse grid, so that most of them tie; every third draw has infinities."""
    rng = np.random.default_rng(seed)
    n_genuine, n_impostor = rng.integers(1, 40, 2)
    grid = rng.integers(1, 6)
    genuine = np.round(rng.normal(1, 1, n_genuine) * grid) / grid
    impostor = np.round(rng.normal(0, 1, n_impostor) * grid) / grid
    if seed % 3 == 0:
        genuine[rng.random(n_genuine) < 0.1] = np.inf
        impostor[rng.random(n_impostor) < 0.2] = -np.inf
        genuine[rng.random(n_genuine) < 0.1] = -np.inf
    return genuine, impostor


@pytest.mark.parametrize("seed", range(30))
def test_metrics_equal_their_definitions(naive, seed: int) -> None:
    genuine, impostor = draw_scores(seed)
    points, thresholds = naive.curve(genuine, impostor)
    curve = roc(genuine, impostor)
    np.testing.assert_array_equal(np.column_stack([curve.far, curve.vr]), points)
    np.testing.assert_array_equal(curve.thresholds, thresholds)
    errors = det(genuine, impostor)
    np.testing.assert_array_equal(errors.fmr, curve.far)
    np.testing.assert_array_equal(errors.fnmr, 1 - curve.vr)
    assert_near(
        equal_error_rate(genuine, impostor),
        naive.equal_error_rate(genuine, impostor),
        digits=8,
        scale=1,
    )
    assert area_under_roc(genuine, impostor) == pytest.approx(naive.area(genuine, impostor))
    assert_near(cllr(genuine, impostor), naive.cllr(genuine, impostor), digits=8, scale=1)
    assert_near(min_cllr(genuine, impostor), naive.min_cllr(genuine, impostor), digits=8, scale=1)
    # every rate that the data can have, and rates between them
    n = impostor.size
    fars = np.concatenate([np.arange(n + 1) / n, np.linspace(0, 1, 30)])
    wanted = [naive.verification_rate(genuine, impostor, far) for far in fars]
    np.testing.assert_array_equal(verification_rate(genuine, impostor, fars), wanted)
    assert verification_rate(genuine, impostor, far=float(fars[-2])) == wanted[-2]


def test_dropped_points_lie_on_the_curve_and_equal_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    genuine, impostor = rng.normal(1, 1, 300).round(1), rng.normal(0, 1, 700).round(1)
    same = np.r_[np.ones(300), np.zeros(700)]
    far, vr, thresholds = roc(genuine, impostor)
    theirs = roc_curve(same, np.r_[genuine, impostor], drop_intermediate=False)
    for mine, other in zip((far, vr, thresholds), theirs, strict=True):
        assert_near(mine, other, digits=8)
    fewer = roc(genuine, impostor, drop_intermediate=True)
    assert fewer.far.size < far.size
    kept = np.searchsorted(-thresholds, -fewer.thresholds)
    np.testing.assert_array_equal(fewer.vr, vr[kept])
    np.testing.assert_array_equal(fewer.far, far[kept])
    assert_near(np.trapezoid(fewer.vr, fewer.far), np.trapezoid(vr, far), digits=8)
    assert area_under_roc(genuine, impostor) == pytest.approx(
        roc_auc_score(same, np.r_[genuine, impostor])
    )


def test_only_order_matters() -> None:
    genuine, impostor = draw_scores(1)
    for metric in (equal_error_rate, verification_rate, min_cllr, area_under_roc):
        assert metric(np.exp(genuine), np.exp(impostor)) == metric(genuine, impostor)


def test_all_scores_equal() -> None:
    genuine, impostor = np.full(5, 0.3), np.full(9, 0.3)
    assert equal_error_rate(genuine, impostor) == 0.5
    assert verification_rate(genuine, impostor, 0.5) == 0.0
    assert verification_rate(genuine, impostor, 1.0) == 1.0
    assert area_under_roc(genuine, impostor) == 0.5
    assert min_cllr(genuine, impostor) == pytest.approx(1.0)
    np.testing.assert_array_equal(roc(genuine, impostor).far, [0, 1])


def test_reversed_scores_are_the_worst() -> None:
    assert equal_error_rate([0.5, 1.5], [2.0, 3.0]) == 1.0
    assert min_cllr([0.5, 1.5], [2.0, 3.0]) == pytest.approx(1.0)


def test_infinite_ratios_cost_what_they_claim() -> None:
    assert cllr([np.inf], [-np.inf]) == 0.0
    assert cllr([-np.inf, 5.0], [-5.0]) == np.inf
    assert cllr([1000.0], [1000.0]) == pytest.approx(500 / np.log(2))


@pytest.mark.parametrize("metric", [roc, det, equal_error_rate, verification_rate, cllr, min_cllr])
@pytest.mark.parametrize(
    ("genuine", "impostor", "message"),
    [
        ([], [1.0, 2.0], "no genuine scores"),
        ([1.0], [], "no impostor scores"),
        ([], [], "genuine is empty"),
        ([1.0, np.nan], [0.0], "genuine has 1 NaN among 2"),
        ([1.0], [np.nan], "impostor has 1 NaN"),
        ([[1.0, 2.0]], [0.0], "one dimension"),
        (["high"], [0.0], "must be numbers"),
    ],
)
def test_bad_scores_give_clear_errors(metric, genuine, impostor, message) -> None:
    with pytest.raises(InputError, match=message):
        metric(genuine, impostor)


@pytest.mark.parametrize("far", [-0.1, 1.1, np.nan])
def test_a_rate_is_between_0_and_1(far: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        verification_rate([1.0], [0.0], far)


@pytest.mark.parametrize("seed", range(10))
def test_threshold_holds_the_rate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    impostor = np.round(rng.normal(size=400), rng.integers(0, 4))
    for far in (0.0075, 0.01, 0.29, 1.0):
        threshold = threshold_at_far(impostor, far)
        assert np.mean(impostor >= threshold) <= far
        lower = impostor[impostor < threshold]
        # and no lower score would do
        assert lower.size == 0 or np.mean(impostor >= lower.max()) > far


def test_threshold_above_a_tie_at_the_top() -> None:
    for dtype in (np.float32, np.float64):
        impostor = np.r_[np.zeros(90), np.ones(10)].astype(dtype)
        threshold = threshold_at_far(impostor, 0.05)
        assert not np.any(impostor >= threshold)
        assert threshold > 1
    with pytest.raises(InputError, match=r"\+inf"):
        threshold_at_far(np.r_[np.zeros(90), np.full(10, np.inf)], 0.05)


def test_threshold_refuses_what_the_data_cannot_measure() -> None:
    impostor = np.arange(2999.0)
    with pytest.raises(NotEnoughDataError, match=r"needs at least 3000 impostor scores.*got 2999"):
        threshold_at_far(impostor, 0.001)
    assert threshold_at_far(np.arange(3000.0), 0.001) == 2997.0
    with pytest.raises(NotEnoughDataError, match="30000"):
        threshold_at_far(np.arange(3000.0), 0.001, n_errors=30)
    with pytest.raises(InputError, match="above 0"):
        threshold_at_far(impostor, 0.0)
