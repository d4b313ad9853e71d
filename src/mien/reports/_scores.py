"""Any system's scores from a table of text: read, judged, and reported."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np

from mien._core.progress import report as report_progress
from mien._core.sampling import assign_folds, cap_rows
from mien.errors import (
    DataError,
    InputError,
    MissingDependencyError,
    NotEnoughDataError,
)
from mien.evaluation import (
    LogisticCalibration,
    cllr,
    evaluate_verification,
    roc,
    threshold_at_far,
    wilson_interval,
)
from mien.reports._plot_recognition import (
    plot_det,
    plot_roc,
    plot_score_histograms,
    plot_tippett,
)
from mien.reports._report import Report
from mien.reports._score_files import ScoreTable, read_scores

__all__ = ["ScoreTable", "evaluate_scores", "read_scores", "report_scores"]

_MOST_IN_A_PLOT = 7
_MAX_CALIBRATED = 200_000


def _fold_of_pairs(
    same: np.ndarray, people: np.ndarray | None, n_splits: int, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(train, test) masks: every pair is tested once, by what saw neither of its people.

    With people, they are divided into folds; the pairs between folds i and j are tested by a
    calibration that saw only pairs of people from the other folds. Without, pairs are divided.
    """
    rng = np.random.default_rng(seed)
    if people is None:
        fold = np.empty(same.size, dtype=np.int64)
        for kind in (True, False):
            rows = np.flatnonzero(same == kind)
            fold[rows] = rng.permutation(rows.size) % n_splits
        return [(fold != k, fold == k) for k in range(n_splits)]
    low, high = np.sort(assign_folds(people.ravel(), n_splits, rng).reshape(people.shape), axis=1).T
    splits = []
    for i, j in combinations_with_replacement(range(n_splits), 2):
        test = (low == i) & (high == j)
        seen = (low == i) | (low == j) | (high == i) | (high == j)
        if test.any():
            splits.append((~seen, test))
    return splits


def _calibrate_across_folds(
    scores: np.ndarray, same: np.ndarray, people: np.ndarray | None, seed: int
) -> np.ndarray | None:
    """Log-likelihood ratios (n_pairs,) by calibrations that did not see the pair, or None."""
    if not np.all(np.isfinite(scores)):
        return None
    rng = np.random.default_rng(seed)
    ratios = np.full(scores.size, np.nan)
    for train, test in _fold_of_pairs(same, people, 5, seed):
        rows = np.flatnonzero(train)
        if min(np.count_nonzero(same[rows]), np.count_nonzero(~same[rows])) < 5:
            return None
        rows = cap_rows(rows, _MAX_CALIBRATED, rng)
        calibration = LogisticCalibration().fit(scores[rows], same[rows])
        ratios[test] = calibration.transform(scores[test])
    return ratios


def _evaluate_system(
    table: ScoreTable, name: str, fars: Sequence[float], llr: bool, seed: int
) -> dict[str, Any]:
    scores = table.scores[name]
    there = ~np.isnan(scores)
    same = table.same[there]
    found = scores[there]
    genuine, impostor = found[same], found[~same]
    lost = (
        int(np.count_nonzero(table.same)) - genuine.size,
        int(np.count_nonzero(~table.same)) - impostor.size,
    )
    if min(genuine.size, impostor.size) == 0:
        raise DataError(
            f"{table.source}, column {name!r}: no score of one of the two kinds of pair"
        )
    people = None
    if table.people is not None:
        ids = table.people[there]
        people = (ids[same, 0], ids[~same])
    # Resampling people costs their number of pairs each time; beyond this it takes minutes.
    n_bootstrap = int(np.clip(3e8 / found.size, 100, 1000))
    result = evaluate_verification(
        genuine,
        impostor,
        fars=fars,
        llr=llr,
        people=people,
        failures=lost,
        n_bootstrap=n_bootstrap,
        random_state=seed,
    )
    sign = -1.0 if table.distance else 1.0
    thresholds: list[dict[str, Any]] = []
    for far in fars:
        try:
            threshold = sign * threshold_at_far(impostor, far)
            thresholds.append({"far": far, "threshold": threshold, "refused": None})
        except NotEnoughDataError as error:
            thresholds.append({"far": far, "threshold": None, "refused": str(error)})
    ids = None if table.people is None else table.people[there]
    ratios = _calibrate_across_folds(found, same, ids, seed)
    calibrated = None if ratios is None else cllr(ratios[same], ratios[~same])
    return {
        "name": name,
        **result,
        "calibrated_cllr": calibrated,
        "thresholds": thresholds,
        "_genuine": genuine,
        "_impostor": impostor,
        "_ratios": None if ratios is None else (ratios[same], ratios[~same]),
    }


