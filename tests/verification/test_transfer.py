"""Transfer against the paper's update, its objectives, and the behaviour that it promises."""

from __future__ import annotations

import naive_joint_bayesian as naive
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mien
from mien._core.logistic import balance_classes, fit_logistic
from mien.errors import InputError, NumericsWarning
from mien.verification import GroupStatistics, JointBayesian, TransferJointBayesian
from mien.verification._em import _diagonalise
from tests.near import assert_near

QUIET = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def draw(rng, n_people, m, d=4, shift=0.0, scale=1.0):
    y = np.repeat(np.arange(n_people), m)
    X = rng.standard_normal((n_people, d))[y] * np.linspace(2, 0.5, d)
    return (X + scale * rng.standard_normal((len(y), d))) + shift, y


@pytest.fixture(scope="module")
def source():
    X, y = draw(np.random.default_rng(0), 300, 4)
    return JointBayesian(features="made up").fit(X, y)


@pytest.mark.parametrize("e_step", ["exact", "approximate"])
@pytest.mark.parametrize("strength", [0.1, 1.0, 20.0])
def test_em_equals_eq_5(source, e_step, strength):
    X, y = draw(np.random.default_rng(1), 7, 3, shift=1, scale=2)
    settings = {"tol": 0, "floor": 0, "e_step": e_step}
    one = TransferJointBayesian(source, strength=strength, max_iter=1, **settings).fit(X, y)
    two = TransferJointBayesian(source, strength=strength, max_iter=2, **settings).fit(X, y)
    given = (source.identity_covariance_, source.variation_covariance_)
    want = naive.em_step(
        X - one.mean_, y, one.identity_covariance_, one.variation_covariance_, given,
        (strength, strength), exact=e_step == "exact",
    )  # fmt: skip
    for got, wanted in zip(
        (two.identity_covariance_, two.variation_covariance_), want, strict=True
    ):
        assert_near(got, wanted, digits=6)
    if e_step == "exact":
        value = naive.log_likelihood(
            X - one.mean_, y, one.identity_covariance_, one.variation_covariance_
        ) - strength * (
            7 * naive.kl(given[0], one.identity_covariance_)
            + len(X) * naive.kl(given[1], one.variation_covariance_)
        )
    else:
        value = naive.eq_11(
            X - one.mean_, y, one.identity_covariance_, one.variation_covariance_, given, strength
        )
    assert_near(two.objective_[1], value, digits=8)


def test_objectives_are_monotone_on_hundreds_of_problems(source):
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X, y = draw(
            rng, int(rng.integers(1, 12)), int(rng.integers(1, 5)), shift=rng.standard_normal(),
            scale=rng.uniform(0.3, 3),
        )  # fmt: skip
        if len(X) < 2:
            continue
        strength = float(10 ** rng.uniform(-2, 2))
        for e_step, sign in (("exact", 1), ("approximate", -1)):
            model = TransferJointBayesian(
                source, strength=strength, e_step=e_step, tol=0, max_iter=10
            ).fit(X, y)
            slack = 1e-6 * np.abs(model.objective_).max()
            assert np.all(sign * np.diff(model.objective_) >= -slack), (seed, e_step)


@QUIET
def test_both_ends_of_the_strength(source):
    X, y = draw(np.random.default_rng(2), 100, 4, shift=2, scale=2)
    keep = TransferJointBayesian(source, strength=1e9, centring="source").fit(X, y)
    assert_near(keep.score_matrix(X[:20]), source.score_matrix(X[:20]), digits=5)
    forget = TransferJointBayesian(
        source, strength=0.0, centring="target", tol=1e-7, max_iter=2000
    ).fit(X, y)
    own = JointBayesian(tol=1e-7, max_iter=2000).fit(X, y)
    np.testing.assert_allclose(
        forget.variation_covariance_, own.variation_covariance_, rtol=1e-2, atol=1e-2
    )
    np.testing.assert_allclose(
        forget.identity_covariance_, own.identity_covariance_, rtol=5e-2, atol=5e-2
    )


def test_fading_and_constant_weights(source):
    rng = np.random.default_rng(3)
    few, many = draw(rng, 5, 3), draw(rng, 50, 3)
    assert TransferJointBayesian(source, 5.0).fit(*few).source_weight_ == pytest.approx(0.5)
    assert TransferJointBayesian(source, 5.0).fit(*many).source_weight_ == pytest.approx(1 / 11)
    for people in (few, many):
        model = TransferJointBayesian(source, strength=4.0).fit(*people)
        assert model.source_weight_ == pytest.approx(0.8)


def test_centring(source):
    rng = np.random.default_rng(4)
    here, there = draw(rng, 30, 3), draw(rng, 30, 3, shift=30.0)
    fit = lambda X, y, c: TransferJointBayesian(source, 1.0, centring=c).fit(X, y)  # noqa: E731
    np.testing.assert_array_equal(fit(*there, "source").mean_, source.mean_)
    assert_near(fit(*there, "target").mean_, there[0].mean(axis=0), digits=7)
    assert fit(*there, "shrunken").mean_shrinkage_ > 0.99
    assert fit(*here, "shrunken").mean_shrinkage_ < 0.9


