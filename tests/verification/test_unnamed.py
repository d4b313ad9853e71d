"""Faces without names: where they lie, as counts that can be taken back."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mien.errors import InputError
from mien.verification import (
    ImpostorCurve,
    ImpostorPrior,
    UnnamedFaces,
    observe_faces,
    update_belief,
)


class Scores:
    """A verifier whose score is the product of two numbers, and a deviate already."""

    class thresholds_:
        @staticmethod
        def curve(size=1):
            z = np.linspace(-3, 4, 8)
            return ImpostorCurve(z, z)

    @staticmethod
    def score_sums(k, probes, m, sums):
        return np.asarray(probes) @ np.asarray(sums).T

    @staticmethod
    def score_pairs(first, second):
        return np.einsum("ij,ij->i", first, second)


def crowd(n, shift, seed=0):
    """Vectors (n, 2): the first number is a deviate with everybody enrolled as (1, 0)."""
    rng = np.random.default_rng(seed)
    return np.column_stack([shift + rng.standard_normal(n), np.zeros(n)])


ENROLLED = {7: (1, np.array([1.0, 0.0])), 9: (2, np.array([1.0, 0.0]))}


def test_the_camera_s_shift_is_found_and_genuine_faces_are_left_out():
    X = np.concatenate([crowd(190, 0.6), np.full((10, 2), [7.0, 0.0])])
    seen = observe_faces(Scores, X, np.arange(200), np.full(200, -1), ENROLLED)
    assert (seen.n_faces, seen.n_people, seen.n_apart) == (200, 200, 0)
    (found,) = seen.evidence(ImpostorPrior())
    assert found.shift == pytest.approx(0.6, abs=0.2)
    assert found.n_people == 6  # three times the people enrolled
    assert found.n_comparisons == pytest.approx(380, abs=4)
    prior = ImpostorPrior()
    assert update_belief(prior, [found]).quantile(0.01) > update_belief(prior).quantile(0.01)


def test_a_set_counts_once_and_two_faces_of_a_picture_are_two_people():
    X = np.array([[1.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 0.0], [1.5, 0.0]])
    sets, pictures = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 2])
    seen = observe_faces(Scores, X, sets, pictures, ENROLLED)
    assert [int(row.sum()) for row in seen.counts.values()] == [3, 3]
    assert int(seen.apart.sum()) == 1  # the same two people in both pictures
    assert (seen.n_people, seen.n_apart) == (3, 2)
    assert seen.evidence(ImpostorPrior()) == ()


def test_pairs_of_one_picture_all_count_however_alike():
    X = crowd(120, 0.0, 1)
    X[:, 0] = np.sqrt(np.abs(X[:, 0]) + 1)
    seen = observe_faces(Scores, X, np.arange(120), np.arange(120) // 4, {})
    assert int(seen.apart.sum()) == 30 * 6
    (found,) = seen.evidence(ImpostorPrior())
    assert found.n_comparisons == 180
    assert found.n_people == 19


def test_counts_are_taken_back_and_read_again():
    seen = observe_faces(Scores, crowd(50, 0.3), np.arange(50), np.arange(50) // 2, ENROLLED)
    assert set(seen.without([7]).counts) == {9}
    again = UnnamedFaces.from_dict(json.loads(json.dumps(seen.to_dict())))
    assert again.to_dict() == seen.to_dict()
    assert again.evidence(ImpostorPrior()) == seen.evidence(ImpostorPrior())


@pytest.mark.parametrize(
    "change",
    [{"faces": -1}, {"faces": True}, {"apart": [[400, 1]]}, {"counts": {"x": []}}, {"counts": []}],
)
def test_damaged_counts_are_refused(change):
    good = observe_faces(Scores, crowd(5, 0.0), np.arange(5), np.arange(5), {}).to_dict()
    with pytest.raises(InputError, match="not counts of unnamed faces"):
        UnnamedFaces.from_dict({**good, **change})