def evaluate_scores(
    table: ScoreTable,
    *,
    fars: Sequence[float] = (0.1, 0.01, 0.001),
    llr: bool = False,
    random_state: int = 0,
) -> dict[str, Any]:
    """Judge every system of a table on its pairs.

    Parameters
    ----------
    table : ScoreTable
        As :func:`read_scores` gives it.
    fars : sequence of float
        False accept rates of interest, in (0, 1).
    llr : bool
        The scores are natural-log likelihood ratios: their Cllr is meant seriously.
    random_state : int
        Seed of the bootstrap and of the folds.

    Returns
    -------
    dict
        ``source``, ``n_pairs``, ``distance`` and ``systems``, best equal error rate first. Each
        has what :func:`mien.evaluation.evaluate_verification` gives, ``calibrated_cllr`` (each
        pair calibrated by pairs of other people) and ``thresholds`` in the units of the file, or
        why there is none. Keys that begin with ``_`` hold arrays for the report.
    """
    fars = sorted({float(far) for far in fars}, reverse=True)
    for far in fars:
        if not 0 < far < 1:
            raise InputError(f"a false accept rate must be between 0 and 1; got {far:g}")
    systems = []
    for done, name in enumerate(table.scores):
        report_progress("judging systems", done, len(table.scores))
        systems.append(_evaluate_system(table, name, fars, llr, random_state))
    report_progress("judging systems", len(systems), len(systems))
    systems.sort(key=lambda system: system["eer"]["value"])
    return {
        "source": table.source,
        "n_pairs": int(table.same.size),
        "distance": table.distance,
        "systems": systems,
    }


def _percent(far: float) -> str:
    return f"{100 * far:g} %"


def _summary_row(system: dict[str, Any], llr: bool, failures: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"system": system["name"], "EER": system["eer"]}
    for rate in system["verification_rates"]:
        if rate["measurable"]:
            row[f"VR at FAR {_percent(rate['far'])}"] = rate
    row["AUC"] = system["auc"]["value"]
    if llr:
        row["Cllr"] = system["cllr"]
    row["min Cllr"] = system["min_cllr"]["value"]
    row["calibrated Cllr"] = system["calibrated_cllr"]
    if failures:
        row["failed"] = system["failures"]["genuine"] + system["failures"]["impostor"]
    return row


def _explain(result: dict[str, Any]) -> str:
    """What the columns of the summary mean, and what the data cannot say."""
    first = result["systems"][0]
    share = f"{100 * first['confidence']:g} %"
    if first["intervals"] == "person":
        how = f"{share} intervals from resampling the {first['n_people']:,} people"
    else:
        how = f"{share} intervals as if all pairs were independent (too narrow if people recur)"
    notes = [f"In brackets: {how}."]
    for rate in first["verification_rates"]:
        if not rate["measurable"]:
            notes.append(
                f"A FAR of {_percent(rate['far'])} needs {rate['impostors_needed']:,} pairs of "
                f"different people, and there are {first['n_impostor']:,}."
            )
    if any(system["calibrated_cllr"] is None for system in result["systems"]):
        notes.append(
            "No calibrated Cllr where scores are infinite or people too few to hold some out."
        )
    return " ".join(notes)


