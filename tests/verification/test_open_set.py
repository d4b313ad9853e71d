"""Set ratios against the definition, promises against other people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

import mien
from mien.datasets import load_lfw_embeddings
from mien.errors import InputError, NotEnoughDataError
from mien.verification import JointBayesian, OpenSetVerifier, TransferJointBayesian
from mien.verification._set_trials import draw_trials, tail_table
from tests.near import assert_near

D = 12


def _people(n: int, m: int, seed: int, scale: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n), m)
    X = scale * rng.standard_normal((n, D))[y] + rng.standard_normal((len(y), D)) + 0.5
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


@pytest.fixture(scope="module")
def fitted() -> OpenSetVerifier:
    X, y = _people(400, 8, seed=0)
    model = JointBayesian(features="drawn").fit(X[:1600], y[:1600])
    return OpenSetVerifier(model, sizes=(1, 2, 4), random_state=0).fit(X[1600:], y[1600:])


def _naive(verifier: OpenSetVerifier, probe: np.ndarray, gallery: np.ndarray) -> float:
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
def test_scores_are_the_definition(fitted: OpenSetVerifier, k: int, m: int) -> None:
    X, _ = _people(6, 8, seed=5)
    sets = X.reshape(6, 8, D)
    scores = fitted.score_sets(list(sets[:, :k]), list(sets[:, -m:]))
    expected = [[_naive(fitted, p[:k], g[-m:]) for g in sets] for p in sets]
    assert_near(scores, expected, digits=7)


def test_more_pictures_than_calibrated_count_as_the_most(fitted: OpenSetVerifier) -> None:
    X, _ = _people(2, 8, seed=6)
    mean = X[:8].mean(axis=0)
    many = fitted.score_sets([X[8:9]], [X[:8]])
    assert many == pytest.approx(fitted.score_sets([X[8:9]], [np.repeat(mean[None], 4, axis=0)]))


def test_pairs_and_the_folded_search_agree(fitted: OpenSetVerifier) -> None:
    X, _ = _people(10, 5, seed=7)
    sets = X.reshape(10, 5, D)
    probes = sets[:, 4]
    sizes = np.array([1, 2, 3, 4, 1, 2, 3, 4, 1, 2])
    galleries = [mine[:n] for mine, n in zip(sets, sizes, strict=True)]
    expected = fitted.score_sets(list(probes[:, None]), galleries)
    sums = np.stack([mine.sum(axis=0) for mine in galleries])
    vectors, constants, counted = fitted.index_people(sizes, sums)
    kinds, kind = np.unique(counted, return_inverse=True)
    got = probes @ vectors.T + constants + fitted.query_terms(probes, kinds)[:, kind]
    assert_near(got, expected, digits=8)
    ones = fitted.score_sets(list(probes[:, None]), list(sets[:, :1]))
    assert_near(fitted.score_pairs(probes, sets[:, 0]), np.diag(ones), digits=8)


def test_more_pictures_are_more_evidence(fitted: OpenSetVerifier) -> None:
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
    levels, thresholds, scale = tail_table([scores, scores[:300]], n_errors=3)
    assert levels[0] == pytest.approx(3e-4)
    for level, threshold in zip(levels, thresholds[0], strict=True):
        accepted = np.mean(scores.astype(np.float32) >= threshold)
        assert accepted <= level < accepted + 2e-4
    # 300 trials promise one in a hundred and not less.
    assert np.all(np.isnan(thresholds[1]) == (levels < 0.01 * (1 - 1e-9)))
    # The mean excess of the highest 200 of a uniform tail is 1 (steps of 0.01).
    assert 1.0 < scale[0] < 1.2


def test_thresholds_of_galleries(fitted: OpenSetVerifier) -> None:
    rates = np.geomspace(2 * fitted.lowest_far_, 0.4, 30)
    assert np.all(np.diff([fitted.threshold(rate) for rate in rates]) <= 0)
    one = fitted.threshold(fpir=0.01, n_people=1, size=2)
    assert one == fitted.threshold(0.01, size=2)
    assert fitted.threshold(fpir=0.05, n_people=20) > fitted.threshold(fpir=0.05, n_people=2)
    assert fitted.rate_per_person(0.05, 20) == pytest.approx(1 - 0.95 ** (1 / 20))
    assert fitted.threshold(0.01) >= max(fitted.threshold(0.01, size=m) for m in (1, 2, 3, 4))


def test_what_cannot_be_promised_is_refused_or_extrapolated(fitted: OpenSetVerifier) -> None:
    with pytest.raises(NotEnoughDataError, match="lowest"):
        fitted.threshold(fitted.lowest_far_ / 2)
    with pytest.raises(NotEnoughDataError, match=r"a person \(0.001 of a probe\)"):
        fitted.threshold(fpir=0.001, n_people=10_000)
    edge = fitted.threshold(fitted.lowest_far_, size=1)
    beyond = fitted.threshold(fitted.lowest_far_ / np.e, size=1, extrapolate=True)
    assert beyond == pytest.approx(edge + fitted.tail_scale_[0, 0])
    for bad in ({}, {"far": 0.1, "fpir": 0.1, "n_people": 3}, {"fpir": 0.1}, {"far": 1.5}):
        with pytest.raises(InputError):
            fitted.threshold(**bad)


def test_probabilities(fitted: OpenSetVerifier) -> None:
    assert fitted.probability([0.0, 2.0]) == pytest.approx([0.5, expit(2.0)])
    assert fitted.probability(0.0, prior=0.1) == pytest.approx(0.1)
    with pytest.raises(InputError, match="prior"):
        fitted.probability(0.0, prior=0.0)


def test_nobody_meets_itself() -> None:
    """A person with too few pictures for both sides is never compared with its own picture."""
    X, y = _people(20, 2, seed=9)
    X, y = X[:-1], y[:-1]  # the last has one picture
    model = JointBayesian().fit(X, y)
    trials = draw_trials(model, X, y, np.arange(39), 1, 1, np.random.RandomState(0))
    assert np.count_nonzero(trials.same) == 19
    assert trials.cosine[trials.same].max() < 1 - 1e-6
    assert len(trials.same) == 20 * 20 - 1


def test_it_is_saved_without_vectors(fitted: OpenSetVerifier, tmp_path: Path) -> None:
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
    model = TransferJointBayesian(source, strength=100.0)
    verifier = OpenSetVerifier(model, cross_fit=True, random_state=0).fit(mine, who)
    assert verifier.sizes_.tolist() == [1, 2, 3]
    assert verifier.model_.n_people_ == 12
    # Three parts of four people, each with three probes against three others.
    assert verifier.n_impostor_[0, 0] == 108
    assert verifier.lowest_far_ == pytest.approx(3 / 108)
    scores = verifier.score_sets([mine[3:4]], [mine[:3], mine[4:7]])
    assert scores[0, 0] > scores[0, 1]
    with pytest.raises(NotEnoughDataError, match="at least 8 people"):
        OpenSetVerifier(model, cross_fit=True).fit(mine[:20], who[:20])


def test_bad_input(fitted: OpenSetVerifier) -> None:
    X, y = _people(20, 3, seed=4)
    for bad in ({"sizes": ()}, {"sizes": (0, 1)}, {"candidates": ("l2",)}, {"probe_sizes": ()}):
        with pytest.raises(InputError):
            OpenSetVerifier(fitted.model_, **bad).fit(X, y)
    with pytest.raises(InputError, match="y"):
        OpenSetVerifier(fitted.model_).fit(X)
    with pytest.raises(InputError, match="features"):
        OpenSetVerifier(fitted.model_).fit(X[:, :5], y)
    with pytest.raises(NotEnoughDataError, match="pictures or more"):
        OpenSetVerifier(fitted.model_).fit(X[::3], y[::3])
    with pytest.raises(InputError, match="at least one picture"):
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
    verifier = OpenSetVerifier(model, sizes=(1, 3), probe_sizes=(1,), random_state=0)
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
