"""Whole faces from the eyes: the six methods of the paper and ours, on faces that we have."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

import mien
from mien._core.progress import report as report_progress
from mien._core.progress import track
from mien.datasets import iter_faces, load_folder
from mien.errors import InputError
from mien.evaluation import plots
from mien.evaluation.report import Report
from mien.experiments._hallucination_runs import (
    ROWS,
    SIZE,
    Faces,
    load_sets,
    run_row,
    study_dictionaries,
    train_matcher,
    verify,
)
from mien.faces import contact_sheet, read_image, write_image
from mien.reconstruction import FaceHallucinator, make_mask

__all__ = ["complete_pictures", "reproduce_hallucination", "train_hallucinator"]

_SETS = ("lfw", "orl", "rendered")
_BATCH = 256
_PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".pgm", ".ppm", ".tif", ".tiff", ".gif")


def reproduce_hallucination(
    home: str | os.PathLike[str] | None = None,
    *,
    sets: tuple[str, ...] = _SETS,
    quick: bool = False,
    study: bool = False,
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
    random_state : int
        Seed of splits, maps and dictionaries.

    Returns
    -------
    Report
        For each set: PSNR, SSIM, verification, and pictures.
    """
    unknown = set(sets) - set(_SETS)
    if unknown:
        raise InputError(f"sets are some of {', '.join(_SETS)}; got {', '.join(sorted(unknown))}")
    report = Report(
        "Half a face",
        "Whole faces of 32×32 pixels from the top 13 rows; nobody is in training and in test",
    )
    for n, faces in enumerate(load_sets(sets, home, quick, random_state)):
        _add_set(report, faces, random_state)
        if study and n == 0:
            report.table(
                f"PSNR over K (atoms a face) and β (weight of the visible part), {faces.name}",
                study_dictionaries(faces, random_state),
                "At most 3,000 faces, 400 atoms, 4 rounds; people held out of the training set.",
            )
    return report


def _add_set(report: Report, faces: Faces, seed: int) -> None:
    results = [
        run_row(row, faces, seed) for row in track(ROWS, f"{faces.name}: methods", total=len(ROWS))
    ]
    report.heading(faces.name.upper() if faces.name != "rendered" else "Rendered faces")
    report.text(
        f"{len(faces.train)} faces of {faces.train.n_people} people to learn from (each also "
        f"mirrored), {len(faces.test)} faces of {faces.test.n_people} others to complete. "
        f"Dictionaries of {faces.settings['n_atoms']} atoms, "
        f"{faces.settings['n_nonzero']} of them a face, "
        f"{faces.settings['max_iter']} rounds."
    )
    report.table(
        f"Fidelity on {faces.name}: PSNR in dB",
        [_fidelity_row(result) for result in results],
        "PSNR and its standard deviation are over all pixels of each face as reconstructed, also "
        "the visible ones; in brackets 95 % intervals over people. The paper's faces are one "
        "million private mugshots.",
    )
    report_progress(f"{faces.name}: verification", 0, 1)
    matcher = train_matcher(faces, seed)
    originals = {"original": verify(matcher, faces.test.vectors(), faces)}
    matches = {r["row"].name: verify(matcher, r["restored"], faces) for r in results}
    rows = [_match_row("original", originals["original"], 0.982, 0.014)]
    rows += [
        _match_row(r["row"].name, matches[r["row"].name], r["row"].vr, r["row"].eer)
        for r in results
    ]
    report.table(
        f"Verification on {faces.name} with KCFA features of other people",
        rows,
        "Completed against original faces, all pairs. Own: is a face matched to the picture it was "
        "made from? Other: to other pictures of the same person, which the paper does not tell "
        "apart.",
    )
    report.figure(
        plots.plot_roc({name: found["own"]["roc"] for name, found in matches.items()}),
        f"Completed faces against their own originals, {faces.name}",
    )
    report.figure(
        plots.plot_histograms({r["row"].name: r["psnr"] for r in results}, xlabel="PSNR in dB"),
        f"PSNR of the test faces, {faces.name}",
    )
    people = {r["row"].name: (np.arange(len(r["people"])), np.sort(r["people"])) for r in results}
    report.figure(
        plots.plot_curves(people, "person, by mean PSNR", "mean PSNR in dB"),
        f"Mean PSNR of each person, {faces.name}",
    )
    _add_pictures(report, faces, results)
    report_progress(f"{faces.name}: verification", 1, 1)


