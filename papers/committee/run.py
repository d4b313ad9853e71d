"""What the committee's report measures: methods over splits, and the committee's dials."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import t as student_t
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import BaggingClassifier
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline

from mien._core.parallel import map_tasks
from mien._core.progress import track
from mien.committee import CommitteeReport, RandomSamplingLDA, committee_report, decide, fuse
from mien.datasets import FaceSet, split_people, split_pictures
from mien.evaluation import bootstrap_mean_interval
from mien.subspace import Eigenfaces, NullSpaceLDA

__all__ = [
    "PLAIN",
    "compare_methods",
    "meet_strangers",
    "repeat_draws",
    "sweep_members",
    "sweep_sizes",
]

RULES = ("sum", "product", "min", "max", "vote")
#: LDA as in the lecture, without any shrinkage.
PLAIN: dict[str, Any] = {"shrinkage": 0.0, "mean_shrinkage": 0.0}
N_TRAIN = 5

Splits = list[tuple[np.ndarray, np.ndarray]]


def draw_splits(people: np.ndarray, n_splits: int, random_state: int) -> Splits:
    """Five pictures of each person to learn from, the others to test on, ``n_splits`` times."""
    return list(split_pictures(people, N_TRAIN, n_splits, random_state))


def _rivals(n: int, c: int, n_members: int, seed: int) -> dict[str, Any]:
    """Everything that is not a committee of ours; n pictures of c people to learn from."""
    sizes = [m for m in (30, 60, 90, 120) if m < n - c]
    methods: dict[str, Any] = {
        "Eigenfaces, nearest neighbour": make_pipeline(Eigenfaces(), KNeighborsClassifier(1))
    }
    for m in [*sizes, n - c]:
        limit = " (N − c)" if m == n - c else ""
        methods[f"Fisherfaces, PCA {m}{limit}"] = RandomSamplingLDA(
            1, n_fixed=m, n_random=0, **PLAIN
        )
    methods["null-space LDA, nearest mean"] = make_pipeline(
        NullSpaceLDA(regularization=0), NearestCentroid()
    )
    lda = LinearDiscriminantAnalysis()
    small = make_pipeline(
        # The full solver fails to converge on some replicates: they hold copies.
        PCA(min(60, (n - c) // 2), svd_solver="randomized", random_state=seed),
        lda,
    )
    methods["sklearn bagging of LDA"] = BaggingClassifier(lda, n_members, random_state=seed)
    methods[f"sklearn bagging of PCA {small[0].n_components} + LDA"] = BaggingClassifier(
        small, n_members, random_state=seed
    )
    return methods


def _committees(n_members: int, seed: int) -> dict[str, RandomSamplingLDA]:
    samplings = ("subspace", "people", "images", "both")
    found = {
        f"committee, {name}": RandomSamplingLDA(n_members, sampling=name, random_state=seed)
        for name in samplings
    }
    found["committee, plain 30 + 60"] = RandomSamplingLDA(
        n_members, n_fixed=30, n_random=60, random_state=seed, **PLAIN
    )
    return found


def _judge_split(
    X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, n_members: int, seed: int
) -> Iterator[tuple[str, np.ndarray]]:
    """Name and errors (n_test,) of each method; those of a mean member are fractions."""
    for name, method in _rivals(len(train), len(np.unique(y)), n_members, seed).items():
        yield name, clone(method).fit(X[train], y[train]).predict(X[test]) != y[test]
    for name, model in _committees(n_members, seed).items():
        try:
            model.fit(X[train], y[train])
        except ValueError:  # a plain member that is too large for so few pictures
            continue
        members = model.member_proba(X[test])
        wrong = model.classes_[members.argmax(axis=2)] != y[test]
        yield f"{name}: mean member", wrong.mean(axis=0)
        for rule in RULES if name == "committee, subspace" else ("sum",):
            best = model.classes_[fuse(members, rule).argmax(axis=1)]
            yield f"{name}: {rule}", best != y[test]


def compare_methods(
    faces: FaceSet, n_splits: int, n_members: int, random_state: int, what: str
) -> list[dict[str, Any]]:
    """Error in percent of every method, with an interval from resampling people."""
    X, y = faces.vectors().astype(np.float64), faces.people
    errors: dict[str, list[np.ndarray]] = {}
    who = []
    splits = draw_splits(y, n_splits, random_state)
    for number, (train, test) in enumerate(track(splits, f"{what}: splits")):
        who.append(y[test])
        for name, wrong in _judge_split(X, y, train, test, n_members, random_state + number):
            errors.setdefault(name, []).append(wrong.astype(np.float64))
    people = np.concatenate(who)
    best = np.concatenate(errors["committee, subspace: sum"])
    rows = []
    for name, parts in errors.items():
        wrong = np.concatenate(parts)
        row: dict[str, Any] = {"method": name, "error %": _with_interval(wrong, people)}
        ours = name == "committee, subspace: sum"
        row["above ours"] = None if ours else _with_interval(wrong - best, people)
        rows.append(row)
    return rows


def repeat_draws(
    faces: FaceSet, n_draws: int, n_splits: int, n_members: int, random_state: int
) -> list[dict[str, Any]]:
    """The committee, its mean member and PCA 60 + LDA on several draws of so many splits."""
    X, y = faces.vectors().astype(np.float64), faces.people
    columns = ("PCA 60 + LDA", "mean member", "committee")
    seeds = range(random_state, random_state + n_draws)
    given = X, y, n_splits, n_members
    table = map_tasks(_draw_once, seeds, *given, words="ORL: other draws")
    rows: list[dict[str, Any]] = [
        {"draw": f"seed {random_state + k}"} | dict(zip(columns, map(float, row), strict=True))
        for k, row in enumerate(table)
    ]
    spread = np.std(table, axis=0, ddof=1) / np.sqrt(n_draws) if n_draws > 1 else np.zeros(3)
    margin = student_t.ppf(0.975, max(n_draws - 1, 1)) * spread
    mean = np.mean(table, axis=0)
    triples = [(float(m), float(m - h), float(m + h)) for m, h in zip(mean, margin, strict=True)]
    return [*rows, {"draw": f"mean of {n_draws}"} | dict(zip(columns, triples, strict=True))]


def _draw_once(
    seed: int, X: np.ndarray, y: np.ndarray, n_splits: int, n_members: int
) -> np.ndarray:
    """Mean errors (3,) in percent of one draw of splits."""
    errors = []
    for number, (train, test) in enumerate(draw_splits(y, n_splits, seed)):
        plain = RandomSamplingLDA(1, n_fixed=60, n_random=0, **PLAIN).fit(X[train], y[train])
        model = RandomSamplingLDA(n_members, random_state=seed + number)
        members = model.fit(X[train], y[train]).member_proba(X[test])
        choices = model.classes_[members.argmax(axis=2)]
        best = model.classes_[members.mean(axis=0).argmax(axis=1)]
        guesses = (plain.predict(X[test]), choices, best)
        errors.append([100 * np.mean(guess != y[test]) for guess in guesses])
    return np.mean(errors, axis=0)


def _with_interval(values: np.ndarray, people: np.ndarray) -> tuple[float, float, float]:
    low, high = bootstrap_mean_interval(values, people, random_state=0)
    return 100 * float(values.mean()), 100 * low, 100 * high


def _study(
    X: np.ndarray, y: np.ndarray, splits: Splits, **parameters: Any
) -> tuple[list[CommitteeReport], list[np.ndarray]]:
    """Report and members' posteriors of a committee on each split."""
    reports, posteriors = [], []
    for number, (train, test) in enumerate(splits):
        model = RandomSamplingLDA(random_state=number, **parameters).fit(X[train], y[train])
        members = model.member_proba(X[test])
        reports.append(
            committee_report(
                members, y[test], classes=model.classes_, unique_share=model.unique_share_
            )
        )
        posteriors.append(members)
    return reports, posteriors


