"""Who is it, or nobody: one place decides, for single probes, pictures and tracks."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from mien.errors import InputError, NotEnoughDataError
from mien.verification import Decision, ThresholdTable, decide_people
from tests.near import assert_near

ONE = np.asarray([1])


def table(threshold: float = 1.0, bigger: float = 3.0) -> ThresholdTable:
    """The same threshold for every rate, another one for people with two pictures."""
    values = np.asarray([[[threshold] * 2, [bigger] * 2]])
    return ThresholdTable(
        ONE, np.asarray([1, 2]), np.asarray([0.001, 0.5]), values, np.ones((1, 2)),
        np.full((1, 2), 3000), 0.001,
    )  # fmt: skip


def decide(
    rows: list[dict[int, float]], sizes: dict[int, int] | None = None, **more
) -> list[Decision]:
    """Answers of probes whose candidates and ratios are given, in any order."""
    depth = max(map(len, rows))
    people = np.full((len(rows), depth), -1)
    scores = np.full((len(rows), depth), -1e30)
    for i, row in enumerate(rows):
        for j, (person, ratio) in enumerate(sorted(row.items(), key=lambda item: -item[1])):
            people[i, j], scores[i, j] = person, ratio
    counts = np.vectorize(lambda person: (sizes or {}).get(person, 1))(people)
    settings = {"table": table(), "n_people": 4, "fpir": 0.1, **more}
    return decide_people(settings.pop("table"), people, scores, counts,
                         np.ones(len(rows), dtype=int), **settings)  # fmt: skip


def named(*arguments, **more) -> list[int | None]:
    return [one.person for one in decide(*arguments, **more)]


ANN, BOB = 3, 8


def test_two_faces_of_a_picture_are_two_people() -> None:
    both = [{ANN: 9.0, BOB: 2.0}, {ANN: 8.0, BOB: -3.0}]
    assert named(both) == [ANN, ANN]
    # Ann and Bob (8 + 2) beat Ann and unknown (9).
    assert named(both, apart="all") == [BOB, ANN]
    found = decide([{ANN: 9.0, BOB: 0.5}, {ANN: 8.0}], apart="all")
    assert [(one.person, one.log_ratio) for one in found] == [(ANN, 9.0), (None, 8.0)]
    assert found[0].candidates == [(ANN, 9.0), (BOB, 0.5)]


def test_nobody_is_named_below_the_threshold() -> None:
    for apart in (None, "all", []):
        (one,) = decide([{ANN: 0.5}], apart=apart)
        assert (one.person, one.log_ratio, one.threshold) == (None, 0.5, 1.0)
        assert named([{ANN: 1.0}], apart=apart) == [ANN]
        # Never against the evidence, whatever the rate allows.
        low = table(-5.0)
        assert named([{ANN: -0.5}], apart=apart, table=low) == [None]
        assert decide([{ANN: -0.5}], apart=apart, table=low)[0].threshold == 0.0
    (nobody,) = decide([{}, {ANN: 2.0}])[:1]
    assert repr(nobody) == repr(Decision(None, float("-inf")))  # NaN is not equal to itself


def test_every_candidate_has_the_threshold_of_its_own_pictures() -> None:
    found = decide([{ANN: 2.5, BOB: 2.0}], sizes={ANN: 2})
    assert (found[0].person, found[0].threshold) == (None, 3.0)
    # In a picture the second may be named where the first cannot be.
    assert named([{ANN: 2.5, BOB: 2.0}], sizes={ANN: 2}, apart="all") == [BOB]


@pytest.mark.parametrize("seed", range(5))
def test_the_best_of_all_ways_to_name_a_picture(seed: int) -> None:
    ratios = np.random.default_rng(seed).normal(2, 3, (4, 4))
    gain = np.where(ratios >= 1, ratios - 1, 0)
    best = max(sum(gain[i, j] for i, j in enumerate(order)) for order in permutations(range(4)))
    found = decide([dict(enumerate(row)) for row in ratios], apart="all")
    assert_near(sum(one.log_ratio - 1 for one in found if one.person is not None), best, digits=6)
    people = [one.person for one in found if one.person is not None]
    assert len(set(people)) == len(people)


def test_tracks_that_share_a_frame_are_two_people() -> None:
    tracks = [{ANN: 5.0, BOB: 2.0}, {ANN: 6.0}, {ANN: 4.0}]
    # The first two are seen together, the third is not.
    assert named(tracks, apart=[(0, 1)]) == [BOB, ANN, ANN]
    assert named(tracks, apart=[]) == [ANN, ANN, ANN]
    with pytest.raises(InputError, match="apart"):
        named(tracks, apart="none")


def test_the_rate_and_the_probability() -> None:
    (one,) = decide([{ANN: 2.0, BOB: 0.0}], n_people=10, fpir=0.1)
    assert one.promised
    odds = np.exp([2.0, 0.0]) / 10
    assert_near(one.probability, odds[0] / (1 + odds.sum()), digits=6)
    (one,) = decide([{ANN: 20.0}], n_people=10_000, fpir=0.1)
    assert not one.promised
    assert one.threshold > 1
    with pytest.raises(NotEnoughDataError, match=r"1\.1e-05"):
        decide([{ANN: 20.0}], n_people=10_000, fpir=0.1, extrapolate=False)
