"""Groups from tracks, bursts, folders and tables."""

from __future__ import annotations

import numpy as np
import pytest

from mien.errors import InputError
from mien.media import group_bursts, group_folders, group_table, group_tracks, pairs_in_pictures


def _walk(n: int, start: tuple[float, float], step: float) -> np.ndarray:
    return np.array([[start[0] + step * k, start[1], 40, 40] for k in range(n)], dtype=float)


def test_two_faces_that_pass_each_other_keep_their_tracks() -> None:
    first, second = _walk(30, (0, 10), 6), _walk(30, (180, 60), -6)
    boxes = np.concatenate([first, second])
    frames = np.tile(np.arange(30), 2)
    shuffled = np.random.default_rng(0).permutation(60)
    groups = np.empty(60, dtype=int)
    groups[shuffled] = group_tracks(boxes[shuffled], frames[shuffled])
    assert len(set(groups[:30])) == len(set(groups[30:])) == 1
    assert groups[0] != groups[30]


def test_a_jump_a_gap_and_a_cut_end_a_track() -> None:
    boxes = np.concatenate([_walk(5, (0, 0), 1), _walk(5, (200, 0), 1)])
    assert group_tracks(boxes, np.arange(10)).tolist() == [0] * 5 + [1] * 5
    still = _walk(6, (0, 0), 0)
    frames = [0, 1, 2, 5, 6, 7]
    assert group_tracks(still, frames).tolist() == [0, 0, 0, 1, 1, 1]
    assert group_tracks(still, frames, max_gap=3).tolist() == [0] * 6
    assert (
        group_tracks(still, [0, 1, 2, 0, 1, 2], videos=list("aaabbb")).tolist() == [0] * 3 + [1] * 3
    )


def test_speed_is_measured_per_frame_and_short_tracks_are_none() -> None:
    fast = _walk(4, (0, 0), 15)
    assert group_tracks(fast, range(4)).tolist() == [-1] * 4
    assert group_tracks(fast, range(4), max_motion=0.5).tolist() == [0] * 4
    assert group_tracks(fast, range(4), max_motion=0.5, min_length=5).tolist() == [-1] * 4


def test_box_formats_and_bad_boxes() -> None:
    boxes = _walk(3, (5, 5), 1)
    corners = np.column_stack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]])
    assert group_tracks(corners, range(3), box_format="xyxy").tolist() == [0, 0, 0]
    with pytest.raises(InputError, match="no area"):
        group_tracks([[10, 10, 0, 5]], [0])
    with pytest.raises(InputError, match="shape"):
        group_tracks([[1, 2, 3]], [0])
    with pytest.raises(InputError, match="order of time"):
        group_tracks(boxes, ["a", "b", "c"])
    assert group_tracks(np.zeros((0, 4)), []).tolist() == []


def test_bursts_by_camera_and_by_date() -> None:
    times = [100.0, 0.0, 1.0, 101.0, 0.5]
    assert group_bursts(times, 2).tolist() == [0, 1, 1, 0, 1]
    assert group_bursts(times, 2, cameras=list("aabaa")).tolist() == [0, 1, -1, 0, 1]
    dates = np.array(["2024-01-01T10:00:00", "2024-01-01T10:00:02", "2024-01-02"], "datetime64[s]")
    assert group_bursts(dates, 5).tolist() == [0, 0, -1]
    with pytest.raises(InputError, match="seconds or datetime64"):
        group_bursts(["noon"], 1)


def test_folders_and_tables() -> None:
    paths = ["x/a/1.png", "x/a/2.png", "x/b/1.png", "y/b/1.png"]
    assert group_folders(paths).tolist() == [0, 0, -1, -1]
    assert group_folders(paths, level=2).tolist() == [0, 0, 0, -1]
    table = {"1": "t2", "2": "", "3": "t1", "4": -1, "5": "t2", "6": None}
    assert group_table("1234567", table).tolist() == [0, -1, 1, -1, 0, -1, -1]
    with pytest.raises(InputError, match="none of the 2 pictures"):
        group_table(["a", "b"], {"c": 1})


def test_pairs_of_one_picture() -> None:
    pairs = pairs_in_pictures([3, 1, 3, 2, 3])
    assert sorted(map(tuple, pairs.tolist())) == [(0, 2), (0, 4), (2, 4)]
    assert pairs_in_pictures([1, 1], videos=["a", "b"]).shape == (0, 2)


def test_real_tracks_follow_one_person(data_home) -> None:
    boxes = np.loadtxt(data_home / "video" / "david_gt.txt", delimiter=",")
    groups = group_tracks(boxes, np.arange(len(boxes)))
    assert np.mean(groups >= 0) > 0.95
    assert len(np.unique(groups)) < 20
