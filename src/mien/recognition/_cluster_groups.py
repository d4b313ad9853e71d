"""What is certain before anything is compared: bursts and copies are one person, neighbours two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mien._core.validation import NO_GROUP
from mien.faces import PictureResult
from mien.media import PictureTime, join_tracks, picture_time
from mien.verification import Scorer

__all__ = ["group_photographs"]

#: Most seconds between two pictures of a burst.
BURST_SECONDS = 2.0
#: Part of pairs of two people that would be taken for one face of a burst, were all compared.
BURST_FAR = 1e-4


def group_photographs(
    pictures: Sequence[PictureResult],
    places: np.ndarray,
    boxes: np.ndarray,
    vectors: np.ndarray,
    scorer: Scorer,
    *,
    seconds: float = BURST_SECONDS,
) -> np.ndarray:
    """Groups (n,) of faces that are one person for certain, -1 for none.

    Parameters
    ----------
    pictures : sequence of PictureResult
    places : (n,)
        Picture of each face; those of a picture in its own order.
    boxes : (n, 4)
        Left, top, width, height.
    vectors : (n, d)
    scorer : Scorer
    seconds : float
        Most seconds between two pictures of a burst.

    Notes
    -----
    A burst is pictures of one size taken one after the other by the camera's clock (EXIF). The
    time of a file says nothing: a folder that was copied would be one burst. Two faces of
    neighbouring pictures are joined where their boxes overlap and their ratio is above that of all
    but 1 in 10,000 pairs of two people. Copies of a file hold the same faces.
    """
    n = len(places)
    edges = [_copies(pictures, places)]
    frames = _number_bursts(pictures, [_camera_time(p) for p in pictures], seconds)
    corners = np.column_stack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]])
    tracks = join_tracks(
        corners.astype(np.float64), frames[places], max_motion=0.5, min_overlap=0.4, max_gap=1
    )
    edges.append(_neighbours(tracks, frames[places]))
    pairs = np.concatenate(edges)
    if len(pairs):
        least = scorer.threshold(far=BURST_FAR, size=1, extrapolate=True)
        ratios = scorer.score_pairs(vectors[pairs[:, 0]], vectors[pairs[:, 1]])
        pairs = pairs[ratios >= least]
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return _keep_sound(connected_components(graph, directed=False)[1], places)


def _camera_time(picture: PictureResult) -> PictureTime | None:
    time = picture_time(picture.path)
    return None if time is None or time.clock != "exif" else time


def _copies(pictures: Sequence[PictureResult], places: np.ndarray) -> np.ndarray:
    """Pairs (k, 2) of the same face in two files of the same bytes."""
    first: dict[str, int] = {}
    starts = np.searchsorted(places, np.arange(len(pictures) + 1))
    pairs = []
    for k, picture in enumerate(pictures):
        if not picture.digest or not picture.faces:
            continue
        at = first.setdefault(picture.digest, k)
        if at != k:
            pairs += [(starts[at] + j, starts[k] + j) for j in range(len(picture.faces))]
    return np.asarray(pairs, dtype=np.int64).reshape(-1, 2)


def _number_bursts(
    pictures: Sequence[PictureResult], times: Sequence[PictureTime | None], seconds: float
) -> np.ndarray:
    """A number (n_pictures,) for each picture: neighbours in a burst differ by one, others more."""

    def place(k: int) -> tuple[str, float, int]:
        time = times[k]
        return ("", 0.0, k) if time is None else (time.clock, time.seconds, k)

    order = sorted(range(len(pictures)), key=place)
    numbers = np.zeros(len(pictures), dtype=np.int64)
    number, before = 0, order[0] if order else 0
    for k in order:
        here, last = times[k], times[before]
        near = (
            here is not None
            and last is not None
            and here.clock == last.clock
            and here.seconds - last.seconds <= seconds
            and pictures[k].size == pictures[before].size
        )
        number += 1 if near else 3
        numbers[k], before = number, k
    return numbers


def _neighbours(tracks: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Pairs (k, 2) of faces that follow each other in a track."""
    order = np.lexsort((frames, tracks))
    follows = (tracks[order][1:] == tracks[order][:-1]) & (tracks[order][1:] != NO_GROUP)
    return np.column_stack([order[:-1][follows], order[1:][follows]])


def _keep_sound(components: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Groups of two or more faces from as many pictures; others are none."""
    groups = np.full(len(places), NO_GROUP, dtype=np.int64)
    number = 0
    order = np.argsort(components, kind="stable")
    cuts = np.flatnonzero(np.diff(components[order])) + 1
    for rows in sorted(np.split(order, cuts), key=lambda rows: rows[0] if len(rows) else -1):
        if len(rows) >= 2 and len(set(places[rows].tolist())) == len(rows):
            groups[rows] = number
            number += 1
    return groups
