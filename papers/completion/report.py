"""How well covered parts of photographs are found and completed, on people not learned from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage

from mien._core.progress import track
from mien._core.validation import check_choice
from mien.completion import FaceCompleter, LowRankCompleter, make_cover
from mien.crops import load_aligned_lfw
from mien.datasets import data_home, split_people
from mien.errors import DataError, MissingDataError
from mien.evaluation import psnr
from mien.faces import FaceEngine, align_face, load_engine
from mien.media import find_pictures, read_image
from mien.recognition import complete
from mien.reports import Report
from papers.completion.paint import paste_cover
from papers.covered.covers import PLACES, paint_cover

__all__ = ["PARTS", "judge_completion"]

PARTS = ("faces", "photographs")

_COMPONENTS = 110
_LEAST_SIDE = 80


def judge_completion(
    home: str | os.PathLike[str] | None = None,
    *,
    parts: tuple[str, ...] = PARTS,
    n_covers: int = 2,
    random_state: int = 0,
) -> Report:
    """Measure the shipped method on people of LFW held out, and on photographs with painted covers.

    Parameters
    ----------
    home : path or None
        Folder of the real data.
    parts : tuple of str
        "faces" of LFW at the size of the model, and "photographs" with painted covers.
    n_covers : int
        Covers of each form on each photograph.
    random_state : int
        Seed of the split and of the covers.
    """
    report = Report("Completion of photographs", "Covers are painted, so the truth is known")
    for part in parts:
        check_choice("part", part, PARTS)
    if "faces" in parts:
        _add_faces(report, home, random_state)
    if "photographs" in parts:
        _add_photographs(report, data_home(home), n_covers, random_state)
    return report


def _add_faces(report: Report, home: str | os.PathLike[str] | None, seed: int) -> None:
    """The model on covered faces; those learned from beside those not."""
    images, people = load_aligned_lfw(home, 64)
    train, test = split_people(people, 0.1, random_state=seed)
    model = FaceCompleter(LowRankCompleter(_COMPONENTS), cover="lower").fit(
        images[train], people=people[train]
    )
    mean = images[train].mean(axis=0) / 255
    # A tenth of the people of the training is held out; nearly all of these were learned from.
    known = train[: len(test)]
    rows = []
    for name in ("below-eyes", "lower", "right"):
        errors = [_covered_error(model, images[part], name) for part in (test, known)]
        plain = np.mean((images[test] / 255 - mean)[:, make_cover(name, model.shape_)] ** 2, axis=1)
        above = np.searchsorted(np.sort(errors[1]), errors[0]) / len(errors[1])
        rows.append(
            {
                "cover": name,
                "mean face": _decibels(plain),
                "new people": _decibels(errors[0]),
                "people learned from": _decibels(errors[1]),
                "told apart (AUC)": round(float(above.mean()), 3),
            }
        )
    report.table(
        "PSNR of the hidden pixels in dB, LFW at 64×64",
        rows,
        f"{len(train):,} faces to learn from, {len(test):,} of other people. The last column: how "
        "well the error tells a face that was learned from; .5 is not at all.",
    )


def _covered_error(model: FaceCompleter, images: np.ndarray, cover: str) -> np.ndarray:
    """Mean squared error (n,) of the covered pixels."""
    completed = model.complete(images, cover=cover)
    where = make_cover(cover, model.shape_)
    return np.asarray(np.mean((images / 255 - completed)[:, where] ** 2, axis=1))


def _decibels(errors: np.ndarray) -> float:
    return round(float(np.mean(-10 * np.log10(np.maximum(errors, 1e-9)))), 2)


def _add_photographs(report: Report, home: Path, n_covers: int, seed: int) -> None:
    photos = home / "photos"
    if not photos.is_dir():
        raise MissingDataError(f"{str(photos)!r} does not exist: the photographs are missing")
    paths = [*find_pictures(photos / "public_figures"), *photos.glob("*.*")]
    textures = [read_image(p, colour=True) for p in find_pictures(home / "corel1k")[::40]]
    textures = [t for t in textures if min(t.shape[:2]) >= 112]
    engine = load_engine("sface")
    rs = np.random.RandomState(seed)
    found: dict[str, list[dict[str, float] | None]] = {place: [] for place in PLACES}
    clean: list[bool] = []
    shown: dict[str, np.ndarray] = {}
    for path in track(sorted(paths), "covering photographs", len(paths)):
        picture = read_image(path, colour=True)
        faces = engine.detect(picture)
        if len(faces) != 1 or float(faces[0].box[2:].min()) < _LEAST_SIDE:
            continue
        clean.append(complete(picture, engine=engine).n_completed == 0)
        for place in PLACES:
            for _ in range(n_covers):
                result, sheet = _cover_and_complete(picture, place, textures, engine, rs)
                found[place].append(result)
                if (
                    sheet is not None
                    and len(clean) in (2, 6)
                    and f"{place}{len(clean)}" not in shown
                ):
                    shown[f"{place}{len(clean)}"] = sheet
    report.table(
        "Photographs that no part of it learned from",
        [_cover_row(place, results) for place, results in found.items()],
        f"{len(clean)} photographs with one face each; without a cover nothing is changed in "
        f"{sum(clean)}. PSNR in dB of the brightness of what was covered; smooth: filled from "
        "nearby without a model. Not found: no face, or nothing taken as covered.",
    )
    for name, sheet in shown.items():
        report.gallery(sheet[None], captions=[name], title=name, columns=1)


def _cover_and_complete(
    picture: np.ndarray,
    place: str,
    textures: list[np.ndarray],
    engine: FaceEngine,
    rs: np.random.RandomState,
) -> tuple[dict[str, float] | None, np.ndarray | None]:
    """Paint a cover, complete with and without knowing where; None where nothing was found."""
    face = engine.detect(picture)[0]
    crop, mask = paint_cover(align_face(picture, face), place, textures, rs)
    covered, truth = paste_cover(picture, face, crop, mask)
    try:
        auto = complete(covered, engine=engine)
        told = complete(covered, cover=truth, engine=engine)
    except DataError:
        return None, None
    if not auto.covered.any():
        return None, None
    smooth = covered.astype(np.float32)
    width = float(face.box[2]) / 8
    weight = ndimage.gaussian_filter((~truth).astype(np.float32), width) + 1e-6
    blurred = ndimage.gaussian_filter(smooth * ~truth[..., None], (width, width, 0))
    smooth[truth] = (blurred / weight[..., None])[truth]
    union = auto.covered | truth
    return {
        "iou": float((auto.covered & truth).sum() / union.sum()),
        "auto": _psnr_inside(picture, auto.image, truth),
        "told": _psnr_inside(picture, told.image, truth),
        "smooth": _psnr_inside(picture, smooth, truth),
        "cover": _psnr_inside(picture, covered, truth),
    }, auto.draw(200)


def _psnr_inside(truth: np.ndarray, image: np.ndarray, mask: np.ndarray) -> float:
    weights = np.array([0.299, 0.587, 0.114])
    grey = [(part[mask].astype(np.float64) @ weights)[None] / 255 for part in (truth, image)]
    return float(psnr(np.clip(grey[0], 0, 1)[..., None], np.clip(grey[1], 0, 1)[..., None])[0])


def _cover_row(place: str, results: list[dict[str, float] | None]) -> dict[str, Any]:
    good = [result for result in results if result is not None]
    middle = {
        key: round(float(np.median([result[key] for result in good])), 2) if good else None
        for key in ("iou", "cover", "smooth", "auto", "told")
    }
    return {
        "cover": place,
        "pictures": len(results),
        "not found": len(results) - len(good),
        "IoU, median": middle["iou"],
        "covered": middle["cover"],
        "smooth": middle["smooth"],
        "completed": middle["auto"],
        "completed, place known": middle["told"],
    }
