"""How completion grows with the number of faces, for the linear estimate and for a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from mien._core.progress import track
from mien.completion import FaceCompleter, FeatureRidgeCompleter, RidgeCompleter, make_cover
from mien.evaluation import evaluate_completion
from mien.reports import Report, plot_curves
from papers.hallucination.data import SIZE, Faces

__all__ = ["add_curve", "learning_curve"]

_SMALLEST = 60
# Above this the system of the kernel's features takes minutes.
_KERNEL_FACES = 4500


def learning_curve(faces: Faces, seed: int) -> list[dict[str, Any]]:
    """A row per number of faces, doubled until all are used: dB of the covered pixels, and SSIM.

    Whole people are added, so every number of faces holds those before it.
    """
    rng = np.random.default_rng(seed)
    names = rng.permutation(np.unique(faces.train.people))
    place = {name: k for k, name in enumerate(names.tolist())}
    order = np.argsort([place[name] for name in faces.train.people.tolist()], kind="stable")
    sizes = [len(order)]
    while sizes[-1] >= 2 * _SMALLEST:
        sizes.append(sizes[-1] // 2)
    rows: list[dict[str, Any]] = []
    for n in track(sizes[::-1], f"{faces.name}: learning curve", len(sizes)):
        known = faces.train.select(np.sort(order[:n]))
        row: dict[str, Any] = {"faces": n}
        models: dict[str, Any] = {"ridge": RidgeCompleter()}
        if n <= _KERNEL_FACES:
            models["kernel ridge"] = FeatureRidgeCompleter(sigma=None, random_state=seed)
        for name, completer in models.items():
            model = FaceCompleter(completer).fit(known.images, people=known.people)
            completed = np.asarray(model.complete(faces.test.images))
            measures = evaluate_completion(
                faces.test.images,
                completed,
                cover=make_cover("below-eyes", (SIZE, SIZE)),
                people=faces.test.people,
            )
            found = measures["psnr_covered"]
            row[name] = tuple(found[part] for part in ("value", "low", "high"))
            row[f"SSIM, {name}"] = round(measures["ssim"]["value"], 3)
        row["gain of the last doubling"] = (
            round(row["ridge"][0] - rows[-1]["ridge"][0], 2) if rows else None
        )
        rows.append(row)
    return rows


def add_curve(report: Report, faces: Faces, seed: int) -> None:
    """Table and figure of a set's learning curve."""
    rows = learning_curve(faces, seed)
    report.table(
        f"Faces to learn from, {faces.name}: dB of the covered pixels",
        rows,
        "Each face also mirrored; penalties and the kernel's width are chosen on a tenth of the "
        f"people. {len(faces.test)} faces of others are completed; in brackets 95 % intervals "
        "over people.",
    )
    curves = {
        name: (
            np.asarray([row["faces"] for row in rows if name in row]),
            np.asarray([row[name][0] for row in rows if name in row]),
        )
        for name in ("ridge", "kernel ridge")
    }
    report.figure(
        plot_curves(curves, "faces to learn from", "dB of the covered pixels", logx=True),
        f"What more faces bring, {faces.name}",
    )