def _wilson_band(system: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    far, vr = np.asarray(system["roc"]["far"]), np.asarray(system["roc"]["vr"])
    n = system["n_genuine"]
    low, high = wilson_interval(np.clip(vr * n, 0, n), n, system["confidence"])
    return far, low, high


def _add_figures(report: Report, result: dict[str, Any]) -> None:
    systems = result["systems"]
    shown = systems[:_MOST_IN_A_PLOT]
    curves = {s["name"]: roc(s["_genuine"], s["_impostor"]) for s in shown}
    best = "" if len(shown) == len(systems) else f" The best {len(shown)} of {len(systems)}."
    bands = {s["name"]: _wilson_band(s) for s in shown} if len(shown) <= 2 else None
    shaded = " Shaded: pointwise interval, pairs taken as independent." if bands else ""
    report.heading("Curves")
    report.figure(
        plot_roc(curves, bands=bands, title="ROC"),
        f"Genuine pairs accepted, over impostor pairs accepted (logarithmic).{best}{shaded}",
    )
    report.figure(
        plot_det({name: (c.far, 1 - c.vr) for name, c in curves.items()}, title="DET"),
        "Both errors on the scale of normal deviates; lower left is better, and the dotted "
        f"diagonal is where both are equal.{best}",
    )
    report.heading("Scores")
    sign, words = (-1.0, "Distance") if result["distance"] else (1.0, "Score")
    for system in shown[:4]:
        thresholds = {
            f"FAR {_percent(row['far'])}": row["threshold"]
            for row in system["thresholds"]
            if row["threshold"] is not None
        }
        report.figure(
            plot_score_histograms(
                sign * system["_genuine"],
                sign * system["_impostor"],
                thresholds=thresholds,
                xlabel=words,
                title=system["name"],
            ),
            f"Where the two kinds of pair lie, {system['name']}"
            + (", with thresholds at measurable false accept rates." if thresholds else "."),
        )
    calibrated = {s["name"]: s["_ratios"] for s in shown[:3] if s["_ratios"] is not None}
    if calibrated:
        report.heading("Calibrated evidence")
        given = {}
        if systems[0]["cllr"] is not None:  # ratios are judged as they are, too
            given = {
                f"{s['name']}, as given": (s["_genuine"], s["_impostor"])
                for s in shown[:3]
                if s["name"] in calibrated
            }
            calibrated = {f"{name}, recalibrated": r for name, r in calibrated.items()}
        both = "as it was given and recalibrated, " if given else ""
        report.figure(
            plot_tippett(given | calibrated, title="Tippett plot"),
            f"Share of pairs whose calibrated likelihood ratio, {both}is above each value. "
            "Impostor pairs right of zero, and genuine pairs left of it, are misleading evidence.",
        )


def report_scores(result: dict[str, Any], *, figures: bool = True) -> Report:
    """Lay out what :func:`evaluate_scores` gave as a report.

    Parameters
    ----------
    result : dict
        Of one or more systems.
    figures : bool
        Whether to draw and explain, as a page wants; tables alone suit a terminal.
    """
    systems = result["systems"]
    first = systems[0]
    title = "Verification scores" if len(systems) == 1 else f"{len(systems)} systems compared"
    counts = (
        f"{Path(result['source']).name}: {first['n_genuine']:,} pairs of the same person, "
        f"{first['n_impostor']:,} of different people"
    )
    report = Report(title, counts)
    llr = first["cllr"] is not None
    failures = any(sum(system["failures"].values()) for system in systems)
    report.table(
        "Summary", [_summary_row(system, llr, failures) for system in systems], _explain(result)
    )
    rows = [
        {
            "system": system["name"],
            "FAR": _percent(row["far"]),
            # All digits that matter: a threshold that is rounded is another threshold.
            "threshold": f"{row['threshold']:.6g}",
            "VR": rate,
            "false accepts": rate["false_accepts"],
        }
        for system in systems
        for row, rate in zip(system["thresholds"], system["verification_rates"], strict=True)
        if row["threshold"] is not None
    ]
    if rows:
        accept = "at or below" if result["distance"] else "at or above"
        report.table("Thresholds", rows, f"Accept a pair {accept} the threshold.")
    if not figures:
        return report
    try:
        _add_figures(report, result)
    except MissingDependencyError as error:
        report.text(f"No figures: {error}")
    report.heading("How to read this")
    report.text(
        "EER: the rate at which as many impostors are accepted as genuine pairs are refused. "
        "VR at FAR: the share of genuine pairs accepted when that share of impostors is. "
        "AUC: how often a genuine pair scores above an impostor pair. "
        "min Cllr: the cost in bits if the scores were perfectly calibrated, from 0 (perfect) to 1 "
        "(worthless). Calibrated Cllr: the same after a logistic calibration learned on other "
        "pairs, of other people where people are known; it is what a user can reach."
    )
    return report
