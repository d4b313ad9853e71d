"""Completers on vectors: scikit-learn's grammar, choices on held-out people, degenerate input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mien.completion import (
    COMPLETERS,
    AutoCompleter,
    BlendCompleter,
    Completer,
    DictionaryCompleter,
    FeatureRidgeCompleter,
    LowRankCompleter,
    PCACompleter,
    RidgeCompleter,
    make_completer,
)
from mien.completion._base import split_held_out
from mien.completion._blend import _solve_weights
from mien.errors import InputError
from mien.files import load_bytes, save_bytes
from tests.near import assert_near

COVER = np.arange(10) >= 6


def _vectors(n: int = 300, seed: int = 0, noise: float = 0.1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    directions = np.random.default_rng(1).normal(size=(3, 10))
    return rng.normal(size=(n, 3)) @ directions + noise * rng.normal(size=(n, 10)) + 5


@pytest.mark.parametrize("name", COMPLETERS)
def test_nan_is_completed_and_all_else_kept(name: str) -> None:
    X = _vectors()
    model = make_completer(name, **({"n_components": 3} if name == "pca" else {}))
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    model = clone(model.set_params(cover=COVER)).fit(X[:250])
    test = X[250:].copy()
    test[:, COVER] = np.nan
    whole = model.transform(test)
    np.testing.assert_array_equal(whole[:, ~COVER], X[250:, ~COVER])
    error = np.mean((whole - X[250:])[:, COVER] ** 2)
    assert error < 0.3 * X[:, COVER].var(axis=0).mean()
    assert -model.score(X[250:]) == pytest.approx(error, rel=1e-3)
    assert_near(model.complete(X[250:], cover=COVER), whole)
    assert_near(model.transform(X[250:]), X[250:], digits=5)
    assert list(model.get_feature_names_out()) == [f"x{i}" for i in range(10)]


def test_grid_search_and_pipelines() -> None:
    X = _vectors()
    search = GridSearchCV(RidgeCompleter(cover=COVER), {"alpha": [1e-3, 1e3]}, cv=3).fit(X)
    assert search.best_params_ == {"alpha": 1e-3}
    test = X[:5].copy()
    test[:, COVER] = np.nan
    scaled = make_pipeline(StandardScaler(), RidgeCompleter(cover=COVER)).fit(X)
    assert np.isfinite(scaled.transform(test)).all()


def test_every_row_may_have_its_own_cover() -> None:
    X = _vectors()
    model = RidgeCompleter().fit(X)
    test = X[:6].copy()
    for row in range(6):
        test[row, row : row + 2] = np.nan
    whole = model.transform(test)
    for row in range(6):
        cover = np.arange(10) // 1 - row
        expected = model.complete(X[row : row + 1], cover=(cover >= 0) & (cover < 2))
        assert_near(whole[row : row + 1], expected, digits=8)


def test_a_linear_view_is_completed() -> None:
    X = _vectors(noise=0.0)
    rng = np.random.default_rng(0)
    view = rng.normal(size=(4, 10))
    for model in (RidgeCompleter(1e-8), LowRankCompleter(3, alpha=1e-4)):
        values = model.fit(X).estimate(X @ view.T, view).values
        assert np.abs(values - X).max() < 0.2


def test_the_penalty_is_the_best_on_held_out_rows() -> None:
    X = _vectors(60, noise=2.0)
    model = RidgeCompleter(cover=COVER).fit(X)
    held = split_held_out(60)
    scores = {
        alpha: RidgeCompleter(alpha, cover=COVER)._fit(lambda: iter([X[~held]]), X[held])
        for alpha in (model.alpha_ / 10, model.alpha_, model.alpha_ * 10)
    }
    best = max(scores, key=lambda alpha: scores[alpha].score(X[held]))
    assert best == model.alpha_
    assert RidgeCompleter(0.5).fit(X).alpha_ == 0.5


def test_weights_of_the_visible_part_are_chosen_with_none_among_them() -> None:
    X = _vectors(400)
    model = DictionaryCompleter(30, n_nonzero_coefs=3, cover=COVER, random_state=0).fit(X)
    assert 0.0 in model.beta_errors_
    assert model.beta_errors_[model.beta_] == min(model.beta_errors_.values())
    plain = DictionaryCompleter(30, n_nonzero_coefs=3, beta=0.0, cover=COVER, random_state=0)
    held = split_held_out(400)
    assert model.score(X[held]) >= plain.fit(X).score(X[held])
    assert len(DictionaryCompleter(random_state=0).fit(X).components_) == 45  # an eighth of 360


def test_groups_are_held_out_whole() -> None:
    groups = np.repeat([f"p{i}" for i in range(30)], 4)
    order = np.random.default_rng(0).permutation(120)
    held = split_held_out(120, groups[order])
    assert held.sum() == 12
    assert not set(groups[order][held]) & set(groups[order][~held])
    assert split_held_out(5).sum() == 1
    assert split_held_out(100_000).sum() == 500
    assert split_held_out(8, np.zeros(8, dtype=int)).sum() == 1  # one person: rows, then


def test_a_blend_is_the_best_convex_mean() -> None:
    rng = np.random.default_rng(0)
    errors = rng.normal(size=(2, 500))
    errors[1] *= 2
    found = _solve_weights(errors)
    shares = np.linspace(0, 1, 2001)
    lengths = [np.sum((s * errors[0] + (1 - s) * errors[1]) ** 2) for s in shares]
    assert found[0] == pytest.approx(shares[np.argmin(lengths)], abs=2e-3)
    assert_near(_solve_weights(np.stack([errors[0], 3 * errors[0]])), [1.0, 0.0], digits=4)
    X = _vectors(noise=1.0)
    parts: list[tuple[str, Completer]] = [
        ("ridge", RidgeCompleter()),
        ("kernel", FeatureRidgeCompleter(8, random_state=0)),
    ]
    blend = BlendCompleter(parts, cover=COVER).fit(X)
    held = split_held_out(len(X))
    alone = [part.score(X[held]) for part in blend.completers_.values()]
    assert blend.score(X[held]) >= max(alone) - 1e-6
    assert not blend.any_cover
    assert BlendCompleter(parts[:1]).fit(X).any_cover
    deep = clone(blend).set_params(ridge__alpha=0.25)
    assert deep.get_params()["ridge__alpha"] == 0.25
    with pytest.raises(InputError, match="distinct names"):
        BlendCompleter([parts[0], parts[0]]).fit(X)


def test_auto_takes_the_smallest_error() -> None:
    X = _vectors(noise=0.5)
    model = AutoCompleter([("pca", PCACompleter(10)), ("ridge", RidgeCompleter())], cover=COVER)
    model.fit(X, groups=np.repeat(np.arange(100), 3))
    assert set(model.errors_) == {"pca", "ridge", "blend"}
    assert model.errors_["ridge"] < model.errors_["pca"]
    assert model.errors_[model.name_] == min(model.errors_.values())


def test_streams_equal_arrays() -> None:
    X = _vectors()
    held = split_held_out(len(X))
    train = X[~held]
    for model in (RidgeCompleter(), FeatureRidgeCompleter(4, random_state=0), PCACompleter(3)):
        whole = clone(model).fit(X)
        batches = clone(model).fit_batches(lambda: np.array_split(train, 3), held_out=X[held])
        a, b = (m.complete(X[:9], cover=m.cover_) for m in (whole, batches))
        assert_near(b, a, digits=3 if isinstance(model, FeatureRidgeCompleter) else 6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cover": np.ones(10, dtype=bool)}, "everything is covered"),
        ({"cover": np.zeros(10, dtype=bool)}, "nothing is covered"),
        ({"cover": np.ones(3, dtype=bool)}, "must be booleans of the shape"),
        ({"cover": np.arange(10)}, "must be booleans of the shape"),
    ],
)
def test_bad_covers_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        RidgeCompleter(**change).fit(_vectors())


def test_other_bad_input_is_refused() -> None:
    X = _vectors()
    with pytest.raises(ValueError, match="NaN"):
        RidgeCompleter().fit(np.where(X > 9, np.nan, X))
    with pytest.raises(InputError, match="n_features = 1"):
        RidgeCompleter().fit(X[:, :1])
    model = RidgeCompleter().fit(X)
    with pytest.raises(InputError, match="everything is covered"):
        model.transform(np.full((1, 10), np.nan))
    with pytest.raises(InputError, match="finite"):
        model.transform(np.full((1, 10), np.inf))
    with pytest.raises(InputError, match="a view of 10 features"):
        model.estimate(X[:, :3], np.ones((4, 10)))
    with pytest.raises(InputError, match="no parameter beta"):
        make_completer("pca", beta=3.0)


def test_constant_and_duplicate_vectors_do_no_harm() -> None:
    same = np.repeat(_vectors(4), 20, axis=0)
    same[:, 2] = 7.0
    for name in ("pca", "ridge", "low-rank", "dictionary", "feature-ridge", "mixture", "auto"):
        model = make_completer(name).set_params(cover=COVER).fit(same)
        assert np.isfinite(model.complete(same, cover=COVER)).all()


@pytest.mark.parametrize("n", [40, 400])
def test_feature_ridge_is_ridge_on_features_whichever_system_is_smaller(n: int) -> None:
    X = _vectors(n)
    model = FeatureRidgeCompleter(10, sigma=2.0, alpha=1e-3, cover=COVER, random_state=0).fit(X)
    assert (n < model.map_.transform(X[:, ~COVER]).shape[1]) == (n == 40)
    train = X[~split_held_out(n)]
    F = model.map_.transform(train[:, ~COVER])
    centred = F - F.mean(axis=0)
    gram = centred.T @ centred / len(F) + 1e-3 * np.eye(F.shape[1])
    weights = np.linalg.solve(gram, centred.T @ (train - train.mean(axis=0)) / len(F))
    expected = (F - F.mean(axis=0)) @ weights + train.mean(axis=0)
    assert_near(model.estimate(train[:, ~COVER]).values, expected, digits=5)
    chosen = FeatureRidgeCompleter(10, sigma=None, cover=COVER, random_state=0).fit(X)
    assert chosen.sigma_ in (1.0, 2.0, 4.0)
    held = split_held_out(n)
    assert chosen.score(X[held]) >= model.score(X[held]) - 1e-9


@pytest.mark.parametrize("streamed", [False, True])
def test_ridge_of_large_and_small_features_can_be_saved(streamed: bool) -> None:
    X = _vectors() * 10.0 ** np.linspace(-9, 7, 10)
    model = RidgeCompleter(cover=COVER)
    if streamed:
        model.fit_batches(lambda: iter([X[:100], X[100:250]]), held_out=X[250:])
    else:
        model.fit(X)
    assert model.covariance_.max() > 1e12
    assert_near(load_bytes(save_bytes(model), "a copy").transform(X), model.transform(X))


def test_foreign_vectors_help_few_of_one_s_own() -> None:
    own, others, asked = _vectors(12, seed=2), _vectors(2000, seed=3), _vectors(300, seed=4)
    foreign = RidgeCompleter(cover=COVER).fit(others + 7)
    alone = RidgeCompleter(cover=COVER).fit(own)
    model = RidgeCompleter(cover=COVER).fit(own, foreign=foreign)
    assert alone.foreign_share_ == 0
    assert model.foreign_share_ > 0
    assert model.score(asked) > alone.score(asked)
    # The definition: one's own mean, the mixed covariance, and a ridge regression.
    train = own[~split_held_out(len(own))]
    share = model.foreign_share_
    mixed = (1 - share) * np.cov(train.T, bias=True) + share * np.cov(others[200:].T, bias=True)
    assert_near(model.covariance_, mixed, digits=5)
    system = mixed[np.ix_(~COVER, ~COVER)] + model.alpha_ * np.eye(6)
    weights = np.linalg.solve(system, mixed[np.ix_(~COVER, COVER)])
    wanted = (asked[:, ~COVER] - train.mean(axis=0)[~COVER]) @ weights + train.mean(axis=0)[COVER]
    assert_near(model.complete(asked, cover=COVER)[:, COVER], wanted, digits=5)
    assert load_bytes(save_bytes(model), "model").foreign_share_ == share


def test_foreign_vectors_of_another_kind_are_left_aside() -> None:
    own = _vectors(400, seed=2)
    noise = np.random.default_rng(5).normal(scale=9, size=(500, 10))
    model = RidgeCompleter(cover=COVER).fit(own, foreign=RidgeCompleter(cover=COVER).fit(noise))
    assert model.foreign_share_ == 0
    assert_near(model.weights_, RidgeCompleter(cover=COVER).fit(own).weights_)


@pytest.mark.parametrize("name", ["blend", "auto"])
def test_parts_that_can_lean_on_foreign_vectors_do(name: str) -> None:
    foreign = LowRankCompleter(4, cover=COVER).fit(_vectors(500, seed=3))
    parts = [("ridge", RidgeCompleter()), ("pca", PCACompleter(3))]
    model = make_completer(name, completers=parts, cover=COVER).fit(_vectors(12), foreign=foreign)
    chosen = model if name == "blend" else model.completer_
    ridge = chosen.completers_["ridge"] if hasattr(chosen, "completers_") else chosen
    assert ridge.foreign_share_ > 0
    assert model._covariance().shape == (10, 10)
    # A low-rank model says how vectors vary as nearly as its directions can.
    exact = np.cov(_vectors(500, seed=3)[50:].T, bias=True)
    assert np.abs(foreign._covariance() - exact).max() < 0.05 * np.abs(exact).max()


def test_what_cannot_be_leaned_on_is_said() -> None:
    X = _vectors(50)
    ridge = RidgeCompleter(cover=COVER)
    with pytest.raises(InputError, match="PCACompleter cannot learn beside"):
        PCACompleter(3, cover=COVER).fit(X, foreign=ridge)
    with pytest.raises(InputError, match="keeps no covariance"):
        ridge.fit(X, foreign=PCACompleter(3, cover=COVER).fit(X))
    with pytest.raises(InputError, match="has 4 features"):
        ridge.fit(X, foreign=RidgeCompleter().fit(X[:, :4]))
    with pytest.raises(TypeError, match="foreign must be a completer; got str"):
        ridge.fit(X, foreign="shipped")
    with pytest.raises(NotFittedError):
        ridge.fit(X, foreign=RidgeCompleter())
