"""Clusters against loops over pairs."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import fowlkes_mallows_score

from mien.errors import InputError
from mien.evaluation import (
    b_cubed,
    draw_people,
    evaluate_clustering,
    majority_purity,
    pairwise_purity_accuracy,
)


def draw(seed, n=40):
    rng = np.random.default_rng(seed)
    people = rng.choice(["ann", "bob", "cy", "di"], n)
    clusters = rng.integers(0, 5, n) * 17 - 3
    clusters[rng.random(n) < 0.2] = -1
    return people, clusters


def together(clusters, a, b):
    return clusters[a] == clusters[b] and clusters[a] != -1


@pytest.mark.parametrize("seed", range(5))
def test_equal_their_definitions(seed: int) -> None:
    people, clusters = draw(seed)
    pairs = list(combinations(range(people.size), 2))
    same = [(a, b) for a, b in pairs if people[a] == people[b]]
    joined = [(a, b) for a, b in pairs if together(clusters, a, b)]
    both = len(set(same) & set(joined))
    result = pairwise_purity_accuracy(people, clusters)
    assert result.purity == both / len(joined)
    assert result.accuracy == both / len(same)
    precision, recall, majority = [], [], 0
    for a in range(people.size):
        mates = [b for b in range(people.size) if a == b or together(clusters, a, b)]
        own = [b for b in range(people.size) if people[a] == people[b]]
        shared = len(set(mates) & set(own))
        precision.append(shared / len(mates))
        recall.append(shared / len(own))
    for k in set(clusters) - {-1}:
        majority += max(np.unique(people[clusters == k], return_counts=True)[1])
    majority += np.sum(clusters == -1)
    cubed = b_cubed(people, clusters)
    assert cubed.precision == pytest.approx(np.mean(precision))
    assert cubed.recall == pytest.approx(np.mean(recall))
    assert majority_purity(people, clusters) == majority / people.size


def test_geometric_mean_is_scikit_learn_s() -> None:
    people, clusters = draw(7)
    clusters[clusters == -1] = 99
    result = pairwise_purity_accuracy(people, clusters)
    assert np.sqrt(result.purity * result.accuracy) == pytest.approx(
        fowlkes_mallows_score(people, clusters)
    )


def test_names_of_clusters_do_not_matter() -> None:
    people, clusters = draw(8)
    clusters[clusters == -1] = 99
    renamed = np.array([f"cluster {k}" for k in clusters])
    assert pairwise_purity_accuracy(people, clusters) == pairwise_purity_accuracy(people, renamed)


def test_extremes() -> None:
    people = np.repeat([5, 900], 3)
    assert pairwise_purity_accuracy(people, people) == (1, 1)
    one = pairwise_purity_accuracy(people, np.zeros(6, int))
    assert one.accuracy == 1
    assert one.purity == pytest.approx(6 / 15)
    assert pairwise_purity_accuracy(people, np.full(6, -1)) == (1, 0)
    assert pairwise_purity_accuracy(np.arange(3), np.zeros(3, int)) == (0, 1)
    with pytest.raises(InputError, match="empty"):
        pairwise_purity_accuracy([], [])
    with pytest.raises(InputError, match="clusters has 1"):
        pairwise_purity_accuracy([1, 2], [1])


def test_bootstrap_weighs_pairs_as_the_verification_one_does() -> None:
    from mien.evaluation._clustering import _bootstrap, _contingency

    people, clusters = draw(9)
    draws = draw_people(4, 10, 0)
    purity, accuracy = _bootstrap(_contingency(people, clusters), draws)
    code = np.unique(people, return_inverse=True)[1]
    for k, times in enumerate(draws):
        total = np.zeros(3)
        for a, b in combinations(range(people.size), 2):
            same, joined = people[a] == people[b], together(clusters, a, b)
            weight = times[code[a]] if same else times[code[a]] * times[code[b]]
            total += weight * np.array([same and joined, joined, same])
        assert purity[k] == pytest.approx(total[0] / total[1])
        assert accuracy[k] == pytest.approx(total[0] / total[2])


def test_evaluate() -> None:
    people, clusters = draw(10)
    result = evaluate_clustering(people, clusters, failures=3)
    json.dumps(result, allow_nan=False)
    assert result["purity"]["value"] == pairwise_purity_accuracy(people, clusters).purity
    assert result["purity"]["low"] < result["purity"]["value"] < result["purity"]["high"]
    assert (result["n_samples"], result["n_people"], result["failures"]) == (40, 4, 3)
    assert result["n_clusters"] == 5 + np.sum(clusters == -1)
