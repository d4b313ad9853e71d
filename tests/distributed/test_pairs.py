"""All against all on workers counts what one process counts."""

from __future__ import annotations

import numpy as np
import pytest

import mien.distributed._pairs as pairs
from mien.distributed import evaluate_pairs
from mien.errors import InputError
from mien.evaluation import ScoreHistogram, evaluate_all_pairs, iter_score_blocks
from mien.verification import JointBayesian


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(2)
    people = rng.permutation(np.repeat(np.arange(60), 5))
    X = 2 * rng.normal(size=(60, 6))[people] + rng.normal(size=(300, 6))
    return JointBayesian().fit(X, people), X.astype(np.float32), people


@pytest.mark.parametrize("n_workers", [1, 2])
def test_counts_are_those_of_one_process(drawn, n_workers, monkeypatch):
    model, X, people = drawn
    monkeypatch.setattr(pairs, "_ROWS", 64 if n_workers == 1 else pairs._ROWS)
    monkeypatch.setattr(pairs, "_PAIRS_PER_TASK", 64 * 130)
    result = evaluate_pairs(model, X, people, fars=[0.01, 0.001], n_workers=n_workers)
    blocks = iter_score_blocks(lambda r, c: model.score_matrix(X[r], X[c]), len(X))
    whole = evaluate_all_pairs(blocks, people, fars=[0.01, 0.001], llr=True)
    assert (result["n_genuine"], result["n_impostor"]) == (600, 300 * 299 // 2 - 600)
    for name in ("eer", "min_cllr", "cllr"):
        assert result[name]["value"] == pytest.approx(whole[name]["value"], abs=2e-3), name
    rates = zip(result["verification_rates"], whole["verification_rates"], strict=True)
    assert all(a["value"] == pytest.approx(b["value"], abs=4e-3) for a, b in rates)
    assert result["intervals"] == "genuine person"


def test_histograms_are_added_in_any_order():
    rng = np.random.default_rng(0)
    blocks = [rng.normal(scale=s, size=(3, 50)) + m for s, m in ((1, 0), (30, -4), (0.01, 500))]

    def add(order):
        total = ScoreHistogram(256)
        for k in order:
            one = total.empty().collect(blocks[k]).collect_genuine(blocks[k][0])
            total.merge(one)
        return total

    first = add([0, 1, 2]).accepted()
    for order in ([2, 1, 0], [1, 0, 2]):
        for a, b in zip(add(order).accepted(), first, strict=True):
            assert np.array_equal(a, b)
    assert (first[1][-1], first[2][-1]) == (300, 150)
    together = np.concatenate(blocks)
    assert np.count_nonzero(together >= first[0][3]) == first[1][3] + first[2][3]
    with pytest.raises(InputError, match="cannot be added"):
        ScoreHistogram(256).merge(ScoreHistogram(128))


def test_what_cannot_be_compared_is_refused(drawn):
    model, X, people = drawn
    with pytest.raises(InputError, match="score_matrix"):
        evaluate_pairs(object(), X, people)
    with pytest.raises(InputError, match="no labels"):
        evaluate_pairs(model, X, None)
    with pytest.raises(InputError, match="only impostor"):
        evaluate_pairs(model, X, np.arange(len(X)), n_workers=1)
