"""Joint Bayesian on LFW, and what a few people of one's own bring."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mien._core.progress import report as report_progress
from mien.datasets import load_lfw_protocol
from mien.reports import Report, plot_curves
from papers.transfer.data import (
    DOMAINS,
    lfw_embeddings,
    lfw_landmark_lbp,
    lfw_lbp,
    load_domain,
)
from papers.transfer.ratios import add_ratios
from papers.transfer.run import METHODS, Curves, run_domain, run_lfw, summarise_lfw

__all__ = ["FEATURES", "PUBLISHED", "report_domain", "reproduce_transfer"]

#: What the LFW site lists (restricted to methods of this family).
PUBLISHED: list[dict[str, Any]] = [
    {"features": "published: LBP, outside data", "method": "Joint Bayesian", "accuracy": 0.9242},
    {
        "features": "published: high-dim LBP, WDRef",
        "method": "Joint Bayesian",
        "accuracy": 0.9517,
        "TPR at 0.1 %": 0.770,
    },
    {
        "features": "published: high-dim LBP, WDRef",
        "method": "transfer Joint Bayesian",
        "accuracy": 0.9633,
        "TPR at 0.1 %": 0.838,
    },
]
#: Short name -> what LFW is described by, how, and the directions of a PCA in each fold.
FEATURES: dict[str, tuple[str, Callable[[Any], np.ndarray], int | None]] = {
    "dlib": ("dlib embeddings", lambda home: lfw_embeddings(home, "dlib"), None),
    "sface": ("SFace embeddings", lambda home: lfw_embeddings(home, "sface"), None),
    "lbp": ("grid LBP, PCA 200", lfw_lbp, 200),
    "landmarks": ("LBP at 5 landmarks, PCA 300", lfw_landmark_lbp, 300),
}
_BASELINES = ("source only", "target only", "pooled")


def reproduce_transfer(
    data: str | os.PathLike[str] | None = None,
    *,
    quick: bool = False,
    n_repetitions: int | None = None,
    domains: tuple[str, ...] | None = None,
    features: tuple[str, ...] | None = None,
    random_state: int = 0,
) -> Report:
    """Run the experiments and write down our numbers beside the published ones.

    Parameters
    ----------
    data : path or None
        Folder of the real data; None takes ``MIEN_DATA``.
    quick : bool
        One embedding, one shift, two repetitions: a minute instead of most of an hour.
    n_repetitions : int or None
        Draws of people in the transfer experiment; None is 10, or 2 if quick.
    domains : tuple of str or None
        Which shifts: any of "lowres", "covered", "orl", "camera"; None is all, "lowres" if quick.
    features : tuple of str or None
        What LFW's own protocol is run with: any of "dlib", "sface", "lbp", "landmarks"; None is
        all, "sface" if quick. Empty leaves the protocol out.
    random_state : int
        Seed of every draw.
    """
    report = Report(
        "Transfer for verification",
        "Joint Bayesian and its transfer (Cao, Wipf, Wen and Duan, ICCV 2013)",
    )
    if features is None:
        features = ("sface",) if quick else tuple(FEATURES)
    if features:
        _report_lfw(report, data, features, random_state)
    repetitions = n_repetitions or (2 if quick else 10)
    if domains is None:
        domains = ("lowres",) if quick else tuple(DOMAINS)
    for name in domains:
        report_progress(f"features of {name}", 0, None)
        domain = load_domain(name, data)
        if quick:
            domain = replace(domain, sizes=domain.sizes[1::3])
        curves = run_domain(domain, repetitions, random_state)
        report_domain(report, curves)
    add_ratios(report, random_state)
    return report


def _report_lfw(report: Report, data: Any, features: tuple[str, ...], random_state: int) -> None:
    protocol = load_lfw_protocol(data)
    rows: list[dict[str, Any]] = []
    for short in features:
        name, make, n_pca = FEATURES[short]
        scores = run_lfw(make(data), protocol, n_pca=n_pca, name=name, random_state=random_state)
        rows += [{"features": name, **row} for row in summarise_lfw(scores, protocol)]
    columns = list(rows[0])
    rows += [{column: entry.get(column) for column in columns} for entry in PUBLISHED]
    report.heading("Labeled Faces in the Wild, View 2")
    report.text(
        "Ten folds of 600 pairs; every model, projection and calibration was learned on people "
        "outside of the fold. The threshold of the accuracy comes from the other nine folds; "
        "TPR is over all 6,000 pairs. The published rows learned from a large outside set; ours "
        "learn from LFW's other people."
    )
    report.table(
        "Accuracy, TPR at two false accept rates, and Cllr",
        rows,
        "s.e.: standard error over folds. Cllr in bits: 0 is perfect, 1 says nothing, above 1 "
        "misleads. The calibrated fusion weighs ratio and cosine on people held out.",
    )


def report_domain(report: Report, curves: Curves) -> None:
    """Write down the tables and figures of one shift."""
    domain = curves.domain
    sizes = np.asarray(domain.sizes, dtype=float)
    n_repetitions = curves.strengths.shape[1]
    report.heading(f"Transfer: {domain.name}")
    report.text(
        f"{domain.note[0].upper() + domain.note[1:]}. {n_repetitions} draws of {domain.n_test} "
        f"people to test on and up to {domain.n_adapt} to adapt to; nobody is in two parts."
    )
    for measure, title in (
        ("cllr", "Cllr (calibrated on other people)"),
        ("tpr", "TPR at 1 % FAR"),
        ("error", "Equal error rate"),
        ("own", "Cllr of ratios as they are"),
    ):
        report.table(title, _measure_rows(curves, measure), "± half of the 95 % interval.")
    report.table(
        "Advantage of automatic transfer in Cllr (bits; positive is better)",
        _advantage_rows(curves),
        "Paired over repetitions, ± half of the 95 % interval. w: weight of the source in "
        "both covariances.",
    )
    for measure, label in (("cllr", "Cllr (bits)"), ("tpr", "TPR at 1 % FAR")):
        shown = [m for m in METHODS if m != "target only"]
        series = {m: _series(sizes, curves, measure, m) for m in shown}
        series = {m: points for m, points in series.items() if len(points[0])}
        report.figure(
            plot_curves(series, xlabel="target people", ylabel=label, title=domain.name, logx=True),
            f"{label} over people of the target; bars are 95 % intervals over repetitions. Target "
            "only is in the table: with few people it is off the scale.",
        )


def _series(
    sizes: np.ndarray, curves: Curves, measure: str, method: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Points of a curve where there are any, with the half widths of their intervals."""
    mean, width = curves.mean(measure, method), curves.half_width(measure, method)
    known = np.isfinite(mean)
    bars = width[known] if np.all(np.isfinite(width[known])) else None
    return sizes[known], mean[known], bars


def _measure_rows(curves: Curves, measure: str) -> list[dict[str, Any]]:
    rows = []
    for k, size in enumerate(curves.domain.sizes):
        row: dict[str, Any] = {"people": size}
        for method in METHODS:
            mean = curves.mean(measure, method)[k]
            width = curves.half_width(measure, method)[k]
            known = np.isfinite(mean) and (measure, method) != ("own", "cosine")
            row[method] = f"{mean:.4f} ± {width:.4f}" if known else "–"
        rows.append(row)
    return rows


def _advantage_rows(curves: Curves) -> list[dict[str, Any]]:
    rows = []
    for k, size in enumerate(curves.domain.sizes):
        row: dict[str, Any] = {"people": size, "w": float(curves.strengths[k].mean())}
        worst = []
        for method in _BASELINES:
            mean, width = curves.advantage("cllr", method)
            row[f"over {method}"] = f"{mean[k]:+.4f} ± {width[k]:.4f}"
            worst.append((mean[k], width[k]))
        if any(mean < -width for mean, width in worst):
            row["verdict"] = "worse than one"
        elif all(mean > width for mean, width in worst):
            row["verdict"] = "better than each"
        else:
            row["verdict"] = "not worse"
        rows.append(row)
    return rows
