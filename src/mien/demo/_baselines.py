"""Section of the demo: scikit-learn's PCA and LDA with nearest neighbours, the marks to beat."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize

from mien._core.progress import report as report_progress
from mien.datasets import split_pictures
from mien.demo._data import DemoData
from mien.evaluation import bootstrap_mean_interval, cmc, evaluate_verification, mate_ranks, roc
from mien.reports import Report, plot_cmc, plot_roc

__all__ = ["compare_baselines"]

_PAIRS_TO_RESAMPLE = 20_000


def _make_projections(n_train: int, n_people: int) -> dict[str, Any]:
    """Pixels, PCA, and PCA followed by LDA, each with as many directions as the data carry."""
    # Near N − c directions LDA fits the noise; a third of that is safe.
    n_pca = max(1, min(60, (n_train - n_people) // 3))
    return {
        "pixels": StandardScaler(with_std=False),
        "PCA": PCA(n_components=max(1, min(100, n_train - 1)), svd_solver="full"),
        "PCA + LDA": make_pipeline(
            PCA(n_components=n_pca, whiten=True, svd_solver="full"), LinearDiscriminantAnalysis()
        ),
    }


def _identify(
    Z: np.ndarray, people: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find everybody by one enrolled picture each, five times over; Z (n, d) are unit vectors.

    Gives the hits at rank 1 and whose they are, both (n_probes,), and the mean CMC (n_people,).
    """
    hits, who, curves = [], [], []
    for enrolled, probes in split_pictures(people, 1, n_splits=5, random_state=seed):
        scores = Z[probes] @ Z[enrolled].T
        hits.append(mate_ranks(scores, people[probes], people[enrolled]) == 1)
        who.append(people[probes])
        curves.append(cmc(scores, people[probes], people[enrolled]))
    return np.concatenate(hits), np.concatenate(who), np.mean(curves, axis=0)


def compare_baselines(data: DemoData, report: Report) -> None:
    """Identify and verify people who were never learned from."""
    report.heading("Baselines")
    X, y = data.train.vectors(), data.train.people
    test, people = data.test.vectors(), data.test.people
    first, second = np.triu_indices(people.size, 1)
    same = people[first] == people[second]
    # Resampling people takes the time of all pairs each time; some impostor pairs will do.
    rng = np.random.default_rng(data.random_state)
    some = ~same & (rng.random(same.size) < _PAIRS_TO_RESAMPLE / np.count_nonzero(~same))
    ids = (people[first[same]], np.column_stack([people[first[some]], people[second[some]]]))
    rows, curves, ranks = [], {}, {}
    projections = _make_projections(len(X), data.train.n_people)
    for done, (name, projection) in enumerate(projections.items(), start=1):
        Z = normalize(projection.fit(X, y).transform(test))
        hits, who, ranks[name] = _identify(Z, people, data.random_state)
        interval = bootstrap_mean_interval(
            hits, who, n_bootstrap=500, random_state=data.random_state
        )
        scores = (Z @ Z.T)[first, second]
        result = evaluate_verification(
            scores[same],
            scores[some],
            fars=(0.01,),
            people=ids,
            n_bootstrap=100,
            random_state=data.random_state,
        )
        curves[name] = roc(scores[same], scores[~same], drop_intermediate=True)
        identified = (float(hits.mean()), *interval)
        row = {"method": name, "directions": Z.shape[1], "identified": identified}
        row |= {"EER": result["eer"], "VR at FAR 1 %": result["verification_rates"][0]}
        rows.append(row)
        data.add_result(f"{name}, nearest neighbour", "identified", identified)
        report_progress("baselines", done, len(projections))
    chance = 1 / data.test.n_people
    report.text(
        "scikit-learn's PCA and LDA with nearest neighbours by cosine: what the methods of this "
        f"library must beat. None of the {data.test.n_people} people tested was seen in training. "
        f"One picture of each is enrolled; guessing would identify {100 * chance:.1f} %."
    )
    report.table(
        "Identification and verification",
        rows,
        "In brackets: 95 % intervals from resampling people. Identified: mean over five draws of "
        "the enrolled pictures.",
    )
    report.figure(
        plot_roc(curves, title="Verification of people never seen"),
        "Genuine pairs accepted, over impostor pairs accepted (logarithmic): all pairs of the "
        "test pictures.",
    )
    report.figure(
        plot_cmc({name: rates[:20] for name, rates in ranks.items()}, title="Search"),
        "Share of probes whose person is within the first k of the ranked list.",
    )
