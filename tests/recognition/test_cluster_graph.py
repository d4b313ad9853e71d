"""Grouping along neighbours: the rules of all against all, and nearly its answer."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from mien.distributed import finding_neighbours
from mien.errors import DataError, InputError, MissingDataError
from mien.gallery import NeighbourGraph
from mien.recognition import load_source
from mien.recognition._cluster import ClusteredFace
from mien.recognition._cluster_linkage import link_faces, own_ratios
from mien.recognition._cluster_numbers import keep_numbers, read_numbers
from mien.verification import SetScores
from tests.near import assert_near

pytestmark = pytest.mark.needs("gallery")


@pytest.fixture(scope="module")
def scorer():
    return load_source("sface").scorer


def draw(scorer, n_people: int, per_person: int, seed: int = 0):
    """Vectors as the shipped model has them."""
    model = scorer.model_
    rng = np.random.default_rng(seed)
    people = rng.permutation(np.repeat(np.arange(n_people), per_person))
    d = len(model.mean_)
    covariances = (model.identity_covariance_, model.variation_covariance_)
    who, noise = (
        rng.normal(size=(n, d)) @ np.linalg.cholesky(np.asarray(c, float) + 1e-9 * np.eye(d)).T
        for n, c in zip((n_people, len(people)), covariances, strict=True)
    )
    X = model.mean_ + who[people] + noise
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32), people


def test_pairs_of_sets_are_scored_as_all_against_all(scorer):
    X, _ = draw(scorer, 4, 30)
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 40, 12)
    sums = np.stack([X[rng.integers(0, len(X), n)].sum(axis=0) for n in sizes])
    sets = SetScores(scorer, sizes, sums.copy())
    a, b = (side.ravel() for side in np.meshgrid(np.arange(12), np.arange(12)))
    whole = scorer.score_sums(sizes, sums, sizes, sums)
    expected = np.where(sizes[a] <= sizes[b], whole[a, b], whole[b, a])
    assert_near(sets.score(a, b), expected, 4)
    sets.join(np.array([0, 1]), np.array([2, 3]))
    sides = [(int(sizes[5]), sums[5]), (int(sizes[0] + sizes[2]), sums[0] + sums[2])]
    (k, probe), (m, other) = sorted(sides, key=lambda side: side[0])
    both = scorer.score_sums([k], probe[None], [m], other[None])
    assert_near(sets.score(np.array([5]), np.array([0])), both[0], 4)
    with pytest.raises(InputError, match="size and a sum"):
        SetScores(scorer, sizes[:3], sums)


def test_neighbours_agree_with_all_against_all(scorer):
    X, people = draw(scorer, 300, 8)
    threshold = scorer.threshold(fpir=0.03, n_people=len(X) - 1, extrapolate=True)
    exact = link_faces(scorer, X, threshold, neighbours=0)
    graph = link_faces(scorer, X, threshold, neighbours=16)
    assert adjusted_rand_score(exact.labels, graph.labels) >= 0.99
    assert adjusted_rand_score(people, graph.labels) >= 0.9
    assert graph.ratios.min() >= threshold


@pytest.mark.parametrize("n_workers", [1, 2])
def test_workers_search_shards_and_join_the_same_faces(scorer, n_workers, monkeypatch):
    monkeypatch.setattr("mien.distributed._neighbours._SHARD", 250)
    X, people = draw(scorer, 80, 8)
    threshold = scorer.threshold(fpir=0.03, n_people=len(X) - 1, extrapolate=True)
    exact = link_faces(scorer, X, threshold, neighbours=0)
    with finding_neighbours(n_workers=n_workers) as find:
        found = link_faces(scorer, X, threshold, neighbours=16, find=find)
        near = find(scorer, X, np.arange(40), 5)
    assert adjusted_rand_score(exact.labels, found.labels) >= 0.99
    assert not np.any(near == np.arange(40)[:, None])  # nobody is their own neighbour
    assert np.mean(people[near[:, 0]] == people[:40]) > 0.9


def test_groups_stay_together_and_faces_of_one_picture_apart(scorer):
    X, people = draw(scorer, 30, 8, seed=3)
    rng = np.random.default_rng(4)
    apart = np.stack([rng.permutation(len(X))[:60], rng.permutation(len(X))[:60]], axis=1)
    apart = apart[apart[:, 0] != apart[:, 1]]
    groups = np.full(len(X), -1)
    free = np.setdiff1d(np.arange(len(X)), apart)
    groups[free[:20]] = np.repeat(np.arange(10), 2)
    labels = link_faces(scorer, X, 4.0, groups=groups, cannot_link=apart, neighbours=12).labels
    assert np.all(labels[apart[:, 0]] != labels[apart[:, 1]])
    assert np.all(labels[free[:20:2]] == labels[free[1:20:2]])
    assert adjusted_rand_score(people, labels) > 0.3


@pytest.mark.parametrize("neighbours", [0, 12])
def test_new_faces_are_added_to_people_who_stay(scorer, neighbours):
    X, _ = draw(scorer, 40, 10, seed=5)
    threshold = scorer.threshold(fpir=0.03, n_people=len(X), extrapolate=True)
    whole = link_faces(scorer, X, threshold, neighbours=neighbours).labels
    old = 300
    before = link_faces(scorer, X[:old], threshold, neighbours=neighbours).labels
    known = np.concatenate([before, np.full(len(X) - old, -1)])
    after = link_faces(scorer, X, threshold, known=known, neighbours=neighbours).labels
    for person in np.unique(before):  # nobody is taken apart
        assert len(np.unique(after[:old][before == person])) == 1
    assert adjusted_rand_score(after, whole) > 0.95
    groups = np.full(len(X), -1)
    groups[[0, old]] = 7  # a new face that is one person with a sorted one for certain
    tied = link_faces(scorer, X, threshold, known=known, groups=groups, neighbours=neighbours)
    assert tied.labels[0] == tied.labels[old]
    with pytest.raises(InputError, match="known has the shape"):
        link_faces(scorer, X, threshold, known=before, neighbours=neighbours)


def test_nearest_neighbours_are_found(scorer):
    X, people = draw(scorer, 500, 5, seed=6)
    graph = NeighbourGraph(scorer, X)
    found = graph.nearest(np.arange(len(X)), 10)
    assert found.shape == (len(X), 10)
    assert not np.any(found == np.arange(len(X))[:, None])
    mine = (people[found] == people[:, None]) & (found >= 0)
    assert mine.sum(axis=1).mean() > 3.5  # of four others
    few = NeighbourGraph(scorer, X[:4])
    assert np.array_equal(np.sort(few.nearest(np.array([2]), 6)), [[-1, -1, -1, 0, 1, 3]])


def test_own_ratios_of_faces(scorer):
    X, people = draw(scorer, 20, 4, seed=7)
    people[people == 3] = np.arange(100, 104)
    labels = np.unique(people, return_inverse=True)[1]
    ratios = own_ratios(scorer, X, labels)
    assert np.count_nonzero(np.isnan(ratios)) == 4
    rows = np.flatnonzero(labels == 0)
    expected = scorer.score_sets([X[rows[0]]], [X[rows[1:]]])[0, 0]
    assert_near(ratios[rows[0]], expected, 4)
    with pytest.raises(InputError, match="0 or more"):
        link_faces(scorer, X, 3.0, neighbours=-1)


def test_people_keep_their_numbers(tmp_path):
    labels = np.array([0, 0, 1, 1, 2, 2, 3])
    known = np.array([4, -1, -1, -1, 0, 2, -1])
    assert keep_numbers(labels, known).tolist() == [4, 4, 5, 5, 0, 0, 6]
    faces = [ClusteredFace(tmp_path / "a.jpg", None, k, (0, 0, 1, 1), None) for k in range(3)]
    table = tmp_path / "faces.csv"
    table.write_text("file,frame,face,person\na.jpg,,0,person-003\na.jpg,,1,\n")
    assert read_numbers(table, faces).tolist() == [2, -1, -1]
    with pytest.raises(MissingDataError, match="does not exist"):
        read_numbers(tmp_path / "none.csv", faces)
    table.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="not a table of faces"):
        read_numbers(table, faces)
