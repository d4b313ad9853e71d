"""Where groups come from: tracks in video, bursts in time, folders, tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np

from mien._core.validation import NO_GROUP, check_choice, check_labels
from mien.errors import InputError
from mien.media._tracks import join_tracks

__all__ = [
    "group_bursts",
    "group_folders",
    "group_table",
    "group_tracks",
    "number_groups",
    "pairs_in_pictures",
]


def number_groups(groups: np.ndarray, min_length: int) -> np.ndarray:
    """Groups of fewer than ``min_length`` become -1; the others are numbered from 0 again."""
    out = np.full(len(groups), NO_GROUP, dtype=np.int64)
    names, first = np.unique(groups, return_index=True)
    number = 0
    for name in names[np.argsort(first)]:
        members = groups == name
        if name != NO_GROUP and members.sum() >= min_length:
            out[members] = number
            number += 1
    return out


def _check_boxes(boxes: Any, box_format: str) -> np.ndarray:
    """Corners (n, 4) as left, top, right, bottom."""
    check_choice("box_format", box_format, ("xywh", "xyxy"))
    boxes = np.asarray(boxes, dtype=np.float64)
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise InputError(f"boxes must have the shape (n, 4); got {boxes.shape}")
    if not np.all(np.isfinite(boxes)):
        raise InputError("boxes have NaN or infinite entries")
    if box_format == "xywh":
        boxes = np.column_stack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]])
    bad = np.flatnonzero((boxes[:, 2:] <= boxes[:, :2]).any(axis=1))
    if bad.size:
        raise InputError(
            f"box {bad[0]} has no area ({bad.size} of {len(boxes)} have none): is box_format="
            f"{box_format!r} right?"
        )
    return boxes


def group_tracks(
    boxes: Any,
    frames: Any,
    *,
    videos: Any = None,
    max_motion: float = 0.25,
    min_overlap: float = 0.4,
    max_gap: int = 1,
    min_length: int = 2,
    box_format: str = "xywh",
) -> np.ndarray:
    """Join detections over frames: a face that hardly moves is the same face.

    Parameters
    ----------
    boxes : (n, 4)
        One detection a row, in any order.
    frames : (n,)
        Number of the frame of each.
    videos : (n,) or None
        Name of the video of each; None where all are of one.
    max_motion : float
        Maximum motion of the centre between two detections, in sides of the box per frame.
    min_overlap : float
        Minimum intersection over union of the two boxes.
    max_gap : int
        Maximum number of frames between two detections of a track: 1 wants every frame, 3 allows
        two misses.
    min_length : int
        Minimum length of a track; shorter ones are not groups.
    box_format : {"xywh", "xyxy"}
        Left, top, width, height; or left, top, right, bottom.

    Returns
    -------
    groups : (n,)
        Number of the track of each detection from 0, in the order in which tracks begin; -1 for
        detections in none.

    Notes
    -----
    Frame by frame, open tracks and detections are assigned to each other so that the sum of the
    overlaps is largest; pairs beyond a threshold are not joined. A cut in the film moves faces
    and so ends tracks. Two faces of one frame are never in one track.

    Examples
    --------
    >>> from mien.media import group_tracks
    >>> boxes = [[10, 10, 20, 20], [80, 10, 20, 20], [11, 10, 20, 20], [80, 11, 20, 20]]
    >>> group_tracks(boxes, [0, 0, 1, 1]).tolist()
    [0, 1, 0, 1]
    """
    corners = _check_boxes(boxes, box_format)
    n = len(corners)
    frames = check_labels("frames", frames, n, missing="class")
    if frames.dtype.kind == "U":
        raise InputError("frames must be numbers, in the order of time")
    names = (
        np.zeros(n, dtype=int)
        if videos is None
        else check_labels("videos", videos, n, missing="class")
    )
    track = np.full(n, NO_GROUP, dtype=np.int64)
    n_tracks = 0
    for name in _in_order(names):
        rows = np.flatnonzero(names == name)
        joined = join_tracks(
            corners[rows],
            frames[rows],
            max_motion=max_motion,
            min_overlap=min_overlap,
            max_gap=max_gap,
        )
        track[rows] = joined + n_tracks
        n_tracks += int(joined.max(initial=-1)) + 1
    return number_groups(track, min_length)


def _in_order(labels: np.ndarray) -> np.ndarray:
    """The different labels in the order in which they first come."""
    names, first = np.unique(labels, return_index=True)
    return names[np.argsort(first)]


def group_bursts(
    times: Any, max_gap: float, *, cameras: Any = None, min_length: int = 2
) -> np.ndarray:
    """Group pictures that were taken in one go: a new burst begins after a pause.

    Parameters
    ----------
    times : (n,)
        Seconds, or ``datetime64``; in any order.
    max_gap : float
        Longest pause inside a burst, in seconds.
    cameras : (n,) or None
        Pictures of different cameras are never in one burst.
    min_length : int
        Minimum number of pictures; shorter bursts are not groups.

    Returns
    -------
    groups : (n,)
        From 0; -1 for pictures in none. A burst is a group only where it shows one person.

    Examples
    --------
    >>> from mien.media import group_bursts
    >>> group_bursts([0.0, 0.5, 60.0, 61.0, 500.0], max_gap=2).tolist()
    [0, 0, 1, 1, -1]
    """
    times = np.asarray(times)
    if times.ndim != 1:
        raise InputError(f"times must have one dimension; got the shape {times.shape}")
    if times.dtype.kind == "M":
        times = times.astype("datetime64[us]").astype(np.int64) / 1e6
    try:
        times = times.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("times must be seconds or datetime64") from error
    if not np.all(np.isfinite(times)):
        raise InputError("times have NaN or infinite entries")
    n = len(times)
    names = (
        np.zeros(n, dtype=int)
        if cameras is None
        else check_labels("cameras", cameras, n, missing="class")
    )
    codes = np.unique(names, return_inverse=True)[1]
    order = np.lexsort([times, codes])
    breaks = (np.diff(times[order]) > max_gap) | (np.diff(codes[order]) != 0)
    bursts = np.empty(n, dtype=np.int64)
    bursts[order] = np.concatenate([[0], np.cumsum(breaks)]) if n else []
    return number_groups(bursts, min_length)


def group_folders(paths: Iterable[Any], *, level: int = 1, min_length: int = 2) -> np.ndarray:
    """Group pictures by the folder that they are in.

    Parameters
    ----------
    paths : iterable of str or path
        Where each picture is; nothing is read.
    level : int
        1 is the folder of the picture, 2 the one above it, and so on.
    min_length : int
        Minimum number of pictures; folders with fewer are not groups.

    Returns
    -------
    groups : (n,)
        From 0; -1 for pictures in none.

    Examples
    --------
    >>> from mien.media import group_folders
    >>> group_folders(["a/1.jpg", "a/2.jpg", "b/1.jpg"]).tolist()
    [0, 0, -1]
    """
    folders = []
    for path in paths:
        parents = PurePath(path).parents
        if len(parents) < level:
            raise InputError(f"{str(path)!r} has no folder at level {level}")
        folders.append(str(parents[level - 1]))
    codes = np.unique(np.asarray(folders, dtype=str), return_inverse=True)[1]
    return number_groups(codes.astype(np.int64), min_length)


def group_table(names: Iterable[Any], table: Mapping[str, Any]) -> np.ndarray:
    """Group pictures by a table of name and group.

    Parameters
    ----------
    names : iterable of str
        The pictures, in the order of the vectors.
    table : mapping
        Name of a picture -> its group, any label; ``""``, ``-1`` and None mean none.

    Returns
    -------
    groups : (n,)
        From 0 in the order in which groups come; -1 for pictures in none or not in the table.
        A table that names none of the pictures is refused.

    Examples
    --------
    >>> from mien.media import group_table
    >>> group_table(["1.jpg", "2.jpg", "3.jpg"], {"1.jpg": "x", "3.jpg": "x"}).tolist()
    [0, -1, 0]
    """
    names = [str(name) for name in names]
    if names and not any(name in table for name in names):
        raise InputError(
            f"the table names none of the {len(names)} pictures: it has "
            f"{', '.join(repr(key) for key in list(table)[:3])} …, the pictures are "
            f"{', '.join(map(repr, names[:3]))} …"
        )
    numbers: dict[str, int] = {}
    groups = np.full(len(names), NO_GROUP, dtype=np.int64)
    for row, name in enumerate(names):
        label = table.get(name)
        if label is not None and str(label).strip() not in ("", str(NO_GROUP)):
            groups[row] = numbers.setdefault(str(label).strip(), len(numbers))
    return groups


def pairs_in_pictures(pictures: Any, videos: Any = None) -> np.ndarray:
    """Pairs of faces that are two people, because they are in one picture or frame.

    Parameters
    ----------
    pictures : (n,)
        Name of the picture, or number of the frame, of each face.
    videos : (n,) or None
        Name of the video of each, where pictures are frames.

    Returns
    -------
    pairs : (n_pairs, 2)
        Rows of two faces, for ``cannot_link`` of ``ConstrainedClustering``.

    Examples
    --------
    >>> from mien.media import pairs_in_pictures
    >>> pairs_in_pictures(["a.jpg", "b.jpg", "a.jpg"]).tolist()
    [[0, 2]]
    """
    pictures = check_labels("pictures", pictures, missing="class")
    codes = np.unique(pictures, return_inverse=True)[1]
    if videos is not None:
        videos = check_labels("videos", videos, len(codes), missing="class")
        codes += np.unique(videos, return_inverse=True)[1] * (codes.max(initial=0) + 1)
    order = np.argsort(codes, kind="stable")
    together = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    pairs = [rows[np.column_stack(np.triu_indices(len(rows), k=1))] for rows in together]
    return np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=np.int64)
