"""Galleries drawn from domains, and priors from other domains, on people who do not exist."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mien.evaluation import draw_people
from mien.verification import ImpostorEvidence, ImpostorPrior, JointBayesian, Verifier
from papers.promise.data import Domain, _Camera, split_lfw
from papers.promise.normalise import NORMALISATIONS, compare_normalisations, learn_heights
from papers.promise.page import make_tables
from papers.promise.report import _is_clearly_worse, _Judged, summarise
from papers.promise.run import (
    BENDS,
    METHODS,
    Lookalikes,
    _Events,
    _fit_pairs,
    _measure_camera,
    _Missed,
    count_confused,
    draw_gallery,
    excess_interval,
    factor_interval,
    fit_domain,
    fit_scale,
    group_by_look,
    learn_camera,
    learn_prior,
    learn_stretch_slope,
    run_domain,
)
from tools.tables import fill_page

D = 16


def domain(n, each, seed, camera=0.0, **others):
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n), each)
    X = rng.standard_normal((n, D))[who] + 0.5 * rng.standard_normal((n * each, D))
    X[:, 0] += camera
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return Domain("drawn", "sface", X, who, "all", "drawn", **others)


@pytest.fixture(scope="module")
def verifier():
    found = domain(300, 4, 0)
    model = JointBayesian().fit(found.X[:600], found.people[:600])
    return Verifier(model, (1, 2, 3), probe_sizes=(1,), random_state=0).fit(
        found.X[600:], found.people[600:]
    )


def test_nobody_is_enrolled_and_a_stranger(verifier):
    found = domain(40, 4, 1)
    draw = draw_gallery(found, verifier, 10, 2, 0)
    assert draw.X.shape == (20, D)
    assert draw.known.shape == (20, 10)  # two pictures are left of each
    n_others = len(draw.strangers) + len(draw.unnamed)
    assert n_others == 30 * 4
    own = draw.known[np.arange(20), draw.owner]
    assert np.median(own) > np.median(draw.strangers) + 5
    assert draw_gallery(found, verifier, 30, 2, 0) is None
    assert draw_gallery(found, verifier, 10, 5, 0) is None


def test_crowds_stay_among_themselves(verifier):
    groups = np.repeat(np.arange(2), 80)
    found = domain(40, 4, 2, groups=groups)
    draw = draw_gallery(found, verifier, 5, 2, 0)
    assert len(draw.strangers) + len(draw.unnamed) == 15 * 4


def test_groups_of_looks_hold_people_together():
    found = domain(60, 3, 3)
    groups = group_by_look(found.X, found.people, 4)
    assert len(np.unique(groups)) == 4
    assert all(len(np.unique(groups[found.people == person])) == 1 for person in range(60))


def test_pairs_of_one_look_are_placed_as_they_lie():
    rng = np.random.default_rng(2)
    shift, log_stretch = _fit_pairs(0.5 + rng.standard_normal(20_000))
    assert shift == pytest.approx(0.5, abs=0.03)
    assert log_stretch == pytest.approx(0, abs=0.03)


def test_halves_of_people_do_not_share_anybody():
    people = np.repeat([f"person {k}" for k in range(50)], 3)
    half = split_lfw(people)
    assert set(people[half]).isdisjoint(people[~half])
    assert half.sum() == 75


def evidence(shift, n=100):
    return ImpostorEvidence(shift, 0.0, 0.0, 0.02, 0.02, 0.1, n, n * n)


def test_a_prior_knows_nothing_of_the_family_left_out_nor_of_what_is_far_away():
    alike = Lookalikes(0.3, -0.1, 0.05, 0.2)
    fits = {
        "a": ("one", [evidence(0.1)]),
        "b": ("two", [evidence(0.3)]),
        "c": ("three", [evidence(0.9)]),
        "rendered": ("four", [evidence(4.5)]),
    }
    without = learn_prior(fits, alike, "three")
    assert without["strangers"].shift == pytest.approx(0.2, abs=0.02)
    assert without["lookalikes"].shift == pytest.approx(0.5, abs=0.02)
    assert without["lookalikes"].alike == 0.3
    everything = learn_prior(fits, alike)
    assert everything["strangers"].shift == pytest.approx(1.3 / 3, abs=0.02)
    assert everything["strangers"].shift_sd == pytest.approx(0.35)
    assert without["strangers"].shift_sd == pytest.approx(0.25)


def test_stretches_that_grow_with_shifts_are_learned_from_cameras():
    rng = np.random.default_rng(0)
    shifts = rng.uniform(-0.5, 3.0, 60)
    cameras = [
        (np.zeros((1, 2)), [replace(evidence(x), log_stretch=0.05 + 0.15 * np.clip(x, 0, 2))])
        for x in shifts
    ]
    assert learn_stretch_slope("sface", cameras) == pytest.approx(0.6 * 0.15)
    assert learn_stretch_slope("dlib", cameras) == 0.0
    assert learn_stretch_slope("sface", cameras[:2]) == 0.0
    falling = [(X, [replace(one[0], log_stretch=-one[0].log_stretch)]) for X, one in cameras]
    assert learn_stretch_slope("sface", falling) == 0.0


def test_the_ceiling_is_where_pictures_meet_themselves(verifier):
    found = domain(30, 2, 3)
    scale = fit_scale("dlib", verifier, found.X)
    scores = verifier.score_pairs(found.X, found.X)
    z = verifier.thresholds_.curve(1).to_deviates(scores)
    assert scale.ceiling == pytest.approx(np.median(z))
    assert scale.bend == BENDS["dlib"]


def test_a_family_that_no_judged_domain_has_gets_a_prior_as_well():
    """As rendered people kept aside, where no other rendered people were asked for."""
    judged = object.__new__(_Judged)
    judged.fits = {
        "a": ("one", [evidence(0.1)]),
        "b": ("two", [evidence(0.3)]),
        "c": ("three", [evidence(0.2)]),
    }
    judged.alike, judged._priors = Lookalikes(0.3, -0.1, 0.05, 0.2), {}
    judged.scales, judged.slopes = {"all": ImpostorPrior()}, {"all": 0.0}
    assert judged.priors("rendered") == learn_prior(judged.fits, judged.alike)
    assert judged.priors("two") == learn_prior(judged.fits, judged.alike, "two")


def test_the_faults_of_a_camera_are_learned_from_other_cameras(verifier):
    """Cameras of any strength along one direction; the next one is expected where it lies."""
    cameras = []
    for k, strength in enumerate(np.random.default_rng(0).uniform(0, 4, 24)):
        found = domain(40, 3, 100 + k, camera=strength)
        cameras.append((found.X, _measure_camera(found.X, found.people, verifier)))
    camera = learn_camera(cameras)
    assert camera.weights.shape == (2, D)
    assert camera.sizes.tolist() == [1, 3]
    prior = ImpostorPrior(shift=0.3)
    errors, plain = [], []
    for k, strength in enumerate((0.0, 1.5, 3.0, 4.0)):
        found = domain(60, 3, 200 + k, camera=strength)
        true = _measure_camera(found.X, found.people, verifier)
        for at, m in enumerate((1, 3)):
            few = np.flatnonzero(np.isin(found.people, np.arange(20)))
            rows = few[np.arange(len(few)) % 3 < m]
            moved = camera.expect(prior, found.X[rows], found.people[rows])
            errors.append(moved.shift - true[at].shift)
            plain.append(prior.shift - true[at].shift)
    assert np.sqrt(np.mean(np.square(errors))) < 0.5 * np.sqrt(np.mean(np.square(plain)))


def test_random_cameras_take_pictures_with_their_faults():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (64, 64)).astype(np.uint8)
    cameras = [_Camera.draw(rng, 0.5) for _ in range(40)]
    assert all(0.5 <= camera.size <= 1 for camera in cameras)
    none = _Camera(1.0, 0.0, 0, 0.3, 1.0, 1.0, 0.0, 0, 0.0, 0, 0.0, 0)
    assert np.array_equal(none.take(image, rng)[32:-32, 32:-32], image)
    dark = replace(none, gain=0.5).take(image, rng)[32:-32, 32:-32]
    assert dark.max() <= 127
    small = replace(none, size=0.5).take(image, rng)
    assert small.shape == (32 + 64, 32 + 64)
    blurred = replace(none, blur=2.0).take(image, rng)[32:-32, 32:-32]
    shaken = replace(none, shake=8).take(image, rng)[32:-32, 32:-32]
    assert blurred.std() < 0.3 * image.std()
    assert shaken.std() < 0.6 * image.std()


def test_another_camera_is_met_by_the_enrolled(verifier):
    found = domain(60, 4, 4, camera=4.0)
    (first, *_) = fit_domain(found, verifier)
    assert first.shift > 0.5
    fits = {"a": ("one", [evidence(0.1)]), "b": ("two", [evidence(0.2)])}
    prior = learn_prior(fits, Lookalikes(0.3, 0.0, 0.0, 0.0))["lookalikes"]
    rows = run_domain(found, verifier, prior, ((20, 2),), n_draws=3)
    realised = {
        row["method"]: row["realised"]
        for row in rows
        if (row["rate"], row["stated"]) == ("FPIR", 0.05)
    }
    assert set(realised) == set(METHODS)
    assert realised["before"] > 0.2
    assert realised["own"] < 0.1


def test_the_first_domain_sets_the_threshold_of_every_normalisation(verifier):
    many = domain(300, 1, 8)
    heights = learn_heights(verifier, many.X, many.people)
    rows = compare_normalisations(
        [domain(80, 3, 5), domain(80, 3, 6, 4.0)], [verifier] * 2, heights, 0.01
    )
    first, _, moved, _ = rows
    assert [first[name] for name in NORMALISATIONS] == pytest.approx([1.0] * 7, abs=0.05)
    assert moved["shipped score"] > 3
    assert moved["centred cosine"] < moved["shipped score"]


def test_the_height_of_a_dense_look_is_taken_off(verifier):
    """A fifth of the people look alike: they are let in for each other, until it is known."""

    def crowd(seed):
        found = domain(300, 2, seed)
        dense = found.people < 60
        X = found.X.copy()
        X[dense] = 0.6 * X[dense] + np.eye(D)[0]
        return replace(found, X=X / np.linalg.norm(X, axis=1, keepdims=True)), dense

    seen, _ = crowd(10)
    heights = learn_heights(verifier, seen.X, seen.people)
    new, dense = crowd(11)
    assert heights(new.X)[dense].min() > heights(new.X)[~dense].mean()
    rows = compare_normalisations([new], [verifier], heights, 0.001)
    assert rows[1]["height of the look"] < rows[1]["shipped score"]


def test_pairs_who_are_taken_for_each_other_are_counted(verifier):
    found = domain(40, 4, 12)
    X = found.X.copy()
    X[found.people == 7] = X[found.people == 3]  # two people whom the engine cannot tell apart
    row = count_confused(replace(found, X=X), verifier, 0.001)
    assert (row["people"], row["pairs of people"]) == (40, 780)
    assert row["accepted of the highest pair"] > 0.8
    assert row["accepted of all others"] < 0.01
    n = 160 * 159 // 2 - 40 * 6
    top, rest = row["share of the three highest pairs"], row["accepted of all others"]
    total = row["accepted"] * n
    assert total * (1 - top) == pytest.approx(rest * (n - 3 * 16))


def test_an_interval_that_rests_on_one_pair_of_people_begins_at_nothing(verifier):
    draw = draw_gallery(domain(40, 4, 7), verifier, 10, 2, 0)
    one = np.zeros_like(draw.strangers, dtype=bool)
    one[0, 3] = True
    everybody = np.ones_like(one)
    weights = draw_people(40, 200, 0)
    low, high = factor_interval([_Events.of(draw, one)], weights, per_comparison=True)
    assert low == 0
    assert high > 1 / one.size
    low, high = factor_interval([_Events.of(draw, everybody)], weights, per_comparison=True)
    assert (low, high) == pytest.approx((1, 1))


def test_what_both_ways_miss_leaves_no_spread(verifier):
    draw = draw_gallery(domain(40, 4, 7), verifier, 10, 2, 0)
    weights = draw_people(40, 200, 0)
    every, none = np.ones(len(draw.owner), bool), np.zeros(len(draw.owner), bool)
    assert excess_interval([_Missed.of(draw, every, every)], weights) == (0, 0)
    assert excess_interval([_Missed.of(draw, every, none)], weights) == pytest.approx((1, 1))
    one = draw.owner == 3  # one person of ten, whom nobody may have drawn
    low, high = excess_interval([_Missed.of(draw, one, none)], weights)
    assert low == 0
    assert 0.1 < high < 0.6


def row(realised, misses, low, stated=0.01, method="own", plain=(0.01, 0.02)):
    return {
        "domain": "lfw", "method": method, "rate": "FPIR", "stated": stated, "low": low,
        "high": 1.0, "realised": realised, "misses": misses, "oracle": 0.0, "plain": plain[0],
        "plain misses": plain[1], "more than oracle": misses - 0.01,
        "more than plain": misses - plain[1] - 0.01,
    }  # fmt: skip


def test_worse_by_chance_is_not_clearly_worse():
    assert not _is_clearly_worse(row(0.03, 0.02, 0.005))
    assert _is_clearly_worse(row(0.03, 0.02, 0.015))
    assert not _is_clearly_worse(row(0.03, 0.01, 0.015))  # it finds more of the known people
    assert not _is_clearly_worse(row(0.009, 0.2, 0.0))  # it lets in fewer strangers
    assert _is_clearly_worse(row(0.011, 0.05, 0.0))
    assert not _is_clearly_worse(row(0.011, 0.028, 0.0))  # the misses may be chance


def test_the_tables_of_the_page_are_replaced_between_their_marks():
    rows = [
        {**r, "rate": kind, "stated": stated, "realised": factor * stated, "low": 0.0}
        for kind, stated in (("FPIR", 0.01), ("FPIR", 0.05), ("FAR", 0.001), ("FAR", 0.01))
        for method, factor in zip(METHODS, (40, 2, 2.5, 1, 1), strict=True)
        for r in [row(0.0, 0.0, 0.0, method=method)]
    ]
    tables = make_tables([
        {"kind": "table", "title": "sface: how often a stated rate held", "rows": summarise(rows)},
        {"kind": "table", "title": "sface: Cllr", "rows": [{"domain": "lfw"}]},
        {"kind": "text", "text": "words"},
    ])  # fmt: skip
    assert list(tables) == ["held sface"]
    other = "<!-- held dlib -->\nx\n<!-- end -->\n"
    text = f"Before.\n\n<!-- held sface -->\nold\n<!-- end -->\n\n{other}"
    page = fill_page(text, tables)
    assert "old" not in page
    assert "| FPIR 1 % | with the enrolled | 1 | 0 % | 0 % | 100 % | 2.5 (0.0) | 0, 0 |" in page
    assert page.endswith(other)
    assert fill_page(page, tables) == page
