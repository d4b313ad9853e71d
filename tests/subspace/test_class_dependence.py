"""Class-dependence features: prescribed answers, the closed form, and unseen people."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import mien
from mien.errors import InputError
from mien.subspace import ClassDependenceFeatures
from tests.near import assert_near
from tests.subspace.problems import make_problem


def test_filters_answer_one_and_zero_on_training_samples() -> None:
    X, people = make_problem(6, 4, 30)
    model = ClassDependenceFeatures(regularization=0.0).fit(X, people)
    expected = people[:, None] == model.classes_
    assert_near(model.transform(X), expected, digits=8)


def test_equals_the_closed_form() -> None:
    X, people = make_problem(5, 3, 12, seed=1)
    probe = X[:4] + 0.5
    K, k = rbf_kernel(X, gamma=1 / 49), rbf_kernel(probe, X, gamma=1 / 49)
    U = (people[:, None] == np.unique(people)).astype(float)
    expected = k @ np.linalg.inv(K + 0.1 * np.eye(len(K))) @ U
    model = ClassDependenceFeatures(sigma=7.0, regularization=0.1).fit(X, people)
    assert_near(model.transform(probe), expected, digits=8)


def test_unseen_people_are_told_apart_by_cosine() -> None:
    rng = np.random.default_rng(2)
    people = np.repeat(np.arange(60), 4)
    X = rng.normal(size=(60, 25))[people] + 0.5 * rng.normal(size=(240, 25))
    model = ClassDependenceFeatures().fit(X[people < 40], people[people < 40])
    test, who = X[people >= 40], people[people >= 40]
    scores = model.score_matrix(test)
    same = who[:, None] == who
    off = ~np.eye(len(who), dtype=bool)
    assert np.mean(scores[same & off]) > np.mean(scores[~same]) + 0.5
    assert_near(np.diag(scores), 1, digits=8)
    assert_near(model.score_pairs(test[:5], test[5:10]), np.diag(scores[:5, 5:10]), digits=7)


def test_float32_and_duplicates_and_one_class() -> None:
    X, people = make_problem(5, 4, 10, seed=3)
    X = np.concatenate([X, X[:5]]).astype(np.float32)
    people = np.concatenate([people, people[:5]])
    model = ClassDependenceFeatures().fit(X, people)
    assert model.filters_.dtype == np.float32
    assert np.all(np.isfinite(model.transform(X)))
    singular = ClassDependenceFeatures(regularization=0.0, kernel="linear").fit(X, people)
    assert np.all(np.isfinite(singular.transform(X)))
    with pytest.raises(InputError, match="two classes"):
        ClassDependenceFeatures().fit(X, np.zeros(len(X), dtype=int))
    with pytest.raises(InputError, match="as many rows"):
        model.score_pairs(X[:2], X[:3])


def test_save_and_load(tmp_path) -> None:
    X, people = make_problem(4, 3, 8)
    model = ClassDependenceFeatures().fit(X, [f"p{p}" for p in people])
    mien.save(model, tmp_path / "model.mien")
    again = mien.load(tmp_path / "model.mien")
    assert_near(again.score_matrix(X), model.score_matrix(X), digits=8)
