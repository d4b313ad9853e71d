"""The multi-view super vector against Fisher vectors, with the same descriptors and dimensions."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from mien._core.progress import report as report_progress
from mien._core.validation import check_choice
from mien.errors import MissingDataError, NumericsWarning
from mien.evaluation import plots
from mien.evaluation.report import Report
from mien.experiments._super_vector_data import SETS, PairedSet, load_set
from mien.multiview import Bags, FisherVector, MixturePCCA, MultiViewSuperVector, join_views

__all__ = [
    "METHODS",
    "compare_encoders",
    "corrected_interval",
    "report_super_vector",
    "run_super_vector",
]

_PCA = 32
_DESCRIPTORS = 20_000
_ITERATIONS = 25
_OPTIONS: dict[str, Any] = {"intra": True, "power": 0.5, "l2": True}
_REFERENCE = "super vector Z + G"


@dataclass(frozen=True)
class _Budget:
    """Sizes that give every method about the same number of dimensions."""

    n_components: int
    first: int
    second: int
    latent: int

    @property
    def dimensions(self) -> int:
        return 2 * self.n_components * (self.first + self.second)

    def components(self, of_one: int) -> int:
        """How many components with so many numbers each fit into the budget."""
        return max(1, round(self.dimensions / of_one))


Encode = Callable[[Bags, Bags], np.ndarray]


def _fisher(n_components: int, seed: int) -> FisherVector:
    return FisherVector(
        n_components, max_descriptors=_DESCRIPTORS, max_iter=_ITERATIONS, random_state=seed,
        **_OPTIONS,
    )  # fmt: skip


def _super(n_components: int, budget: _Budget, seed: int, **parts: Any) -> MultiViewSuperVector:
    mixture = MixturePCCA(
        n_components, budget.latent, max_iter=_ITERATIONS, tol=1e-3, floor=1e-4, random_state=seed
    )
    return MultiViewSuperVector(
        mixture, max_descriptors=_DESCRIPTORS, random_state=seed, **parts, **_OPTIONS
    )


def _first_view(X: Bags, Y: Bags, budget: _Budget, seed: int) -> Encode:
    model = _fisher(budget.components(2 * budget.first), seed).fit(X)
    return lambda first, second: model.transform(first)


def _second_view(X: Bags, Y: Bags, budget: _Budget, seed: int) -> Encode:
    model = _fisher(budget.components(2 * budget.second), seed).fit(Y)
    return lambda first, second: model.transform(second)


def _concatenated(X: Bags, Y: Bags, budget: _Budget, seed: int) -> Encode:
    one, two = (_fisher(budget.n_components, seed).fit(view) for view in (X, Y))
    return lambda first, second: np.hstack([one.transform(first), two.transform(second)])


def _joint(X: Bags, Y: Bags, budget: _Budget, seed: int) -> Encode:
    model = _fisher(budget.n_components, seed).fit(join_views(X, Y))
    return lambda first, second: model.transform(join_views(first, second))


def _latent(X: Bags, Y: Bags, budget: _Budget, seed: int) -> Encode:
    # Never more components than descriptors could place.
    most = max(1, min(len(X.descriptors), _DESCRIPTORS) // 50)
    K = min(most, budget.components(budget.latent))
    return _super(K, budget, seed, gradient=False).fit(X, Y).transform


def _gradient(X: Bags, Y: Bags, budget: _Budget, seed: int) -> Encode:
    return _super(budget.n_components, budget, seed, latent=False).fit(X, Y).transform


def _both(X: Bags, Y: Bags, budget: _Budget, seed: int) -> Encode:
    K = budget.components(budget.latent + 2 * (budget.first + budget.second))
    return _super(K, budget, seed).fit(X, Y).transform


def _as_printed(X: Bags, Y: Bags, budget: _Budget, seed: int) -> Encode:
    K = budget.components(budget.latent + 2 * (budget.first + budget.second))
    return _super(K, budget, seed, scaling="none").fit(X, Y).transform


#: Name -> what learns on the bags of two views and gives the encoder.
METHODS: dict[str, Callable[[Bags, Bags, _Budget, int], Encode]] = {
    "Fisher vector, view 1": _first_view,
    "Fisher vector, view 2": _second_view,
    "both, concatenated": _concatenated,
    "joint vector": _joint,
    "latent Z": _latent,
    "gradient G": _gradient,
    _REFERENCE: _both,
    "Z + G, gradient as printed": _as_printed,
}


def corrected_interval(
    values: np.ndarray, test_over_train: float, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Mean and interval of a quantity over repeated divisions of the same samples.

    Parameters
    ----------
    values : (n_splits,)
        One value a division.
    test_over_train : float
        Samples tested on over samples learned from.
    confidence : float
        Of the interval.

    Notes
    -----
    Divisions share samples, so their values are correlated and the usual variance of a mean is too
    small. Nadeau and Bengio (2003) replace 1/J by 1/J + n_test/n_train; so do we.
    """
    values = np.asarray(values, dtype=float)
    mean = float(values.mean())
    if values.size < 2:
        return mean, float("nan"), float("nan")
    error = np.sqrt((1 / values.size + test_over_train) * values.var(ddof=1))
    half = float(student.ppf((1 + confidence) / 2, values.size - 1) * error)
    return mean, mean - half, mean + half


