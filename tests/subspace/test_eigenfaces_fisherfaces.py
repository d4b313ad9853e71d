"""The two classics against scikit-learn and against the definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg
from sklearn.decomposition import PCA

import mien
from mien.errors import InputError
from mien.subspace import Eigenfaces, Fisherfaces, GroupStatistics
from tests.near import assert_near
from tests.subspace.problems import make_problem, naive_scatters, subspace_gap


@pytest.mark.parametrize("solver", ["svd", "statistics", "randomized"])
@pytest.mark.parametrize("shape", [(20, 60), (60, 20)])
def test_eigenfaces_equal_pca(solver: str, shape: tuple[int, int]) -> None:
    X = np.random.default_rng(0).normal(size=shape) * 1.3 ** np.arange(shape[1])[::-1] + 5
    ours = Eigenfaces(6, solver=solver, random_state=0).fit(X)
    theirs = PCA(6, svd_solver="full").fit(X)
    np.testing.assert_allclose(np.abs(ours.components_), np.abs(theirs.components_), atol=1e-4)
    assert_near(ours.scales_, theirs.singular_values_, digits=6)


def test_eigenfaces_in_batches_equal_the_whole() -> None:
    X = np.random.default_rng(1).normal(size=(50, 8)) * np.arange(1, 9)
    whole = Eigenfaces().fit(X)
    parts = Eigenfaces().fit(GroupStatistics.from_batches(X[k : k + 7] for k in range(0, 50, 7)))
    assert_near(np.abs(parts.components_), np.abs(whole.components_), digits=8)
    assert_near(parts.mean_, whole.mean_, digits=7)


def test_eigenfaces_refuse_equal_samples_and_too_many_components() -> None:
    with pytest.raises(InputError, match="all samples are equal"):
        Eigenfaces().fit(np.full((4, 3), 0.1))
    with pytest.raises(InputError, match="n_components=5 is more than the 3"):
        Eigenfaces(5).fit(np.random.default_rng(0).normal(size=(4, 9)))


def test_fisherfaces_equal_the_generalised_eigenproblem() -> None:
    X, classes = make_problem(4, 12, 9, seed=2)
    total, within = naive_scatters(X, classes)
    P = np.linalg.eigh(total)[1][:, ::-1][:, :6]
    values, vectors = linalg.eigh(P.T @ (total - within) @ P, P.T @ within @ P)
    model = Fisherfaces(n_pca=6).fit(X, classes)
    shares = values[::-1][:3] / values[::-1][:3].sum()
    assert_near(model.explained_variance_ratio_, shares, digits=8)
    assert subspace_gap(model.components_.T, P @ vectors[:, ::-1][:, :3]) < 1e-6
    Z = model.transform(X)
    _, inside = naive_scatters(Z, classes)
    assert_near(inside / len(X), np.eye(3), digits=8)


def test_fisherfaces_from_statistics_equal_the_data() -> None:
    X, classes = make_problem(5, 10, 7, seed=3)
    direct = Fisherfaces(n_pca=5).fit(X, classes)
    merged = Fisherfaces(n_pca=5).fit(GroupStatistics().collect(X, classes))
    assert subspace_gap(direct.components_.T, merged.components_.T) < 1e-6
    assert_near(direct.explained_variance_ratio_, merged.explained_variance_ratio_, digits=8)
    assert_near(direct.components_, merged.components_, digits=6)


def test_fisherfaces_default_stays_away_from_the_singular_number() -> None:
    X, classes = make_problem(10, 4, 200, seed=4)
    model = Fisherfaces().fit(X, classes)
    assert model.n_pca_ == 15
    with pytest.raises(InputError, match="at most 30"):
        Fisherfaces(n_pca=31).fit(X, classes)
    with pytest.raises(InputError, match="one sample"):
        Fisherfaces().fit(X, np.arange(len(X)))


def test_save_and_load(tmp_path) -> None:
    X, classes = make_problem(4, 6, 10)
    for model in (Eigenfaces(3).fit(X), Fisherfaces().fit(X, classes)):
        mien.save(model, tmp_path / "model.mien")
        again = mien.load(tmp_path / "model.mien")
        assert_near(again.transform(X), model.transform(X), digits=5)
