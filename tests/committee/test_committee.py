"""Committees of any classifier: against BaggingClassifier's idea, and each kind of member."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import mien
from mien.committee import Committee, RandomSamplingLDA, committee_report, fuse
from mien.errors import InputError
from tests.near import assert_near

IRIS = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X[:500], y[:500]


def test_members_are_what_they_would_be_alone() -> None:
    X, y = IRIS
    committee = Committee(GaussianNB(), 4, max_features=2, n_fixed=1, random_state=0).fit(X, y)
    members = committee.member_proba(X)
    for t, columns in enumerate(committee.columns_):
        assert columns[0] == 0
        alone = GaussianNB().fit(X[:, columns], y).predict_proba(X[:, columns])
        assert_near(members[t], alone, digits=7)
    assert_near(committee.predict_proba(X), members.mean(axis=0), digits=7)
    np.testing.assert_array_equal(committee.unique_share_, 1)


@pytest.mark.parametrize("fusion", ["sum", "product", "min", "max", "vote"])
@pytest.mark.parametrize("sampling", ["subspace", "images", "both"])
def test_rules_and_jobs(fusion: str, sampling: str) -> None:
    X, y = IRIS
    first, second = (
        Committee(
            GaussianNB(), 5, sampling=sampling, fusion=fusion, n_jobs=jobs, random_state=0
        ).fit(X, y)
        for jobs in (1, 2)
    )
    assert_near(first.predict_proba(X), second.predict_proba(X), digits=8)
    assert_near(first.predict_proba(X), fuse(first.member_proba(X), fusion), digits=7)


def test_a_bag_holds_each_class_and_the_share_of_a_bootstrap() -> None:
    X, y = IRIS
    committee = Committee(n_members=40, sampling="images", random_state=0).fit(X, y)
    assert committee.unique_share_.mean() == pytest.approx(1 - (1 - 1 / 50) ** 50, abs=0.01)
    assert committee.columns_.shape == (40, 4)
    assert all(len(member.classes_) == 3 for member in committee.members_)


def test_members_without_posteriors() -> None:
    X, y = IRIS
    svm = Committee(LinearSVC(), 3, max_features=None, random_state=0).fit(X, y)
    scores = svm.members_[0].decision_function(X)
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert_near(svm.member_proba(X)[0], expected, digits=7)
    two = y < 2
    binary = Committee(RidgeClassifier(), 3, max_features=None, random_state=0).fit(X[two], y[two])
    logit = binary.members_[0].decision_function(X[two])
    assert_near(binary.member_proba(X[two])[0, :, 1], 1 / (1 + np.exp(-logit)), digits=7)
    # One column a pair of classes cannot be read as one a class: the decision alone counts.
    pairs = Committee(SVC(decision_function_shape="ovo"), 3, max_features=None, random_state=0)
    digits_like = np.concatenate([X, X[:40] + 9])
    labels = np.concatenate([y, np.full(40, 3)])
    members = pairs.fit(digits_like, labels).member_proba(digits_like)
    assert set(np.unique(members)) == {0.0, 1.0}


def test_members_with_neither_vote() -> None:
    class Plain(NearestCentroid):
        predict_proba = property()
        decision_function = property()

    X, y = IRIS
    committee = Committee(Plain(), 5, max_features=2, random_state=0).fit(X, y)
    assert set(np.unique(committee.member_proba(X))) == {0.0, 1.0}
    assert committee.score(X, y) > 0.9


def test_the_lectures_members(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    train, test = slice(0, 300), slice(300, None)
    for member in (LinearDiscriminantAnalysis(), make_pipeline(StandardScaler(), LinearSVC())):
        committee = Committee(member, 15, pca=True, n_fixed=5, max_features=20, random_state=0).fit(
            X[train], y[train]
        )
        report = committee_report(
            committee.member_proba(X[test]), y[test], classes=committee.classes_
        )
        assert report.committee_error_rate < np.mean(report.member_error_rates)
        assert report.committee_error <= report.average_error


def test_lda_members_on_eigenfaces_agree_with_the_quick_ones(
    digits: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = digits
    slow = Committee(
        LinearDiscriminantAnalysis(priors=np.full(10, 0.1)),
        1,
        sampling="images",
        n_images=1.0,
        pca=True,
    ).fit(X, y)
    rank = len(slow.components_)
    quick = RandomSamplingLDA(1, n_fixed=rank, n_random=0, shrinkage=0, mean_shrinkage=0).fit(X, y)
    # scikit-learn divides the scatter by N instead of N - c: the choices are the same.
    np.testing.assert_array_equal(slow.predict(X), quick.predict(X))


def test_random_members_are_seeded() -> None:
    from sklearn.tree import DecisionTreeClassifier

    X, y = IRIS
    member = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_features=1))
    first, second = (Committee(member, 5, random_state=0).fit(X, y) for _ in range(2))
    assert_near(first.member_proba(X), second.member_proba(X), digits=8)
    seeds = {tree["decisiontreeclassifier"].random_state for tree in first.members_}
    assert len(seeds) == 5


def test_strings_and_saving(tmp_path) -> None:
    X, y = IRIS
    names = np.array(["ann", "bob", "eve"])[y]
    committee = Committee(LinearSVC(), 3, pca=True, max_features=2, random_state=0).fit(X, names)
    again = mien.load(mien.save(committee, tmp_path / "committee.mien"))
    assert_near(again.predict_proba(X), committee.predict_proba(X), digits=8)
    assert set(again.predict(X)) == {"ann", "bob", "eve"}


def test_what_cannot_be_drawn_is_refused() -> None:
    X, y = IRIS
    with pytest.raises(InputError, match="max_features = 5 columns"):
        Committee(max_features=5).fit(X, y)
    with pytest.raises(InputError, match="3 of them fixed"):
        Committee(max_features=2, n_fixed=3).fit(X, y)
    with pytest.raises(InputError, match="two classes"):
        Committee().fit(X[:50], y[:50])
    with pytest.raises(InputError, match="all rows are the same"):
        Committee(pca=True).fit(np.ones_like(X), y)