def _mean(reports: list[CommitteeReport], name: str) -> float:
    return float(np.mean([getattr(report, name) for report in reports]))


def summarise(reports: list[CommitteeReport], **names: Any) -> dict[str, Any]:
    """One row of numbers averaged over splits, errors in percent."""
    return names | {
        "member error %": 100 * (1 - _mean(reports, "strength")),
        "committee error %": 100 * _mean(reports, "committee_error_rate"),
        "E_av": _mean(reports, "average_error"),
        "E_com": _mean(reports, "committee_error"),
        "E_com by the law": _mean(reports, "predicted_error"),
        "correlation": _mean(reports, "error_correlation"),
        "disagreement": _mean(reports, "disagreement"),
        "pictures seen": _mean(reports, "unique_share"),
    }


def sweep_members(
    faces: FaceSet, n_splits: int, random_state: int, most: int = 60
) -> list[dict[str, Any]]:
    """Committees of the first T members, T = 1 … ``most``."""
    X, y = faces.vectors().astype(np.float64), faces.people
    splits = draw_splits(y, n_splits, random_state)
    _, posteriors = _study(X, y, splits, n_members=most)
    classes = np.unique(y)
    rows = []
    for t in (1, 2, 3, 5, 8, 12, 20, 30, 45, 60):
        reports = [
            committee_report(members[:t], y[test], classes=classes, unique_share=[1.0])
            for members, (_, test) in zip(posteriors, splits, strict=True)
        ]
        rows.append(summarise(reports, T=t))
    return rows