def _fidelity_row(result: dict[str, Any]) -> dict[str, Any]:
    row, measures = result["row"], result["measures"]
    parts = ("value", "low", "high")
    return {
        "method": row.name,
        "PSNR": tuple(measures["psnr"][part] for part in parts),
        "std": round(float(result["psnr"].std()), 2),
        "hidden pixels": round(measures["psnr_hidden"]["value"], 2),
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
        "paper VR": vr,
        "paper EER": eer,
    }


def _add_pictures(report: Report, faces: Faces, results: list[dict[str, Any]]) -> None:
    chosen = np.linspace(0, len(faces.test) - 1, 6).astype(int)
    originals = faces.test.vectors().reshape(-1, SIZE, SIZE)[chosen]
    visible = np.where(make_mask("periocular", (SIZE, SIZE)), originals, 0.5)
    columns = [originals, visible, *(np.clip(r["restored"][chosen], 0, 1) for r in results)]
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
        captions=["1 (white) is seen; 0 is no better than the mean face"],
        title="Where it guesses",
        columns=4,
    )


def train_hallucinator(
    source: str | os.PathLike[str],
    *,
    size: int = 32,
    mask: str = "periocular",
    n_rendered: int = 4000,
    random_state: int = 0,
    **settings: Any,
) -> tuple[FaceHallucinator, int]:
    """Learn from the pictures of a folder, or from rendered people.

    Parameters
    ----------
    source : path or "rendered"
        A folder with a folder a person (names do not matter here), or faces that are drawn while
        it learns and never kept.
    size : int
        Side of the faces in pixels.
    mask : str
        What will be visible.
    n_rendered : int
        Faces to render.
    random_state : int
        Seed.
    **settings
        Further parameters of :class:`FaceHallucinator`.

    Returns
    -------
    model, n_faces
    """
    model = FaceHallucinator(random_state=random_state, **settings)
    if str(source) == "rendered":
        people = max(1, n_rendered // 4)
        model.fit(
            lambda: iter_faces(2048, people, 4, size=size, random_state=random_state), mask=mask
        )
        return model, 4 * people
    faces = load_folder(source, size=size)
    return model.fit(faces.images, mask=mask), len(faces)


def complete_pictures(
    model_path: str | os.PathLike[str],
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    mask: str | None = None,
    scale: int = 4,
) -> list[Path]:
    """Complete one picture or every picture of a folder; write original, visible and result.

    Parameters
    ----------
    model_path : path
        A model of :func:`train_hallucinator`.
    source : path
        A picture of a face, or a folder of them.
    out : path
        Picture to write for one picture, folder for a folder.
    mask : str or None
        What is visible: a name, the path of a picture that is white where the face is visible,
        or None for the mask that the model learned with.
    scale : int
        Enlargement of what is written.
    """
    model = mien.load(model_path)
    if not isinstance(model, FaceHallucinator):
        raise InputError(f"{model_path} holds a {type(model).__name__}, not a FaceHallucinator")
    shape = (model.shape_[0], model.shape_[1])
    colour = len(model.shape_) == 3
    visible = model.mask_ if mask is None else _read_mask(mask, shape)
    source, out = Path(source), Path(out)
    if source.is_dir():
        files = sorted(p for p in source.rglob("*") if p.suffix.lower() in _PICTURES)
        if not files:
            raise InputError(f"there are no pictures in {source}")
        out.mkdir(parents=True, exist_ok=True)
        targets = [
            out / ("-".join(p.relative_to(source).with_suffix("").parts) + ".png") for p in files
        ]
    else:
        files, targets = [source], [out]
    batches = [slice(low, low + _BATCH) for low in range(0, len(files), _BATCH)]
    for batch in track(batches, "completing"):
        faces = np.stack([read_image(file, size=shape, colour=colour) for file in files[batch]])
        shown = faces.astype(np.float32) / 255
        result = model.reconstruct(faces, mask=visible)
        grey = np.where(visible[..., None] if colour else visible, shown, np.float32(0.5))
        for target, *three in zip(targets[batch], shown, grey, result, strict=True):
            sheet = contact_sheet(np.stack(three), columns=3)
            write_image(target, np.repeat(np.repeat(sheet, scale, axis=0), scale, axis=1))
    return targets


def _read_mask(mask: str, shape: tuple[int, int]) -> np.ndarray:
    if Path(mask).suffix.lower() in _PICTURES:
        return make_mask(read_image(mask, size=shape, fit="stretch") >= 128, shape)
    return make_mask(mask, shape)
