"""Section of the demo: whole faces from the eyes."""

from __future__ import annotations

import numpy as np

from mien.completion import FaceCompleter, make_completer, make_cover
from mien.datasets import crop_rendered
from mien.demo._data import DemoData
from mien.evaluation import evaluate_completion
from mien.media import resize_images
from mien.reports import Report

__all__ = ["complete_faces"]

_SIZE = 32
_METHODS = (
    ("K-SVD", "ksvd"),
    ("DW-KSVD", "dictionary"),
    ("ridge", "ridge"),
)


def complete_faces(data: DemoData, report: Report) -> None:
    """Cover all but the eyes of people who were never seen, and complete them."""
    report.heading("Half a face")
    if data.rendered:
        train, test = (crop_rendered(faces).images for faces in (data.train, data.test))
    else:
        train, test = (resize_images(f.images, _SIZE) for f in (data.train, data.test))
    cover = make_cover("below-eyes", (_SIZE, _SIZE))
    chosen = np.linspace(0, len(test) - 1, 5).astype(int)
    grey = test.dtype.type(128 if test.dtype == np.uint8 else 0.5)
    covered = np.where(cover, grey, test[chosen])
    columns = [_as_floats(test[chosen]), _as_floats(covered)]
    rows = []
    for name, method in _METHODS:
        sizes = {} if method == "ridge" else {"max_iter": 3, "random_state": data.random_state}
        model = FaceCompleter(make_completer(method, **sizes), cover=cover)
        faces = model.fit(train, people=data.train.people).complete(test)
        measures = evaluate_completion(test, faces, cover=cover, people=data.test.people)
        score = measures["psnr_covered"]
        value = (score["value"], score["low"], score["high"])
        rows.append({"method": name, "PSNR of covered pixels, dB": value})
        columns.append(faces[chosen])
    data.add_result("completed faces, ridge", "covered PSNR, dB", value)
    report.text(
        "Only the top 13 of 32 rows are visible; what lies below is a guess from other people's "
        "faces. The dictionaries are those of the paper, ridge regression the honest baseline."
    )
    report.table("Completed faces", rows, "In brackets: 95 % intervals over people.")
    names = ["original", "visible", *(name for name, _ in _METHODS)]
    report.gallery(
        np.stack(columns, axis=1).reshape(-1, _SIZE, _SIZE),
        captions=names * len(chosen),
        title="From the eyes to the whole face",
        columns=len(names),
    )


def _as_floats(images: np.ndarray) -> np.ndarray:
    scale = np.float32(255 if images.dtype == np.uint8 else 1)
    return np.asarray(images, dtype=np.float32) / scale
