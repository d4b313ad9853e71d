"""Scorers of pairs and folds by person, in scikit-learn's own machinery."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from mien.errors import InputError, NotEnoughDataError
from mien.evaluation import (
    PairScorer,
    PersonKFold,
    area_under_roc,
    cllr,
    equal_error_rate,
    min_cllr,
    verification_rate,
)
from mien.verification import (
    JointBayesian,
    TransferJointBayesian,
    Verifier,
    score_matrix,
    score_pairs,
)
from tests.near import assert_near


@pytest.fixture(scope="module")
def people() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.repeat([f"p{k:02d}" for k in range(60)], 4)
    X = rng.standard_normal((60, 8)).repeat(4, axis=0) + 0.6 * rng.standard_normal((240, 8))
    return X, y


def test_pipelines_score_pairs(people) -> None:
    X, y = people
    pipeline = make_pipeline(PCA(5), JointBayesian()).fit(X, y)
    Z = pipeline[:-1].transform(X)
    assert_near(score_pairs(pipeline, X[:9], X[9:18]), pipeline[-1].score_pairs(Z[:9], Z[9:18]))
    assert_near(score_matrix(pipeline, X[:9]), pipeline[-1].score_matrix(Z[:9]))
    assert_near(score_matrix(pipeline, X[:9], X[9:12]), pipeline[-1].score_matrix(Z[:9], Z[9:12]))
    with pytest.raises(InputError, match="PCA does not score pairs"):
        score_pairs(make_pipeline(PCA(5)).fit(X), X, X)


@pytest.mark.parametrize("metric", ["eer", "cllr", "min-cllr", "tpr"])
def test_scorers_are_the_measures_of_all_pairs(people, metric: str) -> None:
    X, y = people
    model = JointBayesian().fit(X, y)
    i, j = np.triu_indices(len(y), 1)
    scores, same = model.score_matrix(X)[i, j], y[i] == y[j]
    genuine, impostor = scores[same], scores[~same]
    expected = {
        "eer": -equal_error_rate(genuine, impostor),
        "cllr": -cllr(genuine, impostor),
        "min-cllr": -min_cllr(genuine, impostor),
        "tpr": verification_rate(genuine, impostor, far=0.01),
    }[metric]
    assert_near(PairScorer(metric, far=0.01)(model, X, y), expected, digits=8)
    assert_near(model.score(X, y), area_under_roc(genuine, impostor), digits=8)


def test_nobody_is_on_both_sides(people) -> None:
    X, y = people
    tested = []
    for train, test in PersonKFold(7, random_state=0).split(X, y):
        assert not set(y[train]) & set(y[test])
        tested += test.tolist()
    assert sorted(tested) == list(range(len(y)))
    by_groups = PersonKFold(7, random_state=0).split(X, np.zeros(len(y)), groups=y)
    assert [t.tolist() for _, t in by_groups] == [
        t.tolist() for _, t in PersonKFold(7, random_state=0).split(X, y)
    ]
    assert PersonKFold(7).get_n_splits() == 7
    with pytest.raises(NotEnoughDataError, match="60 people"):
        next(PersonKFold(61).split(X, y))
    with pytest.raises(InputError, match="needs the people"):
        next(PersonKFold(3).split(X))


def test_a_grid_search_by_person(people) -> None:
    X, y = people
    rng = np.random.default_rng(1)
    noisy = np.column_stack([X, 9 * rng.standard_normal((len(X), 1))])
    pipeline = make_pipeline(PCA(), JointBayesian())
    search = GridSearchCV(
        pipeline, {"pca__n_components": [1, 9]}, scoring=PairScorer("eer"), cv=PersonKFold(3)
    ).fit(noisy, y)
    assert search.best_params_ == {"pca__n_components": 9}
    # Without a scorer the area under the curve is taken, from the last step's own score.
    plain = cross_val_score(pipeline, X, y, cv=PersonKFold(3, random_state=0))
    assert np.all((plain > 0.8) & (plain <= 1))
    source = JointBayesian().fit(X[:120], y[:120])
    for model in (
        TransferJointBayesian(source, 20.0),
        Verifier(pipeline, (1,), probe_sizes=(1,), cross_fit=True, random_state=0),
    ):
        values = cross_val_score(
            model, X[120:], y[120:], scoring=PairScorer("cllr"),
            cv=PersonKFold(2, random_state=0), error_score="raise",
        )  # fmt: skip
        assert np.all(values > -1)


def test_labels_are_not_taken_for_scores() -> None:
    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 2, 50), rng.standard_normal(50)
    for wrong in (truth, truth.astype(bool), truth.astype(float), truth.tolist()):
        with pytest.raises(InputError, match="looks like labels"):
            equal_error_rate(wrong, scores)
    # Decisions as scores, on both sides, are scores.
    assert equal_error_rate([0, 1, 1, 1], [0, 0, 0, 1]) == pytest.approx(0.25)


def test_what_cannot_be_judged(people) -> None:
    X, y = people
    model = JointBayesian().fit(X, y)
    with pytest.raises(InputError, match="pairs of one person"):
        PairScorer()(model, X[::4], y[::4])
    with pytest.raises(InputError, match="metric"):
        PairScorer("accuracy")
