"""Fusion rules against values computed by hand, and in the places where they could break."""

from __future__ import annotations

import numpy as np
import pytest

from mien.committee import FUSION_RULES, RunningFusion, agreement, decide, fuse
from mien.errors import InputError
from tests.near import assert_near

THREE = np.array([[[0.6, 0.3, 0.1]], [[0.2, 0.5, 0.3]], [[0.5, 0.4, 0.1]]])


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("sum", [1.3 / 3, 1.2 / 3, 0.5 / 3]),
        ("product", np.array([0.060, 0.060, 0.003]) / 0.123),
        ("min", np.array([0.2, 0.3, 0.1]) / 0.6),
        ("max", np.array([0.6, 0.5, 0.3]) / 1.4),
        ("vote", [2 / 3, 1 / 3, 0]),
    ],
)
def test_rules_equal_hand_computed_values(rule: str, expected: list[float]) -> None:
    assert_near(fuse(THREE, rule), [expected], digits=8)


def test_agree_gives_votes_over_members_and_the_rest_to_nobody() -> None:
    assert_near(fuse(THREE, "agree", min_votes=2), [[2 / 3, 0, 0]], digits=8)
    np.testing.assert_array_equal(fuse(THREE, "agree", min_votes=3), [[0, 0, 0]])
    assert_near(fuse(THREE, "agree", min_votes=1), [[2 / 3, 1 / 3, 0]], digits=7)


def test_weights() -> None:
    weights = [2.0, 1.0, 1.0]
    assert_near(fuse(THREE, weights=weights), [[1.9 / 4, 1.5 / 4, 0.6 / 4]], digits=7)
    assert_near(fuse(THREE, "vote", weights=[1, 3, 1]), [[0.4, 0.6, 0]], digits=7)
    # As exponents 3 w / Σw = 1.5, 0.75, 0.75.
    unnormalised = THREE[0] ** 1.5 * THREE[1] ** 0.75 * THREE[2] ** 0.75
    assert_near(
        fuse(THREE, "product", weights=weights), unnormalised / unnormalised.sum(), digits=7
    )
    for rule in ("sum", "product", "vote"):
        assert_near(fuse(THREE, rule, weights=[7, 7, 7]), fuse(THREE, rule), digits=7)


def test_a_zero_vetoes_in_the_product_down_to_the_floor_only() -> None:
    members = [[[0.0, 1.0]], [[0.9, 0.1]]]
    odds = 0.1 / (0.9 * 1e-6)
    fused = fuse(members, "product", floor=1e-6)
    assert_near(fused / [[1 / (1 + odds), odds / (1 + odds)]], 1, digits=8)


def test_members_that_exclude_everything_fall_back() -> None:
    certain = np.array([[[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]], [[0.0, 1.0, 0.0]]])
    assert_near(fuse(certain, "min"), [[1 / 3, 2 / 3, 0]], digits=7)
    product = fuse(certain, "product", floor=1e-12)
    assert_near(np.log10(product), [[-12, 0, -24]], digits=8)


def test_a_tied_vote_falls_back_to_the_sum() -> None:
    members = [[[0.6, 0.4, 0.0]], [[0.1, 0.9, 0.0]]]
    # One vote each; the sums are 0.7 and 1.3, and the whole share is split like them.
    assert_near(fuse(members, "vote"), [[0.35, 0.65, 0]], digits=7)
    # Nobody gets more than the votes: the sum's choice keeps its half, the other gets less.
    assert_near(fuse(members, "agree", min_votes=1), [[0.5 * 0.35 / 0.65, 0.5, 0]], digits=7)
    five = np.eye(3)[[0, 0, 1, 1, 2]][:, None, :] * 0.7 + 0.1
    five[3, 0] = [0.05, 0.9, 0.05]
    # Two votes for each of the first two, one for the last: 4/5 is split like 1.85 and 2.0 (+0.3).
    sums = five.sum(axis=0)[0]
    expected = [0.8 * sums[0] / (sums[0] + sums[1]), 0.8 * sums[1] / (sums[0] + sums[1]), 0.2]
    assert_near(fuse(five, "vote"), [expected], digits=7)
    assert fuse(five, "vote").argmax() == 1


def test_a_member_without_a_first_choice_splits_its_vote() -> None:
    members = [[[0.5, 0.5, 0.0]], [[0.0, 0.2, 0.8]], [[0.1, 0.8, 0.1]]]
    assert_near(fuse(members, "vote"), [[0.5 / 3, 1.5 / 3, 1 / 3]], digits=7)
    assert fuse(members, "agree", min_votes=2).sum() == 0


