"""Section of the demo: a verifier from one camera, moved to another by a few people."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.decomposition import PCA

from mien._core.progress import report as report_progress
from mien.datasets import make_faces
from mien.demo._data import DemoData
from mien.evaluation import LogisticCalibration, cllr, roc, verification_rate
from mien.features import GridLBP
from mien.reports import Report, plot_roc
from mien.verification import JointBayesian, TransferJointBayesian, Verifier

__all__ = ["show_verification"]

_SIZE = 48
_TARGET_PEOPLE = 90
_ADAPT_PEOPLE = 30


def show_verification(data: DemoData, report: Report) -> None:
    """Verify people of a second camera: by cosine, by the source, and by transfer."""
    report.heading("Verification with transfer")
    seed = data.random_state
    here = make_faces(120, 5, _SIZE, random_state=seed)
    there = make_faces(
        _TARGET_PEOPLE, 5, _SIZE, camera="second", first_person=10_000, random_state=seed
    )
    describe = GridLBP(radii=(1.0, 2.0), grids=(4,), n_jobs=2)
    source_vectors = describe.fit_transform(here.images)
    pca = PCA(40, svd_solver="randomized", random_state=seed).fit(source_vectors)
    X = pca.transform(source_vectors).astype(np.float64)
    Z = pca.transform(describe.transform(there.images)).astype(np.float64)
    report_progress("verification", 1, 3)
    names, people = np.unique(there.people, return_inverse=True)
    adapt, test = people < _ADAPT_PEOPLE, people >= _ADAPT_PEOPLE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = JointBayesian(tol=1e-2).fit(X, here.people)
        transfer = TransferJointBayesian(source, random_state=seed)
        fused = Verifier(
            transfer,
            (1,),
            probe_sizes=(1,),
            prior=0.5,
            cross_fit=True,
            n_splits=3,
            random_state=seed,
        )
        fused.fit(Z[adapt], people[adapt])
    report_progress("verification", 2, 3)
    first, second = np.triu_indices(int(test.sum()), 1)
    T, who = Z[test], people[test]
    same = who[first] == who[second]
    unit = T / np.linalg.norm(T, axis=1, keepdims=True)
    matrices = {
        "cosine": unit @ unit.T,
        "source model": source.score_matrix(T),
        f"transfer, {_ADAPT_PEOPLE} people": fused.model_.score_matrix(T),
        "verifier": fused.score_matrix(T),
    }
    rows, curves = [], {}
    for name, matrix in matrices.items():
        scores = matrix[first, second]
        line = LogisticCalibration().fit(scores, same).transform(scores).ravel()
        own = None if name == "cosine" else cllr(scores[same], scores[~same])
        rows.append(
            {
                "method": name,
                "VR at FAR 1 %": float(verification_rate(scores[same], scores[~same], far=0.01)),
                "Cllr, as it is": own,
                "Cllr, best straight line": cllr(line[same], line[~same]),
            }
        )
        curves[name] = roc(scores[same], scores[~same], drop_intermediate=True)
    data.add_result(
        f"second camera, {_ADAPT_PEOPLE} people to adapt",
        "VR at FAR 1 %",
        rows[2]["VR at FAR 1 %"],
    )
    report.text(
        f"Joint Bayesian learned from {here.n_people} rendered people before one camera, and moved "
        f"to another (darker, coarser, lit from the side) by {_ADAPT_PEOPLE} people; "
        f"{len(names) - _ADAPT_PEOPLE} others are tested. The automatic strength gave the source a "
        f"weight of {fused.model_.source_weight_:.2f}. A ratio that means what it says has a low "
        "Cllr as it is: 0 is perfect, 1 says nothing, above 1 misleads."
    )
    report.table("Verification before the second camera", rows)
    report.table(
        "What the verifier weighed",
        fused.explain(),
        "Cllr on people held out of the thirty; a candidate that does not help gets no weight.",
    )
    report.figure(
        plot_roc(curves, title="Second camera"),
        "Genuine pairs accepted over impostor pairs accepted, all pairs of the people tested.",
    )
    report_progress("verification", 3, 3)
