"""Nearest neighbours: names, votes, retrieval and rejects."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import mien
from mien.errors import InputError
from mien.subspace import NearestNeighbourIdentifier
from tests.near import assert_near
from tests.subspace.problems import make_problem


def test_one_neighbour_equals_scikit_learn() -> None:
    X, y = make_problem(8, 4, 6)
    probe = make_problem(8, 4, 6, seed=1)[0]
    theirs = KNeighborsClassifier(1).fit(X, y).predict(probe)
    np.testing.assert_array_equal(
        NearestNeighbourIdentifier(metric="euclidean").fit(X, y).predict(probe), theirs
    )


def test_ties_of_a_vote_go_to_the_nearer() -> None:
    model = NearestNeighbourIdentifier(4, metric="euclidean").fit(
        [[1.0], [2.0], [3.0], [4.0]], ["b", "a", "a", "b"]
    )
    assert model.predict([[0.0]]).tolist() == ["b"]
    assert model.predict([[2.6]]).tolist() == ["a"]


def test_retrieval_is_sorted_and_scores_are_similarities() -> None:
    X, y = make_problem(5, 4, 6, seed=2)
    for metric, best in (("euclidean", 0.0), ("cosine", 1.0)):
        found = NearestNeighbourIdentifier(metric=metric).fit(X, y).retrieve(X, 7)
        assert found.labels.shape == (20, 7)
        assert np.all(np.diff(found.scores, axis=1) <= 1e-9)
        assert_near(found.scores[:, 0], best, digits=6, scale=1)
        np.testing.assert_array_equal(found.labels, y[found.rows])


def test_rejects_are_said_in_the_language_of_the_labels() -> None:
    names = NearestNeighbourIdentifier(metric="euclidean").fit([[0.0], [1.0]], ["al", "bo"])
    assert names.identify([[0.1], [9.0]], threshold=-2).tolist() == ["al", "unknown"]
    numbers = NearestNeighbourIdentifier(metric="euclidean").fit([[0.0], [1.0]], [7, 8])
    assert numbers.identify([[0.1], [9.0]], threshold=-2).tolist() == [7, -1]
    with pytest.raises(InputError, match="choose another"):
        numbers.identify([[0.1]], threshold=-2, unknown=8)
    with pytest.raises(InputError, match="n_neighbors must be"):
        numbers.retrieve([[0.0]], 3)


def test_save_and_load(tmp_path) -> None:
    X, y = make_problem(4, 3, 5)
    model = NearestNeighbourIdentifier(3, metric="euclidean").fit(X, [f"p{k}" for k in y])
    mien.save(model, tmp_path / "model.mien")
    again = mien.load(tmp_path / "model.mien")
    np.testing.assert_array_equal(again.predict(X + 0.1), model.predict(X + 0.1))
