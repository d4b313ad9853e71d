"""How completion grows with the number of faces: linear, with a kernel, and at best linear."""

from __future__ import annotations

from typing import Any

import numpy as np

from mien._core.progress import track
from mien.completion import (
    AutoCompleter,
    FaceCompleter,
    FeatureRidgeCompleter,
    RidgeCompleter,
    make_cover,
)
from mien.datasets import FaceSet
from mien.evaluation import bootstrap_mean_interval, evaluate_completion, psnr
from mien.reports import Report, plot_curves
from papers.hallucination.data import SIZE, Faces
from papers.hallucination.run import train_matcher, verify

__all__ = ["BESIDE", "add_curve", "learning_curve", "linear_headroom"]

#: What can be drawn beside ridge.
BESIDE = ("reweighted ridge", "kernel ridge", "auto")

_SMALLEST = 60
# Above these several widths of the kernel, and the mixture's sizes, take more than minutes to try.
_WIDTH_FACES = 3_200
_AUTO_FACES = 800
# Rounds in which faces are reweighted by their errors.
_REWEIGHTED = 3
_ABOUT_RIDGE = ("gain of the last doubling", "left for any linear estimate")
# A gain over ridge that would be worth having, in dB: how many faces would it take?
_WANTED = 0.3


def linear_headroom(known: np.ndarray, error: float, cover: np.ndarray) -> float | None:
    """How many dB the best linear estimate, of however many faces, can be above an error at most.

    Parameters
    ----------
    known : (n, h, w)
        Faces to learn from.
    error : float
        Mean squared error of the covered pixels of faces of others.
    cover : (h, w) of bool
        What is covered.

    Returns
    -------
    float or None
        None where there are fewer than twice as many faces as unknowns per pixel, which says
        nothing.

    Notes
    -----
    Least squares without a penalty fits the faces that it learned from better than any other
    linear estimate does, the best one for all faces included. So its error on its own faces is, in
    the mean over sets of faces, not above the error of that best one. Faces count with their
    mirror images, as in :class:`FaceCompleter`.
    """
    faces = np.concatenate([known, known[:, :, ::-1]]).reshape(2 * len(known), -1)
    X, Y = faces[:, ~cover.ravel()], faces[:, cover.ravel()]
    if len(known) < 2 * X.shape[1]:
        return None
    X = np.concatenate([X, np.ones((len(X), 1))], axis=1).astype(np.float64)
    weights = np.linalg.lstsq(X, Y, rcond=None)[0]
    least = float(np.mean((X @ weights - Y) ** 2))
    return float(10 * np.log10(error / least))


def _complete_reweighted(
    known: FaceSet, asked: FaceSet, cover: np.ndarray, alpha: float
) -> np.ndarray:
    """Faces completed by a ridge regression that aims at the mean of decibels.

    The measure is the mean of −10 log10 of each face's squared error, whose gradient is that of the
    sum of squared errors with each face divided by its own: so are the faces here, three times.
    """
    whole = known.vectors().astype(np.float64)
    mirrored = whole.reshape(-1, SIZE, SIZE)[:, :, ::-1].reshape(whole.shape)
    faces = np.concatenate([whole, mirrored])
    hidden = cover.ravel()
    X, Y = faces[:, ~hidden], faces[:, hidden]
    weights = np.full(len(X), 1 / len(X))
    for _ in range(1 + _REWEIGHTED):
        x, y = weights @ X, weights @ Y
        rows = X - x
        system = (rows * weights[:, None]).T @ rows
        system[np.diag_indices(len(system))] += alpha
        found = np.linalg.solve(system, (rows * weights[:, None]).T @ (Y - y))
        errors = np.mean((rows @ found + y - Y) ** 2, axis=1)
        weights = 1 / np.maximum(errors, 1e-6)
        weights /= weights.sum()
    completed = asked.vectors().astype(np.float64)
    completed[:, hidden] = (completed[:, ~hidden] - x) @ found + y
    return np.clip(completed, 0, 1).astype(np.float32).reshape(-1, SIZE, SIZE)


