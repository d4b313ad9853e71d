"""The face front end on the photographs and videos at hand, against what is known about them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mien._core.validation import check_choice
from mien.datasets import data_home, load_lfw_embeddings, load_lfw_protocol
from mien.errors import MissingDataError
from mien.evaluation import evaluate_verification
from mien.faces import Face, FoundFace, PictureResult, analyse_pictures, annotate
from mien.media import find_pictures, read_image, resize_images
from mien.reports import Report
from papers.photos.data import PUBLIC_FIGURES, read_boxes, read_videos
from papers.photos.videos import MATCH, judge_boxes, judge_tracks, match_boxes, share

__all__ = ["ENGINES", "PARTS", "reproduce_photos"]

ENGINES = ("sface", "dlib")
"""Engines with vectors of LFW in the data, which give the thresholds; not both fused."""

PARTS = ("vectors", "detection", "five-people", "public-figures", "tracks", "boxes")
"""What `reproduce_photos` can run."""

_FAR = 0.001
_TRUTH, _HIT, _FALSE = "#0072b2", "#009e73", "#d55e00"


def reproduce_photos(
    home: str | os.PathLike[str] | None = None,
    *,
    parts: Sequence[str] = PARTS,
    engines: Sequence[str] = ENGINES,
    every: int = 1,
) -> Report:
    """Run the front end on ``photos`` and ``video`` of the real data.

    Parameters
    ----------
    home : path or None
        Folder of real data; None takes ``MIEN_DATA``.
    parts : sequence of str
        Of ``PARTS``.
    engines : sequence of str
        Of ``ENGINES``; videos are analysed by the first one alone.
    every : int
        Analyse each so many frames of a video.

    Returns
    -------
    Report
        Tables with intervals, and the pictures with what was found in them.

    Notes
    -----
    Three things were chosen with the detection results in sight: YuNet's least score (0.7),
    dlib's least margin (0.2), and that dlib doubles pictures of up to 1,000 pixels. Thresholds
    for faces come from LFW, in which none of these people is.
    """
    for part in parts:
        check_choice("part", part, PARTS)
    place = data_home(home)
    report = Report("Photographs and videos", "the face front end against what is known of them")
    if "vectors" in parts:
        _vectors(report, place, engines)
    if "detection" in parts:
        _detection(report, place / "photos" / "group_photos", engines)
    thresholds = {}
    if {"five-people", "public-figures"} & set(parts):
        thresholds = {engine: _lfw_threshold(place, engine) for engine in engines}
    if "five-people" in parts:
        _five_people(report, place / "photos" / "five_people", thresholds)
    if "public-figures" in parts:
        _public_figures(report, place / "photos" / "public_figures", thresholds)
    if {"tracks", "boxes"} & set(parts):
        videos = read_videos(place / "video")
        if "tracks" in parts:
            judge_tracks(report, videos[0], engines[0], every)
        if "boxes" in parts:
            judge_boxes(report, videos[1:], engines[0], every)
    return report


def _vectors(report: Report, home: Path, engines: Sequence[str]) -> None:
    """Our vectors of LFW's original pictures beside those of the set, which models learn from."""
    paths = find_pictures(home / "lfw" / "sample_originals")
    rows = []
    for engine in engines:
        given = load_lfw_embeddings(home, engine)
        row_of = {Path(file).name: row for row, file in enumerate(given.files)}
        ours, theirs, people, lost = [], [], [], 0
        for result in analyse_pictures(paths, engine):
            row = row_of[result.path.name]
            if not result.acquired or not given.detected[row]:
                lost += 1
                continue
            vector = given.vectors[row] / np.linalg.norm(given.vectors[row])
            # LFW's person is the one in the middle of the picture.
            middle = np.array(result.size[::-1]) / 2
            face = min(
                result.faces,
                key=lambda one: np.linalg.norm(one.face.landmarks.mean(axis=0) - middle),
            )
            ours.append(face.vector)
            theirs.append(vector)
            people.append(str(given.people[row]))
        a, b, who = np.stack(ours), np.stack(theirs), np.array(people)
        same_picture = (a * b).sum(axis=1)
        both = _cross(a, b, who)
        rows.append(
            {
                "engine": engine,
                "pictures": len(paths),
                "failures to acquire": lost,
                "cosine of one picture, median": float(np.median(same_picture)),
                "least": float(same_picture.min()),
                "EER, ours": _cross(a, a, who)["eer"],
                "EER, the set's": _cross(b, b, who)["eer"],
                "EER, one of each": both["eer"],
            }
        )
    report.heading("Our vectors and those of the set")
    report.table(
        "LFW's original pictures through our engines, beside the set's vectors of the same "
        "pictures, deep-funneled",
        rows,
        "The set's pictures were warped before the networks saw them, and its SFace is not "
        "quantised. Pairs of different pictures only.",
    )


