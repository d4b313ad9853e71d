"""Joint Bayesian against the paper's matrices, its objectives, and its hard inputs."""

from __future__ import annotations

import warnings

import naive_joint_bayesian as naive
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

import mien
from mien._core.logistic import mean_ratio_cost
from mien.errors import InputError, NumericsWarning
from mien.verification import GroupStatistics, JointBayesian
from tests.near import assert_near

QUIET = pytest.mark.filterwarnings("ignore::mien.errors.NumericsWarning")


def draw(rng, n_people=12, d=4, most=6, scale=None):
    """People with unequal numbers of pictures, far from the origin and in odd units."""
    counts = rng.integers(1, most + 1, n_people)
    counts[:2] = 3
    y = np.repeat(np.arange(n_people) * 7 - 3, counts)
    mixing = rng.standard_normal((2, d, d)) * (1.0 if scale is None else scale)
    X = np.repeat(rng.standard_normal((n_people, d)) @ mixing[0], counts, axis=0)
    X = X + rng.standard_normal((len(y), d)) @ mixing[1] + 10
    order = rng.permutation(len(y))
    return X[order], y[order]


def fit_steps(X, y, n, **kwargs):
    """The model after n steps, without waiting for convergence."""
    return JointBayesian(max_iter=n, tol=0, floor=0, prior_people=0, **kwargs).fit(X, y)


@pytest.mark.parametrize("e_step", ["exact", "approximate"])
@pytest.mark.parametrize("seed", range(5))
def test_em_equals_the_papers_matrices(e_step, seed):
    rng = np.random.default_rng(seed)
    X, y = draw(rng, n_people=[5, 12, 20, 9, 60][seed], d=[2, 4, 3, 5, 3][seed])
    before, after = fit_steps(X, y, 1, e_step=e_step), fit_steps(X, y, 2, e_step=e_step)
    wanted = naive.em_step(
        X - before.mean_,
        y,
        before.identity_covariance_,
        before.variation_covariance_,
        exact=e_step == "exact",
    )
    for got, want in zip(
        (after.identity_covariance_, after.variation_covariance_), wanted, strict=True
    ):
        assert_near(got, want, digits=6)


def test_people_one_by_one_and_grouped_by_size_agree():
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(400), 2)
    X = rng.standard_normal((400, 3))[y] + rng.standard_normal((800, 3))
    together = fit_steps(X, y, 5)  # one size: grams
    few = y < 3
    alone = fit_steps(X[few], y[few], 5)  # three people: sums
    for model, rows in ((together, slice(None)), (alone, few)):
        start = fit_steps(X[rows], y[rows], 4)
        want = naive.em_step(
            X[rows] - start.mean_, y[rows], start.identity_covariance_, start.variation_covariance_
        )
        assert_near(model.identity_covariance_, want[0], digits=8)
        assert_near(model.variation_covariance_, want[1], digits=8)


@QUIET
def test_objectives_are_monotone_and_true_on_hundreds_of_problems():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(1, 6))
        X, y = draw(rng, n_people=int(rng.integers(3, 25)), d=d, most=int(rng.integers(2, 6)))
        exact = JointBayesian(max_iter=12, tol=0).fit(X, y)
        slack = 1e-6 * np.abs(exact.objective_).max()
        assert np.all(np.diff(exact.objective_) >= -slack), seed
        approximate = JointBayesian(max_iter=12, tol=0, e_step="approximate").fit(X, y)
        slack = 1e-6 * np.abs(approximate.objective_).max()
        assert np.all(np.diff(approximate.objective_) <= slack), seed


@pytest.mark.parametrize("seed", range(3))
def test_objective_is_the_marginal_likelihood_and_eq_11(seed):
    X, y = draw(np.random.default_rng(seed), n_people=15, d=3)
    for e_step in ("exact", "approximate"):
        before = fit_steps(X, y, 1, e_step=e_step)
        value = fit_steps(X, y, 2, e_step=e_step).objective_[1]
        Tm, Te = before.identity_covariance_, before.variation_covariance_
        if e_step == "exact":
            want = naive.log_likelihood(X - before.mean_, y, Tm, Te)
        else:
            want = naive.eq_11(X - before.mean_, y, Tm, Te, None, 0.0)
        assert_near(value, want, digits=5)


