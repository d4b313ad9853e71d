"""Faces that are sorted calibrate their own sorting: shifted cameras, one person, many faces."""

from __future__ import annotations

import numpy as np
import pytest

from mien.recognition._cluster_linkage import link_faces
from mien.recognition._cluster_rates import _choose_rows, _restrict, calibrate_faces
from mien.verification import (
    ImpostorPrior,
    JointBayesian,
    OwnCalibration,
    Verifier,
    observe_sets,
    rate_per_person,
)

DIMENSIONS = 24
NONE = np.zeros((0, 2), dtype=np.int64)


def _draw(n_people: int, n_each: int, seed: int, shift: float = 0.0) -> tuple:
    """Vectors of people; a camera that shifts moves all of them the same way."""
    rng = np.random.default_rng(seed)
    people = np.repeat(np.arange(n_people), n_each)
    X = 1.5 * rng.standard_normal((n_people, DIMENSIONS))[people]
    X += rng.standard_normal(X.shape)
    X[:, 0] += shift
    return X / np.linalg.norm(X, axis=1, keepdims=True), people


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    X, people = _draw(400, 5, 0)
    half = people < 150
    model = JointBayesian().fit(X[half], people[half])
    return Verifier(model, sizes=(1, 3), random_state=0).fit(X[~half], people[~half])


def _calibrate(verifier: Verifier, X: np.ndarray) -> tuple[OwnCalibration, OwnCalibration]:
    start, alone = OwnCalibration.of("strangers"), np.full(len(X), -1)
    return start, calibrate_faces(verifier, start, X, 0.03, groups=alone, cannot_link=NONE)


def _wrong(verifier: Verifier, own: OwnCalibration, X: np.ndarray, people: np.ndarray) -> float:
    """Share of faces that are together with somebody else's."""
    rate = rate_per_person(0.03, len(X) - 1)
    labels = link_faces(verifier, X, own.threshold(verifier.thresholds_, rate)).labels
    mixed = (labels[:, None] == labels) & (people[:, None] != people)
    return float(mixed.any(axis=1).mean())


def test_a_camera_that_moves_all_vectors_raises_the_threshold(verifier: Verifier) -> None:
    X, people = _draw(120, 1, 1, shift=10.0)
    start, own = _calibrate(verifier, X)
    (evidence,) = own.evidence
    assert evidence.shift > 0.5
    before, after = _wrong(verifier, start, X, people), _wrong(verifier, own, X, people)
    assert before > 0.15
    assert after < 0.5 * before


def test_pictures_of_one_person_are_no_impostors(verifier: Verifier) -> None:
    X, _ = _draw(1, 40, 2)
    start, own = _calibrate(verifier, X)
    assert own is start


def test_faces_as_on_the_card_move_little(verifier: Verifier) -> None:
    X, _ = _draw(60, 3, 3)
    (evidence,) = _calibrate(verifier, X)[1].evidence
    assert abs(evidence.shift) < 0.4
    assert evidence.n_people <= 180


def test_few_sets_say_nothing(verifier: Verifier) -> None:
    X, people = _draw(4, 3, 4)
    assert observe_sets(verifier, X, people, ImpostorPrior()) is None
    assert observe_sets(verifier, X, np.arange(12), ImpostorPrior()) is not None
    mostly_one = np.array([0] * 7 + [1, 2, 3, 4, 5])  # six sets, perhaps parts of one person
    assert observe_sets(verifier, X, mostly_one, ImpostorPrior()) is None


def test_a_part_of_many_faces_is_looked_at() -> None:
    groups = np.full(5000, -1)
    groups[:100] = 7
    groups[100:130] = 2
    rows = _choose_rows(groups)
    assert len(rows) == 400
    assert np.all(np.diff(rows) > 0)
    assert np.count_nonzero(groups[rows] >= 0) <= 2
    few = _choose_rows(np.array([3, 3, -1, 1, 3, 1]))
    assert few.tolist() == [0, 2, 3]


def test_pairs_follow_the_chosen_rows() -> None:
    pairs = np.array([[0, 4], [1, 3], [4, 9]])
    assert _restrict(pairs, np.array([0, 4, 9]), 10).tolist() == [[0, 1], [1, 2]]
    assert _restrict(NONE, np.array([0]), 10).shape == (0, 2)
