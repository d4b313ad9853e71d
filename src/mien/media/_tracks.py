"""Detections over frames joined into tracks: overlap, motion and, where known, appearance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mien._core.validation import NO_GROUP

__all__ = ["TrackJoiner", "box_overlap", "join_tracks"]


def box_overlap(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Intersection over union (n, m) of boxes (n, 4) and (m, 4) as corners."""
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    shared = np.prod(np.maximum(high - low, 0), axis=2)
    areas = [np.prod(boxes[:, 2:] - boxes[:, :2], axis=1) for boxes in (first, second)]
    return np.asarray(shared / (areas[0][:, None] + areas[1] - shared))


def _motion(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Distance (n, m) of the boxes' centres, in mean sides of the first box."""
    centres = [(boxes[:, :2] + boxes[:, 2:]) / 2 for boxes in (first, second)]
    sides = np.sqrt(np.prod(first[:, 2:] - first[:, :2], axis=1))
    return np.asarray(np.linalg.norm(centres[0][:, None] - centres[1], axis=2) / sides[:, None])


def join_tracks(
    corners: np.ndarray,
    frames: np.ndarray,
    *,
    max_motion: float,
    min_overlap: float,
    max_gap: int,
    vectors: np.ndarray | None = None,
    unlike: float = -1.0,
    alike: float = 1.0,
    shots: np.ndarray | None = None,
) -> np.ndarray:
    """Number the tracks of one video.

    Parameters
    ----------
    corners : (n, 4)
        Boxes as left, top, right, bottom.
    frames : (n,)
        Number of the frame of each.
    max_motion : float
        Maximum motion of a centre per frame, in sides of the box.
    min_overlap : float
        Minimum intersection over union with the last box of the track.
    max_gap : int
        Maximum number of frames between two detections of a track.
    vectors : (n, d) or None
        Of unit length; a cosine of two of them says how alike two faces look.
    unlike : float
        Below this cosine boxes are not joined, however they lie.
    alike : float
        From this cosine boxes are joined also where they do not overlap; motion still counts.
    shots : (n,) or None
        Number of the shot of each; tracks end with their shot.

    Returns
    -------
    (n,) int64
        In the order in which tracks begin; every detection is in one.

    Notes
    -----
    Frame by frame, open tracks and detections are assigned to each other so that the sum of
    overlap and cosine is largest; what is not allowed is not joined.
    """
    joiner = TrackJoiner(
        max_motion=max_motion, min_overlap=min_overlap, max_gap=max_gap, unlike=unlike, alike=alike
    )
    track = np.full(len(corners), NO_GROUP, dtype=np.int64)
    for frame in np.unique(frames):
        here = np.flatnonzero(frames == frame)
        track[here] = joiner.step(
            frame,
            corners[here],
            None if vectors is None else vectors[here],
            0 if shots is None else int(shots[here[0]]),
        )
    return track


class _Open(NamedTuple):
    """The last detection of a track that may go on."""

    frame: float
    shot: int
    corners: np.ndarray
    vector: np.ndarray | None


class TrackJoiner:
    """Tracks of frames that arrive one by one, as from a camera; see :func:`join_tracks`.

    Parameters
    ----------
    max_motion, min_overlap, max_gap, unlike, alike
        As in :func:`join_tracks`; frames may be given as any rising numbers.
    """

    def __init__(
        self,
        *,
        max_motion: float,
        min_overlap: float,
        max_gap: float,
        unlike: float = -1.0,
        alike: float = 1.0,
    ) -> None:
        self._max_motion = max_motion
        self._min_overlap = min_overlap
        self._max_gap = max_gap
        self._unlike = unlike
        self._alike = alike
        self._last: dict[int, _Open] = {}
        self._n_tracks = 0

    def step(
        self, frame: float, corners: np.ndarray, vectors: np.ndarray | None = None, shot: int = 0
    ) -> np.ndarray:
        """Tracks (n,) of the detections of the next frame: boxes (n, 4), vectors (n, d)."""
        self._last = {
            number: one
            for number, one in self._last.items()
            if frame - one.frame <= self._max_gap and one.shot == shot
        }
        track = np.full(len(corners), NO_GROUP, dtype=np.int64)
        joined = self._join(frame, corners, vectors) if self._last and len(corners) else {}
        names = list(self._last)
        for place in range(len(corners)):
            if place in joined:
                track[place] = names[joined[place]]
            else:
                track[place] = self._n_tracks
                self._n_tracks += 1
            vector = None if vectors is None else vectors[place]
            self._last[int(track[place])] = _Open(frame, shot, corners[place], vector)
        return track

    def _join(
        self, frame: float, corners: np.ndarray, vectors: np.ndarray | None
    ) -> dict[int, int]:
        """Which open track each detection goes on with."""
        before = list(self._last.values())
        boxes = np.stack([one.corners for one in before])
        overlap = box_overlap(boxes, corners)
        steps = np.array([frame - one.frame for one in before])[:, None]
        near = _motion(boxes, corners) <= self._max_motion * steps
        allowed, gain = near & (overlap >= self._min_overlap), overlap
        if vectors is not None:
            cosine = np.stack([one.vector for one in before if one.vector is not None]) @ vectors.T
            allowed = (allowed & (cosine >= self._unlike)) | (near & (cosine >= self._alike))
            gain = overlap + np.maximum(cosine, 0)
        return _assign(np.where(allowed, gain, 0), allowed)


def _assign(gain: np.ndarray, allowed: np.ndarray) -> dict[int, int]:
    """Which row each column is assigned to, where that is allowed."""
    from scipy.optimize import linear_sum_assignment  # late: it takes longer to load than to run

    rows, columns = linear_sum_assignment(gain, maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return {column: row for row, column in pairs if allowed[row, column]}