def test_thousand_members_and_classes_do_not_underflow() -> None:
    rng = np.random.default_rng(0)
    members = rng.dirichlet(np.full(1000, 0.05), size=(1000, 2))
    members[:, 0, 17] += 1e-3
    members /= members.sum(axis=2, keepdims=True)
    # The same in extended precision, straight from the definition.
    logs = np.log(np.maximum(members, 1e-12).astype(np.longdouble)).sum(axis=0)
    exact = np.exp(logs - logs.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    assert np.prod(members, axis=0).max() == 0, "the naive product must underflow here"
    product = fuse(members, "product")
    assert_near(product, exact.astype(float), digits=8)
    assert product[0].argmax() == 17
    for rule in FUSION_RULES:
        fused = fuse(members, rule, min_votes=2 if rule == "agree" else None)
        assert np.all(fused >= 0)
        if rule == "agree":
            assert np.all(fused.sum(axis=1) < 1)
        else:
            assert_near(fused.sum(axis=1), 1, digits=8)


@pytest.mark.parametrize("rule", ["sum", "product", "min", "max", "vote"])
def test_fused_rows_are_posteriors_and_order_of_members_is_irrelevant(rule: str) -> None:
    rng = np.random.default_rng(1)
    members = rng.dirichlet(np.ones(4) * 0.2, size=(7, 50))
    members[rng.random(members.shape) < 0.3] = 0
    members[members.sum(axis=2) == 0] = 0.25
    members /= members.sum(axis=2, keepdims=True)
    fused = fuse(members, rule)
    assert_near(fused.sum(axis=1), 1, digits=8)
    assert_near(fused, fuse(members[::-1], rule), digits=8)
    assert_near(fused, fuse(list(members), rule), digits=7)
    running = RunningFusion(rule)
    for member in members:
        running.add(member)
    assert_near(running.result(), fused, digits=8)


@pytest.mark.parametrize("rule", ["sum", "product", "min", "max", "vote"])
def test_one_member_alone_and_agreeing_members(rule: str) -> None:
    one = np.array([[0.7, 0.2, 0.1]])
    if rule == "vote":
        np.testing.assert_array_equal(fuse([one], rule), [[1, 0, 0]])
        return
    assert_near(fuse([one], rule), one, digits=7)
    if rule != "product":
        assert_near(fuse([one] * 5, rule), one, digits=7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"probabilities": []}, "no member"),
        ({"probabilities": [[[0.5, 0.4]]]}, r"sums to 0\.9"),
        ({"probabilities": [[[1.5, -0.5]]]}, "negative"),
        ({"probabilities": [[[np.nan, 1]]]}, "not finite"),
        ({"probabilities": [[[1.0, 0.0]], [[1.0, 0.0, 0.0]]]}, "same n and c"),
        ({"probabilities": [[0.5, 0.5]]}, r"\(n, c\)"),
        ({"probabilities": THREE, "rule": "mean"}, "'sum'"),
        ({"probabilities": THREE, "rule": "agree"}, "needs min_votes"),
        ({"probabilities": THREE, "rule": "agree", "min_votes": 4}, "min_votes = 4"),
        ({"probabilities": THREE, "rule": "max", "weights": [1, 1, 1]}, "takes no weights"),
        ({"probabilities": THREE, "weights": [1, 1]}, r"shape \(3,\)"),
        ({"probabilities": THREE, "weights": [0, 0, 0]}, "all zero"),
        ({"probabilities": THREE, "floor": 0.0}, "floor"),
        ({"probabilities": "no"}, "numbers"),
    ],
)
def test_bad_input_is_refused(arguments: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fuse(**arguments)


def test_nothing_added_is_refused_and_shapes_must_agree() -> None:
    with pytest.raises(InputError, match="no member"):
        RunningFusion().result()
    with pytest.raises(InputError, match="same shape"):
        RunningFusion().add(np.ones((1, 1))).add(np.ones((2, 1)))


def test_agreement_of_labels() -> None:
    decisions = [[3, 7, 7, 1], [3, 9, 8, 1], [5, 9, 9, 1], [5, 2, 9, 2]]
    assert agreement(decisions, 2).tolist() == [-1, 9, 9, 1]  # 3 and 5 tie with two votes each
    assert agreement(decisions, 3).tolist() == [-1, -1, -1, 1]
    assert agreement(np.array(decisions).astype(str), 3, unknown="?").tolist() == ["?"] * 3 + ["1"]
    assert agreement([["a"], ["a longer name"]], 2).tolist() == ["unknown"]
    unsigned = np.array([[1], [2]], dtype=np.uint8)
    assert agreement(unsigned, 2).tolist() == [-1]


def test_agreement_of_acceptances() -> None:
    accepted = np.array([[True, True, False], [True, False, False], [True, True, False]])
    assert agreement(accepted, 3).tolist() == [True, False, False]
    assert agreement(accepted, 2).tolist() == [True, True, False]


@pytest.mark.parametrize("k", [0, 3])
def test_agreement_refuses_impossible_k(k: int) -> None:
    with pytest.raises(InputError, match=r"1 … 2"):
        agreement([[1], [1]], k)


def test_agreement_refuses_scores() -> None:
    with pytest.raises(InputError, match="labels or booleans"):
        agreement([[0.5], [0.7]], 1)


def test_decide() -> None:
    posteriors = [[0.6, 0.4], [0.2, 0.8], [0.0, 0.0]]
    assert decide(posteriors, ["ann", "bob"]).tolist() == ["ann", "bob", "unknown"]
    assert decide(posteriors, [5, 3], threshold=0.7).tolist() == [-1, 3, -1]
    assert decide(posteriors, [5, 3], threshold=0.6, unknown=99).tolist() == [5, 3, 99]
    with pytest.raises(InputError, match="one column per class"):
        decide(posteriors, ["ann"])


def test_three_votes_of_twenty_are_no_certainty() -> None:
    members = np.full((20, 1, 30), 0.01)
    choices = [0, 0, 0, *range(1, 18)]
    members[np.arange(20), 0, choices] = 0.71
    fused = fuse(members, "agree", min_votes=3)
    assert_near(fused[0, 0], 3 / 20, digits=8)
    assert decide(fused, np.arange(30), threshold=0.9).tolist() == [-1]