def sweep_sizes(
    faces: FaceSet, n_splits: int, n_members: int, random_state: int
) -> dict[str, list[dict[str, Any]]]:
    """Committees over M0 and M1, over the share that is random, and over the samplings."""
    X, y = faces.vectors().astype(np.float64), faces.people
    splits = draw_splits(y, n_splits, random_state)
    grid = [(m0, m1) for m0 in (0, 25, 50, 75) for m1 in (25, 50, 75, 100) if m0 + m1 <= 150]
    share = [(150 - m1, m1) for m1 in (0, 25, 50, 75, 100, 125, 150)]
    found: dict[str, list[dict[str, Any]]] = {"sizes": [], "randomness": [], "samplings": []}
    todo: list[tuple[str, dict[str, Any]]] = [
        ("sizes", {"n_fixed": m0, "n_random": m1}) for m0, m1 in grid
    ]
    todo += [("randomness", {"n_fixed": m0, "n_random": m1}) for m0, m1 in share]
    todo += [("samplings", {"sampling": s}) for s in ("subspace", "people", "images", "both")]
    for part, parameters in track(todo, "dials of the committee"):
        reports, _ = _study(X, y, splits, n_members=n_members, **parameters)
        names = {"M0": parameters.get("n_fixed"), "M1": parameters.get("n_random")}
        if part == "samplings":
            names = {"sampling": parameters["sampling"]}
        found[part].append(summarise(reports, **names))
    return found


def meet_strangers(faces: FaceSet, n_splits: int, random_state: int) -> list[dict[str, Any]]:
    """Enrol half of the people; how many others are named at a threshold of the posterior."""
    X, y = faces.vectors().astype(np.float64), faces.people
    thresholds = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
    named, right = {t: [] for t in thresholds}, {t: [] for t in thresholds}  # type: ignore[var-annotated]
    for number in range(n_splits):
        known, strangers = split_people(y, 0.5, random_state + number)
        train, test = next(split_pictures(y[known], N_TRAIN, 1, random_state + number))
        model = RandomSamplingLDA(random_state=number).fit(X[known][train], y[known][train])
        friends = model.predict_proba(X[known][test])
        others = model.predict_proba(X[strangers])
        for t in thresholds:
            decisions = decide(friends, model.classes_, threshold=t)
            right[t].append(np.mean(decisions == y[known][test]))
            named[t].append(np.mean(others.max(axis=1) >= t))
    return [
        {
            "threshold": t,
            "enrolled people named rightly %": 100 * float(np.mean(right[t])),
            "strangers named %": 100 * float(np.mean(named[t])),
        }
        for t in thresholds
    ]
