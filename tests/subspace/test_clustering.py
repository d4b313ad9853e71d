"""Constrained clustering against a greedy reference, SciPy, and its own promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import euclidean_distances

from mien.errors import InputError
from mien.subspace import ConstrainedClustering
from tests.near import assert_near
from tests.subspace.problems import make_problem


def naive_clusters(
    X: np.ndarray, n_clusters: int, how: str, groups: np.ndarray, apart: list[tuple[int, int]]
) -> list[set[int]]:
    """Merge the nearest allowed pair again and again, distances from scratch each time."""
    D = euclidean_distances(X)
    clusters = [set(np.flatnonzero(groups == g)) for g in sorted(set(groups.tolist()) - {-1})]
    clusters += [{int(i)} for i in np.flatnonzero(groups == -1)]
    while len(clusters) > n_clusters:
        best = (np.inf, -1, -1)
        for i in range(len(clusters)):
            for j in range(i):
                a, b = clusters[i], clusters[j]
                if any((p in a and q in b) or (p in b and q in a) for p, q in apart):
                    continue
                block = D[np.ix_(sorted(a), sorted(b))]
                best = min(best, (block.max() if how == "complete" else block.mean(), i, j))
        if not np.isfinite(best[0]):
            break
        _, i, j = best
        clusters[j] |= clusters[i]
        del clusters[i]
    return clusters


@pytest.mark.parametrize("how", ["average", "complete"])
@pytest.mark.parametrize("seed", range(6))
def test_equals_the_greedy_reference(how: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 3))
    groups = np.full(24, -1)
    groups[:9] = np.repeat([4, 2, 9], 3)
    apart = [(0, 3), (10, 11), (12, 3), (13, 14), (20, 10)]
    for n_clusters in (3, 5, 9):
        model = ConstrainedClustering(n_clusters, metric="euclidean", linkage=how)
        labels = model.fit_predict(X, groups=groups, cannot_link=apart)
        naive = naive_clusters(X, n_clusters, how, groups, apart)
        expected = np.empty(24, dtype=int)
        for number, members in enumerate(naive):
            expected[list(members)] = number
        assert adjusted_rand_score(labels, expected) == 1.0


@pytest.mark.parametrize("how", ["average", "complete"])
def test_without_constraints_equals_scipy(how: str) -> None:
    X = np.random.default_rng(1).normal(size=(60, 4))
    tree = linkage(X, how)
    model = ConstrainedClustering(7, metric="euclidean", linkage=how).fit(X)
    assert adjusted_rand_score(model.labels_, fcluster(tree, 7, "maxclust")) == 1.0
    assert_near(model.merge_distances_, tree[:, 2], digits=8)
    cut = ConstrainedClustering(metric="euclidean", threshold=1.5, linkage=how).fit(X)
    assert adjusted_rand_score(cut.labels_, fcluster(tree, 1.5, "distance")) == 1.0


def test_constraints_hold_and_contradictions_are_refused() -> None:
    X, truth = make_problem(6, 8, 4, seed=2)
    apart = [(0, 1), (2, 3), (0, 5)]
    apart = [(i, j) for i, j in apart if truth[i] != truth[j]]
    labels = ConstrainedClustering(2, metric="euclidean").fit_predict(
        X, groups=truth, cannot_link=apart
    )
    assert all(labels[i] != labels[j] for i, j in apart)
    assert all(len(set(labels[truth == t])) == 1 for t in truth)
    i, j = np.flatnonzero(truth == truth[0])[:2]
    with pytest.raises(InputError, match="contradict the groups"):
        ConstrainedClustering(2, metric="euclidean").fit(X, groups=truth, cannot_link=[(i, j)])
    with pytest.raises(InputError, match="outside"):
        ConstrainedClustering(2, metric="euclidean").fit(X, cannot_link=[(0, 99)])


def test_more_clusters_than_asked_for_where_nothing_may_merge() -> None:
    X = np.arange(4.0)[:, None]
    pairs = [(i, j) for i in range(4) for j in range(i)]
    assert ConstrainedClustering(2, metric="euclidean").fit(X, cannot_link=pairs).n_clusters_ == 4


def test_kmeans_with_groups_is_kmeans_that_keeps_them_together() -> None:
    X, truth = make_problem(4, 10, 5, seed=3)
    halves = truth * 100 + np.arange(len(truth)) % 2
    model = ConstrainedClustering(4, metric="euclidean", method="kmeans", random_state=0).fit(
        X, groups=halves
    )
    assert adjusted_rand_score(model.labels_, truth) == 1.0
    plain = ConstrainedClustering(4, metric="euclidean", method="kmeans", random_state=0).fit(X)
    theirs = KMeans(4, n_init=10, random_state=0).fit(X).labels_
    assert adjusted_rand_score(plain.labels_, theirs) == 1.0
    with pytest.raises(InputError, match="cannot_link"):
        model.fit(X, cannot_link=[(0, 1)])
    with pytest.raises(InputError, match="n_clusters"):
        ConstrainedClustering(metric="euclidean", method="kmeans").fit(X)


def test_equal_points_do_not_hang() -> None:
    X = np.zeros((30, 2))
    assert ConstrainedClustering(3, metric="euclidean").fit(X).n_clusters_ == 3
