"""Section of the demo: whole faces from the eyes."""

from __future__ import annotations

import numpy as np

from mien.datasets import crop_rendered
from mien.demo._data import DemoData
from mien.evaluation import evaluate_reconstruction
from mien.media import resize_images
from mien.reconstruction import FaceHallucinator, make_mask
from mien.reports import Report

__all__ = ["complete_faces"]

_SIZE = 32
_METHODS = (
    ("K-SVD", "ksvd"),
    ("DW-KSVD", "dw-ksvd"),
    ("ridge", "ridge"),
)


def complete_faces(data: DemoData, report: Report) -> None:
    """Hide all but the eyes of people who were never seen, and complete them."""
    report.heading("Half a face")
    if data.rendered:
        train, test = (crop_rendered(faces).images for faces in (data.train, data.test))
    else:
        train, test = (resize_images(f.images, _SIZE) for f in (data.train, data.test))
    mask = make_mask("periocular", (_SIZE, _SIZE))
    chosen = np.linspace(0, len(test) - 1, 5).astype(int)
    hidden = np.where(mask, test[chosen], test.dtype.type(128 if test.dtype == np.uint8 else 0.5))
    columns = [_as_floats(test[chosen]), _as_floats(hidden)]
    rows = []
    for name, method in _METHODS:
        model = FaceHallucinator(
            method, n_atoms=min(300, len(train) // 2), max_iter=3, random_state=data.random_state
        ).fit(train, mask=mask)
        result = model.reconstruct(test, details=True)
        measures = evaluate_reconstruction(test, result.faces, mask=mask, people=data.test.people)
        score = measures["psnr_hidden"]
        value = (score["value"], score["low"], score["high"])
        rows.append({"method": name, "PSNR of hidden pixels, dB": value})
        columns.append(result.faces[chosen])
    data.add_result("completed faces, ridge", "hidden PSNR, dB", value)
    report.text(
        "Only the top 13 of 32 rows are seen; what lies below is a guess from other people's "
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
