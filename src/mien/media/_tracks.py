"""Detections over frames joined into tracks: overlap, motion and, where known, appearance."""

from __future__ import annotations

import numpy as np

from mien._core.validation import NO_GROUP

__all__ = ["box_overlap", "join_tracks"]


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
    track = np.full(len(corners), NO_GROUP, dtype=np.int64)
    last: dict[int, int] = {}
    n_tracks = 0
    for frame in np.unique(frames):
        here = np.flatnonzero(frames == frame)
        last = {t: row for t, row in last.items() if frame - frames[row] <= max_gap}
        if shots is not None:
            last = {t: row for t, row in last.items() if shots[row] == shots[here[0]]}
        before = np.array(list(last.values()), dtype=np.intp)
        overlap = box_overlap(corners[before], corners[here])
        steps = frames[here][None, :] - frames[before][:, None]
        near = _motion(corners[before], corners[here]) <= max_motion * steps
        allowed, gain = near & (overlap >= min_overlap), overlap
        if vectors is not None:
            cosine = vectors[before] @ vectors[here].T
            allowed = (allowed & (cosine >= unlike)) | (near & (cosine >= alike))
            gain = overlap + np.maximum(cosine, 0)
        joined = _assign(np.where(allowed, gain, 0), allowed)
        names = list(last)
        for place, row in enumerate(here.tolist()):
            if place in joined:
                track[row] = names[joined[place]]
            else:
                track[row] = n_tracks
                n_tracks += 1
            last[int(track[row])] = row
    return track


def _assign(gain: np.ndarray, allowed: np.ndarray) -> dict[int, int]:
    """Which row each column is assigned to, where that is allowed."""
    from scipy.optimize import linear_sum_assignment  # late: it takes longer to load than to run

    rows, columns = linear_sum_assignment(gain, maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return {column: row for row, column in pairs if allowed[row, column]}
