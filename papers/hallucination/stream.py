"""A learning curve of rendered faces that pass once: a million of them need one covariance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mien._core.progress import report as report_progress
from mien.completion import make_cover
from mien.datasets import crop_rendered, iter_faces
from mien.evaluation import evaluate_completion
from mien.reports import Report, plot_curves
from papers.hallucination.data import SIZE, Faces

__all__ = ["add_stream", "stream_curve"]

_PER_PERSON = 4
_FIRST = 4_096
_BATCH = 4_096
_ALPHAS = (1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
# People who choose the penalty, and those who are learned from: nobody is among the tested ones.
_CHOOSING, _LEARNED = 5_000, 10_000


def _faces(first: int, n: int, seed: int) -> Iterator[np.ndarray]:
    """Batches (k, d) of n rendered faces, four per person, from a first person on."""
    people = -(-n // _PER_PERSON)
    for batch in iter_faces(
        _BATCH, people, _PER_PERSON, size=64, first_person=first, random_state=seed, n_jobs=-1
    ):
        yield crop_rendered(batch, SIZE).vectors()


def stream_curve(faces: Faces, n_faces: int, seed: int) -> list[dict[str, Any]]:
    """Ridge after every doubling of the faces that have passed, judged on people of ``faces``.

    Each face counts with its mirror image, which permutes rows and columns of the sums.
    """
    cover = make_cover("below-eyes", (SIZE, SIZE)).ravel()
    mirror = np.arange(SIZE * SIZE).reshape(SIZE, SIZE)[:, ::-1].ravel()
    choosing = np.concatenate(list(_faces(_CHOOSING, 2_000, seed))).astype(np.float64)
    tested = faces.test.vectors().astype(np.float64)
    products, sums, n = np.zeros((len(cover), len(cover))), np.zeros(len(cover)), 0
    rows: list[dict[str, Any]] = []
    wanted = _FIRST
    for batch in _faces(_LEARNED, n_faces, seed):
        products += batch.T @ batch
        sums += batch.sum(axis=0, dtype=np.float64)
        n += len(batch)
        report_progress("faces that have passed", n, n_faces)
        if n < wanted and n < n_faces:
            continue
        wanted *= 2
        mean = (sums + sums[mirror]) / (2 * n)
        whole = (products + products[np.ix_(mirror, mirror)]) / (2 * n) - np.outer(mean, mean)
        found = {alpha: _solve(whole, cover, alpha) for alpha in _penalties(whole)}
        errors = {
            alpha: np.mean((_complete(choosing, mean, cover, found[alpha]) - choosing) ** 2)
            for alpha in found
        }
        best = min(errors, key=errors.__getitem__)
        completed = np.clip(_complete(tested, mean, cover, found[best]), 0, 1)
        measures = evaluate_completion(
            faces.test.images,
            completed.reshape(-1, SIZE, SIZE).astype(np.float32),
            cover=cover.reshape(SIZE, SIZE),
            people=faces.test.people,
        )
        value = measures["psnr_covered"]
        gain = round(value["value"] - rows[-1]["ridge"][0], 2) if rows else None
        rows.append(
            {
                "faces": n,
                "ridge": (value["value"], value["low"], value["high"]),
                "gain of the last doubling": gain,
                "SSIM": round(measures["ssim"]["value"], 3),
            }
        )
    return rows


def _penalties(covariance: np.ndarray) -> list[float]:
    """Noise relative to the mean variance of a pixel; a million faces need hardly any."""
    scale = float(np.trace(covariance)) / len(covariance)
    return [alpha * scale for alpha in _ALPHAS]


def _solve(covariance: np.ndarray, cover: np.ndarray, alpha: float) -> np.ndarray:
    """Weights (m, k) from visible to covered pixels, centred."""
    seen = covariance[np.ix_(~cover, ~cover)].copy()
    seen[np.diag_indices(len(seen))] += alpha
    return np.linalg.solve(seen, covariance[np.ix_(~cover, cover)])


def _complete(
    whole: np.ndarray, mean: np.ndarray, cover: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    completed = whole.copy()
    completed[:, cover] = (whole[:, ~cover] - mean[~cover]) @ weights + mean[cover]
    return completed


def add_stream(report: Report, faces: Faces, n_faces: int, seed: int) -> None:
    """Table and figure of the curve."""
    rows = stream_curve(faces, n_faces, seed)
    report.table(
        f"Rendered faces that pass once, up to {n_faces:,}: ridge, dB of the covered pixels",
        rows,
        f"Each face also mirrored, {_PER_PERSON} of each person; the penalty is chosen on 500 "
        f"other people. {len(faces.test)} faces of others again are completed, the same as in the "
        "other curve; in brackets 95 % intervals over people. Memory does not grow with the faces.",
    )
    curve = (
        np.asarray([row["faces"] for row in rows]),
        np.asarray([row["ridge"][0] for row in rows]),
    )
    report.figure(
        plot_curves({"ridge": curve}, "faces to learn from", "dB of the covered pixels", logx=True),
        "What more rendered faces bring to ridge",
    )