def _cross(first: np.ndarray, second: np.ndarray, people: np.ndarray) -> dict[str, Any]:
    """Verification over pairs of different pictures, one from each side."""
    scores = (first @ second.T + second @ first.T) / 2
    i, j = np.triu_indices(len(people), k=1)
    same = people[i] == people[j]
    who = (people[i][same], np.column_stack([people[i], people[j]])[~same])
    values = scores[i, j]
    return evaluate_verification(values[same], values[~same], fars=(0.01,), people=who)


def _boxes_of(faces: Sequence[FoundFace]) -> np.ndarray:
    return np.array([one.face.box for one in faces], dtype=np.float64).reshape(-1, 4)


def _detection(report: Report, folder: Path, engines: Sequence[str]) -> None:
    """Boxes of the XML files, found, missed and too many."""
    truth = read_boxes(folder)
    paths = [folder / name for name in sorted(truth)]
    rows, faults, pictures, captions = [], [], [], []
    for engine in engines:
        hits = misses = false = 0
        errors = []
        for result in analyse_pictures(paths, engine):
            boxes, points = truth[result.path.name]
            pairs = match_boxes(boxes, _boxes_of(result.faces))
            good = [(r, c) for r, c, overlap in pairs if overlap >= MATCH]
            hits, misses = hits + len(good), misses + len(boxes) - len(good)
            false += len(result.faces) - len(good)
            faults += _faults(engine, result, boxes, pairs)
            for r, c in good:
                eyes = np.linalg.norm(points[r, 0] - points[r, 1])
                offset = result.faces[c].face.landmarks - points[r]
                errors.append(np.linalg.norm(offset, axis=1) / eyes)
            pictures.append(_show(read_image(result.path, colour=True), result, boxes, good))
            captions.append(f"{engine}: {len(good)} of {len(boxes)}, {result.path.name}")
        names = ("right eye", "left eye", "nose", "mouth right", "mouth left")
        medians = np.median(errors, axis=0) if errors else np.full(5, np.nan)
        rows.append(
            {
                "engine": engine,
                "boxes": hits + misses,
                "found": share(hits, hits + misses),
                "missed": misses,
                "false alarms": false,
                **{f"{name}: offset": float(v) for name, v in zip(names, medians, strict=True)},
            }
        )
    report.heading("Detection")
    report.table(
        f"{len(truth)} group photographs, boxes of the XML, overlap of at least {MATCH}",
        rows,
        "Offsets: median distance to the labelled points, in distances of the eyes. dlib's nose "
        "and mouth are estimates. dlib's detector may have seen such pictures: they come with it.",
    )
    if faults:
        report.table("Every miss and every false alarm", faults)
    report.gallery(
        pictures, captions, "Blue: the XML, green: found, orange: found and not in the XML", 3
    )


