"""Shift, stretch and tail of impostors, against closed forms and straight integration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats

from mien.errors import InputError
from mien.verification import (
    ImpostorCurve,
    ImpostorEvidence,
    ImpostorPrior,
    measure_impostors,
    measure_unnamed,
    update_belief,
)
from tests.near import assert_near

RATES = np.geomspace(1e-6, 0.5, 200)
SURE = ImpostorPrior(
    shift_sd=1e-6, log_stretch_sd=1e-6, log_tail_sd=1e-6, crowd_sd=0.0, far_share=1e-12
)


def evidence(shift: float, sd: float, **others: float) -> ImpostorEvidence:
    return ImpostorEvidence(
        shift=shift,
        log_stretch=others.get("log_stretch", 0.0),
        log_tail=0.0,
        shift_sd=sd,
        log_stretch_sd=others.get("log_stretch_sd", 0.05),
        log_tail_sd=np.inf,
        n_people=10,
        n_comparisons=100,
    )


def test_deviates_of_normal_impostors_are_their_standard_scores():
    curve = ImpostorCurve.from_thresholds(RATES, -3 + 2 * stats.norm.isf(RATES))
    scores = np.array([-9.0, -3.0, 0.0, 3.0, 4.0, 12.0])
    assert_near(curve.to_deviates(scores), (scores + 3) / 2, digits=6)
    assert_near(curve.to_scores(curve.to_deviates(scores)), scores, digits=6)


def test_what_lies_below_one_in_ten_thousand_is_not_followed():
    thresholds = stats.norm.isf(RATES)
    thresholds[RATES < 1e-5] += 10  # one person under two names
    curve = ImpostorCurve.from_thresholds(RATES, thresholds)
    assert_near(float(curve.to_scores(5.0)), 5.0, digits=6)


def test_a_curve_needs_thresholds_that_rise():
    with pytest.raises(InputError, match="must rise"):
        ImpostorCurve.from_thresholds(RATES, np.ones(len(RATES)))
    with pytest.raises(InputError, match="three rates"):
        ImpostorCurve.from_thresholds(np.array([0.1, 0.2]), np.array([2.0, 1.0]))


@pytest.mark.parametrize(("shift", "stretch"), [(0.0, 1.0), (0.8, 1.2), (-0.4, 0.9)])
def test_shift_and_stretch_are_found(shift, stretch):
    rng = np.random.default_rng(0)
    owner = np.repeat(np.arange(200), 2)
    z = 1 + shift + stretch * (rng.standard_normal((400, 200)) - 1)
    z[np.arange(400), owner] = 1e6  # genuine: not looked at
    found = measure_impostors(z, owner)
    assert found.shift == pytest.approx(shift, abs=0.02)
    assert np.exp(found.log_stretch) == pytest.approx(stretch, abs=0.02)
    assert found.log_tail == pytest.approx(0, abs=0.03)
    assert (found.n_people, found.n_comparisons) == (200, 400 * 199)


def test_people_count_and_not_their_pictures():
    rng = np.random.default_rng(1)
    owner = np.arange(12)
    z = rng.standard_normal((12, 12))
    once = measure_impostors(z, owner)
    rows = np.concatenate([owner, [3] * 20])
    often = measure_impostors(z[rows], rows)
    assert_near(often.shift, once.shift, digits=8)
    assert_near(often.shift_sd, once.shift_sd, digits=6)
    assert measure_impostors(z[:1, :1], owner[:1]) is None


def test_standard_errors_are_those_of_repeated_draws():
    rng = np.random.default_rng(2)
    for n in (5, 10, 25):
        found = []
        for _ in range(300):
            pair = rng.standard_normal((n, n))
            people = rng.standard_normal(n)
            z = np.sqrt(0.96) * (np.triu(pair, 1) + np.triu(pair, 1).T)
            z += np.sqrt(0.02) * (people[:, None] + people[None, :])
            found.append(measure_impostors(z, np.arange(n)))
        spread = np.std([one.shift for one in found])
        assert spread == pytest.approx(np.median([one.shift_sd for one in found]), rel=0.35)
        spread = np.std([one.log_stretch for one in found])
        assert spread == pytest.approx(found[0].log_stretch_sd, rel=0.25)


def test_unnamed_faces_with_some_genuine_pairs():
    rng = np.random.default_rng(3)
    z = np.concatenate([0.5 + rng.standard_normal(20_000), 6 + rng.standard_normal(1_000)])
    found = measure_unnamed(z, 60)
    assert found.shift == pytest.approx(0.5, abs=0.05)
    assert measure_unnamed(z, 60, apart=True).shift > found.shift + 0.1
    assert found.log_tail_sd == np.inf
    assert measure_unnamed(z[:5], 60) is None


def test_genuine_pairs_near_the_impostors_do_not_move_them():
    """As on small faces: genuine comparisons overlap with impostors."""
    rng = np.random.default_rng(4)
    impostor = 1 + 0.9 + 1.15 * (rng.standard_normal(4_000) - 1)
    genuine = 5 + 1.2 * rng.standard_normal(200)
    found = measure_unnamed(np.concatenate([impostor, genuine]), 60)
    alone = measure_unnamed(impostor, 60)
    assert found.shift == pytest.approx(alone.shift, abs=0.05)
    assert found.log_stretch == pytest.approx(alone.log_stretch, abs=0.06)


def test_few_people_do_not_look_closer_together_than_they_are():
    """The highest of ten comparisons is no quantile of one in forty."""
    rng = np.random.default_rng(5)
    found = [measure_impostors(rng.standard_normal((5, 5)), np.arange(5)) for _ in range(400)]
    assert np.mean([one.shift for one in found]) == pytest.approx(0, abs=0.06)


def test_without_evidence_and_doubt_the_shipped_calibration_stays():
    belief = update_belief(SURE)
    for rate in (0.3, 0.01, 1e-3, 1e-5):
        assert belief.quantile(rate) == pytest.approx(stats.norm.isf(rate), abs=1e-3)
        assert float(belief.rate(belief.quantile(rate))) == pytest.approx(rate, rel=1e-4)


def test_a_ceiling_spreads_the_deviates_below_it():
    """By closed form: the slope is ((c - z0) / (c - z)) ** b from 2.5 on, and at most 8."""
    prior = ImpostorPrior(ceiling=6.5, bend=0.7)
    z = np.linspace(-4, 9, 1301)
    straight = prior.straighten(z)
    np.testing.assert_allclose(prior.bend_back(straight), z, atol=1e-9)
    np.testing.assert_array_equal(straight[z <= 2.5], z[z <= 2.5])
    slope = np.gradient(straight, z)
    wanted = np.minimum((4.0 / np.maximum(6.5 - z, 1e-9)) ** 0.7, 8.0)
    inside = (z > 2.6) & (np.abs(z - 6.3) > 0.1)
    np.testing.assert_allclose(slope[inside], wanted[inside], rtol=1e-2)
    assert float(prior.bend_back(prior.straighten(3.3))) == pytest.approx(3.3)
    for plain in (ImpostorPrior(), ImpostorPrior(bend=0.5), ImpostorPrior(ceiling=2.0, bend=0.5)):
        np.testing.assert_array_equal(plain.straighten(z), z)
        np.testing.assert_array_equal(plain.bend_back(z), z)


def test_a_camera_moves_the_shipped_impostors_along_the_scale_without_an_end():
    scale = ImpostorPrior(ceiling=6.5, bend=0.7)
    sure = replace(SURE, ceiling=6.5, bend=0.7)
    for rate in (0.3, 0.01, 1e-3, 1e-5):
        z = stats.norm.isf(rate)
        # Where nothing is moved, the shipped calibration stays, ceiling or not.
        assert update_belief(sure).quantile(rate) == pytest.approx(z, abs=2e-3)
        moved = update_belief(replace(sure, shift=1.5, log_stretch=0.2)).quantile(rate)
        straight = 2.5 + np.exp(0.2) * (float(scale.straighten(z)) - 1)
        assert moved == pytest.approx(float(scale.bend_back(straight)), abs=2e-3)
    # As many impostors as there may be, moved like that, are found where they are.
    rng = np.random.default_rng(3)
    z = scale.bend_back(2.5 + 1.2 * (scale.straighten(rng.standard_normal((400, 400))) - 1))
    found = measure_impostors(z, np.arange(400), scale)
    assert found.shift == pytest.approx(1.5, abs=0.02)
    assert found.log_stretch == pytest.approx(np.log(1.2), abs=0.02)
    assert found.log_tail == pytest.approx(0.0, abs=0.03)
    unnamed = measure_unnamed(z.ravel(), 100, apart=True, scale=scale)
    assert unnamed.shift == pytest.approx(1.5, abs=0.02)


def test_impostors_of_single_pictures_are_stretched_as_far_as_they_are_shifted():
    """A known shift, and a stretch of which nothing is known: the prior's, and its slope."""
    prior = ImpostorPrior(stretch_slope=0.1, log_stretch=0.05, crowd_sd=0.0)
    for shift in (-1.0, 0.0, 1.2, 4.0):
        found = update_belief(prior, [evidence(shift, 1e-4, log_stretch_sd=1e6)])
        stretch = float(found.weights @ np.log(found.stretches))
        assert stretch == pytest.approx(0.05 + 0.1 * np.clip(shift, 0, 2), abs=1e-3)
    # What the evidence knows is left to it.
    told = update_belief(prior, [evidence(1.5, 1e-4, log_stretch_sd=1e-4)])
    assert float(told.weights @ np.log(told.stretches)) == pytest.approx(0.0, abs=1e-3)
    # With several pictures it fades, and with three it is gone.
    assert prior.with_pictures(np.array([1, 1])).stretch_slope == 0.1
    assert 0 < prior.with_pictures(np.array([2])).stretch_slope < 0.1
    assert prior.with_pictures(np.array([3, 8])).stretch_slope == 0.0
    # Without people of one's own the shipped calibration stays.
    np.testing.assert_array_equal(
        update_belief(prior).stretches, update_belief(replace(prior, stretch_slope=0)).stretches
    )


