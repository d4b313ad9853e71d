"""Kernel methods against the linear ones, against explicit features, and their approximations."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import euclidean_distances, polynomial_kernel, rbf_kernel

import mien
from mien.errors import InputError, PerformanceWarning
from mien.subspace import (
    KernelNullSpaceProjection,
    KernelRelevantComponents,
    NullSpaceProjection,
    RelevantComponents,
)
from mien.subspace._kernel_solvers import solve_kernel_null_space
from tests.near import assert_near
from tests.subspace.problems import make_problem


def _distances(model, X: np.ndarray, groups: np.ndarray, probe: np.ndarray) -> np.ndarray:
    model.fit(X, groups)
    return euclidean_distances(model.transform(probe), model.transform(X))


@pytest.mark.parametrize("alone", [0, 4])
def test_linear_kernel_is_the_linear_method(alone: int) -> None:
    X, groups = make_problem(8, 3, 60, alone=alone)
    probe = make_problem(3, 3, 60, seed=9)[0]
    assert_near(
        _distances(KernelNullSpaceProjection(regularization=0, kernel="linear"), X, groups, probe),
        _distances(NullSpaceProjection(regularization=0), X, groups, probe),
        digits=6,
    )
    assert_near(
        _distances(KernelRelevantComponents(7, kernel="linear"), X, groups, probe),
        _distances(RelevantComponents(7), X, groups, probe),
        digits=6,
    )


def test_polynomial_kernel_is_the_linear_method_on_its_features() -> None:
    X, groups = make_problem(3, 2, 3, seed=1)
    X = (X - 10) / 3
    kernel_params = {"degree": 2, "gamma": 1.0, "coef0": 1.0}
    i, j = np.triu_indices(3, k=1)

    def features(A: np.ndarray) -> np.ndarray:
        cross = np.sqrt(2) * A[:, i] * A[:, j]
        return np.hstack([np.ones((len(A), 1)), np.sqrt(2) * A, A**2, cross])

    assert_near(features(X) @ features(X).T, polynomial_kernel(X, **kernel_params), digits=7)
    model = KernelNullSpaceProjection(
        regularization=0, kernel="polynomial", kernel_params=kernel_params
    )
    probe = X + 0.1
    assert_near(
        _distances(model, X, groups, probe),
        _distances(NullSpaceProjection(regularization=0), features(X), groups, features(probe)),
        digits=6,
    )


@pytest.mark.parametrize("alone", [0, 3])
def test_cholesky_and_eigenvectors_agree(alone: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, groups = make_problem(9, 4, 30, alone=alone, seed=2)
    K = rbf_kernel(X, gamma=1 / 200)
    quick = solve_kernel_null_space(K, groups, 1e-9)
    monkeypatch.setattr("mien.subspace._kernel_solvers._solve_by_cholesky", lambda *_: None)
    sure = solve_kernel_null_space(K, groups, 1e-9)
    assert (quick.rank_total, quick.rank_within) == (sure.rank_total, sure.rank_within)
    first, second = ((K - s.mean) @ s.coefficients for s in (quick, sure))
    assert_near(euclidean_distances(first), euclidean_distances(second), digits=5)


def test_groups_collapse_and_directions_are_orthonormal_in_feature_space() -> None:
    X, groups = make_problem(10, 5, 4, seed=3)
    model = KernelNullSpaceProjection(regularization=0, sigma=2.0).fit(X, groups)
    assert (model.rank_total_, model.rank_within_) == (49, 40)
    Z = model.transform(X)
    for group in np.unique(groups):
        assert_near(Z[groups == group], Z[groups == group][:1].repeat(5, 0), digits=6)
    K = rbf_kernel(X, gamma=1 / 4)
    centred = K - K.mean(0) - K.mean(1)[:, None] + K.mean()
    gram = model.components_ @ centred @ model.components_.T
    assert_near(gram, np.eye(9), digits=7)


def test_empirical_geometry_is_the_printed_method_and_another_one() -> None:
    X, groups = make_problem(8, 3, 5, seed=4)
    K = rbf_kernel(X, gamma=1 / 9)
    printed = NullSpaceProjection(regularization=0).fit(K, groups)
    model = KernelNullSpaceProjection(regularization=0, sigma=3.0, geometry="empirical").fit(
        X, groups
    )
    assert_near(model.components_, printed.components_, digits=8)
    probe = X[:6] + 0.3
    rkhs = _distances(KernelNullSpaceProjection(regularization=0, sigma=3.0), X, groups, probe)
    other = _distances(model, X, groups, probe)
    assert not np.allclose(rkhs / rkhs.mean(), other / other.mean(), rtol=0.05)


def test_duplicates_fall_back_on_eigenvectors() -> None:
    X, groups = make_problem(6, 3, 10, seed=5)
    X, groups = np.concatenate([X, X[:4]]), np.concatenate([groups, groups[:4]])
    model = KernelNullSpaceProjection(regularization=0, sigma="median").fit(X, groups)
    assert (model.rank_total_, model.rank_within_) == (17, 12)
    assert np.all(np.isfinite(model.transform(X)))


def test_precomputed_and_callable_equal_the_name() -> None:
    X, groups = make_problem(6, 3, 10, seed=6)
    probe = X[:4] + 1
    sigma = 8.0

    def gauss(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return rbf_kernel(A, B, gamma=1 / sigma**2)

    named = KernelNullSpaceProjection(regularization=0, sigma=sigma).fit(X, groups).transform(probe)
    called = (
        KernelNullSpaceProjection(regularization=0, kernel=gauss).fit(X, groups).transform(probe)
    )
    ready = KernelNullSpaceProjection(regularization=0, kernel="precomputed").fit(
        gauss(X, X), groups
    )
    assert_near(np.abs(called), np.abs(named), digits=8)
    assert_near(np.abs(ready.transform(gauss(probe, X))), np.abs(named), digits=8)
    with pytest.raises(InputError, match="square"):
        KernelNullSpaceProjection(regularization=0, kernel="precomputed").fit(
            gauss(X, X[:5]), groups
        )
    with pytest.raises(InputError, match="two arrays"):
        KernelNullSpaceProjection(regularization=0, kernel=lambda a, b: 1.0).fit(X, groups)


@pytest.mark.parametrize("model", [KernelNullSpaceProjection, KernelRelevantComponents])
def test_nystroem_with_every_point_is_exact(model: type) -> None:
    X, groups = make_problem(8, 3, 6, seed=7)
    probe = X[:5] + 0.5
    few = 6
    np.testing.assert_allclose(
        _distances(model(few, sigma=6.0, approximation="nystroem", random_state=0), X, groups, X),
        _distances(model(few, sigma=6.0), X, groups, X),
        atol=1e-5,
    )
    # A new point has a part outside the span of the landmarks, which no projection looks at.
    np.testing.assert_allclose(
        _distances(model(few, sigma=6.0, approximation="nystroem"), X, groups, probe),
        _distances(model(few, sigma=6.0), X, groups, probe),
        atol=1e-5,
    )


def test_fastfood_comes_near_the_exact_kernel() -> None:
    X, groups = make_problem(10, 3, 16, seed=8)
    probe = X + np.random.default_rng(0).normal(size=X.shape)
    exact = _distances(KernelNullSpaceProjection(regularization=0, sigma=15.0), X, groups, probe)
    model = KernelNullSpaceProjection(
        regularization=0,
        sigma=15.0,
        approximation="fastfood",
        approximation_size=16384,
        random_state=0,
    )
    near = _distances(model, X, groups, probe)
    assert np.corrcoef(exact.ravel(), near.ravel())[0, 1] > 0.97
    # Points of a group coincide, so which of them is nearest is chance: their group is not.
    assert np.mean(groups[exact.argmin(1)] == groups[near.argmin(1)]) > 0.9


def test_approximation_in_batches_equals_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    X, groups = make_problem(60, 4, 6, seed=9)
    build = {"sigma": 8.0, "approximation": "nystroem", "approximation_size": 20, "random_state": 0}
    whole = KernelRelevantComponents(6, **build).fit(X, groups).transform(X)
    monkeypatch.setattr("mien.subspace._kernel_base.BATCH_BYTES", 20 * 8 * 50)
    parts = KernelRelevantComponents(6, **build).fit(X, groups).transform(X)
    np.testing.assert_allclose(
        euclidean_distances(parts), euclidean_distances(whole), rtol=1e-4, atol=1e-6
    )
    with pytest.raises(InputError, match="null space is empty"):
        KernelNullSpaceProjection(regularization=0, **build).fit(X, groups)
    fallen = KernelNullSpaceProjection(
        regularization=0, fallback="relevant-components", **build
    ).fit(X, groups)
    assert np.all(np.isfinite(fallen.transform(X)))


def test_auto_width_is_chosen_without_labels_and_repeats() -> None:
    X, groups = make_problem(12, 3, 20, seed=10)
    first = KernelNullSpaceProjection(regularization=0, random_state=0).fit(X, groups)
    second = KernelNullSpaceProjection(regularization=0, random_state=0).fit(
        X, np.array([f"g{g:02d}" for g in groups])
    )
    assert first.sigma_ == second.sigma_ > 0
    joint = KernelRelevantComponents("auto", random_state=0).fit(X, groups)
    assert joint.sigma_ > 0
    assert 1 <= joint.n_components_ <= 24


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_auto_width_prefers_the_scale_that_separates(seed: int) -> None:
    # Groups on two rings: only a narrow kernel tells the rings of one angle apart. Six dimensions,
    # so that wide kernels have their whole rank: of a lower one, rounding would choose.
    rng = np.random.default_rng(seed)
    angle = np.linspace(0, 2 * np.pi, 30, endpoint=False)
    centres = np.concatenate(
        [r * np.column_stack([np.cos(angle), np.sin(angle)]) for r in (1, 1.4)]
    )
    groups = np.repeat(np.arange(60), 4)
    X = np.pad(centres, ((0, 0), (0, 4)))[groups] + 0.02 * rng.normal(size=(240, 6))
    model = KernelNullSpaceProjection(
        regularization=0, fallback="relevant-components", random_state=0
    ).fit(X, groups)
    median = np.median(euclidean_distances(X)[np.triu_indices(240, k=1)])
    assert model.sigma_ < 2.5 * median


@pytest.mark.parametrize("approximation", [None, "nystroem", "fastfood"])
def test_save_and_load(approximation: str | None, tmp_path) -> None:
    X, groups = make_problem(8, 3, 6)
    for cls in (KernelNullSpaceProjection, KernelRelevantComponents):
        model = cls(
            4, sigma="median", approximation=approximation, approximation_size=64, random_state=0
        )
        model.fit(X, groups)
        mien.save(model, tmp_path / "model.mien")
        again = mien.load(tmp_path / "model.mien")
        assert_near(again.transform(X), model.transform(X), digits=8)


def test_a_kernel_too_large_for_comfort_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    X, groups = make_problem(8, 3, 6)
    monkeypatch.setattr("mien.subspace._kernel_base._MANY", 10)
    with pytest.warns(PerformanceWarning, match="nystroem"):
        KernelNullSpaceProjection(regularization=0, sigma=6.0).fit(X, groups)


@pytest.mark.parametrize("cls", [KernelNullSpaceProjection, KernelRelevantComponents])
@pytest.mark.parametrize("approximation", [None, "nystroem"])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_points_that_are_all_the_same_are_refused(cls, approximation, value: float) -> None:
    groups = np.repeat(np.arange(6), 3)
    with pytest.raises(InputError, match="all 18 points are the same"):
        cls(approximation=approximation).fit(np.full((18, 4), value), groups)
    with pytest.raises(InputError, match=r"empty|points are equal"):
        cls(kernel="precomputed").fit(np.full((18, 18), value), groups)


def test_the_number_of_components_is_chosen_for_a_kernel_without_a_width() -> None:
    X, groups = make_problem(8, 3, 10)
    given = KernelRelevantComponents(kernel="precomputed", random_state=0).fit(X @ X.T, groups)
    linear = KernelRelevantComponents(kernel="linear", random_state=0).fit(X, groups)
    assert linear.sigma_ is None
    assert given.n_components_ == linear.n_components_
