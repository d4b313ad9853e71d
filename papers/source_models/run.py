"""The numbers of the shipped models' recipe on LFW's ten folds."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from mien._core.progress import report as report_progress
from mien.datasets import EmbeddingSet, LFWProtocol, load_lfw_embeddings, load_lfw_protocol
from mien.evaluation import LogisticCalibration, bootstrap_mean_interval, evaluate_verification
from mien.faces import fuse_vectors, load_engine
from mien.recognition import fit_source
from mien.verification import Verifier

__all__ = [
    "PROMISED",
    "LFWVectors",
    "Runs",
    "load_lfw_vectors",
    "measure_all_pairs",
    "measure_pairs",
    "rows_of_embeddings",
    "run_folds",
]

#: The false accept rate at which decisions are judged.
PROMISED = 0.001
OURS = "source model"
#: What is usually compared, and its usual threshold. Two engines have none: it is the cosine that
#: 0.1 % of LFW's pairs of two people reach.
USUAL = {"sface": ("cosine", 0.363), "dlib": ("distance", -0.6), "sface+dlib": ("cosine", 0.77)}


@dataclass(frozen=True)
class LFWVectors:
    """Vectors of unit length X (13233, d) of LFW, and what goes with them.

    ``plain`` (6000,) are similarities of View 2's pairs as they are usually taken: the cosine of
    SFace or of both engines together, the negative distance of dlib's vectors; ``usual`` is their
    usual threshold.
    """

    engine: str
    features: str
    X: np.ndarray
    people: np.ndarray
    usable: np.ndarray
    protocol: LFWProtocol
    plain: np.ndarray
    usual: float


@dataclass(frozen=True)
class Runs:
    """Scores (6000,) of each set of vectors by models that did not see the people; NaN if none.

    ``cosines`` (6000,) are those of the vectors, ``asked`` (6000,) says which pairs were asked for,
    and ``promised`` (10,) are the thresholds of the folds for the promised false accept rate.
    """

    scores: dict[str, np.ndarray]
    cosines: dict[str, np.ndarray]
    asked: dict[str, np.ndarray]
    promised: np.ndarray


def load_lfw_vectors(home: str | os.PathLike[str] | None, engine: str) -> LFWVectors:
    """The stored embeddings of LFW, brought to unit length."""
    protocol = load_lfw_protocol(home)
    parts = [_read_units(home, name) for name in engine.split("+")]
    usable = np.logical_and.reduce([known for _, known, _ in parts])
    X = parts[0][0] if len(parts) == 1 else fuse_vectors(parts[0][0], parts[1][0])
    first, second = protocol.pairs.T
    if engine == "dlib":
        raw = parts[0][2]
        plain = -np.linalg.norm(raw[first] - raw[second], axis=1)
    else:
        plain = _cosines(X, protocol.pairs)
    features = load_engine(engine).features
    return LFWVectors(
        engine, features, X, protocol.people, usable, protocol, plain, USUAL[engine][1]
    )


def _read_units(home: Any, engine: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vectors of unit length, which rows have one, and the vectors as they are stored."""
    stored = load_lfw_embeddings(home, engine)
    raw = stored.vectors.astype(np.float64)
    norms = np.linalg.norm(raw, axis=1)
    return raw / np.where(norms > 0, norms, 1)[:, None], stored.detected & (norms > 0), raw


def rows_of_embeddings(found: EmbeddingSet, lfw: LFWVectors) -> np.ndarray:
    """Vectors (13233, d) by LFW's rows; NaN where there is none."""
    X = np.full(lfw.X.shape, np.nan)
    places = {file: row for row, file in enumerate(lfw.protocol.files.tolist())}
    rows = [places[file] for file in found.files.tolist()]
    X[rows] = np.where(found.detected[:, None], found.vectors, np.nan)
    return X


def run_folds(
    lfw: LFWVectors, others: dict[str, tuple[np.ndarray, np.ndarray]] | None = None
) -> Runs:
    """Fit the recipe on nine folds and score the tenth, ten times.

    Parameters
    ----------
    lfw : LFWVectors
        What is learned from, and tested on.
    others : dict of ((13233, 128), (6000,))
        Further vectors of the same pictures to test on, NaN where there is none, and which pairs
        to ask for.
    """
    protocol = lfw.protocol
    everything = np.ones(len(protocol.pairs), dtype=bool)
    usable = np.where(lfw.usable[:, None], lfw.X, np.nan)
    tests = {OURS: (usable, everything), **(others or {})}
    scores = {name: np.full(len(protocol.pairs), np.nan) for name in tests}
    cosines = {name: _cosines(X, protocol.pairs) for name, (X, _) in tests.items()}
    promised = np.empty(10)
    for part in protocol.view2("unrestricted"):
        rows = np.asarray(part.train_rows)
        rows = rows[lfw.usable[rows]]
        verifier = fit_source(lfw.X[rows], lfw.people[rows], lfw.features, pairs_only=True)
        promised[part.fold] = verifier.threshold(PROMISED, size=1)
        for name, (X, asked) in tests.items():
            here = np.flatnonzero(asked & (protocol.fold == part.fold))
            first, second = X[protocol.pairs[here, 0]], X[protocol.pairs[here, 1]]
            known = np.isfinite(first[:, 0]) & np.isfinite(second[:, 0])
            if known.any():
                scores[name][here[known]] = verifier.score_pairs(first[known], second[known])
        report_progress(f"LFW, {lfw.engine}", part.fold + 1, 10)
    asked_for = {name: asked for name, (_, asked) in tests.items()}
    return Runs(scores, cosines, asked_for, promised)


