"""Half a face from few faces: what more copies, other methods and faces of others bring."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from mien._core.progress import track
from mien.completion import (
    AutoCompleter,
    FaceCompleter,
    FeatureRidgeCompleter,
    MixtureCompleter,
    make_cover,
)
from mien.datasets import FaceSet, crop_rendered, load_lfw, load_orl, load_yale, make_faces
from mien.evaluation import bootstrap_mean_interval, psnr, ssim
from mien.media import resize_images
from mien.reports import Report
from papers.hallucination.data import SIZE

__all__ = ["add_few"]

_FOLDS = 4
_REFERENCE = "ridge"


def add_few(report: Report, home: Any, quick: bool, seed: int) -> None:
    """A table per small set: every person completed once, by what learned from others."""
    foreign = _Foreign(home, quick)
    for name, faces in (
        ("ORL", load_orl(home, size=SIZE)),
        ("Yale", load_yale(home, variant="64x64", size=SIZE)),
    ):
        report.table(
            f"Few faces, {name}: dB of the covered pixels",
            _compare(name, faces, foreign, quick, seed),
            f"{len(faces)} faces of {faces.n_people} people in {_FOLDS} parts: each part is "
            "completed by what learned from the others, so the numbers are over all faces. Gain: "
            f"over {_REFERENCE} on the same faces; 95 % interval over people. All but one "
            "row also learn from mirrored faces; shifted ones are moved by one pixel in four "
            "directions. Foreign faces are rendered people, and those of LFW in the window whose "
            "mean face is most like that of the training part. Every choice is made on people "
            "held out of the training part. Foreign share: of the foreign covariance, mean over "
            "the parts.",
        )


class _Foreign:
    """Ridge completers of faces of others, each face also shifted: they are framed otherwise."""

    def __init__(self, home: Any, quick: bool) -> None:
        lfw = load_lfw(home, min_pictures=50 if quick else 1)
        self.images, self.people = lfw.images, lfw.people
        self.mean = self.images.mean(axis=0)
        faces = crop_rendered(make_faces(100 if quick else 2000, 4, size=64, random_state=1))
        self.rendered = FaceCompleter("ridge", shift=1).fit(faces.images, people=faces.people)
        self.in_window = cache(self._in_window)

    def like(self, own: np.ndarray) -> FaceCompleter:
        """LFW in the square window whose mean face is most like that of own faces (n, s, s)."""
        wanted = own.mean(axis=0).ravel()
        height, width = self.mean.shape
        windows = [
            (top, side)
            for side in range(width // 2, width + 1, 8)
            for top in range(0, height - side + 1, 4)
        ]
        return self.in_window(*max(windows, key=lambda w: self._likeness(wanted, *w)))

    def _cut(self, images: np.ndarray, top: int, side: int) -> np.ndarray:
        left = (images.shape[2] - side) // 2
        return resize_images(images[:, top : top + side, left : left + side], SIZE)

    def _likeness(self, wanted: np.ndarray, top: int, side: int) -> float:
        mean = self._cut(self.mean[None].astype(np.uint8), top, side)
        return float(np.corrcoef(mean.ravel(), wanted)[0, 1])

    def _in_window(self, top: int, side: int) -> FaceCompleter:
        faces = self._cut(self.images, top, side)
        return FaceCompleter("ridge", shift=1).fit(faces, people=self.people)


def _rows(quick: bool, seed: int) -> dict[str, tuple[FaceCompleter, str | None]]:
    """Name -> an unfitted model, and which foreign faces it learns beside."""
    rows: dict[str, tuple[FaceCompleter, str | None]] = {
        _REFERENCE: (FaceCompleter("ridge"), None),
        "ridge, not mirrored": (FaceCompleter("ridge", mirror=False), None),
        "ridge, shifted": (FaceCompleter("ridge", shift=1), None),
        "ridge, foreign faces of LFW": (FaceCompleter("ridge"), "LFW"),
        "ridge, foreign faces, rendered": (FaceCompleter("ridge"), "rendered"),
        "ridge, shifted, LFW": (FaceCompleter("ridge", shift=1), "LFW"),
        "ridge, shifted, rendered": (FaceCompleter("ridge", shift=1), "rendered"),
    }
    if not quick:
        kernel = FeatureRidgeCompleter(sigma=None, random_state=seed)
        rows |= {
            "kernel ridge": (FaceCompleter(kernel), None),
            "kernel ridge, shifted": (FaceCompleter(kernel, shift=1), None),
            "mixture of PCCA": (FaceCompleter(MixtureCompleter(random_state=seed)), None),
            "auto, shifted, LFW": (FaceCompleter(AutoCompleter(random_state=seed), shift=1), "LFW"),
        }
    return rows


def _compare(
    name: str, faces: FaceSet, foreign: _Foreign, quick: bool, seed: int
) -> list[dict[str, Any]]:
    who, which = np.unique(faces.people, return_inverse=True)
    part = np.random.default_rng(seed).permutation(len(who))[which] % _FOLDS
    cover = make_cover("below-eyes", (SIZE, SIZE))
    truth = faces.vectors().reshape(-1, SIZE, SIZE)
    found: dict[str, np.ndarray] = {}
    rows = []
    methods = _rows(quick, seed)
    for method, (model, beside) in track(methods.items(), f"{name}: methods", len(methods)):
        completed = np.zeros_like(truth, dtype=np.float32)
        shares = []
        for k in range(_FOLDS):
            known = faces.select(np.flatnonzero(part != k))
            other = None
            if beside is not None:
                other = foreign.rendered if beside == "rendered" else foreign.like(known.images)
            model.fit(known.images, people=known.people, foreign=other)
            completed[part == k] = model.complete(faces.images[part == k])
            shares.append(getattr(model.completer_, "foreign_share_", np.nan))
        found[method] = psnr(truth, completed, cover=cover)
        gain = found[method] - found[_REFERENCE]
        interval = bootstrap_mean_interval(gain, faces.people, random_state=seed)
        rows.append(
            {
                "method": method,
                "dB": round(float(found[method].mean()), 2),
                "gain": None
                if method == _REFERENCE
                else tuple(round(float(v), 2) for v in (gain.mean(), interval.low, interval.high)),
                "SSIM": round(float(np.mean(ssim(truth, completed))), 3),
                "foreign share": None if beside is None else _mean_share(shares),
            }
        )
    return rows


def _mean_share(shares: list[float]) -> float | None:
    return None if np.isnan(shares).any() else round(float(np.mean(shares)), 2)