def test_priors_are_read_from_plain_values_of_any_age():
    prior = ImpostorPrior(shift=0.2, ceiling=6.5, bend=0.7)
    assert ImpostorPrior.from_dict(vars(prior)) == prior
    # As written for a day: the slope of tails, of which the ceiling took the place.
    assert ImpostorPrior.from_dict({"shift": 0.2, "tail_slope": -0.1}) == ImpostorPrior(shift=0.2)
    for bad in ({"height": 1.0}, {"shift": "far"}, {"shift": np.nan}, {"bend": 1.0}):
        with pytest.raises(InputError, match="not a valid prior of impostors"):
            ImpostorPrior.from_dict(bad)


def test_doubt_about_the_shift_is_that_of_a_wider_normal():
    prior = ImpostorPrior(
        shift=0.2, shift_sd=0.4, log_stretch_sd=1e-6, log_tail_sd=1e-6, crowd_sd=0.3
    )
    z = np.array([1.0, 3.0, 4.0])
    expected = stats.norm.sf((z - 0.2) / np.sqrt(1 + 0.4**2))
    np.testing.assert_allclose(update_belief(prior).rate(z), expected, rtol=1e-3)
    # The crowd at the door differs from the people who gave the evidence.
    sure = update_belief(prior, [evidence(0.2, 1e-3, log_stretch_sd=1e3)])
    expected = stats.norm.sf((z - 0.2) / np.sqrt(1 + 0.3**2))
    np.testing.assert_allclose(sure.rate(z), expected, rtol=1e-3)