def _cosines(X: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    cosines: np.ndarray = np.einsum("ij,ij->i", X[pairs[:, 0]], X[pairs[:, 1]])
    return cosines


def measure_pairs(lfw: LFWVectors, runs: Runs) -> list[dict[str, Any]]:
    """One row a method: pairs, accuracy, TPR at 0.1 %, the promised threshold, Cllr."""
    fold = lfw.protocol.fold
    first, second = lfw.protocol.pairs.T
    plain = np.where(lfw.usable[first] & lfw.usable[second], lfw.plain, np.nan)
    kind, threshold = USUAL[lfw.engine]
    name = f"{kind}, {abs(threshold):g}"
    usual = plain >= lfw.usual
    rows = [_measure(lfw, name, plain, (usual, usual), _calibrate(lfw, plain), runs.asked[OURS])]
    for label, scores in runs.scores.items():
        if label != OURS:
            cosine = runs.cosines[label]
            usual = cosine >= lfw.usual
            ratios = _calibrate(lfw, cosine)
            title = f"cosine, {label}"
            rows.append(_measure(lfw, title, cosine, (usual, usual), ratios, runs.asked[label]))
        decisions = (scores >= 0, scores >= runs.promised[fold])
        rows.append(_measure(lfw, label, scores, decisions, scores, runs.asked[label]))
    return rows


def _calibrate(lfw: LFWVectors, values: np.ndarray) -> np.ndarray:
    """Ratios (6000,) of similarities, each fold by a line through the other nine."""
    fold, same = lfw.protocol.fold, lfw.protocol.same
    got = np.isfinite(values)
    ratios = values.copy()
    for k in np.unique(fold):
        rest = got & (fold != k)
        line = LogisticCalibration().fit(values[rest], same[rest])
        ratios[got & (fold == k)] = line.transform(values[got & (fold == k)]).ravel()
    return ratios


def _measure(
    lfw: LFWVectors,
    name: str,
    scores: np.ndarray,
    decisions: tuple[np.ndarray, np.ndarray],
    ratios: np.ndarray,
    asked: np.ndarray,
) -> dict[str, Any]:
    """Numbers of scores (6000,), NaN for failures, on the pairs that were asked for.

    ``decisions`` are those at equal priors (or the usual threshold) and at the promised rate.
    """
    protocol = lfw.protocol
    same, fold = protocol.same[asked], protocol.fold[asked]
    equal, decided = (decision[asked] for decision in decisions)
    values, ratios = scores[asked], ratios[asked]
    got = np.isfinite(values)
    who = lfw.people[protocol.pairs[asked]]
    options: dict[str, Any] = {
        "fars": (PROMISED,),
        "people": (who[got & same, 0], who[got & ~same]),
        "failures": (int(np.sum(~got & same)), int(np.sum(~got & ~same))),
    }
    # Calibrated fold by fold, ratios of two folds are not in one order: rates are of the scores.
    rates = evaluate_verification(values[got & same], values[got & ~same], **options)
    costs = evaluate_verification(ratios[got & same], ratios[got & ~same], llr=True, **options)
    right = equal == same
    accuracies = np.asarray([right[fold == k].mean() for k in np.unique(fold)])
    error = accuracies.std(ddof=1) / np.sqrt(len(accuracies))
    half = float(stats.t.ppf(0.975, len(accuracies) - 1) * error)
    mean = float(accuracies.mean())
    rate = rates["verification_rates"][0]
    return {
        "method": name,
        "pairs": int(asked.sum()),
        "failures": int(np.sum(~got)),
        "accuracy": {"value": mean, "low": mean - half, "high": min(mean + half, 1.0)},
        "TPR at 0.1 % FAR": {k: rate[k] for k in ("value", "low", "high")},
        "at its threshold: FAR": _rate(decided[~same], who[~same, 0]),
        "at its threshold: TPR": _rate(decided[same], who[same, 0]),
        "Cllr": costs["cllr"],
    }


def _rate(accepted: np.ndarray, people: np.ndarray) -> dict[str, float]:
    low, high = bootstrap_mean_interval(accepted.astype(float), people, random_state=0)
    return {"value": float(accepted.mean()), "low": low, "high": high}


def measure_all_pairs(verifier: Verifier, found: EmbeddingSet) -> dict[str, Any]:
    """Every pair of pictures of a set of people whom the verifier never saw."""
    X, people = found.vectors[found.detected].astype(np.float64), found.people[found.detected]
    first, second = np.triu_indices(len(X), 1)
    scores = verifier.score_pairs(X[first], X[second])
    same = people[first] == people[second]
    who = people[np.column_stack([first, second])]
    results = evaluate_verification(
        scores[same], scores[~same], fars=(PROMISED,), llr=True,
        people=(who[same, 0], who[~same]), n_bootstrap=200,
    )  # fmt: skip
    threshold = verifier.threshold(PROMISED, size=1)
    cosines = np.einsum("ij,ij->i", X[first], X[second])
    rate = results["verification_rates"][0]
    return {
        "pairs": len(scores),
        "TPR at 0.1 % FAR": {k: rate[k] for k in ("value", "low", "high")},
        "promised 0.1 %: FAR": float(np.mean(scores[~same] >= threshold)),
        "promised 0.1 %: TPR": float(np.mean(scores[same] >= threshold)),
        "Cllr": results["cllr"],
        "cosine 0.363: FAR": float(np.mean(cosines[~same] >= 0.363)),
        "cosine 0.363: TPR": float(np.mean(cosines[same] >= 0.363)),
    }