def _faults(
    engine: str, result: PictureResult, boxes: np.ndarray, pairs: list[tuple[int, int, float]]
) -> list[dict[str, Any]]:
    best_row = {r: overlap for r, _, overlap in pairs}
    best_column = {c: overlap for _, c, overlap in pairs}
    out = []
    for r, box in enumerate(boxes):
        if best_row.get(r, 0) < MATCH:
            out.append((engine, "missed", box, 0.0, best_row.get(r, 0.0)))
    for c, found in enumerate(result.faces):
        if best_column.get(c, 0) < MATCH:
            face = found.face
            out.append((engine, "false alarm", face.box, face.confidence, best_column.get(c, 0.0)))
    return [
        {
            "engine": engine,
            "picture": result.path.name,
            "what": what,
            "box": " ".join(str(round(float(v))) for v in box),
            "confidence": confidence or None,
            "best overlap": overlap,
        }
        for engine, what, box, confidence, overlap in out
    ]


def _show(
    image: np.ndarray, result: PictureResult, boxes: np.ndarray, good: list[tuple[int, int]]
) -> np.ndarray:
    hit = {c for _, c in good}
    colours = [_HIT if c in hit else _FALSE for c in range(len(result.faces))]
    frames = [Face(box, np.tile(box[:2] + box[2:] / 2, (5, 1)), 1.0) for box in boxes]
    drawn = annotate(image, [*frames, *result.faces], None, [_TRUTH] * len(frames) + colours)
    return _shrink(drawn, 480)


def _shrink(image: np.ndarray, side: int) -> np.ndarray:
    scale = side / max(image.shape[:2])
    if scale >= 1:
        return image
    height, width = (max(1, round(length * scale)) for length in image.shape[:2])
    return np.asarray(resize_images(image[None], (height, width), fit="stretch")[0])


def _lfw_threshold(home: Path, engine: str) -> float:
    """Cosine that one in a thousand pairs of two people of LFW reaches."""
    given, protocol = load_lfw_embeddings(home, engine), load_lfw_protocol(home)
    norms = np.linalg.norm(given.vectors, axis=1, keepdims=True)
    unit = given.vectors / np.maximum(norms, 1e-9)
    first, second = protocol.pairs[~protocol.same].T
    usable = given.detected[first] & given.detected[second]
    return float(np.quantile((unit[first] * unit[second]).sum(axis=1)[usable], 1 - _FAR))


def _five_people(report: Report, folder: Path, thresholds: dict[str, float]) -> None:
    """All pairs of the crops of five people, and the nearest neighbour of each."""
    rows: list[dict[str, Any]] = []
    crops: list[np.ndarray] = []
    captions: list[str] = []
    for engine, threshold in thresholds.items():
        results = list(
            analyse_pictures(find_pictures(folder), engine, max_faces=1, keep_crops=True)
        )
        usable = [result for result in results if result.acquired]
        lost = len(results) - len(usable)
        people = np.array([result.path.parent.name for result in usable])
        vectors = np.stack([result.faces[0].vector for result in usable])
        rows.append(
            {"engine": engine, "pictures": len(results), "failures to acquire": lost}
            | _all_pairs(vectors, people, threshold, [r.path.parent.name for r in results])
        )
        captions += [f"{engine}: {name}" for name in people[::3]]
        crops += [
            result.faces[0].crop for result in usable[::3] if result.faces[0].crop is not None
        ]
    report.heading("Five people")
    report.table(
        "55 crops of five people, cosine of all pairs",
        rows,
        f"The threshold is that of {_FAR:.1%} false accepts on LFW's pairs. Failures to acquire "
        "count as errors. Interval of the EER: bootstrap by person, of whom there are five only; "
        "of the others: Wilson, as if pictures and pairs were independent.",
    )
    report.gallery(crops, captions, "Some of them, as each engine aligned them", 10)