def _select(bags: Bags, rows: np.ndarray) -> Bags:
    lengths = np.diff(bags.offsets)[rows]
    parts = [np.arange(bags.offsets[i], bags.offsets[i + 1]) for i in rows]
    return Bags(bags.descriptors[np.concatenate(parts)], np.concatenate([[0], np.cumsum(lengths)]))


def _reduce(bags: Bags, train: np.ndarray, rng: np.random.Generator) -> Bags:
    """Scale and PCA of a view, learned from the bags to learn from."""
    rows = np.concatenate([np.arange(bags.offsets[i], bags.offsets[i + 1]) for i in train])
    rows = rng.permutation(rows)[:_DESCRIPTORS]
    size = min(_PCA, bags.descriptors.shape[1], max(2, len(rows) // 4))
    pca = PCA(size, svd_solver="covariance_eigh").fit(bags.descriptors[rows])
    reduced = pca.transform(bags.descriptors)
    # Views in the same units: neither leads only because its numbers are larger.
    reduced /= np.sqrt(pca.explained_variance_.mean())
    return Bags(reduced.astype(np.float32), bags.offsets)


def compare_encoders(
    data: PairedSet, methods: Sequence[str] | None = None, *, random_state: int = 0
) -> dict[str, Any]:
    """Accuracy of every method on every division of a set.

    Parameters
    ----------
    data : PairedSet
        Labelled bags of paired descriptors.
    methods : sequence of str or None
        Names in :data:`METHODS`; None takes all.
    random_state : int
        Seed of draws and starts, the same for all methods.

    Returns
    -------
    dict
        ``accuracy``: name -> (n_splits,); ``dimensions``: name -> int; ``seconds``: name -> float.
    """
    names = list(METHODS) if methods is None else list(methods)
    for name in names:
        check_choice("method", name, tuple(METHODS))
    accuracy: dict[str, list[float]] = {name: [] for name in names}
    dimensions, took = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)
    for done, (train, test) in enumerate(data.splits):
        rng = np.random.default_rng([random_state, done])
        first, second = (_reduce(view, train, rng) for view in (data.first, data.second))
        budget = _Budget(
            data.n_components,
            first.descriptors.shape[1],
            second.descriptors.shape[1],
            data.n_latent,
        )
        learn = _select(first, train), _select(second, train)
        for name in names:
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", NumericsWarning)
                encode = METHODS[name](*learn, budget, random_state + done)
                encoded = encode(first, second)
                machine = LinearSVC(C=10.0, dual=True, max_iter=3000, random_state=0)
                machine.fit(encoded[train], data.labels[train])
            accuracy[name].append(machine.score(encoded[test], data.labels[test]))
            dimensions[name] = encoded.shape[1]
            took[name] += time.perf_counter() - start
            steps = len(data.splits) * len(names)
            report_progress(data.name, done * len(names) + names.index(name) + 1, steps)
    return {
        "accuracy": {name: np.asarray(values) for name, values in accuracy.items()},
        "dimensions": dimensions,
        "seconds": took,
    }


def run_super_vector(
    sets: Sequence[str] | None = None,
    *,
    home: str | os.PathLike[str] | None = None,
    n_splits: int = 8,
    random_state: int = 0,
    quick: bool = False,
) -> dict[str, Any]:
    """Compare Fisher vectors and super vectors on real sets.

    Parameters
    ----------
    sets : sequence of str or None
        Names of :data:`mien.experiments._super_vector_data.SETS`; None takes all that are there.
    home : path or None
        Where the real data are; None takes ``MIEN_DATA``.
    n_splits : int
        Divisions of each set.
    random_state : int
        Seed of everything drawn.
    quick : bool
        Few classes, few patches, small mixtures: a minute, and numbers that mean little.

    Returns
    -------
    dict
        ``sets``: a list with name, note and rows for each; ``missing``: what was not there.
    """
    chosen = list(SETS) if sets is None else list(sets)
    for name in chosen:
        check_choice("set", name, tuple(SETS))
    found, missing = [], []
    for done, name in enumerate(chosen):
        report_progress("sets", done, len(chosen))
        try:
            data = load_set(name, home, n_splits, random_state, quick)
        except MissingDataError as error:
            if sets is not None:
                raise
            missing.append(f"{name}: {error}")
            continue
        result = compare_encoders(data, random_state=random_state)
        found.append(_summarise(name, data, result))
    report_progress("sets", len(chosen), len(chosen))
    if not found:
        raise MissingDataError(f"none of the sets is there: {'; '.join(missing)}")
    return {"sets": found, "missing": missing, "quick": quick, "n_splits": n_splits}


def _summarise(key: str, data: PairedSet, result: dict[str, Any]) -> dict[str, Any]:
    share = float(np.mean([len(test) / len(train) for train, test in data.splits]))
    reference = result["accuracy"][_REFERENCE]
    rows = []
    for name, values in result["accuracy"].items():
        mean, low, high = corrected_interval(values, share)
        row = {
            "method": name,
            "dimensions": result["dimensions"][name],
            "accuracy": (mean, max(low, 0.0), min(high, 1.0)),
        }
        if name != _REFERENCE:
            row["Z + G less this"] = corrected_interval(reference - values, share)
        row["seconds a split"] = round(result["seconds"][name] / len(values), 2)
        rows.append(row)
    return {
        "key": key, "name": data.name, "note": data.note, "rows": rows,
        "bags": len(data.labels), "descriptors": len(data.first.descriptors),
        "n_splits": len(data.splits),
        "accuracies": {name: values.tolist() for name, values in result["accuracy"].items()},
    }  # fmt: skip


def report_super_vector(result: dict[str, Any], *, figures: bool = True) -> Report:
    """Write the result of :func:`run_super_vector` as tables and bars."""
    report = Report("Super vectors and Fisher vectors", "the same descriptors, the same dimensions")
    if result["quick"]:
        report.text("A quick run: few classes and patches, so the numbers mean little.")
    report.text(
        "Every method sees the same descriptors, reduced by the same PCA that the training half "
        "taught, and gets as many components as bring it to about the same number of dimensions. "
        "All are normalised alike (component, power 0.5, length) and classified by linear support "
        "vector machines, one against all, C = 10. View 1 and view 2 are named below each table. "
        "The joint vector is the Fisher vector of both views side by side (early fusion)."
    )
    for found in result["sets"]:
        report.heading(found["name"])
        report.table(
            f"{found['name']}: {found['bags']:,} bags, {found['descriptors']:,} descriptor pairs",
            found["rows"],
            f"Views: {found['note']}. Means over {found['n_splits']} divisions; in brackets 95 % "
            "intervals with Nadeau and Bengio's correction. Differences are paired by division.",
        )
        if figures:
            bars = {
                row["method"]: (
                    row["accuracy"][0],
                    (
                        row["accuracy"][0] - row["accuracy"][1],
                        row["accuracy"][2] - row["accuracy"][0],
                    ),
                )
                for row in found["rows"]
            }
            report.figure(
                plots.plot_bars(
                    bars, "share of bags classified rightly", found["name"], percent=True
                ),
                f"Accuracy on {found['name']}, with 95 % intervals.",
            )
    for reason in result["missing"]:
        report.text(f"Left out: {reason}")
    return report
