"""Whole faces from the eyes: the six methods of the paper and ours, on faces that we have."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from mien._core.progress import report as report_progress
from mien._core.progress import track
from mien.completion import FaceCompleter, make_cover
from mien.errors import InputError
from mien.reports import Report, plot_curves, plot_histograms, plot_roc
from papers.hallucination.curve import BESIDE, add_curve
from papers.hallucination.data import SIZE, Faces, load_sets
from papers.hallucination.few import add_few
from papers.hallucination.run import (
    ROWS,
    run_row,
    study_dictionaries,
    train_matcher,
    verify,
)
from papers.hallucination.stream import add_stream

__all__ = ["SETS", "reproduce_hallucination"]

SETS = ("lfw", "orl", "rendered")


def reproduce_hallucination(
    home: str | os.PathLike[str] | None = None,
    *,
    sets: tuple[str, ...] = SETS,
    quick: bool = False,
    study: bool = False,
    curve: bool = False,
    few: bool = False,
    stream: int | None = None,
    beside: tuple[str, ...] = BESIDE,
    random_state: int = 0,
) -> Report:
    """Run the six methods of the paper and ours, and set the paper's tables beside.

    Parameters
    ----------
    home : path or None
        Folder of the real data.
    sets : tuple of str
        Some of "lfw", "orl" and "rendered".
    quick : bool
        Few faces and atoms: minutes instead of a quarter of an hour.
    study : bool
        Also measure how the dictionaries depend on K and β, on the first set.
    curve : bool
        Instead of all this, draw what more faces bring to ridge and to others.
    few : bool
        Instead of all this, compare what helps where faces are few.
    stream : int or None
        Instead of all this, let so many rendered faces pass, and draw what they bring to ridge.
    beside : tuple of str
        Which others: some of "reweighted ridge", "kernel ridge" and "auto", or none.
    random_state : int
        Seed of splits, maps and dictionaries.

    Returns
    -------
    Report
        For each set: PSNR, SSIM, verification, and pictures.
    """
    unknown = set(sets) - set(SETS)
    if unknown:
        raise InputError(f"sets are some of {', '.join(SETS)}; got {', '.join(sorted(unknown))}")
    report = Report(
        "Half a face",
        "Whole faces of 32×32 pixels from the top 13 rows; nobody is in training and in test",
    )
    if few:
        add_few(report, home, quick, random_state)
        return report
    if stream is not None:
        (faces,) = load_sets(("rendered",), home, quick, random_state)
        add_stream(report, faces, stream, random_state)
        return report
    for n, faces in enumerate(load_sets(sets, home, quick, random_state)):
        if curve:
            add_curve(report, faces, random_state, beside)
            continue
        _add_set(report, faces, random_state)
        if study and n == 0:
            report.table(
                f"PSNR over K (atoms per face) and β (weight of the visible part), {faces.name}",
                study_dictionaries(faces, random_state),
                "At most 3,000 faces, 400 atoms, 4 rounds; people held out of the training set.",
            )
    return report


def _add_set(report: Report, faces: Faces, seed: int) -> None:
    learned: dict[tuple[Any, ...], FaceCompleter] = {}
    results = [
        run_row(row, faces, seed, learned)
        for row in track(ROWS, f"{faces.name}: methods", total=len(ROWS))
    ]
    report.heading(faces.name.upper() if faces.name != "rendered" else "Rendered faces")
    report.text(
        f"{len(faces.train)} faces of {faces.train.n_people} people to learn from (each also "
        f"mirrored), {len(faces.test)} faces of {faces.test.n_people} others to complete. "
        f"Dictionaries of {faces.settings['n_atoms']} atoms, "
        f"{faces.settings['n_nonzero_coefs']} of them per face, "
        f"{faces.settings['max_iter']} rounds."
    )
    report.table(
        f"Fidelity on {faces.name}: PSNR in dB",
        [_fidelity_row(result) for result in results],
        "PSNR and its standard deviation are over all pixels of each face as estimated, also the "
        "visible ones; in brackets 95 % intervals over people. The paper's faces are one "
        "million private mugshots. Fastfood 5× shares the dictionary of the row above it.",
    )
    report_progress(f"{faces.name}: verification", 0, 1)
    matcher = train_matcher(faces, seed)
    originals = {"original": verify(matcher, faces.test.vectors(), faces)}
    matches = {r["row"].name: verify(matcher, r["completed"], faces) for r in results}
    rows = [_match_row("original", originals["original"], 0.982, 0.014)]
    rows += [
        _match_row(r["row"].name, matches[r["row"].name], r["row"].vr, r["row"].eer)
        for r in results
    ]
    report.table(
        f"Verification on {faces.name} with KCFA features of other people",
        rows,
        "Completed against original faces, all pairs. Own: is a face matched to the picture it was "
        "made from? Other: to other pictures of the same person. All: both, as the paper counts "
        "its pairs (every picture against every picture, itself included).",
    )
    report.figure(
        plot_roc({name: found["own"]["roc"] for name, found in matches.items()}),
        f"Completed faces against their own originals, {faces.name}",
    )
    # As many as can be told apart: the paper's six, and ridge.
    drawn = [r for r in results if r["row"].psnr is not None or r["row"].completer == "ridge"]
    report.figure(
        plot_histograms(
            {r["row"].name: r["psnr"] for r in drawn}, xlabel="PSNR in dB", normal=True
        ),
        f"PSNR of the test faces with fitted normal densities (figure 7), {faces.name}",
    )
    people = {r["row"].name: (np.arange(len(r["people"])), np.sort(r["people"])) for r in drawn}
    figure = plot_curves(people, "person, by mean PSNR", "mean PSNR in dB")
    for line, result in zip(figure.axes[0].get_lines(), drawn, strict=False):
        mean = float(result["people"].mean())
        figure.axes[0].plot(
            [0, len(result["people"]) - 1],
            [mean, mean],
            "--",
            color=line.get_color(),
            label=f"{result['row'].name}, mean {mean:.1f}",
        )
    report.figure(figure, f"Mean PSNR of each person and overall mean (figure 6), {faces.name}")
    _add_pictures(report, faces, results)
    report_progress(f"{faces.name}: verification", 1, 1)


def _fidelity_row(result: dict[str, Any]) -> dict[str, Any]:
    row, measures = result["row"], result["measures"]
    parts = ("value", "low", "high")
    return {
        "method": row.name,
        "PSNR": tuple(measures["psnr"][part] for part in parts),
        "std": round(float(result["psnr"].std()), 2),
        "covered pixels": round(measures["psnr_covered"]["value"], 2),
        "SSIM": round(measures["ssim"]["value"], 3),
        "paper": row.psnr,
        "paper std": row.std,
        "seconds": round(result["seconds"], 1),
    }


def _match_row(
    name: str, found: dict[str, Any], vr: float | None, eer: float | None
) -> dict[str, Any]:
    return {
        "probe": name,
        "own VR at 1 % FAR": None if name == "original" else round(found["own"]["vr"][0], 3),
        "own EER": None if name == "original" else round(found["own"]["eer"][0], 3),
        "other VR at 1 % FAR": round(found["other"]["vr"][0], 3),
        "other EER": round(found["other"]["eer"][0], 3),
        "all VR at 1 % FAR": round(found["all"]["vr"][0], 3),
        "all EER": round(found["all"]["eer"][0], 3),
        "paper VR": vr,
        "paper EER": eer,
    }


def _add_pictures(report: Report, faces: Faces, results: list[dict[str, Any]]) -> None:
    chosen = np.linspace(0, len(faces.test) - 1, 6).astype(int)
    originals = faces.test.vectors().reshape(-1, SIZE, SIZE)[chosen]
    visible = np.where(make_cover("below-eyes", (SIZE, SIZE)), 0.5, originals)
    columns = [originals, visible, *(np.clip(r["completed"][chosen], 0, 1) for r in results)]
    names = ["original", "visible", *(r["row"].name for r in results)]
    report.gallery(
        np.stack(columns, axis=1).reshape(-1, SIZE, SIZE),
        captions=names * len(chosen),
        title=f"Completed faces, {faces.name}",
        columns=len(columns),
    )
    for result in results:
        if result["row"].name in ("DW-KSVD", "Fastfood 5×, de-kernelised"):
            atoms = result["atoms"][:40]
            low, high = atoms.min(axis=(1, 2), keepdims=True), atoms.max(axis=(1, 2), keepdims=True)
            report.gallery(
                (atoms - low) / np.maximum(high - low, 1e-6),
                title=f"Atoms of {result['row'].name}, {faces.name}",
                columns=20,
            )
    report.gallery(
        results[-1]["confidence"][None],
        captions=["1 (white) is visible; 0 is no better than the mean face"],
        title="Where it guesses",
        columns=4,
    )
