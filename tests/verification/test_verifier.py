"""Set ratios against the definition, promises against other people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mien
from mien.datasets import load_lfw_embeddings
from mien.errors import InputError, ModelDamagedError, NotEnoughDataError
from mien.verification import (
    JointBayesian,
    ThresholdTable,
    TransferJointBayesian,
    Verifier,
    rate_per_person,
)
from mien.verification._set_trials import draw_trials
from mien.verification._verifier import _set_scores
from tests.near import assert_near

D = 12


def _people(n: int, m: int, seed: int, scale: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n), m)
    X = scale * rng.standard_normal((n, D))[y] + rng.standard_normal((len(y), D)) + 0.5
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


@pytest.fixture(scope="module")
def fitted() -> Verifier:
    X, y = _people(400, 8, seed=0)
    model = JointBayesian(features="drawn").fit(X[:1600], y[:1600])
    return Verifier(model, sizes=(1, 2, 4), random_state=0).fit(X[1600:], y[1600:])


def _naive(verifier: Verifier, probe: np.ndarray, gallery: np.ndarray) -> float:
    """Straight from the definition: densities of all pictures, one or two people."""

    def log_density(pictures: np.ndarray) -> float:
        n = len(pictures)
        model = verifier.model_
        covariance = np.kron(np.eye(n), model.variation_covariance_)
        covariance += np.kron(np.ones((n, n)), model.identity_covariance_)
        z = (pictures - model.mean_).ravel()
        _, volume = np.linalg.slogdet(covariance)
        return -0.5 * (z @ np.linalg.solve(covariance, z) + volume)

    ratio = log_density(np.concatenate([probe, gallery]))
    ratio -= log_density(probe) + log_density(gallery)
    a, b = probe.mean(axis=0), gallery.mean(axis=0)
    cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    cells = verifier.coefficients_
    k = np.interp(np.log(len(probe)), np.log(verifier.probe_sizes_), np.arange(len(cells)))
    m = np.interp(np.log(len(gallery)), np.log(verifier.sizes_), np.arange(cells.shape[1]))
    low = cells[int(np.floor(k))] * (1 - k % 1) + cells[int(np.ceil(k))] * (k % 1)
    cell = low[int(np.floor(m))] * (1 - m % 1) + low[int(np.ceil(m))] * (m % 1)
    return float(cell @ [ratio, cosine, 1])


@pytest.mark.parametrize(("k", "m"), [(1, 1), (1, 2), (1, 3), (1, 4), (2, 3), (3, 4)])
def test_scores_are_the_definition(fitted: Verifier, k: int, m: int) -> None:
    X, _ = _people(6, 8, seed=5)
    sets = X.reshape(6, 8, D)
    scores = fitted.score_sets(list(sets[:, :k]), list(sets[:, -m:]))
    expected = [[_naive(fitted, p[:k], g[-m:]) for g in sets] for p in sets]
    assert_near(scores, expected, digits=7)


def test_more_pictures_than_calibrated_count_as_the_most(fitted: Verifier) -> None:
    X, _ = _people(2, 8, seed=6)
    mean = X[:8].mean(axis=0)
    many = fitted.score_sets([X[8:9]], [X[:8]])
    assert many == pytest.approx(fitted.score_sets([X[8:9]], [np.repeat(mean[None], 4, axis=0)]))


def test_pairs_and_the_folded_search_agree(fitted: Verifier) -> None:
    X, _ = _people(10, 5, seed=7)
    sets = X.reshape(10, 5, D)
    probes = sets[:, 4]
    sizes = np.array([1, 2, 3, 4, 1, 2, 3, 4, 1, 2])
    galleries = [mine[:n] for mine, n in zip(sets, sizes, strict=True)]
    expected = fitted.score_sets(list(probes[:, None]), galleries)
    sums = np.stack([mine.sum(axis=0) for mine in galleries])
    vectors, constants, counted = fitted.scorer.index_people(sizes, sums)
    kinds, kind = np.unique(counted, return_inverse=True)
    got = probes @ vectors.T + constants + fitted.scorer.query_terms(probes, kinds)[:, kind]
    assert_near(got, expected, digits=8)
    ones = fitted.score_sets(list(probes[:, None]), list(sets[:, :1]))
    assert_near(fitted.score_pairs(probes, sets[:, 0]), np.diag(ones), digits=8)


def test_more_pictures_are_more_evidence(fitted: Verifier) -> None:
    X, _ = _people(300, 5, seed=8)
    sets = X.reshape(300, 5, D)
    genuine = [
        np.diag(fitted.score_sets(list(sets[:, 4:]), list(sets[:, :m]))).mean()
        for m in (1, 2, 3, 4)
    ]
    assert np.all(np.diff(genuine) > 0)
    apart = [
        fitted.score_sets(list(sets[:150, 4:]), list(sets[150:, :m])).mean() for m in (1, 2, 4)
    ]
    assert np.all(np.diff(apart) < 0)


def test_thresholds_count_the_impostors() -> None:
    scores = np.random.default_rng(0).permutation(np.arange(10_000) / 100.0)
    table = ThresholdTable.from_impostors([1], [1, 2], [scores, scores[:300]], n_errors=3)
    levels, thresholds, scale = table.rates, table.values[0], table.tail_scale[0]
    assert levels[0] == pytest.approx(3e-4)
    for level, threshold in zip(levels, thresholds[0], strict=True):
        accepted = np.mean(scores.astype(np.float32) >= threshold)
        assert accepted <= level < accepted + 2e-4
    # 300 trials promise one in a hundred and not less.
    assert np.all(np.isnan(thresholds[1]) == (levels < 0.01 * (1 - 1e-9)))
    # The mean excess of the highest 200 of a uniform tail is 1 (steps of 0.01).
    assert 1.0 < scale[0] < 1.2


def test_thresholds_of_galleries(fitted: Verifier) -> None:
    rates = np.geomspace(2 * fitted.thresholds_.lowest_far, 0.4, 30)
    assert np.all(np.diff([fitted.threshold(rate) for rate in rates]) <= 0)
    one = fitted.threshold(fpir=0.01, n_people=1, size=2)
    assert one == fitted.threshold(0.01, size=2)
    assert fitted.threshold(fpir=0.05, n_people=20) > fitted.threshold(fpir=0.05, n_people=2)
    assert rate_per_person(0.05, 20) == pytest.approx(1 - 0.95 ** (1 / 20))
    assert fitted.threshold(0.01) >= max(fitted.threshold(0.01, size=m) for m in (1, 2, 3, 4))


def test_what_cannot_be_promised_is_refused_or_extrapolated(fitted: Verifier) -> None:
    with pytest.raises(NotEnoughDataError, match="lowest"):
        fitted.threshold(fitted.thresholds_.lowest_far / 2)
    with pytest.raises(NotEnoughDataError, match="1e-07"):
        fitted.threshold(fpir=0.001, n_people=10_000)
    edge = fitted.threshold(fitted.thresholds_.lowest_far, size=1)
    beyond = fitted.threshold(fitted.thresholds_.lowest_far / np.e, size=1, extrapolate=True)
    assert beyond == pytest.approx(edge + fitted.thresholds_.tail_scale[0, 0])
    for bad in ({}, {"far": 0.1, "fpir": 0.1, "n_people": 3}, {"fpir": 0.1}, {"far": 1.5}):
        with pytest.raises(InputError):
            fitted.threshold(**bad)


def test_probabilities(fitted: Verifier) -> None:
    assert fitted.probability([0.0, 2.0]) == pytest.approx([0.5, expit(2.0)])
    assert fitted.probability(0.0, prior=0.1) == pytest.approx(0.1)
    with pytest.raises(InputError, match="prior"):
        fitted.probability(0.0, prior=0.0)


def test_nobody_meets_itself() -> None:
    """A person with too few pictures for both sides is never compared with its own picture."""
    X, y = _people(20, 2, seed=9)
    X, y = X[:-1], y[:-1]  # the last has one picture
    model = JointBayesian().fit(X, y)
    trials = draw_trials(
        _set_scores(("cosine",), model), X, y, np.arange(39), 1, 1, np.random.RandomState(0)
    )
    assert np.count_nonzero(trials.same) == 19
    assert trials.scores[trials.same].max() < 1 - 1e-6
    assert len(trials.same) == 20 * 20 - 1


def test_it_is_saved_without_vectors(fitted: Verifier, tmp_path: Path) -> None:
    again = mien.load(mien.save(fitted, tmp_path / "v.mien"))
    X, _ = _people(5, 2, seed=1)
    assert_near(again.score_pairs(X, X), fitted.score_pairs(X, X), digits=8)
    assert again.threshold(0.01) == fitted.threshold(0.01)
    assert again.features_ == "drawn"
    held = {name: np.size(value) for name, value in vars(again).items() if name.endswith("_")}
    assert max(held.values()) < 3 * 2 * 300


def test_few_people_of_ones_own() -> None:
    X, y = _people(200, 4, seed=2)
    source = JointBayesian().fit(X, y)
    mine, who = _people(12, 4, seed=3)
    model = TransferJointBayesian(source, source_people=100.0)
    verifier = Verifier(model, cross_fit=True, random_state=0).fit(mine, who)
    assert verifier.sizes_.tolist() == [1, 2, 3]
    assert verifier.model_.n_people_ == 12
    # Three parts of four people, each with three probes against three others.
    assert verifier.n_impostor_[0, 0] == 108
    assert verifier.thresholds_.lowest_far == pytest.approx(3 / 108)
    scores = verifier.score_sets([mine[3:4]], [mine[:3], mine[4:7]])
    assert scores[0, 0] > scores[0, 1]
    with pytest.raises(NotEnoughDataError, match="at least 8 people"):
        Verifier(model, cross_fit=True).fit(mine[:20], who[:20])


def test_bad_input(fitted: Verifier) -> None:
    X, y = _people(20, 3, seed=4)
    for bad in ({"sizes": ()}, {"sizes": (0, 1)}, {"candidates": ("source",)}, {"probe_sizes": ()}):
        with pytest.raises(InputError):
            Verifier(fitted.model_, **bad).fit(X, y)
    with pytest.raises(InputError, match="y"):
        Verifier(fitted.model_).fit(X)
    with pytest.raises(InputError, match="features"):
        Verifier(fitted.model_).fit(X[:, :5], y)
    with pytest.raises(NotEnoughDataError, match="pictures or more"):
        Verifier(fitted.model_).fit(X[::3], y[::3])
    with pytest.raises(InputError, match="at least one row"):
        fitted.score_sets([X[:0]], [X[:1]])
    with pytest.raises(InputError, match="number of pictures"):
        fitted.score_sums([1, 1], X[:1], [1], X[:1])


@pytest.mark.parametrize(("n_people", "size"), [(100, 1), (1000, 1), (100, 3)])
def test_the_promise_holds_on_other_people_of_lfw(
    data_home: Path, n_people: int, size: int
) -> None:
    """A promised rate of 5 %, on people whom neither the model nor the calibration saw."""
    held = load_lfw_embeddings(data_home, name="sface")
    X = held.vectors[held.detected]
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    _, people = np.unique(held.people[held.detected], return_inverse=True)
    part = (np.random.RandomState(0).permutation(people.max() + 1) % 4)[people]
    model = JointBayesian().fit(X[part < 2], people[part < 2])
    verifier = Verifier(model, sizes=(1, 3), probe_sizes=(1,), random_state=0)
    verifier.fit(X[part == 2], people[part == 2])
    rows = np.flatnonzero(part == 3)
    by_person = np.split(rows, np.flatnonzero(np.diff(people[rows])) + 1)
    rng = np.random.RandomState(1)
    named = asked = 0
    for _ in range(3):
        able = [i for i, mine in enumerate(by_person) if len(mine) >= size]
        known = set(rng.choice(able, n_people, replace=False).tolist())
        galleries = [X[by_person[i][:size]] for i in known]
        strangers = [X[mine[:1]] for i, mine in enumerate(by_person) if i not in known]
        best = verifier.score_sets(strangers, galleries).max(axis=1)
        named += int(np.sum(best >= verifier.threshold(fpir=0.05, n_people=n_people, size=size)))
        asked += len(strangers)
    # Three standard errors, and a fifth for what the calibration's own people leave open.
    allowed = 1.2 * 0.05 + 3 * np.sqrt(0.05 * 0.95 / asked)
    assert 0.02 < named / asked < allowed


# Pairs.


def _draw(rng, n_people, m=4, noise=(1, 1, 1, 5, 5, 5)):
    y = np.repeat(np.arange(n_people), m)
    return rng.standard_normal((n_people, 6))[y] * 2 + rng.standard_normal((len(y), 6)) * noise, y


def _cost(scores, y):
    i, j = np.triu_indices(len(y), 1)
    s, same = scores[i, j], y[i] == y[j]
    return (np.logaddexp(0, -s[same]).mean() + np.logaddexp(0, s[~same]).mean()) / np.log(4)


def _pairs(model, **settings):
    return Verifier(model, (1,), probe_sizes=(1,), prior=0.5, random_state=0, **settings)


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    model = JointBayesian().fit(*_draw(rng, 200))
    return model, _draw(rng, 120), _draw(rng, 120)


def test_the_ratio_wins_where_the_cosine_is_blind(world):
    model, held, test = world
    verifier = _pairs(model).fit(*held)
    weights = dict(zip(verifier.candidates_, verifier.coefficients_[0, 0], strict=False))
    assert weights["ratio"] > 0
    fused = _cost(verifier.score_matrix(test[0]), test[1])
    assert fused == pytest.approx(verifier.cllr_[0, 0], abs=0.05)
    cosine = _pairs(model, candidates=("cosine",)).fit(*held)
    assert fused < _cost(cosine.score_matrix(test[0]), test[1]) - 0.05


def test_a_right_ratio_stays_as_it_is():
    # With enough people the ratio is the right one: nothing can be added to it.
    rng = np.random.default_rng(1)
    right = JointBayesian().fit(*_draw(rng, 3000))
    verifier = _pairs(right, candidates=("ratio", "distance")).fit(*_draw(rng, 300))
    (row,) = verifier.explain()
    assert row["ratio"] == pytest.approx(1.0, abs=0.15)
    assert row["distance"] < 0.05
    assert row["offset"] == pytest.approx(0.0, abs=0.3)


def test_calibration_cures_overconfidence(world):
    _, held, test = world
    loud = JointBayesian().fit(*_draw(np.random.default_rng(2), 12, noise=1))  # wrong and sure
    verifier = _pairs(loud, candidates=["ratio"]).fit(*held)
    raw = _cost(loud.score_matrix(test[0]), test[1])
    assert raw > 1
    assert _cost(verifier.score_matrix(test[0]), test[1]) < 1


def test_the_stated_rate_of_pairs_is_kept(world):
    model, held, test = world
    verifier = _pairs(model, far=0.02).fit(*held)
    X, y = test
    i, j = np.triu_indices(len(y), 1)
    impostor = y[i] != y[j]
    accepted = verifier.decide(X[i[impostor]], X[j[impostor]])
    assert accepted.mean() == pytest.approx(0.02, abs=0.01)
    assert verifier.decide(X[i[~impostor]], X[j[~impostor]]).mean() > 0.1
    more = verifier.decide(X[i[impostor]], X[j[impostor]], far=0.1)
    assert more.mean() == pytest.approx(0.1, abs=0.03)
    with pytest.raises(NotEnoughDataError, match="not enough data to promise"):
        verifier.decide(X[:1], X[1:2], far=1e-7)


@pytest.mark.parametrize("names", [("ratio",), ("cosine", "distance"), ("distance", "ratio")])
def test_pairs_matrices_and_sets_of_one_agree(world, names):
    model, held, test = world
    verifier = _pairs(model, candidates=names).fit(*held)
    a, b = test[0][:6], test[0][6:12]
    pairs = verifier.score_pairs(a, b)
    assert_near(verifier.score_matrix(a, b).diagonal(), pairs, digits=6)
    sets = verifier.score_sets(list(a[:, None]), list(b[:, None]))
    assert_near(sets.diagonal(), pairs, digits=6)


def test_a_transferred_model_offers_its_source_as_well(world, tmp_path):
    model, held, test = world
    transfer = TransferJointBayesian(model, 100.0)
    verifier = _pairs(transfer, cross_fit=True, candidates=("ratio", "source", "cosine")).fit(*held)
    assert verifier.candidates_ == ("ratio", "source", "cosine")
    loaded = mien.load(mien.save(verifier, tmp_path / "v.mien"))
    assert_near(loaded.score_matrix(test[0]), verifier.score_matrix(test[0]), digits=8)
    assert loaded.thresholds_.lowest_far == verifier.thresholds_.lowest_far
    sizes, sums = np.ones(4, dtype=int), test[0][:4]
    vectors, constants, _ = verifier.scorer.index_people(sizes, sums)
    probes = test[0][8:12] / np.linalg.norm(test[0][8:12], axis=1, keepdims=True)
    got = probes @ vectors.T + constants + verifier.scorer.query_terms(probes, [1])
    assert_near(got, verifier.score_sums(sizes, probes, sizes, sums), digits=8)


def test_a_pipeline_is_a_model(world):
    _, held, test = world
    pipeline = make_pipeline(StandardScaler(), PCA(4), JointBayesian())
    verifier = _pairs(pipeline, cross_fit=True).fit(*held)
    fitted = _pairs(clone(pipeline).fit(*test)).fit(*held)
    for one in (verifier, fitted):
        i, j = np.triu_indices(40, 1)
        by_pairs = one.score_pairs(test[0][i], test[0][j])
        assert_near(one.score_matrix(test[0][:40])[i, j], by_pairs, digits=6)
    with pytest.raises(InputError, match="ends in one"):
        _pairs(make_pipeline(JointBayesian(), PCA(2)), cross_fit=True).fit(*held)


def test_a_table_of_thresholds_never_changes(fitted):
    table = fitted.thresholds_
    other = table.borrow_tail(9.0)
    assert other is not table
    assert np.all(other.tail_scale > table.tail_scale)
    assert other.lowest_far == table.lowest_far
    with pytest.raises(AttributeError):
        table.lowest_far = 0.1
    arrays = table.to_arrays()
    again = ThresholdTable.from_arrays(arrays)
    assert again.threshold(0.01) == table.threshold(0.01)
    for bad in (
        {**arrays, "rates": table.rates[:-1]},
        {k: v for k, v in arrays.items() if k != "sizes"},
    ):
        with pytest.raises(ModelDamagedError):
            ThresholdTable.from_arrays(bad)


def test_nobody_edits_the_model_of_another(world):
    model, _, _ = world
    verifier = clone(_pairs(model))
    assert verifier.model is model
    with pytest.raises(InputError, match="fitted and shared"):
        verifier.set_params(model__tol=0.5)
    free = clone(_pairs(JointBayesian(), cross_fit=True)).set_params(model__tol=0.5)
    assert free.model.tol == 0.5
