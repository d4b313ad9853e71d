"""The multi-view super vector against Fisher vectors, with the same descriptors and dimensions."""

from __future__ import annotations

import functools
import os
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

from mien._core.progress import report as report_progress
from mien._core.validation import check_choice
from mien.errors import MissingDataError, NumericsWarning
from mien.multiview import Bags
from papers.super_vector.data import (
    SETS,
    PairedSet,
    divide_within,
    load_set,
    select_bags,
    select_set,
)
from papers.super_vector.methods import (
    DESCRIPTORS,
    METHODS,
    Budget,
    Division,
    Setting,
)

__all__ = [
    "METHODS",
    "compare_encoders",
    "corrected_interval",
    "reduce_view",
    "run_super_vector",
    "shared_variance",
]

_PCA = 32
_REFERENCE = "super vector Z + G"


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


def reduce_view(bags: Bags, train: np.ndarray, rng: np.random.Generator) -> Bags:
    """Scale and PCA of a view, learned from the bags to learn from."""
    rows = np.concatenate([np.arange(bags.offsets[i], bags.offsets[i + 1]) for i in train])
    rows = rng.permutation(rows)[:DESCRIPTORS]
    size = min(_PCA, bags.descriptors.shape[1], max(2, len(rows) // 4))
    pca = PCA(size, svd_solver="covariance_eigh").fit(bags.descriptors[rows])
    reduced = pca.transform(bags.descriptors)
    # Views in the same units: neither leads only because its numbers are larger.
    reduced /= np.sqrt(pca.explained_variance_.mean())
    return Bags(reduced.astype(np.float32), bags.offsets)


def _prepare(data: PairedSet, learn: np.ndarray, seeds: tuple[int, ...]) -> Division:
    """Both views reduced by what the bags to learn from say."""
    rng = np.random.default_rng(seeds)
    first, second = (reduce_view(view, learn, rng) for view in (data.first, data.second))
    sizes = first.descriptors.shape[1], second.descriptors.shape[1]
    # Choosing among settings is done with half of the descriptors, for the sake of time.
    most = DESCRIPTORS if len(seeds) == 2 else DESCRIPTORS // 2
    return Division(first, second, learn, Budget(data.n_components, *sizes), sum(seeds), most)


def shared_variance(
    first: Bags, second: Bags, train: np.ndarray, test: np.ndarray
) -> tuple[float, float]:
    """How much of the variance of each view the other one predicts, by a straight line.

    Parameters
    ----------
    first, second : Bags
        Two views, descriptor by descriptor paired.
    train, test : (n,), (m,)
        Bags that the line is learned from, and those that it is judged on.

    Returns
    -------
    of the second from the first, of the first from the second
        One less the mean squared error over the variance; 0 where the mean would do as well.
    """
    views = [[select_bags(view, part).descriptors for part in (train, test)]
             for view in (first, second)]  # fmt: skip
    shares = []
    for (known, seen), (wanted, truth) in (views, views[::-1]):
        line = Ridge(alpha=1e-3 * len(known)).fit(known, wanted)
        error = np.square(line.predict(seen) - truth).sum()
        total = np.square(truth - wanted.mean(axis=0)).sum()
        shares.append(max(0.0, 1 - float(error / total)))
    return shares[0], shares[1]


def _choose(name: str, inner: list[tuple[Division, np.ndarray]], labels: np.ndarray) -> Setting:
    """The setting that does best, on average, on parts of the training half held out."""
    method = METHODS[name]

    @functools.cache
    def judge(setting: Setting) -> float:
        found = [method.accuracy(division, setting, labels, held)[0] for division, held in inner]
        return float(np.mean(found))

    return method.choose(judge, inner[0][0].n_pairs)


def compare_encoders(
    data: PairedSet,
    methods: Sequence[str] | None = None,
    *,
    n_inner: int = 1,
    random_state: int = 0,
) -> dict[str, Any]:
    """Accuracy of every method on every division of a set.

    Parameters
    ----------
    data : PairedSet
        Labelled bags of paired descriptors.
    methods : sequence of str or None
        Names in :data:`METHODS`; None takes all.
    n_inner : int
        Divisions of each training half on which settings are chosen.
    random_state : int
        Seed of draws and starts, the same for all methods.

    Returns
    -------
    dict
        ``accuracy``: name -> (n_splits,); ``dimensions``: name -> most of any split;
        ``seconds``: name -> float, of the processor, the choice of settings included;
        ``settings``: name -> what was chosen in each split; ``shared``: (n_splits, 2) of
        :func:`shared_variance`.

    Notes
    -----
    The number of components (all that the budget allows, or a quarter), of latent variables, the
    scaling of the gradient and the normalisation are chosen
    for every method and every split inside the training half: PCA, mixtures and classifiers
    are learned from a part of it, and what does best on the rest is learned again from all of it.
    """
    names = list(METHODS) if methods is None else list(methods)
    for name in names:
        check_choice("method", name, tuple(METHODS))
    accuracy: dict[str, list[float]] = {name: [] for name in names}
    settings: dict[str, list[str]] = {name: [] for name in names}
    dimensions, took = dict.fromkeys(names, 0), dict.fromkeys(names, 0.0)
    shared = []
    for done, (train, test) in enumerate(data.splits):
        # What is chosen here never meets a bag of the other half, not even to encode it.
        half = select_set(data, train)
        within = divide_within(half, np.arange(len(train)), n_inner, random_state + done)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", NumericsWarning)
            inner = [
                (_prepare(half, learn, (random_state, done, 1 + i)), judge)
                for i, (learn, judge) in enumerate(within)
            ]
            outer = _prepare(data, train, (random_state, done))
            shared.append(shared_variance(outer.views["first"], outer.views["second"], train, test))
            for name in names:
                start = time.process_time()
                setting = _choose(name, inner, half.labels)
                found, size = METHODS[name].accuracy(outer, setting, data.labels, test)
                dimensions[name] = max(dimensions[name], size)
                accuracy[name].append(found)
                settings[name].append(str(setting))
                took[name] += time.process_time() - start
                steps = len(data.splits) * len(names)
                report_progress(data.name, done * len(names) + names.index(name) + 1, steps)
    return {
        "accuracy": {name: np.asarray(values) for name, values in accuracy.items()},
        "dimensions": dimensions,
        "seconds": took,
        "settings": settings,
        "shared": np.asarray(shared),
    }


def run_super_vector(
    sets: Sequence[str] | None = None,
    *,
    home: str | os.PathLike[str] | None = None,
    methods: Sequence[str] | None = None,
    n_splits: int = 8,
    random_state: int = 0,
    quick: bool = False,
) -> dict[str, Any]:
    """Compare Fisher vectors and super vectors on real sets.

    Parameters
    ----------
    sets : sequence of str or None
        Names of :data:`papers.super_vector.data.SETS`; None takes all that are there.
    home : path or None
        Where the real data are; None takes ``MIEN_DATA``.
    methods : sequence of str or None
        Names in :data:`METHODS`; None takes all.
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
        result = compare_encoders(data, methods, random_state=random_state)
        found.append(_summarise(name, data, result))
    report_progress("sets", len(chosen), len(chosen))
    if not found:
        raise MissingDataError(f"none of the sets was found: {'; '.join(missing)}")
    return {"sets": found, "missing": missing, "quick": quick, "n_splits": n_splits}


def _most_often(settings: list[str]) -> str:
    setting, times = Counter(settings).most_common(1)[0]
    return f"{setting} ({times} of {len(settings)})"


def _summarise(key: str, data: PairedSet, result: dict[str, Any]) -> dict[str, Any]:
    share = float(np.mean([len(test) / len(train) for train, test in data.splits]))
    reference = result["accuracy"].get(_REFERENCE)
    rows = []
    for name, values in result["accuracy"].items():
        mean, low, high = corrected_interval(values, share)
        row = {
            "method": name,
            "dimensions": result["dimensions"][name],
            "accuracy": (mean, max(low, 0.0), min(high, 1.0)),
        }
        if name != _REFERENCE and reference is not None:
            row["Z + G less this"] = corrected_interval(reference - values, share)
        row["chosen"] = _most_often(result["settings"][name])
        rows.append(row)
    return {
        "key": key, "name": data.name, "note": data.note, "rows": rows,
        "bags": len(data.labels), "descriptors": len(data.first.descriptors),
        "n_splits": len(data.splits),
        "accuracies": {name: values.tolist() for name, values in result["accuracy"].items()},
        "settings": result["settings"], "seconds": result["seconds"],
        "shared": result["shared"].mean(axis=0).tolist(),
    }  # fmt: skip
