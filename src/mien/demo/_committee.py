"""Section of the demo: few pictures per person, one Fisherface model against a committee."""

from __future__ import annotations

import numpy as np

from mien.committee import RandomSamplingLDA, committee_report, decide, fuse
from mien.datasets import split_pictures
from mien.demo._data import DemoData
from mien.errors import NotEnoughDataError
from mien.evaluation import bootstrap_mean_interval
from mien.reports import Report, plot_curves

__all__ = ["show_committee"]

_N_TRAIN = 4
_SIZES = (1, 2, 3, 5, 8, 12, 20)


def show_committee(data: DemoData, report: Report) -> None:
    """Learn from four pictures per person, name the others."""
    names, counts = np.unique(data.train.people, return_counts=True)
    if np.count_nonzero(counts > _N_TRAIN) < 3:
        raise NotEnoughDataError(f"three people with more than {_N_TRAIN} pictures are needed")
    faces = data.train.select(np.isin(data.train.people, names[counts > _N_TRAIN]))
    X, y = faces.vectors(), faces.people
    train, test = next(split_pictures(y, _N_TRAIN, 1, data.random_state))
    committee = RandomSamplingLDA(20, random_state=data.random_state).fit(X[train], y[train])
    freedom = len(train) - faces.n_people
    members = committee.member_proba(X[test]).astype(np.float64)
    one = RandomSamplingLDA(1, n_fixed=freedom, n_random=0, shrinkage=0, mean_shrinkage=0)
    few = RandomSamplingLDA(1, n_fixed=max(1, freedom // 3), n_random=0, shrinkage=0)
    few.set_params(mean_shrinkage=0)
    right = {
        "Fisherfaces, N − c eigenfaces": one.fit(X[train], y[train]).predict(X[test]) == y[test],
        "Fisherfaces, a third of them": few.fit(X[train], y[train]).predict(X[test]) == y[test],
    }
    for rule in ("sum", "product", "vote"):
        best = committee.classes_[fuse(members, rule).argmax(axis=1)]
        right[f"committee of 20, {rule}"] = best == y[test]
    rows = [{"method": name, "named rightly": _rate(hits, y[test])} for name, hits in right.items()]
    found = committee_report(members, y[test], classes=committee.classes_)
    report.heading("Committee: more pixels than pictures")
    report.text(
        f"{_N_TRAIN} pictures of each of {faces.n_people} people are learned, "
        f"{len(test)} others are named. At N − c eigenfaces LDA fits the noise; each member "
        f"of the committee takes the {committee.n_fixed_} largest eigenfaces and "
        f"{committee.n_random_} random ones. Mean member {100 * (found.strength or 0):.1f} %; "
        f"correlation of the members' errors {found.error_correlation:.2f}; squared error "
        f"{found.average_error:.3f} alone, {found.committee_error:.3f} together, "
        f"{found.predicted_error:.3f} by the law."
    )
    report.table("Naming enrolled people", rows, "In brackets: 95 % intervals, people resampled.")
    errors = [
        100 * np.mean(members[:t].mean(axis=0).argmax(axis=1) != _codes(y[test], committee))
        for t in _SIZES
    ]
    report.figure(
        plot_curves(
            {"committee": (_SIZES, errors)}, "Members", "Error %", "Error over members", logx=True
        ),
        "Error of the sum rule over the first members, by their number.",
    )
    strangers = committee.predict_proba(data.test.vectors())
    unknown = decide(strangers, committee.classes_, threshold=0.8, unknown=_nobody(y))
    report.text(
        f"At a posterior of 0.8, {100 * np.mean(unknown == _nobody(y)):.0f} % of the "
        f"{len(strangers)} pictures of strangers are called unknown."
    )
    data.add_result(
        "committee of 20, 4 pictures per person",
        "named rightly",
        _rate(right["committee of 20, sum"], y[test]),
    )


def _codes(labels: np.ndarray, committee: RandomSamplingLDA) -> np.ndarray:
    return np.searchsorted(committee.classes_, labels)


def _nobody(labels: np.ndarray) -> int | str:
    return "nobody" if labels.dtype.kind == "U" else -1


def _rate(hits: np.ndarray, people: np.ndarray) -> tuple[float, float, float]:
    low, high = bootstrap_mean_interval(hits, people, n_bootstrap=500, random_state=0)
    return float(hits.mean()), low, high