def test_exact_keeps_weak_identity_that_the_approximate_deletes():
    # The ratio 0.5 is below 3/m = 1.5: the paper's step deletes it, the exact one finds it.
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3000), 2)
    X = np.sqrt([0.5, 4.0]) * rng.standard_normal((3000, 2))[y] + rng.standard_normal((6000, 2))
    exact = JointBayesian(tol=1e-6).fit(X, y)
    assert exact.variance_ratios_ == pytest.approx([4.0, 0.5], abs=0.3)
    approximate = JointBayesian(e_step="approximate", tol=1e-4, max_iter=500).fit(X, y)
    assert approximate.variance_ratios_[1] < 0.01
    assert approximate.variance_ratios_[0] > 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_maximum_of_balanced_data_is_the_closed_form():
    rng = np.random.default_rng(2)
    m, n = 4, 500
    y = np.repeat(np.arange(n), m)
    X = 2 * rng.standard_normal((n, 3))[y] + rng.standard_normal((n * m, 3))
    model = JointBayesian(tol=1e-9, max_iter=2000).fit(X, y)
    means = X.reshape(n, m, 3).mean(axis=1)
    within = (X - means[y]).T @ (X - means[y]) / (n * (m - 1))
    between = m * np.cov(means.T, bias=True)
    np.testing.assert_allclose(model.variation_covariance_, within, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.identity_covariance_, (between - within) / m, atol=1e-3)


def test_batches_parts_and_growth_give_the_same_model():
    rng = np.random.default_rng(3)
    X, y = draw(rng, n_people=30, d=4)
    whole = JointBayesian().fit(X, y)
    halves = [GroupStatistics("lbp").collect(X[i::2], y[i::2]) for i in range(2)]
    merged = JointBayesian().fit(halves[0] + halves[1])
    batches = JointBayesian().fit((X[i : i + 5], y[i : i + 5]) for i in range(0, len(X), 5))
    grown = JointBayesian(tol=1e-5, max_iter=3000)
    for part in range(3):
        grown.partial_fit(X[part::3], y[part::3])
    for model in (merged, batches):
        assert_near(model.identity_covariance_, whole.identity_covariance_, digits=7)
        assert_near(model.mean_, whole.mean_, digits=7)
    assert merged.features_ == "lbp"
    assert grown.n_samples_ == len(X)
    assert grown.objective_[-1] == pytest.approx(
        JointBayesian(tol=1e-5, max_iter=3000).fit(X, y).objective_[-1], rel=1e-4
    )


def test_statistics_are_needed_to_grow_and_not_kept_unasked():
    X, y = draw(np.random.default_rng(4))
    model = JointBayesian().fit(X, y)
    assert not hasattr(model, "statistics_")
    with pytest.raises(InputError, match="keep_statistics"):
        model.partial_fit(X, y)
    assert JointBayesian(keep_statistics=True).fit(X, y).partial_fit(X, y).n_samples_ == 2 * len(X)


def test_constant_and_duplicate_features_change_nothing():
    X, y = draw(np.random.default_rng(5), n_people=40)
    plain = JointBayesian().fit(X, y)
    odd = np.column_stack([X, X[:, 0], np.full(len(X), 3.0), X[:, 1] * 1e-6, X[:, 1] * 1e6])
    with pytest.warns(NumericsWarning, match="span 4 of 8"):
        model = JointBayesian().fit(odd, y)
    scores = model.score_matrix(odd)
    assert_near(scores, plain.score_matrix(X), digits=6)
    assert np.isfinite(model.identity_covariance_).all()


