"""The null-space projection against its definition, on problems of every shape."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import euclidean_distances

import mien
from mien.errors import InputError
from mien.subspace import GroupStatistics, NullSpaceLDA, NullSpaceProjection, RelevantComponents
from tests.near import assert_near
from tests.subspace.problems import make_problem, naive_null_space, naive_scatters, subspace_gap

# Residuals fill this space: nothing is left.
FULL = (10, 4, 24, None, 2)
SHAPES = [
    # groups, size, d, rank, alone
    (4, 3, 50, None, 0),
    (4, 3, 50, None, 5),
    (20, 2, 25, None, 0),
    (6, 5, 60, 28, 0),
    FULL,
    (2, 2, 3, None, 0),
    (3, 7, 19, None, 0),
    (12, 2, 40, 15, 3),
    (1, 4, 10, None, 3),
]


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != FULL])
def test_groups_collapse_and_means_stay_apart(shape: tuple) -> None:
    n_groups, size, d, rank, alone = shape
    X, groups = make_problem(n_groups, size, d, rank=rank, alone=alone)
    model = NullSpaceProjection(regularization=0).fit(X, groups)
    Z = model.transform(X)
    scale = np.abs(X - X.mean(axis=0)).max()
    means = []
    for group in set(groups.tolist()) - {-1}:
        members = Z[groups == group]
        assert_near(members - members[0], 0, digits=7, scale=scale)
        means.append(members.mean(axis=0))
    if n_groups > 1:
        apart = euclidean_distances(np.asarray(means))[np.triu_indices(n_groups, k=1)]
        assert apart.min() > 1e-3 * scale
    gram = model.components_ @ model.components_.T
    assert_near(gram, np.eye(len(gram)), digits=8)


@pytest.mark.parametrize("shape", SHAPES)
def test_number_and_subspace_equal_the_definition(shape: tuple) -> None:
    n_groups, size, d, rank, alone = shape
    X, groups = make_problem(n_groups, size, d, rank=rank, alone=alone, seed=1)
    total, within = naive_scatters(X, groups)
    ranks = [np.linalg.matrix_rank(S, tol=1e-8 * np.linalg.norm(total, 2)) for S in (total, within)]
    naive = naive_null_space(X, groups)
    if ranks[0] == ranks[1]:
        with pytest.raises(InputError, match=f"rank\\(S_t\\) = {ranks[0]} and rank\\(S_g\\)"):
            NullSpaceProjection(regularization=0).fit(X, groups)
        return
    model = NullSpaceProjection(regularization=0).fit(X, groups)
    assert (model.rank_total_, model.rank_within_) == tuple(ranks)
    assert len(model.components_) == ranks[0] - ranks[1] == naive.shape[1]
    assert subspace_gap(model.components_.T, naive) < 1e-6


@pytest.mark.parametrize("seed", range(25))
def test_dimension_law_on_random_shapes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_groups, size = int(rng.integers(1, 12)), int(rng.integers(2, 6))
    d, alone = int(rng.integers(2, 60)), int(rng.integers(0, 4))
    X, groups = make_problem(n_groups, size, d, alone=alone, seed=seed)
    n = len(X)
    expected = min(d, n - 1) - min(d, n_groups * (size - 1))
    if expected == 0:
        with pytest.raises(InputError):
            NullSpaceProjection(regularization=0).fit(X, groups)
    else:
        assert NullSpaceProjection(regularization=0).fit(X, groups).components_.shape == (
            expected,
            d,
        )


def test_whole_classes_give_null_space_lda() -> None:
    X, classes = make_problem(5, 4, 80, seed=3)
    weak = NullSpaceProjection(regularization=0).fit(X, classes)
    full = NullSpaceLDA(regularization=0).fit(X, [f"person {c}" for c in classes])
    assert subspace_gap(weak.components_.T, full.components_.T) < 1e-6
    assert full.components_.shape == (4, 80)
    assert full.classes_.tolist() == sorted({f"person {c}" for c in classes})


def test_minus_one_is_a_class_for_lda_and_no_group_for_the_projection() -> None:
    X, _ = make_problem(4, 3, 40)
    labels = np.repeat([-1, 0, 1, 2], 3)
    assert len(NullSpaceLDA(regularization=0).fit(X, labels).components_) == 3
    assert NullSpaceProjection(regularization=0).fit(X, labels).rank_within_ == 6


def test_duplicates_and_constant_features_do_not_confuse_the_rank() -> None:
    X, groups = make_problem(5, 3, 40, seed=4)
    X[:, 7] = 2.5
    X = np.concatenate([X, X[:6]])
    groups = np.concatenate([groups, groups[:6]])
    model = NullSpaceProjection(regularization=0).fit(X, groups)
    assert (model.rank_total_, model.rank_within_) == (14, 10)
    assert subspace_gap(model.components_.T, naive_null_space(X, groups)) < 1e-6


def test_groups_of_equal_points_have_no_residuals() -> None:
    X = np.repeat(np.random.default_rng(0).normal(size=(6, 9)), 2, axis=0)
    model = NullSpaceProjection(regularization=0).fit(X, np.repeat(np.arange(6), 2))
    assert (model.rank_total_, model.rank_within_) == (5, 0)


def test_empty_null_space_is_refused_with_the_numbers_and_the_ways_out() -> None:
    X, groups = make_problem(10, 5, 12)
    with pytest.raises(InputError) as caught:
        NullSpaceProjection(regularization=0).fit(X, groups)
    for part in ("12", "N - R = 40", "relevant-components", "soft null space"):
        assert part in str(caught.value)
    fallen = NullSpaceProjection(regularization=0, fallback="relevant-components").fit(X, groups)
    assert_near(fallen.components_, RelevantComponents(None).fit(X, groups).components_, digits=7)
    assert fallen.method_ == "relevant-components"


def test_n_components_keeps_the_directions_of_most_between_scatter() -> None:
    X, groups = make_problem(8, 3, 60, seed=5)
    model = NullSpaceProjection(regularization=0).fit(X, groups)
    spread = model.transform(X).var(axis=0)
    assert np.all(np.diff(spread) < 0)
    few = NullSpaceProjection(3, regularization=0).fit(X, groups)
    assert_near(np.abs(few.components_), np.abs(model.components_[:3]), digits=8)
    with pytest.raises(InputError, match="n_components=8"):
        NullSpaceProjection(8, regularization=0).fit(X, groups)


def test_statistics_give_the_same_subspace() -> None:
    X, groups = make_problem(10, 2, 15, alone=3, seed=6)
    direct = NullSpaceProjection(regularization=0).fit(X, groups)
    parts = GroupStatistics().collect(X[:9], groups[:9]) + GroupStatistics().collect(
        X[9:], groups[9:]
    )
    merged = NullSpaceProjection(regularization=0).fit(parts)
    assert subspace_gap(direct.components_.T, merged.components_.T) < 1e-6
    assert (merged.rank_total_, merged.rank_within_) == (direct.rank_total_, direct.rank_within_)


def test_singular_case_of_the_issue_is_right_and_finite() -> None:
    rng = np.random.default_rng(7)
    groups = np.repeat(np.arange(40), 5)
    X = rng.normal(size=(40, 460))[groups] + rng.normal(size=(200, 460))
    model = NullSpaceProjection(regularization=0).fit(X, groups)
    assert len(model.components_) == 39
    whitened = RelevantComponents(None).fit(X, groups)
    assert whitened.n_components_ == 160
    assert np.all(np.isfinite(whitened.components_))
    Z = whitened.transform(X).reshape(40, 5, -1)
    residuals = (Z - Z.mean(axis=1, keepdims=True)).reshape(200, -1)
    assert_near(residuals.T @ residuals / 200, np.eye(160), digits=6)


def test_bad_input_is_refused() -> None:
    X, groups = make_problem(4, 3, 20)
    with pytest.raises(InputError, match="two or more points"):
        NullSpaceProjection(regularization=0).fit(X, np.arange(len(X)))
    with pytest.raises(ValueError, match="NaN"):
        NullSpaceProjection(regularization=0).fit(np.where(X.max() - 1e-9 < X, np.nan, X), groups)
    with pytest.raises(InputError, match="two classes"):
        NullSpaceLDA(regularization=0).fit(X, np.zeros(len(X), dtype=int))


def test_save_and_load(tmp_path) -> None:
    X, groups = make_problem(4, 3, 20)
    for model in (
        NullSpaceProjection(regularization=0).fit(X, groups),
        NullSpaceLDA(regularization=0).fit(X, groups),
    ):
        mien.save(model, tmp_path / "model.mien")
        again = mien.load(tmp_path / "model.mien")
        assert_near(again.transform(X), model.transform(X), digits=8)


@pytest.mark.parametrize("gone", [None, np.nan, -1, "-1"], ids=repr)
def test_strangers_do_not_collapse_into_one_point(gone: object) -> None:
    rng = np.random.default_rng(0)
    groups = np.asarray(["a"] * 3 + ["b"] * 3 + [gone] * 10, dtype=object)
    numbers = np.asarray([0] * 3 + [1] * 3 + [-1] * 10)
    X = rng.standard_normal((16, 24))
    found = NullSpaceProjection(2, regularization=0).fit(X, groups).transform(X)
    assert_near(
        found, NullSpaceProjection(2, regularization=0).fit(X, numbers).transform(X), digits=7
    )
    assert np.ptp(found[:3], axis=0).max() < 1e-6
    assert np.ptp(found[6:], axis=0).max() > 0.1