def test_auto_follows_the_source_when_it_is_right_and_leaves_it_when_it_is_wrong():
    rng = np.random.default_rng(5)
    X, y = draw(rng, 400, 4, d=6)
    source = JointBayesian().fit(X, y)
    # A target in which the telling directions have become noise and the others tell.
    turn = np.eye(6)[::-1]
    Xt, yt = draw(np.random.default_rng(6), 150, 6, d=6)
    moved = TransferJointBayesian(source, random_state=0).fit(Xt @ turn * [9, 3, 1, 1, 1, 1], yt)
    same = TransferJointBayesian(source, random_state=0).fit(*draw(rng, 10, 4, d=6))
    two = TransferJointBayesian(source, random_state=0).fit(*draw(rng, 2, 4, d=6))
    assert moved.source_weight_ < 0.2
    assert same.source_weight_ >= 0.5
    assert two.source_weight_ > 0.8
    assert two.strength_path_ == {}
    path = moved.strength_path_
    assert set(path) == {"strength", "source_people", "cllr", "standard_error"}
    assert len(path["strength"]) == len(path["cllr"])
    again = TransferJointBayesian(source, random_state=0).fit(Xt @ turn * [9, 3, 1, 1, 1, 1], yt)
    assert_near(again.strength_path_["cllr"], path["cllr"], digits=8)


def test_transfer_beats_source_target_and_pooled_in_the_middle():
    """Eight made-up domains: what the paper claims, by Cllr after a straight calibration."""
    gains = {"source": [], "target": [], "pooled": []}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        Xs, ys = draw(rng, 300, 4, d=20)
        change = np.eye(20) + 0.1 * rng.standard_normal((20, 20))
        Xt, yt = draw(rng, 230, 4, d=20, scale=1.3)
        Xt = Xt @ change + 1
        adapt, test = yt < 30, yt >= 30
        statistics = GroupStatistics().collect(Xs, ys)
        own = GroupStatistics().collect(Xt[adapt], yt[adapt] + 1000)
        source = JointBayesian().fit(statistics)
        models = {"source": source, "pooled": JointBayesian().fit(statistics + own)}
        models["target"] = JointBayesian().fit(own)
        ours = TransferJointBayesian(source, random_state=0).fit(Xt[adapt], yt[adapt])
        cost = {name: _cost(model, Xt[test], yt[test]) for name, model in models.items()}
        for name in gains:
            gains[name].append(cost[name] - _cost(ours, Xt[test], yt[test]))
    for name, values in gains.items():
        assert np.mean(values) > 2 * np.std(values, ddof=1) / np.sqrt(len(values)), name


def _cost(model, X, y):
    i, j = np.triu_indices(len(X), 1)
    same = y[i] == y[j]
    some = same | (np.random.default_rng(0).random(len(same)) < 0.03)
    s, same = model.score_matrix(X)[i[some], j[some]], same[some]
    slope, offset = fit_logistic(s[:, None], same, balance_classes(same))
    s = s * slope[0] + offset
    return (np.logaddexp(0, -s[same]).mean() + np.logaddexp(0, s[~same]).mean()) / np.log(4)


def test_single_pictures_are_enough_with_a_source(source):
    X, y = draw(np.random.default_rng(7), 40, 1, shift=3)
    model = TransferJointBayesian(source, 10.0).fit(X, y)
    assert np.isfinite(model.score_matrix(X)).all()


def test_growth_statistics_and_what_auto_needs(source):
    X, y = draw(np.random.default_rng(8), 20, 4)
    whole = TransferJointBayesian(source, 10.0, tol=1e-6, max_iter=500).fit(X, y)
    parts = TransferJointBayesian(source, 10.0, tol=1e-6, max_iter=500)
    parts.partial_fit(X[::2], y[::2]).partial_fit(X[1::2], y[1::2])
    assert_near(parts.mean_, whole.mean_, digits=7)
    assert_near(parts.variance_ratios_, whole.variance_ratios_, digits=2)
    statistics = GroupStatistics().collect(X, y)
    with pytest.raises(InputError, match="number"):
        TransferJointBayesian(source).fit(statistics)
    assert TransferJointBayesian(source, 1.0).fit(statistics).n_people_ == 20


def test_features_that_differ_are_refused(source):
    X, y = draw(np.random.default_rng(9), 20, 4)
    with pytest.raises(InputError, match="not the same"):
        TransferJointBayesian(source, 1.0, features="something else").fit(X, y)
    with pytest.raises(InputError, match="4 features"):
        TransferJointBayesian(source, 1.0).fit(X[:, :3], y)
    with pytest.raises(InputError, match="not the same"):
        GroupStatistics("a").collect(X, y) + GroupStatistics("b").collect(X, y)