def test_units_of_features_do_not_matter():
    X, y = draw(np.random.default_rng(6), n_people=40)
    scale = np.array([1e-6, 1.0, 1e5, 1e3])
    assert_near(
        JointBayesian().fit(X * scale, y).score_matrix(X * scale),
        JointBayesian().fit(X, y).score_matrix(X),
        digits=6,
    )


def test_more_features_than_vectors_is_floored_and_said():
    rng = np.random.default_rng(7)
    y = np.repeat(np.arange(10), 3)
    X = rng.standard_normal((10, 50))[y] + 0.3 * rng.standard_normal((30, 50))
    with pytest.warns(NumericsWarning) as told:
        model = JointBayesian(prior_people=0).fit(X, y)
    assert any("span 29 of 50" in str(w.message) for w in told)
    assert any("floor" in str(w.message) for w in told)
    scores = model.score_matrix(X)
    assert np.isfinite(scores).all()
    same = y[:, None] == y
    assert scores[same].min() > scores[~same].max()


def test_people_of_very_unequal_size():
    rng = np.random.default_rng(8)
    counts = np.r_[np.ones(300, int), np.full(100, 2), 5000]
    y = np.repeat(np.arange(len(counts)), counts)
    X = rng.standard_normal((len(counts), 3))[y] + rng.standard_normal((len(y), 3))
    model = JointBayesian().fit(X, y)
    assert np.isfinite(model.score_matrix(X[:50])).all()
    assert model.variance_ratios_ == pytest.approx(1.0, abs=0.5)


def test_float32_is_scored_in_float32_and_agrees():
    X, y = draw(np.random.default_rng(9), n_people=40)
    model = JointBayesian().fit(X.astype(np.float32), y)
    scores = model.score_matrix(X.astype(np.float32))
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, JointBayesian().fit(X, y).score_matrix(X), atol=2e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, np.arange(len(X))), "one picture"),
        (lambda X, y: (X, np.zeros(len(X), int)), "two people"),
        (lambda X, y: (np.ones_like(X), y), "constant"),
        (lambda X, y: (np.where(np.eye(*X.shape) > 0, np.nan, X), y), "NaN"),
        (lambda X, y: (X, None), "requires y"),
    ],
)
def test_what_cannot_be_learned_is_refused(change, message):
    X, y = draw(np.random.default_rng(10))
    with pytest.raises(ValueError, match=message):
        JointBayesian().fit(*change(X, y))


def test_save_and_load_round_trip(tmp_path):
    X, y = draw(np.random.default_rng(11), n_people=40)
    model = JointBayesian(features="rendered", keep_statistics=True).fit(X, y.astype(str))
    mien.save(model, tmp_path / "model.mien")
    loaded = mien.load(tmp_path / "model.mien")
    assert_near(loaded.score_matrix(X), model.score_matrix(X), digits=8)
    assert loaded.features_ == "rendered"
    assert loaded.partial_fit(X, y.astype(str)).n_samples_ == 2 * len(X)
    mien.save(model.statistics_, tmp_path / "part.mien")
    part = mien.load(tmp_path / "part.mien")
    assert (part + part).n_samples == 2 * part.n_samples
    np.testing.assert_array_equal(part.labels, model.statistics_.labels)


def test_a_memory_map_is_read_in_batches(tmp_path):
    X, y = draw(np.random.default_rng(12), n_people=40)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    statistics = GroupStatistics(batch_size=7).collect(mapped, y)
    assert_near(
        JointBayesian().fit(statistics).variance_ratios_,
        JointBayesian().fit(mapped, y).variance_ratios_,
        digits=7,
    )


def test_real_embeddings_that_are_rank_deficient(data_home):
    """One fold of LFW with its people unseen: a straightforward EM collapses to 75 % there."""
    index = np.load(data_home / "lfw" / "lfw_index.npz")
    X = np.load(data_home / "lfw" / "lfw_dlib128.npz")["embeddings"]
    label, pairs = index["label"], index["pairs"][index["pairs_fold"] == 0]
    unseen = ~np.isin(label, label[pairs[:, :2]])
    with pytest.warns(NumericsWarning, match="of 128 directions"):
        model = JointBayesian(tol=1e-2).fit(X[unseen], label[unseen])
    scores = model.score_pairs(X[pairs[:, 0]], X[pairs[:, 1]])
    same = pairs[:, 2] == 1
    best = max(np.mean((scores > t) == same) for t in np.unique(scores))
    assert best >= 0.98


