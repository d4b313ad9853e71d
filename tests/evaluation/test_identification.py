"""Identification against loops over probes, closed and open set."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mien.errors import InputError
from mien.evaluation import cmc, evaluate_identification, mate_ranks, open_set, rank_k_rate


def draw(seed, strangers=False):
    """Several templates a person, string labels in no order, many ties."""
    rng = np.random.default_rng(seed)
    names = np.array(["zoe", "abe", "kim", "lee", "oda", "pat"])
    gallery = np.r_[names, rng.choice(names, 5)]
    rng.shuffle(gallery)
    known = np.r_[names, ["eve", "mal"]] if strangers else names
    probes = np.r_[known, rng.choice(known, 20)]
    same = probes[:, None] == gallery
    scores = np.round(rng.normal(size=same.shape) + 1.5 * same, 1)
    return scores, probes, gallery


def naive_best(scores, probe, gallery):
    """For one probe: the best score of each person."""
    return {p: max(s for s, g in zip(scores, gallery, strict=True) if g == p) for p in set(gallery)}


def naive_rank(scores, probe, gallery):
    best = naive_best(scores, probe, gallery)
    if probe not in best:
        return 0
    return 1 + sum(s >= best[probe] for p, s in best.items() if p != probe)


@pytest.mark.parametrize("seed", range(5))
def test_ranks_equal_the_definition(seed: int) -> None:
    scores, probes, gallery = draw(seed, strangers=True)
    wanted = [naive_rank(s, p, gallery) for s, p in zip(scores, probes, strict=True)]
    np.testing.assert_array_equal(mate_ranks(scores, probes, gallery), wanted)


def test_curve_and_rates() -> None:
    scores, probes, gallery = draw(1)
    ranks = mate_ranks(scores, probes, gallery)
    curve = cmc(scores, probes, gallery)
    assert curve.size == 6
    assert curve[-1] == 1
    for k in range(1, 7):
        assert curve[k - 1] == rank_k_rate(scores, probes, gallery, k) == np.mean(ranks <= k)


def test_ties_never_flatter() -> None:
    assert mate_ranks(np.zeros((1, 4)), ["a"], list("abcd"))[0] == 4


@pytest.mark.parametrize("rank", [1, 2])
def test_open_set_equals_the_definition(rank: int) -> None:
    scores, probes, gallery = draw(2, strangers=True)
    curve = open_set(scores, probes, gallery, rank=rank)
    enrolled = np.isin(probes, gallery)
    for fpir, fnir, threshold in list(zip(*curve, strict=True))[1:]:
        assert fpir == np.mean(scores[~enrolled].max(axis=1) >= threshold)
        missed = [
            naive_rank(s, p, gallery) > rank or naive_best(s, p, gallery)[p] < threshold
            for s, p in zip(scores[enrolled], probes[enrolled], strict=True)
        ]
        assert fnir == pytest.approx(np.mean(missed))
    assert (curve.fpir[0], curve.fnir[0]) == (0, 1)


def test_evaluate() -> None:
    scores, probes, gallery = draw(3, strangers=True)
    result = evaluate_identification(scores, probes, gallery, ranks=[1, 3], fpirs=[0.5, 0.001])
    json.dumps(result, allow_nan=False)
    ranks = mate_ranks(scores, probes, gallery)
    assert result["n_strangers"] == np.sum(ranks == 0)
    assert result["rank_rates"][1]["value"] == np.mean(ranks[ranks > 0] <= 3)
    for row in result["rank_rates"]:
        assert row["low"] <= row["value"] <= row["high"]
    curve = open_set(scores, probes, gallery)
    loose, strict = result["open_set"]
    assert loose["fnir"]["value"] == pytest.approx(curve.fnir[curve.fpir <= 0.5].min())
    assert loose["measured_fpir"]["value"] <= 0.5
    assert loose["fnir"]["low"] <= loose["fnir"]["value"] <= loose["fnir"]["high"]
    assert loose["dir"]["value"] == pytest.approx(1 - loose["fnir"]["value"])
    assert loose["measurable"]
    assert not strict["measurable"]
    failed = evaluate_identification(scores, probes, gallery, ranks=[1], failures=10)
    hits = np.sum(ranks[ranks > 0] == 1)
    assert failed["rank_rates"][0]["value"] == pytest.approx(hits / (np.sum(ranks > 0) + 10))
    assert evaluate_identification(*draw(3), ranks=[1])["open_set"] is None


def test_bad_input() -> None:
    scores, probes, gallery = draw(4, strangers=True)
    with pytest.raises(InputError, match="not in the gallery"):
        cmc(scores, probes, gallery)
    with pytest.raises(InputError, match="none of strangers"):
        open_set(*draw(4))
    with pytest.raises(InputError, match="NaN"):
        mate_ranks([[np.nan]], ["a"], ["a"])
    with pytest.raises(InputError, match="matrix"):
        mate_ranks([1.0], ["a"], ["a"])
    with pytest.raises(InputError, match="probe_people has 1 entries for 2"):
        mate_ranks([[1.0], [2.0]], ["a"], ["a"])
    with pytest.raises(InputError, match="start at 1"):
        rank_k_rate(*draw(4), k=0)
    with pytest.raises(InputError, match="no probe"):
        evaluate_identification([[1.0]], ["a"], ["b"])