def learning_curve(
    faces: Faces, seed: int, beside: tuple[str, ...] = BESIDE
) -> list[dict[str, Any]]:
    """A row per number of faces, doubled until all are used: dB, SSIM, and verification.

    Ridge, and the completers ``beside`` it. Whole people are added, so every number of faces holds
    those before it.
    """
    rng = np.random.default_rng(seed)
    names = rng.permutation(np.unique(faces.train.people))
    place = {name: k for k, name in enumerate(names.tolist())}
    order = np.argsort([place[name] for name in faces.train.people.tolist()], kind="stable")
    sizes = [len(order)]
    while sizes[-1] >= 2 * _SMALLEST:
        sizes.append(sizes[-1] // 2)
    cover = make_cover("below-eyes", (SIZE, SIZE))
    matcher = train_matcher(faces, seed)
    truth = faces.test.vectors().reshape(-1, SIZE, SIZE)
    rows: list[dict[str, Any]] = []
    width: float | None = None
    for n in track(sizes[::-1], f"{faces.name}: learning curve", len(sizes)):
        known = faces.train.select(np.sort(order[:n]))
        row: dict[str, Any] = {"faces": n}
        alpha = error = 0.0
        reference = np.zeros(len(truth))
        models: dict[str, Any] = {"ridge": RidgeCompleter()}
        if "kernel ridge" in beside:
            models["kernel ridge"] = FeatureRidgeCompleter(sigma=width, random_state=seed)
        if "auto" in beside and n <= _AUTO_FACES:
            models["auto"] = AutoCompleter(random_state=seed)
        if "reweighted ridge" in beside:
            models["reweighted ridge"] = None
        for name, completer in models.items():
            if completer is None:
                completed = _complete_reweighted(known, faces.test, cover, alpha)
            else:
                model = FaceCompleter(completer).fit(known.images, people=known.people)
                completed = np.asarray(model.complete(faces.test.images))
            measures = evaluate_completion(
                faces.test.images, completed, cover=cover, people=faces.test.people
            )
            found = measures["psnr_covered"]
            row[name] = tuple(found[part] for part in ("value", "low", "high"))
            row[f"SSIM, {name}"] = round(measures["ssim"]["value"], 3)
            own = verify(matcher, completed, faces)["own"]
            row[f"VR, {name}"] = round(own["vr"][0], 3)
            if name == "kernel ridge" and 2 * n > _WIDTH_FACES:
                width = model.completer_.sigma_
            decibels = psnr(truth, completed, cover=cover)
            if name != "ridge":
                gain = decibels - reference
                interval = bootstrap_mean_interval(gain, faces.test.people, random_state=seed)
                row[f"{name} − ridge"] = (float(gain.mean()), interval.low, interval.high)
            else:
                reference = decibels
                alpha = model.completer_.alpha_
                error = float(np.mean((completed - truth)[:, cover] ** 2))
        row["gain of the last doubling"] = (
            round(row["ridge"][0] - rows[-1]["ridge"][0], 2) if rows else None
        )
        left = linear_headroom(known.vectors().reshape(-1, SIZE, SIZE), error, cover)
        row["left for any linear estimate"] = None if left is None else round(left, 2)
        rows.append(row)
    return rows


def add_curve(report: Report, faces: Faces, seed: int, beside: tuple[str, ...] = BESIDE) -> None:
    """Table and figure of a set's learning curve."""
    rows = learning_curve(faces, seed, beside)
    names = ("ridge", *beside)
    report.table(
        f"Faces to learn from, {faces.name}: dB of the covered pixels",
        [
            {"faces": row["faces"]}
            | {name: row.get(name) for name in names}
            | {f"{name} − ridge": row.get(f"{name} − ridge") for name in beside}
            | {key: row[key] for key in _ABOUT_RIDGE}
            for row in rows
        ],
        "Each face also mirrored; penalties, the kernel's width and auto's candidates are "
        f"chosen on a tenth of the people (the width by at most {_WIDTH_FACES:,} faces). "
        "Reweighted: each face counts by the inverse of its own squared error, because the measure "
        f"is a mean of decibels. Differences are paired. {len(faces.test)} faces of others are "
        "completed; in brackets 95 % intervals over people. Left for any linear estimate: ridge's "
        "mean squared error on faces of others beside that of least squares on its own faces, in "
        "dB; the best linear estimate, of however many faces, lies between the two, up to the "
        "chance of which faces are tested.",
    )
    report.table(
        f"Faces to learn from, {faces.name}: likeness and verification of what was completed",
        [
            {"faces": row["faces"]}
            | {
                f"{measure}, {name}": row.get(f"{measure}, {name}")
                for measure in ("SSIM", "VR")
                for name in names
            }
            for row in rows
        ],
        "SSIM of whole faces; VR: completed faces matched to the picture they were made from at "
        "1 % false accepts, with KCFA features of other people.",
    )
    _add_conclusion(report, rows)
    curves = {
        name: (
            np.asarray([row["faces"] for row in rows if name in row]),
            np.asarray([row[name][0] for row in rows if name in row]),
        )
        for name in names
        if any(name in row for row in rows)
    }
    report.figure(
        plot_curves(curves, "faces to learn from", "dB of the covered pixels", logx=True),
        f"What more faces bring, {faces.name}",
    )


def _add_conclusion(report: Report, rows: list[dict[str, Any]]) -> None:
    """Say what the other completers gain at most, and what the last doubling of the faces does."""
    gains = [
        (row[name][0] - row["ridge"][0], name, row["faces"])
        for row in rows
        for name in BESIDE
        if name in row
    ]
    words = []
    if gains:
        gain, name, n = max(gains)
        words.append(f"Largest gain over ridge: {gain:+.2f} dB ({name}, {n:,} faces).")
    doubling = rows[-1]["ridge"][0] - rows[-2]["ridge"][0] if len(rows) > 1 else 0.0
    if doubling > 0:
        times = 2 ** min(_WANTED / doubling, 100)
        words.append(
            f"The last doubling of the faces brings ridge {doubling:.2f} dB; were the next ones "
            f"to bring as much, {_WANTED} dB would take {times:,.{1 if times < 10 else 0}f} times "
            "the faces."
        )
    left = rows[-1]["left for any linear estimate"]
    if left is not None:
        words.append(f"No linear estimate can be more than {left:.2f} dB above it.")
    if words:
        report.text(" ".join(words))