@pytest.mark.parametrize("gone", [None, np.nan, -1, "-1"], ids=repr)
def test_a_missing_label_is_not_a_person(gone: object) -> None:
    X = np.random.default_rng(0).standard_normal((60, 3))
    people = np.repeat([f"p{i}" for i in range(30)], 2).astype(object)
    people[[3, 8]] = gone
    with pytest.raises(InputError, match="2 missing"):
        JointBayesian().fit(X, people)
    with pytest.raises(InputError, match="2 of 60 vectors have no person"):
        JointBayesian().fit(GroupStatistics().collect(X, people))


def _cllr(model, X, y):
    i, j = np.triu_indices(len(y), 1)
    return mean_ratio_cost(model.score_matrix(X)[i, j], y[i] == y[j])


@pytest.mark.parametrize("n_people", [3, 6, 12, 30])
def test_few_people_do_not_mislead(n_people):
    """More directions than people: a neutral source instead of Cllr of hundreds of bits."""
    rng = np.random.default_rng(n_people)
    y = np.repeat(np.arange(n_people + 60), 4)
    X = rng.standard_normal((n_people + 60, 40))[y] + 0.7 * rng.standard_normal((len(y), 40)) + 3
    few, others = y < n_people, y >= n_people
    model = JointBayesian().fit(X[few], y[few])
    assert model.prior_people_ == 80 - n_people / 4
    assert _cllr(model, X[others], y[others]) < 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = JointBayesian(prior_people=0).fit(X[few], y[few])
    assert _cllr(alone, X[others], y[others]) > 2 * _cllr(model, X[others], y[others])


def test_many_people_need_no_neutral_source():
    X, y = draw(np.random.default_rng(5), n_people=200, d=4)
    model = JointBayesian().fit(X, y)
    assert model.prior_people_ == 0
    assert_near(model.score_matrix(X), JointBayesian(prior_people=0).fit(X, y).score_matrix(X))
    # A strong one is isotropic in every direction.
    neutral = JointBayesian(prior_people=1e9).fit(X, y)
    assert_near(neutral.variance_ratios_, neutral.variance_ratios_[0], digits=4)


@pytest.mark.parametrize("size", [2, 7, 50])
def test_partial_fit_reaches_what_fit_reaches(size):
    rng = np.random.default_rng(11)
    X, y = draw(rng, n_people=60, d=6)
    whole = JointBayesian().fit(X, y)
    grown = JointBayesian()
    for start in range(0, len(X), size):
        grown.partial_fit(X[start : start + size], y[start : start + size])
    scores = whole.score_matrix(X)
    assert np.abs(grown.score_matrix(X) - scores).max() < 1e-6 * np.abs(scores).max()
    assert_near(grown.objective_[-1], whole.objective_[-1], digits=8)


def test_partial_fit_waits_until_there_is_something_to_learn():
    X, y = draw(np.random.default_rng(12), n_people=10, d=3)
    model = JointBayesian()
    one = np.flatnonzero(y == y[0])
    model.partial_fit(X[one], y[one])
    with pytest.raises(NotFittedError):
        model.score_pairs(X[:1], X[1:2])
    rest = np.flatnonzero(y != y[0])
    model.partial_fit(X[rest], y[rest])
    assert model.n_samples_ == len(X)


def test_the_score_is_the_area_under_the_curve():
    X, y = draw(np.random.default_rng(13), n_people=20, d=3)
    model = JointBayesian().fit(X, y)
    i, j = np.triu_indices(len(y), 1)
    scores, same = model.score_matrix(X)[i, j], y[i] == y[j]
    assert_near(model.score(X, y), roc_auc_score(same, scores), digits=8)
