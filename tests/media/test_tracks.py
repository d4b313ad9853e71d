"""Joining detections: appearance and shots. Boxes alone are in tests/subspace/test_groups.py."""

from __future__ import annotations

import numpy as np

from mien.media import box_overlap, join_tracks, number_groups
from tests.near import assert_near

_OPTIONS = {"max_motion": 0.3, "min_overlap": 0.3, "max_gap": 1}


def _boxes(*lefts: float) -> np.ndarray:
    return np.array([[left, 0, left + 40, 40] for left in lefts], dtype=float)


def test_overlap_by_hand() -> None:
    boxes = np.array([[0, 0, 10, 10], [5, 0, 15, 10], [20, 0, 30, 10]], dtype=float)
    assert_near(box_overlap(boxes, boxes)[0], [1, 1 / 3, 0], digits=7)


def test_two_people_at_one_place_are_two_tracks() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=float)
    frames = np.arange(4)
    alone = join_tracks(_boxes(0, 0, 0, 0), frames, **_OPTIONS)
    assert alone.tolist() == [0, 0, 0, 0]
    seen = join_tracks(_boxes(0, 0, 0, 0), frames, vectors=vectors, unlike=0.3, **_OPTIONS)
    assert seen.tolist() == [0, 0, 1, 1]


def test_a_face_that_looks_alike_is_joined_without_overlap_but_not_beyond_motion() -> None:
    vectors = np.ones((3, 1))
    options = {"max_motion": 1.2, "min_overlap": 0.3, "max_gap": 1}
    boxes, frames = _boxes(0, 45, 300), np.arange(3)
    assert join_tracks(boxes, frames, **options).tolist() == [0, 1, 2]
    seen = join_tracks(boxes, frames, vectors=vectors, alike=0.6, **options)
    assert seen.tolist() == [0, 0, 1]


def test_crossing_faces_keep_their_names_by_appearance() -> None:
    """Both boxes overlap both; only looks can tell who is who."""
    corners = np.concatenate([_boxes(0, 12), _boxes(8, 4)])
    vectors = np.array([[1, 0], [0, 1], [1, 0], [0, 1]], dtype=float)
    frames = np.array([0, 0, 1, 1])
    assert join_tracks(corners, frames, **_OPTIONS).tolist() == [0, 1, 1, 0]
    assert join_tracks(corners, frames, vectors=vectors, **_OPTIONS).tolist() == [0, 1, 0, 1]


def test_a_shot_ends_tracks() -> None:
    shots = np.array([0, 0, 1, 1])
    assert join_tracks(_boxes(0, 0, 0, 0), np.arange(4), shots=shots, **_OPTIONS).tolist() == [
        *(0, 0, 1, 1)
    ]


def test_numbers_begin_at_zero_in_order_of_appearance() -> None:
    assert number_groups(np.array([7, 3, 7, -1, 3, 9]), 2).tolist() == [0, 1, 0, -1, 1, -1]
    assert number_groups(np.zeros(0, dtype=int), 2).tolist() == []