def test_prior_and_evidence_as_by_integration():
    prior = ImpostorPrior(
        shift=0.3, shift_sd=0.25, log_stretch_sd=1e-6, log_tail_sd=1e-6, crowd_sd=0.0,
        far_share=0.1, far_sd=3.0,
    )  # fmt: skip
    for shift in (0.0, 1.0, 4.0):
        belief = update_belief(prior, [evidence(shift, 0.4, log_stretch_sd=1e3)])

        # The wide part weighs as much as the evidence says; the far part counts as far as the
        # evidence makes it likelier than it was.
        share = 0.5 / (1 + 0.4**2 / 0.75**2)
        parts = [(0.9 * (1 - share), 0.25), (0.9 * share, 0.75), (0.1, 3.0)]
        likely = [w * stats.norm.pdf(shift, 0.3, np.hypot(sd, 0.4)) for w, sd in parts]
        gain = max(likely[2] / sum(likely) - 0.1, 0) / (likely[2] / sum(likely))

        def density(a, shift=shift, gain=gain, parts=parts):
            narrow, wide, far = (w * stats.norm.pdf(a, 0.3, sd) for w, sd in parts)
            return (narrow + wide + gain * far) * stats.norm.pdf(shift, a, 0.4)

        points = [shift, 0.3]
        total = integrate.quad(density, -8, 12, points=points)[0]
        above = integrate.quad(lambda a: density(a) * stats.norm.sf(3 - a), -8, 12, points=points)
        assert float(belief.rate(3.0)) == pytest.approx(above[0] / total, rel=5e-3)


def test_much_evidence_overrules_the_prior_and_little_does_not():
    prior = ImpostorPrior(shift=0.45)
    much = update_belief(prior, [evidence(-0.2, 0.01)])
    little = update_belief(prior, [evidence(-0.2, 4.0)])
    nothing = update_belief(prior)
    assert much.weights @ much.shifts == pytest.approx(-0.2, abs=0.02)
    assert little.weights @ little.shifts == pytest.approx(0.45, abs=0.05)
    assert much.quantile(1e-3) < nothing.quantile(1e-3) < little.quantile(1e-3)
    assert little.quantile(1e-3) < nothing.quantile(1e-3) + 0.35


def test_a_far_domain_follows_its_evidence():
    belief = update_belief(ImpostorPrior(), [evidence(4.5, 0.4)])
    assert belief.weights @ belief.shifts == pytest.approx(4.5, abs=0.15)


def test_the_bound_is_above_the_expected_rate_and_falls_with_evidence():
    prior = ImpostorPrior()
    few, many = (update_belief(prior, [evidence(0.1, sd)]) for sd in (0.4, 0.05))
    ratios = []
    for belief in (few, many):
        z = belief.quantile(1e-3)
        ratios.append(belief.bound(z) / 1e-3)
    assert ratios[0] > ratios[1] > 1


def test_a_rate_must_be_one():
    with pytest.raises(InputError, match="between 0 and 1"):
        update_belief(ImpostorPrior()).quantile(1.0)
