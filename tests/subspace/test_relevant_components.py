"""Relevant components against the formula, against metric-learn, and along every solver."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from scipy import linalg

import mien
from mien.errors import InputError
from mien.subspace import RelevantComponents
from tests.near import assert_near
from tests.subspace.problems import make_problem, naive_scatters


def _metric(model: RelevantComponents) -> np.ndarray:
    return model.components_.T @ model.components_


def test_metric_is_the_inverse_within_covariance() -> None:
    X, groups = make_problem(30, 4, 8, alone=5)
    _, within = naive_scatters(X, groups)
    assert_near(
        _metric(RelevantComponents(None).fit(X, groups)), np.linalg.inv(within / 120), digits=8
    )


@pytest.mark.parametrize("solver", ["svd", "statistics", "randomized"])
def test_reduction_is_pca_then_whitening_in_every_solver(solver: str) -> None:
    X, groups = make_problem(30, 4, 12, seed=1)
    X = X * np.linspace(1, 6, 12)
    total, within = naive_scatters(X, groups)
    P = np.linalg.eigh(total)[1][:, ::-1][:, :5]
    expected = P @ np.linalg.inv(P.T @ within @ P / 120) @ P.T
    model = RelevantComponents(5, solver=solver, random_state=0).fit(X, groups)
    np.testing.assert_allclose(_metric(model), expected, rtol=1e-5, atol=1e-8)


def test_fisher_reduction_keeps_the_least_ratios() -> None:
    X, groups = make_problem(30, 4, 10, seed=2)
    total, within = naive_scatters(X, groups)
    A = linalg.eigh(within, total)[1][:, :4]
    expected = A @ np.linalg.inv(A.T @ within @ A / 120) @ A.T
    for solver in ("svd", "statistics"):
        model = RelevantComponents(4, reduction="fisher", solver=solver).fit(X, groups)
        assert_near(_metric(model), expected, digits=6)


@pytest.fixture
def metric_learn(monkeypatch: pytest.MonkeyPatch) -> Any:
    """metric-learn, whose last release calls scikit-learn by a keyword that has another name."""
    package = pytest.importorskip("metric_learn", reason="metric-learn is not installed")
    util = importlib.import_module("metric_learn._util")
    for name in ("check_array", "check_X_y"):
        check = getattr(util, name)

        def renamed(*args: Any, check: Any = check, **kwargs: Any) -> Any:
            if "force_all_finite" in kwargs:
                kwargs["ensure_all_finite"] = kwargs.pop("force_all_finite")
            return check(*args, **kwargs)

        monkeypatch.setattr(util, name, renamed)
    return package


def test_equals_metric_learn_where_that_works(metric_learn: Any) -> None:
    X, groups = make_problem(40, 3, 9, seed=3)
    chunks = np.unique(groups, return_inverse=True)[1]
    theirs = metric_learn.RCA().fit(X, chunks)
    assert_near(
        _metric(RelevantComponents(None).fit(X, groups)), theirs.get_mahalanobis_matrix(), digits=7
    )
    fewer = metric_learn.RCA(n_components=4).fit(X, chunks)
    ours = RelevantComponents(4, reduction="fisher").fit(X, groups)
    assert_near(_metric(ours), fewer.get_mahalanobis_matrix(), digits=6)


def test_more_features_than_points_keeps_the_rank_of_the_residuals() -> None:
    X, groups = make_problem(6, 3, 50, seed=4)
    model = RelevantComponents(None).fit(X, groups)
    assert model.n_components_ == 12
    Z = model.transform(X)
    _, within = naive_scatters(Z, groups)
    assert_near(within / 18, np.eye(12), digits=8)
    with pytest.raises(InputError, match="n_components=13 is more than the 12"):
        RelevantComponents(13).fit(X, groups)


def test_points_in_no_group_move_the_basis_and_not_the_whitening() -> None:
    X, groups = make_problem(30, 3, 6, alone=40, seed=5)
    assert_near(
        _metric(RelevantComponents(None).fit(X, groups)),
        _metric(RelevantComponents(None).fit(X[groups >= 0], groups[groups >= 0])),
        digits=8,
    )


def test_equal_points_in_every_group_are_refused() -> None:
    X = np.repeat(np.random.default_rng(0).normal(size=(5, 4)), 2, axis=0)
    with pytest.raises(InputError, match="no variation inside groups"):
        RelevantComponents(None).fit(X, np.repeat(np.arange(5), 2))


def test_auto_finds_the_informative_directions_without_labels() -> None:
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(60), 3)
    X = rng.normal(size=(180, 60))
    # What groups share lives in the eight directions of most variance; the rest is noise.
    X[:, :8] = 5 * (2 * rng.normal(size=(60, 8))[groups] + rng.normal(size=(180, 8)))
    model = RelevantComponents("auto", random_state=0).fit(X, groups)
    assert 6 <= model.n_components_ <= 13
    assert model.get_params()["n_components"] == "auto"


def test_randomized_and_auto_say_what_they_need() -> None:
    X, groups = make_problem(10, 3, 6)
    with pytest.raises(InputError, match="needs n_components"):
        RelevantComponents(None, solver="randomized").fit(X, groups)
    with pytest.raises(InputError, match="reduction"):
        RelevantComponents(3, solver="randomized", reduction="fisher").fit(X, groups)


def test_float32_stays_float32() -> None:
    X, groups = make_problem(20, 3, 6)
    Z = RelevantComponents(None).fit(X.astype(np.float32), groups).transform(X.astype(np.float32))
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z, RelevantComponents(None).fit_transform(X, groups), atol=2e-3)


def test_save_and_load(tmp_path) -> None:
    X, groups = make_problem(20, 3, 6)
    model = RelevantComponents(4).fit(X, groups)
    mien.save(model, tmp_path / "model.mien")
    assert_near(mien.load(tmp_path / "model.mien").transform(X), model.transform(X), digits=8)
