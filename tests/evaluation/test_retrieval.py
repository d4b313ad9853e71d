"""Retrieval against sorted lists, and scikit-learn's average precision."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from mien.errors import InputError
from mien.evaluation import _retrieval as module
from mien.evaluation import average_precision, correct_in_top, evaluate_retrieval


def draw(seed, n_queries=30, n_items=50, ties=True):
    rng = np.random.default_rng(seed)
    query, item = rng.integers(0, 4, n_queries) * 10, rng.integers(0, 4, n_items) * 10
    scores = rng.normal(size=(n_queries, n_items)) + (query[:, None] == item)
    return np.round(scores, 1) if ties else scores, query, item


@pytest.mark.parametrize("exclude", [False, True])
def test_equal_sorted_lists(exclude: bool, monkeypatch) -> None:
    monkeypatch.setattr(module, "_CHUNK", 200)  # several chunks
    scores, query, item = draw(0, 50, 50)
    if exclude:
        item = query
    counts = correct_in_top(scores, query, item, 7, exclude_self=exclude)
    precision = average_precision(scores, query, item, exclude_self=exclude)
    for q in range(50):
        ranked = sorted(
            (-scores[q, j], bool(query[q] == item[j]))
            for j in range(50)
            if not (exclude and j == q)
        )
        right = [hit for _, hit in ranked]
        assert counts[q] == sum(right[:7])
        values = [sum(right[: k + 1]) / (k + 1) for k, hit in enumerate(right) if hit]
        assert precision[q] == pytest.approx(np.mean(values))


def test_average_precision_is_scikit_learn_s_without_ties() -> None:
    scores, query, item = draw(1, ties=False)
    for q, value in enumerate(average_precision(scores, query, item)):
        assert value == pytest.approx(average_precision_score(item == query[q], scores[q]))


def test_ties_never_flatter() -> None:
    assert correct_in_top([[0.0, 0.0]], ["a"], ["a", "b"], 1)[0] == 0


def test_evaluate() -> None:
    scores, query, item = draw(2)
    query[0] = 77  # has no right item
    result = evaluate_retrieval(scores, query, item, top=[1, 5, 5000])
    json.dumps(result, allow_nan=False)
    counts = correct_in_top(scores, query, item, 5)
    assert [row["k"] for row in result["top"]] == [1, 5]
    assert result["top"][1]["correct"] == pytest.approx(counts.mean())
    assert result["top"][1]["value"] == pytest.approx(counts.mean() / 5)
    assert result["n_without_match"] == 1
    assert result["mean_average_precision"]["value"] == pytest.approx(
        np.nanmean(average_precision(scores, query, item))
    )
    failed = evaluate_retrieval(scores, query, item, top=[5], failures=30)
    assert failed["top"][0]["value"] == pytest.approx(counts.mean() / 10)


def test_bad_input() -> None:
    scores, query, item = draw(3)
    with pytest.raises(InputError, match="square"):
        correct_in_top(scores, query, item, 1, exclude_self=True)
    with pytest.raises(InputError, match="between 1 and the 50"):
        correct_in_top(scores, query, item, 51)
    with pytest.raises(InputError, match="never agree"):
        evaluate_retrieval([[1.0]], ["a"], ["b"], top=[1])