def test_what_the_source_never_saw_is_left_out_and_said():
    rng = np.random.default_rng(10)
    X, y = draw(rng, 100, 4)
    X[:, 3] = X[:, 0]
    with pytest.warns(NumericsWarning):
        source = JointBayesian().fit(X, y)
    Xt, yt = draw(rng, 20, 4)
    with pytest.warns(NumericsWarning, match="never saw"):
        model = TransferJointBayesian(source, 1.0).fit(Xt, yt)
    assert np.isfinite(model.score_matrix(Xt)).all()


def test_a_clone_keeps_the_source_and_a_file_holds_all(source, tmp_path):
    X, y = draw(np.random.default_rng(11), 20, 4)
    model = clone(TransferJointBayesian(source, random_state=0)).fit(X, y)
    assert model.source is source
    mien.save(model, tmp_path / "m.mien")
    loaded = mien.load(tmp_path / "m.mien")
    assert_near(loaded.score_matrix(X), model.score_matrix(X), digits=8)
    assert loaded.strength_path_.keys() == model.strength_path_.keys()
    second = TransferJointBayesian(model, 1.0).fit(X, y)  # and can be a source itself
    assert second.n_people_ == 20


def test_nobody_edits_the_source_of_another(source):
    model = clone(TransferJointBayesian(source, 10.0))
    assert model.source is source
    with pytest.raises(InputError, match="fitted and shared"):
        model.set_params(source__tol=0.5)
    assert source.tol == JointBayesian().tol
    other = JointBayesian(tol=0.5)
    assert model.set_params(source=other).source is other
    model.set_params(**TransferJointBayesian(source).get_params())
    assert model.source is source


def test_a_count_of_people_and_a_strength_are_two_names(source):
    X, y = draw(np.random.default_rng(3), 20, 4)
    counted = TransferJointBayesian(source, source_people=40).fit(X, y)
    given = TransferJointBayesian(source, strength=2.0).fit(X, y)
    for model in (counted, given):
        assert (model.strength_, model.source_people_) == (2.0, 40.0)
        assert model.source_weight_ == pytest.approx(2 / 3)
    assert_near(counted.score_matrix(X), given.score_matrix(X), digits=8)
    with pytest.raises(InputError, match="not both"):
        TransferJointBayesian(source, source_people=40, strength=2.0).fit(X, y)
    # More people: the count stays and lambda falls, or lambda stays.
    more = draw(np.random.default_rng(4), 60, 4)
    for settings, weight in (({"source_people": 40}, 2 / 3), ({"strength": 2.0}, 2.0)):
        grown = TransferJointBayesian(source, **settings).partial_fit(X, y)
        grown.partial_fit(more[0], more[1] + 1000)
        whole = TransferJointBayesian(source, **settings).fit(grown.statistics_)
        expected = 40 / grown.n_people_ if "source_people" in settings else weight
        assert grown.strength_ == pytest.approx(expected)
        assert_near(grown.score_matrix(X), whole.score_matrix(X), digits=7)


def test_the_source_may_be_a_pipeline():
    X, y = draw(np.random.default_rng(0), 300, 4)
    steps = make_pipeline(StandardScaler(), PCA(3), JointBayesian()).fit(X, y)
    mine, who = draw(np.random.default_rng(1), 15, 4)
    model = TransferJointBayesian(steps, 30.0).fit(mine, who)
    inside = TransferJointBayesian(steps[-1], 30.0).fit(steps[:-1].transform(mine), who)
    Z = steps[:-1].transform(mine)
    assert_near(model.score_matrix(mine), inside.score_matrix(Z), digits=8)
    assert_near(model.score_pairs(mine[:5], mine[5:10]), inside.score_pairs(Z[:5], Z[5:10]))
    assert model.n_features_in_ == mine.shape[1]
    auto = TransferJointBayesian(steps, random_state=0).fit(mine, who)
    assert auto.strength_ > 0
    with pytest.raises(InputError, match="ends in one"):
        TransferJointBayesian(steps[:-1], 3.0).fit(mine, who)


@QUIET
@pytest.mark.filterwarnings("ignore::mien.errors.NumericsWarning")
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_scales_far_from_the_source_are_refused_in_one_sentence(source, method):
    X, y = draw(np.random.default_rng(2), 12, 4)
    with pytest.raises(InputError, match="the scales of the features"):
        getattr(TransferJointBayesian(source), method)(X * [1e4, 0, 1e13, 0], y)


def test_a_covariance_that_rounding_made_indefinite_is_refused_in_one_sentence():
    indefinite = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(InputError, match="the scales of the features"):
        _diagonalise(np.eye(2), indefinite, np.eye(2), 0.0, 0.0)
    with pytest.raises(InputError, match="the scales of the features"):
        _diagonalise(np.eye(2), indefinite, np.zeros((2, 2)), 0.0, 1e-4)