def _all_pairs(
    vectors: np.ndarray, people: np.ndarray, threshold: float, everybody: Sequence[str]
) -> dict[str, Any]:
    """EER, rates at a threshold from elsewhere, and nearest neighbours (leave one out)."""
    scores = vectors @ vectors.T
    first, second = np.triu_indices(len(people), k=1)
    same = people[first] == people[second]
    genuine, impostor = scores[first, second][same], scores[first, second][~same]
    total = np.array(everybody)
    a, b = np.triu_indices(len(total), k=1)
    all_same = int((total[a] == total[b]).sum())
    failures = (all_same - len(genuine), len(a) - all_same - len(impostor))
    who = (people[first][same], np.column_stack([people[first], people[second]])[~same])
    result = evaluate_verification(genuine, impostor, fars=(0.01,), people=who, failures=failures)
    np.fill_diagonal(scores, -np.inf)
    right = int((people[scores.argmax(axis=1)] == people).sum())
    # Who has one picture only has no neighbour to be found.
    names, counts = np.unique(total, return_counts=True)
    with_others = int(np.isin(total, names[counts > 1]).sum())
    return {
        "EER": result["eer"],
        "nearest neighbour right": share(right, with_others),
        "threshold": threshold,
        "same person accepted": share(int((genuine >= threshold).sum()), all_same),
        "two people accepted": share(int((impostor >= threshold).sum()), len(a) - all_same),
    }


def _public_figures(report: Report, folder: Path, thresholds: dict[str, float]) -> None:
    """Pictures of one person against each other, and people in pictures of two."""
    paths = [folder / name for name in PUBLIC_FIGURES]
    missing = [path.name for path in paths if not path.is_file()]
    if missing:
        raise MissingDataError(f"{str(folder)!r} has no {', '.join(missing)}")
    rows: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    drawn: list[np.ndarray] = []
    captions: list[str] = []
    for engine, threshold in thresholds.items():
        results = list(analyse_pictures(paths, engine, max_faces=1))
        usable = [result for result in results if result.acquired]
        lost = [result.path.name for result in results if not result.acquired]
        names = np.array([PUBLIC_FIGURES[result.path.name] for result in usable])
        vectors = np.stack([result.faces[0].vector for result in usable])
        rows.append(
            {"engine": engine, "pictures": len(results), "no face found": ", ".join(lost) or None}
            | _all_pairs(vectors, names, threshold, [PUBLIC_FIGURES[p.name] for p in paths])
        )
        pairs += _by_person(engine, vectors, names, threshold)
        for result in analyse_pictures(find_pictures(folder), engine):
            if result.path.name in PUBLIC_FIGURES or not result.acquired:
                continue
            labels = [_name(one.vector, vectors, names, threshold) for one in result.faces]
            image = read_image(result.path, colour=True)
            drawn.append(_shrink(annotate(image, result.faces, labels), 480))
            captions.append(f"{engine}: {result.path.name}")
    report.heading("Public figures")
    report.table("Pictures of one person each, cosine of all pairs", rows)
    report.table(
        "By person",
        pairs,
        "The least cosine to another picture of the same person, and the largest to anybody else.",
    )
    report.gallery(drawn, captions, "Pictures of several people, named by the nearest", 3)


def _by_person(
    engine: str, vectors: np.ndarray, names: np.ndarray, threshold: float
) -> list[dict[str, Any]]:
    out = []
    scores = vectors @ vectors.T
    for name in dict.fromkeys(names.tolist()):
        own = names == name
        inside = scores[np.ix_(own, own)][np.triu_indices(int(own.sum()), k=1)]
        outside = scores[np.ix_(own, ~own)]
        out.append(
            {
                "engine": engine,
                "person": name,
                "pictures": int(own.sum()),
                "pairs verified": f"{int((inside >= threshold).sum())} of {inside.size}",
                "least to oneself": float(inside.min()) if inside.size else None,
                "largest to others": float(outside.max()),
                "others accepted": int((outside >= threshold).sum()),
            }
        )
    return out


def _name(vector: np.ndarray, vectors: np.ndarray, names: np.ndarray, threshold: float) -> str:
    scores = vectors @ vector
    best = int(scores.argmax())
    known = scores[best] >= threshold
    return f"{names[best] if known else 'unknown'} {scores[best]:.2f}"
