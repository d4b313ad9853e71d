"""One's own people as impostors of each other, on people whose camera is known."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from mien.errors import InputError
from mien.verification import (
    CameraModel,
    ImpostorPrior,
    JointBayesian,
    OwnCalibration,
    RatioLine,
    Verifier,
    calibrate_own,
    fit_ratio_line,
    people_needed,
    rate_per_person,
)
from tests.near import assert_near

D = 24


def people(n: int, each: int, seed: int, camera: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors of n people; a camera adds one direction to all of them."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n), each)
    X = rng.standard_normal((n, D))[who] + 0.7 * rng.standard_normal((n * each, D))
    X[:, 0] += camera
    return X / np.linalg.norm(X, axis=1, keepdims=True), who


@pytest.fixture(scope="module")
def verifier():
    X, y = people(500, 4, 0)
    model = JointBayesian().fit(X[:1000], y[:1000])
    return Verifier(model, (1, 2, 3), probe_sizes=(1,), random_state=0).fit(X[1000:], y[1000:])


def strangers_named(verifier, threshold, camera, n=10, m=2):
    X, _ = people(n, m, 5, camera)
    S, _ = people(1500, 1, 6, camera)
    sums = X.reshape(n, m, D).sum(axis=1)
    scores = verifier.score_sums(np.ones(len(S), int), S, np.full(n, m), sums)
    return np.mean(scores.max(axis=1) >= threshold)


def test_a_camera_that_moves_all_vectors_is_seen_by_a_few_people(verifier):
    rate, camera = rate_per_person(0.05, 10), 6.0
    shipped = verifier.threshold(rate, size=2, extrapolate=True)
    X, y = people(10, 2, 5, camera)
    own = calibrate_own(verifier, X, y)
    assert own.evidence[0].shift > 1
    mine = own.threshold(verifier.thresholds_, rate, size=2)
    assert strangers_named(verifier, shipped, camera) > 0.3
    assert strangers_named(verifier, mine, camera) < 0.1


def test_nothing_is_the_prior_and_much_is_ones_own(verifier):
    table = verifier.thresholds_
    sure = ImpostorPrior(shift_sd=1e-6, log_stretch_sd=1e-6, log_tail_sd=1e-6, crowd_sd=0.0)
    nothing = calibrate_own(verifier, np.zeros((0, D)), np.zeros(0, int), prior=sure)
    assert nothing.threshold(table, 0.01, size=1) == pytest.approx(
        table.threshold(0.01, size=1), abs=0.2
    )
    X, y = people(200, 2, 7)
    much = calibrate_own(verifier, X, y, prior=ImpostorPrior(shift=0.8))
    assert abs(much.belief.weights @ much.belief.shifts) < 0.15


def test_a_person_who_is_deleted_leaves_nothing(verifier):
    X, y = people(12, 3, 8)
    without = calibrate_own(verifier, X[y != 4], y[y != 4])
    never = calibrate_own(verifier, X[y != 4].copy(), np.where(y > 4, y - 1, y)[y != 4])
    assert without.to_dict() == never.to_dict()


def test_five_faces_show_a_camera_that_their_comparisons_hide(verifier):
    """A camera model learned elsewhere: every face lies along the first axis by so much."""
    strength = 3.0
    weights = np.zeros((1, D))
    weights[0, 0] = 4.0
    camera = CameraModel(
        sizes=np.array([1]), weights=weights, offsets=np.zeros(1), shift_sds=np.array([0.25]),
        face_sds=np.array([0.6]),
    )  # fmt: skip
    prior, rate = ImpostorPrior(shift=0.2), rate_per_person(0.05, 5)
    named: dict[str, list[float]] = {"without": [], "with": []}
    S, _ = people(800, 1, 50, strength)
    for seed in range(8):
        X, y = people(5, 1, 100 + seed, strength)
        for name, told in (("without", None), ("with", camera)):
            own = calibrate_own(verifier, X, y, prior=prior, camera=told)
            scores = verifier.score_sums(np.ones(len(S), int), S, np.ones(5, int), X)
            needed = own.threshold(verifier.thresholds_, rate, size=1)
            named[name].append(float(np.mean(scores.max(axis=1) >= needed)))
    assert np.mean(named["with"]) < np.mean(named["without"])
    # Where there is nobody, nothing was seen of the camera.
    nobody = calibrate_own(verifier, X[:0], y[:0], prior=prior, camera=camera)
    assert nobody.prior == prior


def test_names_and_order_do_not_matter(verifier):
    X, y = people(9, 3, 9)
    names = np.asarray(["iabcdefgh"[k] for k in y])
    order = np.random.default_rng(0).permutation(len(y))
    one, other = calibrate_own(verifier, X, y), calibrate_own(verifier, X[order], names[order])
    assert_near(one.evidence[0].shift, other.evidence[0].shift, digits=8)
    assert_near(one.line.slope, other.line.slope, digits=8)


def test_own_ratios_tell_better_than_shipped_ones_under_a_shift(verifier):
    camera = 6.0
    X, y = people(20, 3, 10, camera)
    own = calibrate_own(verifier, X, y)
    P, _ = people(80, 2, 11, camera)
    first, second = P[0::2], P[1::2]
    scores = verifier.score_matrix(first, second)
    same = np.eye(80, dtype=bool)

    def cllr(ratios):
        costs = np.logaddexp(0, -ratios[same]).mean(), np.logaddexp(0, ratios[~same]).mean()
        return np.mean(costs) / np.log(2)

    ratios = own.log_ratios(verifier.thresholds_.curve(1), scores)
    assert cllr(ratios) < 0.8 * cllr(scores)
    assert np.array_equal(np.argsort(ratios[0]), np.argsort(scores[0]))


def test_a_promise_needs_people(verifier):
    assert OwnCalibration().promise(0.01).promised == "shipped"
    found = {}
    for n in (4, 60):
        X, y = people(n, 2, 12)
        own = calibrate_own(verifier, X, y, impostors="strangers")
        found[n] = own.promise(rate_per_person(0.01, n))
    assert found[4].promised in ("shipped", False)
    assert found[60].promised is True
    assert found[60].bound < found[4].bound / found[4].rate * found[60].rate
    # Where looks differ, those at the door may be of another one: less is promised, and the
    # threshold stays.
    X, y = people(60, 2, 12)
    rate, table = rate_per_person(0.01, 60), verifier.thresholds_
    one = calibrate_own(verifier, X, y, impostors="strangers")
    many = replace(one, prior=replace(one.prior, looks_sd=0.6))
    assert many.promise(rate).bound > 2 * one.promise(rate).bound
    assert many.promise(rate).promised is not True
    assert many.threshold(table, rate, size=2) == one.threshold(table, rate, size=2)
    far = calibrate_own(verifier, *people(4, 2, 12, 9.0))
    assert far.promise(0.001).promised is False


def test_how_many_more_people_it_takes(verifier):
    X, y = people(5, 2, 13)
    own = calibrate_own(verifier, X, y, impostors="strangers")
    n = people_needed(own, 0.001)
    assert n is not None
    assert n > 5
    assert people_needed(OwnCalibration(), 0.001) is None


def test_the_line_minimises_what_it_says():
    rng = np.random.default_rng(14)
    genuine, impostor = rng.normal(4, 2, 40), rng.normal(-5, 2, 300)
    line = fit_ratio_line(genuine, impostor, 8)

    def loss(w):
        data = np.logaddexp(0, -(w[0] * genuine + w[1])).mean() / 2
        data += np.logaddexp(0, w[0] * impostor + w[1]).mean() / 2
        return 8 * data + 0.5 * ((w[0] - 1) / 0.3) ** 2 + 0.5 * (w[1] / 2) ** 2

    best = optimize.minimize(loss, [1.0, 0.0], tol=1e-10).x
    assert [line.slope, line.offset] == pytest.approx(best, abs=1e-4)
    assert fit_ratio_line(np.zeros(0), impostor, 8) == RatioLine()


def test_it_is_kept_as_plain_numbers(verifier):
    X, y = people(6, 2, 15)
    own = calibrate_own(verifier, X, y)
    again = OwnCalibration.from_dict(json.loads(json.dumps(own.to_dict())))
    assert again == own
    with pytest.raises(InputError, match="not a valid calibration"):
        OwnCalibration.from_dict({"impostors": "lookalikes"})
    with pytest.raises(InputError, match="impostors"):
        calibrate_own(verifier, X, y, impostors="friends")
