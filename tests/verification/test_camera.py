"""What vectors show of their camera moves the prior of the shift, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from mien.errors import InputError
from mien.verification import (
    CameraModel,
    ImpostorEvidence,
    ImpostorPrior,
    OwnCalibration,
    update_belief,
)
from tests.near import assert_near

PRIOR = ImpostorPrior(shift=0.4, shift_sd=0.3, alike=0.3, log_stretch=0.05, far_share=0.2)
CAMERA = CameraModel(
    sizes=np.array([1.0, 3.0]),
    weights=np.array([[2.0, 0.0, -1.0], [3.0, 1.0, -1.0]]),
    offsets=np.array([0.1, 0.2]),
    shift_sds=np.array([0.25, 0.35]),
    face_sds=np.array([0.2, 0.4]),
)


def expect_naively(camera, prior, X, people):
    """Straight from the definition, one person at a time, in log size between one and three."""
    shifts, sds, faces = [], [], []
    for person in sorted(set(people)):
        mine = [x for x, who in zip(X, people, strict=True) if who == person]
        way = min(np.log(len(mine)) / np.log(3), 1.0)
        mean = sum(mine) / len(mine)
        one = [float(camera.weights[k] @ mean) + camera.offsets[k] for k in (0, 1)]
        shifts.append((1 - way) * one[0] + way * one[1])
        sds.append((1 - way) * camera.shift_sds[0] + way * camera.shift_sds[1])
        faces.append((1 - way) * camera.face_sds[0] + way * camera.face_sds[1])
    n = len(shifts)
    sd = np.sqrt(np.mean(sds) ** 2 + np.mean(faces) ** 2 / n)
    return prior.alike + max(np.mean(shifts), 0.0), sd


@pytest.mark.parametrize("counts", [[1, 1, 1], [3, 3], [2, 1, 5, 3]])
def test_every_person_counts_once_by_the_number_of_pictures(counts):
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(len(counts)), counts)
    X = rng.random((len(people), 3)) + np.array([0.5, 0.0, 0.0])
    found = CAMERA.expect(PRIOR, X, people)
    shift, sd = expect_naively(CAMERA, PRIOR, list(X), people.tolist())
    assert_near(found.shift, shift)
    assert_near(found.shift_sd, sd)
    order = rng.permutation(len(people))
    names = np.asarray(["dbca"[k] for k in people])
    other = CAMERA.expect(PRIOR, X[order], names[order])
    assert_near(other.shift, found.shift)


def test_only_the_narrow_part_moves():
    X = np.array([[0.6, 0.0, 0.1], [0.4, 0.2, 0.3]])
    found = CAMERA.expect(PRIOR, X, [0, 1])
    assert_near(found.wide_sd, 3 * np.hypot(PRIOR.shift_sd, PRIOR.alike / 2))
    same = replace(found, shift=PRIOR.shift, shift_sd=PRIOR.shift_sd, wide_sd=PRIOR.wide_sd)
    assert same == PRIOR
    # A prior that was moved before is moved as if it had not been.
    assert CAMERA.expect(found, X, [0, 1]) == found
    elsewhere = CAMERA.expect(PRIOR, X + 0.3, [0, 1])
    assert CAMERA.expect(elsewhere, X, [0, 1]) == found


def test_a_camera_better_than_the_shipped_one_and_nobody_change_nothing_for_the_worse():
    assert CAMERA.expect(PRIOR, np.array([[-5.0, 0.0, 0.0]]), [0]).shift == PRIOR.alike
    assert CAMERA.expect(PRIOR, np.zeros((0, 3)), []) == PRIOR


def test_without_a_camera_the_wide_part_is_three_times_the_narrow_one():
    evidence = ImpostorEvidence(1.2, 0.0, 0.0, 0.4, 0.3, 2.0, 5, 20)
    told = replace(PRIOR, wide_sd=3 * float(np.hypot(PRIOR.shift_sd, PRIOR.alike / 2)))
    for rate in (0.05, 0.001):
        one, other = (update_belief(p, [evidence]).quantile(rate) for p in (PRIOR, told))
        assert_near(one, other)
    wider = update_belief(replace(PRIOR, wide_sd=3.0), [evidence])
    assert wider.quantile(0.001) > update_belief(PRIOR, [evidence]).quantile(0.001)


def test_another_kind_of_impostors_keeps_the_camera():
    X = np.array([[0.6, 0.0, 0.1], [0.4, 0.2, 0.3]])
    strangers = replace(PRIOR, alike=0.0, shift=0.1)
    moved = CAMERA.expect(PRIOR, X, [0, 1])
    assert_near(moved.of_kind(strangers).shift, CAMERA.expect(strangers, X, [0, 1]).shift)
    assert_near(moved.of_kind(strangers).wide_sd, CAMERA.expect(strangers, X, [0, 1]).wide_sd)
    assert PRIOR.of_kind(strangers) == strangers


def test_it_survives_json_and_a_calibration_without_a_wide_part_loads():
    again = CameraModel.from_dict(json.loads(json.dumps(CAMERA.to_dict())))
    assert all(np.array_equal(getattr(again, k), v) for k, v in vars(CAMERA).items())
    moved = CAMERA.expect(PRIOR, np.array([[0.6, 0.0, 0.1], [0.4, 0.2, 0.3]]), [0, 1])
    own = OwnCalibration(prior=moved)
    assert OwnCalibration.from_dict(json.loads(json.dumps(own.to_dict()))).prior == moved
    old = OwnCalibration(prior=PRIOR).to_dict()
    del old["prior"]["wide_sd"]
    assert OwnCalibration.from_dict(old).prior == PRIOR


@pytest.mark.parametrize(
    "change",
    [
        {"weights": [[1.0, 2.0]]},
        {"offsets": [0.1]},
        {"shift_sds": [0.2, 0.0]},
        {"face_sds": [0.2, float("nan")]},
        {"sizes": [3, 1]},
        {"sizes": []},
        {"weights": "much"},
        {"more": 1},
    ],
)
def test_what_does_not_fit_is_refused(change):
    with pytest.raises(InputError, match="not a valid camera model"):
        CameraModel.from_dict({**CAMERA.to_dict(), **change})
    with pytest.raises(InputError, match="vectors of 3 numbers"):
        CAMERA.expect(PRIOR, np.zeros((2, 4)), [0, 1])
