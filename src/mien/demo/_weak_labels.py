"""Section of the demo: recognise and cluster people from groups that nobody has named."""

from __future__ import annotations

from typing import Any

import numpy as np

from mien.datasets import make_groups, split_pictures
from mien.demo._data import DemoData
from mien.errors import NotEnoughDataError
from mien.evaluation import bootstrap_mean_interval, pairwise_purity_accuracy
from mien.reports import Report, plot_bars
from mien.subspace import (
    ConstrainedClustering,
    Eigenfaces,
    KernelNullSpaceProjection,
    NearestNeighbourIdentifier,
    NullSpaceProjection,
    RelevantComponents,
)

__all__ = ["learn_from_groups"]

_GROUP = 3
_SHOWN = 8


def _projections(seed: int) -> dict[str, Any]:
    return {
        "Eigenfaces, no groups": Eigenfaces(),
        "RCA": RelevantComponents("auto", random_state=seed),
        "null space": NullSpaceProjection(fallback="relevant-components"),
        "kernel null space": KernelNullSpaceProjection(
            fallback="relevant-components", random_state=seed
        ),
    }


def learn_from_groups(data: DemoData, report: Report) -> None:
    """Groups of three pictures, such as tracks of a video, instead of names."""
    report.heading("Weak labels: groups without names")
    faces = data.test
    names, counts = np.unique(faces.people, return_counts=True)
    faces = faces.select(np.isin(faces.people, names[counts >= 2 * _GROUP]))
    if faces.n_people < 4:
        raise NotEnoughDataError(
            f"four people with {2 * _GROUP} pictures or more are needed; got {faces.n_people}"
        )
    n_train = int(np.unique(faces.people, return_counts=True)[1].min()) * 6 // 10
    train, test = next(split_pictures(faces.people, n_train, random_state=data.random_state))
    # Half the size is enough here, and a quarter of the work.
    X = faces.images[:, ::2, ::2].reshape(len(faces), -1).astype(np.float64)
    people = faces.people
    groups = make_groups(people[train], _GROUP, random_state=data.random_state)
    known = train[groups >= 0]
    groups = groups[groups >= 0]
    rows: list[dict[str, Any]] = []
    errors: dict[str, Any] = {}
    for name, model in _projections(data.random_state).items():
        Z = model.fit(X[known], groups).transform(X[known])
        nearest = NearestNeighbourIdentifier().fit(Z, people[known])
        wrong = nearest.predict(model.transform(X[test])) != people[test]
        low, high = bootstrap_mean_interval(
            wrong, people[test], n_bootstrap=300, random_state=data.random_state
        )
        clusters = ConstrainedClustering(faces.n_people, metric="cosine").fit_predict(
            Z, groups=groups
        )
        purity, accuracy = pairwise_purity_accuracy(people[known], clusters)
        error = float(wrong.mean())
        errors[name] = (error, (error - low, high - error))
        rows.append(
            {"projection": name, "directions": Z.shape[1], "error": (error, low, high)}
            | {"purity": purity, "accuracy": accuracy}
        )
    best = min(rows[1:], key=lambda row: row["error"][0])
    data.add_result(f"{best['projection']} from groups of {_GROUP}", "error", best["error"])
    report.text(
        f"{len(np.unique(groups))} groups of {_GROUP} pictures, each of one person whose name is "
        "not told, and two groups may be of one person: so video tracks are. The projection "
        "learns from them what changes in one face. The names come in only to ask whose picture "
        "is nearest."
    )
    report.table(
        f"{faces.n_people} people: error of the nearest neighbour, and clusters of the groups",
        rows,
        "Purity: pairs in a cluster that are one person. Accuracy: pairs of one person in one "
        "cluster. In brackets: 95 % intervals from resampling people.",
    )
    report.figure(
        plot_bars(errors, "Error", "Nearest neighbour after learning from groups", percent=True),
        "Recognition of new pictures of people whose groups had no names.",
    )
    shown = [known[groups == g] for g in np.unique(groups)[:_SHOWN]]
    report.gallery(
        list(faces.images[np.concatenate(shown)]), title="Some of the groups", columns=2 * _GROUP
    )
