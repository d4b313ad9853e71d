"""The soft null space: its two limits, its rule, its statistics, its kernel, and its size."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.covariance import OAS
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.pipeline import make_pipeline

import mien
from mien._core.linalg import oas_shrinkage
from mien.errors import InputError
from mien.subspace import (
    GroupStatistics,
    KernelNullSpaceProjection,
    NullSpaceLDA,
    NullSpaceProjection,
)
from tests.near import assert_near
from tests.subspace.problems import make_problem, naive_scatters


def test_shrinkage_equals_scikit_learn() -> None:
    # scikit-learn leaves the paper's 2 / d out, which hardly matters for so many features.
    X = np.random.default_rng(0).normal(size=(30, 400)) / np.arange(1, 401)
    values = np.linalg.eigvalsh(X.T @ X / len(X))
    model = OAS(assume_centered=True).fit(X)
    assert_near(oas_shrinkage(values, len(X)), model.shrinkage_, digits=2)
    # By hand: n = 9, d = 4, traces 10 and 30.
    by_hand = (0.5 * 30 + 100) / (9.5 * (30 - 25))
    assert oas_shrinkage(np.array([1.0, 2.0, 3.0, 4.0]), 9) == min(by_hand, 1)
    assert_near(oas_shrinkage(np.array([8.0, 1, 1, 0]), 49), (33 + 100) / (49.5 * 41), digits=12)
    assert oas_shrinkage(np.ones(5), 10) == 1.0
    assert oas_shrinkage(np.zeros(5), 10) == 1.0


def test_distances_equal_the_definition() -> None:
    X, groups = make_problem(8, 3, 12, seed=1)
    _, within = naive_scatters(X, groups)
    covariance = within / (24 - 8)
    ridge = 0.3 * np.trace(covariance) / 12
    inverse = np.linalg.inv(np.eye(12) + covariance / ridge)
    Z = NullSpaceProjection(regularization=0.3, between_shrinkage=1).fit_transform(X, groups)
    differences = X[:, None] - X
    squares = np.einsum("ijd,de,ije->ij", differences, inverse, differences)
    assert_near(euclidean_distances(Z, squared=True), squares, digits=8)


@pytest.mark.parametrize("shrinkage", ["auto", 0.0, 0.4])
@pytest.mark.parametrize("alone", [0, 5])
def test_directions_between_groups_equal_the_definition(shrinkage: float | str, alone: int) -> None:
    d, X, groups = 12, *make_problem(8, 3, 12, seed=1, alone=alone)
    total, within = naive_scatters(X, groups)
    n_units = 8 + alone
    C, B = within / (24 - 8), (total - within) / (n_units - 1)
    root = np.linalg.inv(np.linalg.cholesky(C + 0.3 * np.trace(C) / d * np.eye(d)))
    # Any root of the inverse gives the same ratios, up to a rotation.
    spread, vectors = np.linalg.eigh(root @ B @ root.T)
    noise = np.asarray([v @ root @ C @ root.T @ v for v in vectors.T])
    g = np.maximum(spread - noise, 0) / ((24 + alone) / n_units)
    t = min(2 * oas_shrinkage(spread, n_units - 1), 1) if shrinkage == "auto" else shrinkage
    g = (1 - t) * g + t * g.mean()
    Z = (X - X.mean(axis=0)) @ root.T @ vectors * np.sqrt(g / (1 + g))
    model = NullSpaceProjection(regularization=0.3, between_shrinkage=shrinkage).fit(X, groups)
    assert_near(model.between_shrinkage_, t, digits=6, scale=1.0)
    found, expected = (euclidean_distances(V) for V in (model.transform(X), Z))
    assert_near(found / found.max(), expected / expected.max(), digits=6)


@pytest.mark.parametrize("alone", [0, 5])
def test_the_limits_are_the_exact_null_space_and_no_projection(alone: int) -> None:
    X, groups = make_problem(6, 3, 40, seed=2, alone=alone)
    exact = NullSpaceProjection(regularization=0).fit_transform(X, groups)
    for shrinkage in (1, "auto"):
        nearly = NullSpaceProjection(regularization=1e-10, between_shrinkage=shrinkage)
        assert_near(
            euclidean_distances(nearly.fit_transform(X, groups)),
            euclidean_distances(exact),
            digits=4,
        )
    strong = NullSpaceProjection(regularization=1e8, between_shrinkage=1).fit_transform(X, groups)
    assert_near(euclidean_distances(strong), euclidean_distances(X), digits=6)


def test_directions_without_people_in_them_count_less() -> None:
    # People differ along three of sixty directions, and pictures of one along all.
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(120), 6)
    centres = np.zeros((120, 60))
    centres[:, :3] = 3 * rng.normal(size=(120, 3))
    X = centres[y] + rng.normal(size=(len(y), 60))
    model = NullSpaceProjection().fit(X, y)
    assert model.between_shrinkage_ < 0.3
    squares = np.square(model.components_).sum(axis=0)
    assert squares[:3].min() > 3 * squares[3:].max()
    alike = np.square(NullSpaceProjection(between_shrinkage=1).fit(X, y).components_).sum(axis=0)
    assert alike[:3].min() < 1.5 * alike[3:].max()


def test_auto_is_the_rule_and_more_data_need_less_of_it() -> None:
    X, groups = make_problem(10, 4, 20, seed=3)
    scale = 1.0 / np.arange(1, 21)
    X = X * scale
    model = NullSpaceProjection().fit(X, groups)
    assert model.method_ == "soft-null-space"
    _, within = naive_scatters(X, groups)
    share = min(oas_shrinkage(np.linalg.eigvalsh(within / 30), 30), 0.5)
    assert_near(model.regularization_, share * (1 - share) + 0.05, digits=6)
    many, labels = make_problem(400, 4, 20, seed=3)
    assert NullSpaceProjection().fit(many * scale, labels).regularization_ < model.regularization_


@pytest.mark.parametrize("alone", [0, 6])
def test_statistics_equal_the_points(alone: int) -> None:
    X, groups = make_problem(12, 3, 9, seed=4, alone=alone)
    direct = NullSpaceProjection().fit(X, groups)
    parts = GroupStatistics().collect(X[::2], groups[::2])
    merged = NullSpaceProjection().fit(parts + GroupStatistics().collect(X[1::2], groups[1::2]))
    assert_near(merged.regularization_, direct.regularization_, digits=8)
    assert_near(merged.between_shrinkage_, direct.between_shrinkage_, digits=8)
    assert_near(merged.components_, direct.components_, digits=6)


def test_the_linear_kernel_gives_the_linear_method() -> None:
    X, groups = make_problem(8, 3, 50, seed=5)
    linear = NullSpaceProjection().fit(X, groups)
    kernel = KernelNullSpaceProjection(kernel="linear").fit(X, groups)
    assert_near(kernel.regularization_, linear.regularization_, digits=6)
    assert_near(kernel.between_shrinkage_, linear.between_shrinkage_, digits=6)
    fresh = np.random.default_rng(6).normal(size=(20, 50))
    assert_near(
        euclidean_distances(kernel.transform(fresh)),
        euclidean_distances(linear.transform(fresh)),
        digits=5,
    )


def test_fewer_components_keep_most_between_scatter() -> None:
    X, groups = make_problem(9, 3, 30, seed=7)
    whole = NullSpaceProjection().fit(X, groups)
    part = NullSpaceProjection(4).fit(X, groups)
    assert_near(part.components_, whole.components_[:4], digits=6)
    means = np.stack([whole.transform(X[groups == g]).mean(axis=0) for g in np.unique(groups)])
    assert np.all(np.diff(means.var(axis=0)) <= 1e-9)
    with pytest.raises(InputError, match="rank"):
        NullSpaceProjection(40).fit(X, groups)


def test_lda_keeps_one_direction_less_than_classes() -> None:
    X, groups = make_problem(5, 4, 30, seed=8)
    assert NullSpaceLDA().fit(X, groups).transform(X).shape == (20, 4)
    with pytest.raises(InputError, match="more than the 4"):
        NullSpaceLDA(5).fit(X, groups)


def test_few_noisy_residuals_do_not_make_it_worse_than_no_projection() -> None:
    # Few groups, much noise in every direction: the exact null space is mostly noise.
    rng = np.random.default_rng(9)
    d, n_classes = 60, 40
    scale = 1 / np.arange(1, d + 1)
    centres = rng.normal(size=(n_classes, d)) * scale
    y = np.repeat(np.arange(n_classes), 6)
    X = centres[y] + 0.6 * rng.normal(size=(len(y), d)) * scale
    groups = np.where(y < 10, y, -1)

    def errors(Z: np.ndarray) -> float:
        distances = euclidean_distances(Z / np.linalg.norm(Z, axis=1, keepdims=True))
        np.fill_diagonal(distances, np.inf)
        return float(np.mean(y[distances.argmin(axis=1)] != y))

    soft = errors(NullSpaceProjection().fit_transform(X, groups))
    exact = errors(NullSpaceProjection(regularization=0, fallback=None).fit_transform(X, groups))
    assert soft < exact
    assert soft <= errors(X - X.mean(axis=0)) + 0.01


@pytest.mark.parametrize("approximation", ["nystroem", "fastfood"])
def test_the_two_numbers_are_compared_before_any_work(
    approximation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, groups = make_problem(20, 4, 6, seed=10)

    def refuse(*args: object) -> None:
        raise AssertionError("work was done before the numbers were compared")

    monkeypatch.setattr(KernelNullSpaceProjection, "_choose", refuse)
    model = KernelNullSpaceProjection(
        regularization=0, approximation=approximation, approximation_size=60
    )
    with pytest.raises(InputError, match=r"approximation_size = 60.*N - R = 60"):
        model.fit(X, groups)


@pytest.mark.parametrize("approximation", ["nystroem", "fastfood"])
def test_the_soft_null_space_at_scale_agrees_with_the_exact_kernel(approximation: str) -> None:
    X, groups = make_problem(40, 4, 5, seed=11)
    build = {"sigma": 6.0, "regularization": 0.2}
    exact = euclidean_distances(KernelNullSpaceProjection(**build).fit_transform(X, groups))
    size = 120 if approximation == "nystroem" else 4096
    found = KernelNullSpaceProjection(
        approximation=approximation, approximation_size=size, random_state=0, **build
    ).fit_transform(X, groups)
    upper = np.triu_indices(len(X), k=1)
    assert np.corrcoef(euclidean_distances(found)[upper], exact[upper])[0, 1] > 0.95


def test_save_and_load(tmp_path) -> None:
    X, groups = make_problem(8, 3, 12, seed=13)
    for model in (NullSpaceProjection(4), NullSpaceLDA(), KernelNullSpaceProjection()):
        model.fit(X, groups)
        again = mien.load(mien.save(model, tmp_path / "model.mien"))
        assert again.regularization_ == model.regularization_
        assert again.between_shrinkage_ == model.between_shrinkage_
        assert_near(again.transform(X), model.transform(X), digits=10)


def test_groups_travel_beside_the_classes_of_a_pipeline() -> None:
    X, groups = make_problem(12, 3, 10, seed=12)
    y = groups % 3
    with config_context(enable_metadata_routing=True):
        projection = NullSpaceProjection().set_fit_request(groups=True)
        model = make_pipeline(projection, LogisticRegression()).fit(X, y, groups=groups)
        assert model.classes_.tolist() == [0, 1, 2]
    assert_near(model[0].components_, NullSpaceProjection().fit(X, groups).components_, digits=8)
    with pytest.raises(InputError, match="groups="):
        NullSpaceProjection().fit(X)
