"""All against all in blocks equals all scores at once, within the bounds that it states."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mien.errors import InputError
from mien.evaluation import (
    ScoreHistogram,
    bootstrap_mean_interval,
    cllr,
    equal_error_rate,
    evaluate_all_pairs,
    iter_score_blocks,
    min_cllr,
    verification_rate,
)
from mien.evaluation import _streaming as streaming
from tests.near import assert_near


def draw(n=300, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n // 5, n)
    people = np.array([f"p{3 * code}" for code in codes])
    X = rng.normal(size=(n, 6))[codes] + 0.7 * rng.normal(size=(n, 6))
    return X.astype(dtype), people


def all_scores(X, people):
    upper = np.triu_indices(len(X), 1)
    scores = (X @ X.T)[upper]
    same = (people[:, None] == people)[upper]
    return scores, same


def blocks_of(X, size=64):
    scores = X @ X.T
    return iter_score_blocks(lambda r, c: scores[r, c], len(X), block_size=size)


@pytest.fixture(params=["compiled", "numpy"])
def twin(request, monkeypatch):
    """Both ways of counting."""
    if request.param == "numpy":
        monkeypatch.setattr(streaming, "load_kernels", lambda name: None)
    else:
        pytest.importorskip("numba")


@pytest.mark.usefixtures("twin")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("resolution", [64, 2**16])
def test_equals_exact_scores_within_its_bounds(dtype, resolution) -> None:
    X, people = draw(dtype=dtype)
    scores, same = all_scores(X, people)
    genuine, impostor = scores[same], scores[~same]
    fars = [0.1, 0.01, 0.001]
    result = evaluate_all_pairs(
        lambda: blocks_of(X), people, fars=fars, resolution=resolution, llr=True
    )
    json.dumps(result, allow_nan=False)
    assert (result["n_genuine"], result["n_impostor"]) == (genuine.size, impostor.size)
    width = result["resolution"]
    spread = float(scores.max() - scores.min())
    assert spread / resolution <= width <= 2.01 * spread / (resolution - 1) * 1.01
    # both rates are exact at every threshold given
    for far, vr, threshold in zip(*result["roc"].values(), strict=True):
        if threshold is not None:
            assert threshold == round(threshold / width) * width
            assert far == np.mean(impostor >= threshold)
            assert vr == np.mean(genuine >= threshold)
    low, high = result["eer"]["bounds"]
    assert low <= equal_error_rate(genuine, impostor) <= high
    assert low <= result["eer"]["value"] <= high
    for row in result["verification_rates"]:
        exact = verification_rate(genuine, impostor, row["far"])
        assert row["bounds"][0] <= exact <= row["bounds"][1]
        assert np.mean(impostor >= row["threshold"]) <= row["far"]
        assert np.mean(genuine >= row["threshold"]) == row["value"]
    low, high = result["cllr"]["bounds"]
    assert low <= cllr(genuine, impostor) <= high
    assert result["min_cllr"]["value"] >= min_cllr(genuine, impostor) - 1e-9
    if resolution == 2**16:
        assert high - low < 2e-3
        assert result["min_cllr"]["value"] == pytest.approx(min_cllr(genuine, impostor), abs=1e-3)
        assert result["eer"]["value"] == pytest.approx(
            equal_error_rate(genuine, impostor), abs=1e-4
        )


@pytest.mark.usefixtures("twin")
def test_scores_on_a_grid_are_exact() -> None:
    X, people = draw()
    X = np.round(X)
    scores, same = all_scores(X, people)
    result = evaluate_all_pairs(blocks_of(X), people, fars=[0.05])
    assert_near(result["eer"]["value"], equal_error_rate(scores[same], scores[~same]), digits=8)
    assert result["verification_rates"][0]["value"] == verification_rate(
        scores[same], scores[~same], 0.05
    )


@pytest.mark.usefixtures("twin")
def test_blocks_in_any_order_and_shape_give_the_same() -> None:
    X, people = draw(120)
    scores = X @ X.T
    wanted = evaluate_all_pairs(blocks_of(X, 50), people)
    order = np.random.default_rng(1).permutation(120)
    rows = [
        (scores[np.ix_(part, order)], part, order)  # whole rows: the lower half is ignored
        for part in np.array_split(np.random.default_rng(2).permutation(120), 7)
    ]
    got = evaluate_all_pairs(rows, people)
    # the width may differ, because the range came in another order
    assert got["eer"]["value"] == pytest.approx(wanted["eer"]["value"], abs=2e-3)
    assert got["n_genuine"] == wanted["n_genuine"]


@pytest.mark.usefixtures("twin")
def test_a_range_that_grows_loses_no_count() -> None:
    rng = np.random.default_rng(0)
    histogram = ScoreHistogram(n_bins=128)
    parts = [rng.normal(size=(5, 8)) * 10.0**k - k for k in (-6, 0, -3, 3, 6, 1)]
    parts.insert(0, np.zeros((5, 8)))
    for part in parts:
        histogram.collect(part)
        histogram.collect_genuine(part[0])
    thresholds, false_accepts, true_accepts = histogram.accepted()
    scores, genuine = np.ravel(parts), np.ravel([part[0] for part in parts])
    for t, impostors, own in zip(thresholds, false_accepts, true_accepts, strict=True):
        assert own == np.sum(genuine >= t)
        assert impostors + own == np.sum(scores >= t)
    assert true_accepts[-1] == genuine.size


@pytest.mark.usefixtures("twin")
def test_infinite_scores_and_limits() -> None:
    X, people = draw(100)
    scores = X @ X.T
    scores[people == people[0]] = -np.inf
    scores[5, 6] = np.inf
    upper = np.triu_indices(100, 1)
    same = (people[:, None] == people)[upper]
    genuine, impostor = scores[upper][same], scores[upper][~same]
    block = [(scores, slice(0, 100), slice(0, 100))]
    low, high = evaluate_all_pairs(block, people)["eer"]["bounds"]
    assert low <= equal_error_rate(genuine, impostor) <= high
    scores[7, 8] = 1e30  # one that would widen every bin
    wide = evaluate_all_pairs(block, people)
    narrow = evaluate_all_pairs(block, people, limits=(-50, 50), resolution=2**16)
    assert wide["resolution"] > 1e20
    assert narrow["resolution"] < 0.01
    genuine, impostor = scores[upper][same], scores[upper][~same]
    low, high = narrow["eer"]["bounds"]
    assert low <= equal_error_rate(genuine, impostor) <= high
    assert high - low < 1e-2


def test_rectangle() -> None:
    X, people = draw(150)
    gallery, probes = slice(0, 60), slice(60, 150)
    scores = X[probes] @ X[gallery].T
    same = people[probes][:, None] == people[gallery]
    blocks = iter_score_blocks(lambda r, c: scores[r, c], 90, 60, block_size=40)
    result = evaluate_all_pairs(blocks, (people[probes], people[gallery]))
    low, high = result["eer"]["bounds"]
    assert low <= equal_error_rate(scores[same], scores[~same]) <= high
    assert result["n_genuine"] == same.sum()


def test_intervals_resample_the_people_of_genuine_pairs() -> None:
    X, people = draw(400)
    scores, same = all_scores(X, people)
    owners = people[np.triu_indices(400, 1)[0]][same]
    result = evaluate_all_pairs(blocks_of(X), people, fars=[0.01], n_bootstrap=500)
    assert result["intervals"] == "genuine person"
    row = result["verification_rates"][0]
    wanted = bootstrap_mean_interval(
        scores[same] >= row["threshold"], owners, n_bootstrap=500, random_state=0
    )
    assert row["low"] == pytest.approx(wanted.low)
    assert row["high"] == pytest.approx(wanted.high)
    assert result["eer"]["low"] < result["eer"]["value"] < result["eer"]["high"]
    failed = evaluate_all_pairs(blocks_of(X), people, fars=[0.01], failures=(600, 0))
    assert_near(
        failed["verification_rates"][0]["value"],
        row["value"] * same.sum() / (same.sum() + 600),
        digits=8,
    )


def test_bad_blocks() -> None:
    X, people = draw(50)
    scores = X @ X.T
    whole = slice(0, 50)
    with pytest.raises(InputError, match="hold 0 pairs"):
        evaluate_all_pairs([], people)
    # the rows from 25 on are missing
    with pytest.raises(InputError, match="hold 925 pairs; all against all has 1225"):
        evaluate_all_pairs([(scores[:25], slice(0, 25), whole)], people)
    with pytest.raises(InputError, match="shape"):
        evaluate_all_pairs([(scores[:3], whole, whole)], people)
    with pytest.raises(InputError, match="beyond"):
        evaluate_all_pairs([(scores, np.arange(1, 51), whole)], people)
    scores[np.tril_indices(50)] = np.nan  # a pair with itself, and the other half, never count
    evaluate_all_pairs([(scores, whole, whole)], people)
    scores[3, 4] = np.nan
    with pytest.raises(InputError, match="1 NaN"):
        evaluate_all_pairs([(scores, whole, whole)], people)
    with pytest.raises(InputError, match="only impostor"):
        evaluate_all_pairs([], np.arange(5))
    with pytest.raises(InputError, match="only genuine"):
        evaluate_all_pairs([], np.zeros(5, int))
    with pytest.raises(InputError, match="two bins"):
        evaluate_all_pairs([], people, resolution=1)
    with pytest.raises(InputError, match="limits"):
        evaluate_all_pairs([], people, limits=(1, 0))
