"""The videos of the photographs' report: labelled tracks, and one box a frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mien.evaluation import wilson_interval
from mien.faces import VideoResult, analyse_video
from mien.media import box_overlap
from mien.reports import Report
from papers.photos.data import LabelledVideo

__all__ = ["MATCH", "judge_boxes", "judge_tracks", "match_boxes", "share"]

MATCH = 0.5
"""Least overlap (intersection over union) of a found box with a labelled one."""


def share(count: int, total: int) -> dict[str, float]:
    """A rate with Wilson's interval."""
    low, high = wilson_interval(count, total)
    return {"value": count / total, "low": float(low), "high": float(high)}


def match_boxes(truth: np.ndarray, found: np.ndarray) -> list[tuple[int, int, float]]:
    """Pairs (row of truth, row of found, overlap), the best first, none used twice."""
    if len(truth) == 0 or len(found) == 0:
        return []
    corners = [np.column_stack([b[:, :2], b[:, :2] + b[:, 2:]]) for b in (truth, found)]
    overlap = box_overlap(corners[0], corners[1])
    pairs: list[tuple[int, int, float]] = []
    for flat in np.argsort(-overlap, axis=None):
        row, column = divmod(int(flat), overlap.shape[1])
        if all(row != r and column != c for r, c, _ in pairs):
            pairs.append((row, column, float(overlap[row, column])))
    return pairs


def _match_video(result: VideoResult, video: LabelledVideo) -> np.ndarray:
    """Row of the detection that lies on each labelled box (n,), -1 where none does."""
    matched = np.full(len(video.frames), -1)
    frames, boxes = result.frames, result.boxes.astype(np.float64)
    for frame in np.unique(video.frames):
        rows, found = np.flatnonzero(video.frames == frame), np.flatnonzero(frames == frame)
        for r, c, overlap in match_boxes(video.boxes[rows], boxes[found]):
            if overlap >= MATCH:
                matched[rows[r]] = found[c]
    return matched


def judge_tracks(report: Report, video: LabelledVideo, engine: str, every: int) -> None:
    """The labelled tracks of the clip against ours."""
    result = analyse_video(video.path, engine, every=every, keep_crops=True)
    matched = _match_video(result, video)
    rows = []
    for number in np.unique(video.tracks):
        seen = (video.tracks == number) & (video.frames % every == 0)
        ours = result.tracks[matched[seen & (matched >= 0)]]
        rows.append(
            {
                "labelled track": int(number),
                "person": video.people[number],
                "boxes": int(seen.sum()),
                "found": share(int((matched[seen] >= 0).sum()), int(seen.sum())),
                "in our tracks": ", ".join(
                    f"{track} ({count})"
                    for track, count in zip(*np.unique(ours, return_counts=True), strict=True)
                ),
            }
        )
    people = np.array(video.people)[video.tracks]
    mixed = [
        track
        for track in np.unique(result.tracks)
        if track >= 0
        and len(set(people[(matched >= 0) & (result.tracks[matched] == track)].tolist())) > 1
    ]
    report.heading("Tracks of the Hamilton clip")
    report.table(
        f"{result.n_frames} frames, {len(result.detections)} faces in "
        f"{len(np.unique(result.tracks[result.tracks >= 0]))} tracks, cuts at {result.cuts}",
        rows,
        f"Tracks of ours with two labelled people: {len(mixed)}. Faces in no track: "
        f"{int((result.tracks < 0).sum())}. Pairs of one frame: {len(result.cannot_link)}. Only "
        "three tracks are labelled; the others are people of the same clip without a label.",
    )
    chosen = [
        np.flatnonzero(result.tracks == t)[:: max(1, int((result.tracks == t).sum()) // 7)][:8]
        for t in np.unique(result.tracks)
        if t >= 0
    ]
    crops = [(result.detections[k].found.crop, result.tracks[k]) for k in np.concatenate(chosen)]
    report.gallery(
        [crop for crop, _ in crops if crop is not None],
        [f"track {track}" for crop, track in crops if crop is not None],
        "Up to eight faces of each track",
        8,
    )


def judge_boxes(report: Report, videos: Sequence[LabelledVideo], engine: str, every: int) -> None:
    """Three videos with one box a frame."""
    rows = []
    pictures: list[np.ndarray] = []
    captions: list[str] = []
    for video in videos:
        result = analyse_video(video.path, engine, every=every, keep_crops=True)
        matched = _match_video(result, video)
        seen = video.frames % every == 0
        on = matched[seen & (matched >= 0)]
        tracks = result.tracks[on]
        length = np.bincount(tracks[tracks >= 0], minlength=1)
        anything = np.isin(video.frames[seen], result.frames)
        covered = [result.detections[k].found.quality for k in on]
        rows.append(
            {
                "video": video.name,
                "boxes": int(seen.sum()),
                "a face on the box": share(len(on), int(seen.sum())),
                "any face in the frame": share(int(anything.sum()), int(seen.sum())),
                "tracks on the boxes": int((length > 0).sum()),
                "longest": int(length.max()),
                "cuts": len(result.cuts),
                "lower face said to be covered": float(
                    np.mean([q is not None and q.lower_face_covered > 0.5 for q in covered])
                )
                if covered
                else None,
            }
        )
        for k in on[:: max(1, len(on) // 8)][:8]:
            crop, quality = result.detections[k].found.crop, result.detections[k].found.quality
            if crop is not None and quality is not None:
                pictures.append(crop)
                captions.append(
                    f"{video.name} {result.frames[k]}: covered {quality.lower_face_covered:.2f}, "
                    f"yaw {quality.yaw:.0f}"
                )
    report.heading("One box a frame")
    report.table(
        f"Faces on the boxes of the benchmark, overlap of at least {MATCH}",
        rows,
        "Boxes of a tracking benchmark: they go on where the face is turned away or covered "
        "whole, and are cut differently from a detector's.",
    )
    report.gallery(pictures, captions, "Faces found, with two measures of quality", 8)
