"""The two experiments: LFW by its protocol, and transfer over a growing number of people."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from mien._core.parallel import map_tasks
from mien._core.progress import report as report_progress
from mien.datasets import LFWProtocol, make_pairs
from mien.errors import NumericsWarning
from mien.evaluation import (
    LogisticCalibration,
    cllr,
    equal_error_rate,
    fold_accuracy,
    verification_rate,
)
from mien.verification import (
    GroupStatistics,
    JointBayesian,
    TransferJointBayesian,
    Verifier,
)
from papers.transfer.data import Domain

__all__ = ["METHODS", "Curves", "run_domain", "run_lfw", "summarise_lfw"]

METHODS = (
    "cosine",
    "source only",
    "target only",
    "pooled",
    "transfer, w = 0.8",
    "transfer, auto",
    "calibrated",
)
MEASURES = ("cllr", "error", "tpr", "own")
_FEWEST_TO_CALIBRATE = 10
# Pairs only, of which half are genuine.
_PAIRS: dict[str, Any] = {"sizes": (1,), "probe_sizes": (1,), "prior": 0.5}


def _cosine(X: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    a, b = X[pairs[:, 0]], X[pairs[:, 1]]
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosines: np.ndarray = np.einsum("ij,ij->i", a, b) / np.maximum(norms, 1e-30)
    return cosines


def run_lfw(
    X: np.ndarray, protocol: LFWProtocol, *, n_pca: int | None, name: str, random_state: int
) -> dict[str, np.ndarray]:
    """Scores (6000,) of every method on View 2, learned on people outside of each fold."""
    methods = ("cosine", "JB, approximate", "JB, exact", "calibrated fusion")
    scores = {method: np.empty(len(protocol.pairs)) for method in methods}
    for part in protocol.view2("unrestricted"):
        rows = np.asarray(part.train_rows)
        people = protocol.people[rows]
        here = np.flatnonzero(protocol.fold == part.fold)
        Z = X
        if n_pca is not None:
            pca = PCA(n_pca, svd_solver="randomized", iterated_power=2, random_state=random_state)
            Z = pca.fit(X[rows]).transform(X).astype(np.float64)
        pairs = protocol.pairs[here]
        first, second = Z[pairs[:, 0]], Z[pairs[:, 1]]
        scores["cosine"][here] = _cosine(Z, pairs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NumericsWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            for e_step in ("approximate", "exact"):
                model = JointBayesian(e_step=e_step, tol=1e-2, prior_people=0).fit(Z[rows], people)
                scores[f"JB, {e_step}"][here] = model.score_pairs(first, second)
            fused = Verifier(
                JointBayesian(tol=1e-2, prior_people=0),
                cross_fit=True,
                n_splits=3,
                random_state=random_state,
                **_PAIRS,
            ).fit(Z[rows], people)
        scores["calibrated fusion"][here] = fused.score_pairs(first, second)
        report_progress(f"LFW, {name}", part.fold + 1, 10)
    return scores


def summarise_lfw(scores: dict[str, np.ndarray], protocol: LFWProtocol) -> list[dict[str, Any]]:
    """One row a method: accuracy, TPR at two rates, Cllr raw and after calibration."""
    rows = []
    same, fold = protocol.same, protocol.fold
    for method, values in scores.items():
        accuracy = fold_accuracy(values, same, fold)
        calibrated = np.empty(len(values))
        for k in np.unique(fold):
            line = LogisticCalibration().fit(values[fold != k], same[fold != k])
            calibrated[fold == k] = line.transform(values[fold == k]).ravel()
        rows.append(
            {
                "method": method,
                "accuracy": accuracy.mean,
                "s.e.": accuracy.standard_error,
                "TPR at 1 %": float(verification_rate(values[same], values[~same], far=0.01)),
                "TPR at 0.1 %": float(verification_rate(values[same], values[~same], far=0.001)),
                "Cllr, own": None if method == "cosine" else cllr(values[same], values[~same]),
                "Cllr, calibrated on the other folds": cllr(calibrated[same], calibrated[~same]),
            }
        )
    return rows


@dataclass(frozen=True)
class Curves:
    """What every method got: ``values[measure]`` is (n_methods, n_sizes, n_repetitions).

    NaN where people are too few for a method. ``strengths`` (n_sizes, n_repetitions) are the
    weights of the source that "auto" took.
    """

    domain: Domain
    values: dict[str, np.ndarray]
    strengths: np.ndarray

    def mean(self, measure: str, method: str) -> np.ndarray:
        found: np.ndarray = self.values[measure][METHODS.index(method)].mean(axis=1)
        return found

    def half_width(self, measure: str, method: str) -> np.ndarray:
        """Half of the 95 % interval of the mean over repetitions (n_sizes,)."""
        values = self.values[measure][METHODS.index(method)]
        return _half_width(values)

    def advantage(self, measure: str, method: str) -> tuple[np.ndarray, np.ndarray]:
        """How much better "auto" is than a method, and half of the interval (paired)."""
        sign = 1.0 if measure == "tpr" else -1.0
        ours = self.values[measure][METHODS.index("transfer, auto")]
        gain = sign * (ours - self.values[measure][METHODS.index(method)])
        return gain.mean(axis=1), _half_width(gain)


def _half_width(values: np.ndarray) -> np.ndarray:
    n = values.shape[1]
    if n < 2:
        return np.full(len(values), np.nan)
    width: np.ndarray = stats.t.ppf(0.975, n - 1) * values.std(axis=1, ddof=1) / np.sqrt(n)
    return width


def _test_pairs(people: np.ndarray, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs within each half of the people: one half calibrates the other."""
    names = np.random.default_rng(seed).permutation(np.unique(people))
    parts = []
    for half in (names[: len(names) // 2], names[len(names) // 2 :]):
        rows = np.flatnonzero(np.isin(people, half))
        counts = np.unique(people[rows], return_counts=True)[1]
        n_genuine = int(np.minimum(counts * (counts - 1) // 2, 10).sum())
        there_are = (len(rows) ** 2 - int((counts**2).sum())) // 2
        n_impostor = min(10_000 if len(half) > 60 else 2_000, there_are)
        pairs, same = make_pairs(people[rows], n_genuine, n_impostor, seed, balance="people")
        parts.append((rows[pairs], same))
    return parts


def _measure(scores: list[np.ndarray], truth: list[np.ndarray]) -> tuple[float, ...]:
    """Cllr by the calibration of the other half, equal error rate, TPR at 1 % FAR, Cllr as is."""
    costs = []
    for k in (0, 1):
        line = LogisticCalibration().fit(scores[1 - k], truth[1 - k])
        ratios = line.transform(scores[k]).ravel()
        costs.append(cllr(ratios[truth[k]], ratios[~truth[k]]))
    values, same = np.concatenate(scores), np.concatenate(truth)
    genuine, impostor = values[same], values[~same]
    return (
        float(np.mean(costs)),
        float(equal_error_rate(genuine, impostor)),
        float(verification_rate(genuine, impostor, far=0.01)),
        float(cllr(genuine, impostor)),
    )


def _fit_methods(
    source: JointBayesian,
    statistics: GroupStatistics,
    X: np.ndarray,
    y: np.ndarray,
    seed: int,
) -> dict[str, Any]:
    """Every model that can be had from a source and a few people X, y of the target."""
    own = GroupStatistics().collect(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericsWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        auto = TransferJointBayesian(source, random_state=seed).fit(X, y)
        models = {
            "source only": source,
            "target only": JointBayesian(tol=1e-2, prior_people=0).fit(own),
            "pooled": JointBayesian(tol=1e-2, prior_people=0).fit(statistics + own),
            "transfer, w = 0.8": TransferJointBayesian(source, strength=4.0).fit(X, y),
            "transfer, auto": auto,
        }
        if own.n_groups >= _FEWEST_TO_CALIBRATE:
            moved = TransferJointBayesian(source, auto.source_people_)
            models["calibrated"] = Verifier(
                moved, cross_fit=True, n_splits=3, random_state=seed, **_PAIRS
            ).fit(X, y)
    return models


def run_domain(domain: Domain, n_repetitions: int, random_state: int) -> Curves:
    """All methods over growing numbers of target people, and over repetitions."""
    seeds = range(random_state, random_state + n_repetitions)
    found = map_tasks(_repeat, seeds, domain, words=domain.name)
    values = {m: np.stack([one[m] for one, _ in found], axis=2) for m in MEASURES}
    return Curves(domain, values, np.stack([strengths for _, strengths in found], axis=1))


def _repeat(seed: int, domain: Domain) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """One draw of people: values (n_methods, n_sizes) of every measure, and the weights taken."""
    values = {measure: np.full((len(METHODS), len(domain.sizes)), np.nan) for measure in MEASURES}
    strengths = np.empty(len(domain.sizes))
    source_rows, test, adapt = domain.draw(seed)
    T = domain.X_target[test]
    halves = _test_pairs(domain.y_target[test], seed)
    truth = [same for _, same in halves]
    statistics = GroupStatistics().collect(
        domain.X_source[source_rows], domain.y_source[source_rows]
    )
    source = JointBayesian(tol=1e-2, prior_people=0).fit(statistics)
    for k, size in enumerate(domain.sizes):
        rows = np.concatenate(adapt[:size])
        models = _fit_methods(
            source, statistics, domain.X_target[rows], domain.y_target[rows], seed
        )
        scores = {
            method: [model.score_pairs(T[p[:, 0]], T[p[:, 1]]) for p, _ in halves]
            for method, model in models.items()
        }
        scores["cosine"] = [_cosine(T, p) for p, _ in halves]
        for index, method in enumerate(METHODS):
            if method not in scores:
                continue
            for measure, value in zip(MEASURES, _measure(scores[method], truth), strict=True):
                values[measure][index, k] = value
        strengths[k] = models["transfer, auto"].source_weight_
    return values, strengths
