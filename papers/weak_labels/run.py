"""The experiments of the weak-label paper as functions from arrays to numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from mien._core.progress import track
from mien.datasets import make_groups, split_pictures
from mien.subspace import (
    Eigenfaces,
    Fisherfaces,
    KernelNullSpaceProjection,
    KernelRelevantComponents,
    NearestNeighbourIdentifier,
    NullSpaceProjection,
    RelevantComponents,
)
from papers.weak_labels.data import NamedVectors, TrackedFaces, turn_towards
from papers.weak_labels.kmeans import STARTS, judge_clusters, kmeans_starts

__all__ = [
    "classify",
    "classify_tracks",
    "cluster_by_kmeans",
    "rca_dimensions",
    "retrieve",
    "scatter_law",
    "summarise",
]

WEAK = ("NP-PER", "RCA", "kernel NP-PER", "kernel RCA")


def error(
    model: Any, gallery: np.ndarray, names: np.ndarray, X: np.ndarray, y: np.ndarray
) -> float:
    """Per cent of X (n, d) whose nearest neighbour in the projected gallery has another name."""
    nearest = NearestNeighbourIdentifier(metric="euclidean").fit(model.transform(gallery), names)
    return 100 * float(np.mean(nearest.predict(model.transform(X)) != y))


def tune(X: np.ndarray, groups: np.ndarray, seed: int) -> dict[str, Any]:
    """Models with their width and dimension chosen by held-out groups, without names."""
    rca = RelevantComponents("auto", random_state=seed).fit(X, groups)
    knp = KernelNullSpaceProjection(regularization=0, random_state=seed).fit(X, groups)
    krca = KernelRelevantComponents("auto", random_state=seed).fit(X, groups)
    return {
        "NP-PER": NullSpaceProjection(regularization=0),
        "RCA": RelevantComponents(rca.n_components_),
        "kernel NP-PER": KernelNullSpaceProjection(regularization=0, sigma=knp.sigma_),
        "kernel RCA": KernelRelevantComponents(krca.n_components_, sigma=krca.sigma_),
    }


def classify(data: NamedVectors, repeats: int, seed: int) -> dict[int, dict[str, np.ndarray]]:
    """Errors (repeats,) in per cent of every method for each group size.

    Each repetition draws a split of every person's pictures, and groups. The weak methods learn
    from the pictures in groups and these are the gallery; Eigenfaces (with as many directions as
    RCA) and Fisherfaces have all training pictures. Widths and dimensions are chosen on the first
    repetition by held-out groups, and kept.
    """
    out: dict[int, dict[str, np.ndarray]] = {}
    for size in data.group_sizes:
        models: dict[str, Any] = {}
        found: dict[str, list[float]] = {}
        for r in track(range(repeats), f"{data.name}: groups of {size}", repeats):
            (train, test), groups, kept = draw(data, size, seed + r)
            X, y = data.X[train], data.people[train]
            models = models or tune(X[kept], groups[kept], seed)
            probes, truth = data.X[test], data.people[test]
            for name in WEAK:
                model = models[name].fit(X[kept], groups[kept])
                found.setdefault(name, []).append(error(model, X[kept], y[kept], probes, truth))
            m = models["RCA"].n_components
            others = {"Eigenfaces": Eigenfaces(m).fit(X)}
            if size == data.group_sizes[-1]:
                others["Fisherfaces"] = Fisherfaces().fit(X, y)
            for name, model in others.items():
                found.setdefault(name, []).append(error(model, X, y, probes, truth))
        out[size] = {name: np.asarray(values) for name, values in found.items()}
    return out


def draw(data: NamedVectors, size: int, seed: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """A split, groups (n_train,) of its training part, and which of it is in groups."""
    split = next(split_pictures(data.people, data.n_train, random_state=seed))
    groups = make_groups(data.people[split[0]], size, random_state=seed)
    return split, groups, groups >= 0


def rca_dimensions(
    data: NamedVectors, dimensions: tuple[int, ...], repeats: int, seed: int
) -> dict[int, dict[int, np.ndarray]]:
    """Test errors (repeats,) of RCA for each group size and number of directions."""
    out: dict[int, dict[int, np.ndarray]] = {}
    for size in data.group_sizes:
        found: dict[int, list[float]] = {}
        for r in track(range(repeats), f"{data.name}: RCA's dimension, groups of {size}", repeats):
            (train, test), groups, kept = draw(data, size, seed + r)
            X, y = data.X[train][kept], data.people[train][kept]
            most = len(X) - len(np.unique(groups[kept]))
            for m in (m for m in dimensions if m <= most):
                model = RelevantComponents(m).fit(X, groups[kept])
                value = error(model, X, y, data.X[test], data.people[test])
                found.setdefault(m, []).append(value)
        out[size] = {m: np.asarray(values) for m, values in found.items()}
    return out


def cluster_by_kmeans(
    data: NamedVectors, repeats: int, starts: int, seed: int
) -> dict[int, dict[tuple[str, str], np.ndarray]]:
    """Purity and accuracy in per cent, (repeats, 6), by method and kind of start.

    Clustered are the pictures in groups. The six are purity and accuracy over pairs and by
    majority, as means over single starts, as the paper averages; then those over pairs of the
    best start by K-means' own criterion.
    """
    out: dict[int, dict[tuple[str, str], np.ndarray]] = {}
    for size in data.group_sizes:
        models: dict[str, Any] = {}
        found: dict[tuple[str, str], list[np.ndarray]] = {}
        for r in track(range(repeats), f"{data.name}: K-means, groups of {size}", repeats):
            (train, _), groups, kept = draw(data, size, seed + r)
            X, y, groups = data.X[train][kept], data.people[train][kept], groups[kept]
            models = models or clustering_models(X, groups, seed)
            for name, model in models.items():
                Z = model.fit(X, groups).transform(X)
                for init in STARTS:
                    value = _kmeans(Z, y, starts, init, seed + r)
                    found.setdefault((name, init), []).append(value)
        out[size] = {key: np.asarray(values) for key, values in found.items()}
    return out


def clustering_models(X: np.ndarray, groups: np.ndarray, seed: int) -> dict[str, Any]:
    """What Table 1 compares: both kernel methods in both geometries, and PCA."""
    tuned = tune(X, groups, seed)
    out = {name: tuned[name] for name in ("kernel NP-PER", "kernel RCA")}
    for name, model in list(out.items()):
        out[f"{name}, as printed"] = clone(model).set_params(geometry="empirical")
    out["PCA"] = Eigenfaces(tuned["RCA"].n_components)
    return out


def _kmeans(Z: np.ndarray, people: np.ndarray, starts: int, init: str, seed: int) -> np.ndarray:
    found = kmeans_starts(Z, len(np.unique(people)), starts, init=init, random_state=seed)
    judged = judge_clusters(people, found.labels)
    best = judged[int(np.argmin(found.costs)), :2]
    return 100 * np.concatenate([judged.mean(axis=0), best])


def classify_tracks(
    data: TrackedFaces, group_sizes: tuple[int, ...], repeats: int, seed: int, *, every: int = 1
) -> dict[int, dict[str, np.ndarray]]:
    """Errors (repeats,) in per cent on the later half of each person's frames.

    Each so many (``every``) of the first half of everybody's frames, of which at most the last
    120 count, are cut into groups of frames that follow each other in one track, from a random
    place on.
    """
    out: dict[int, dict[str, np.ndarray]] = {}
    early = np.zeros(len(data.people), dtype=bool)
    late = np.zeros(len(data.people), dtype=bool)
    for person in np.unique(data.people):
        rows = np.flatnonzero(data.people == person)
        half = len(rows) // 2
        early[rows[:half][-120:]] = True
        late[rows[half:]] = True
    every_point = turn_towards(data.X, np.flatnonzero(early))
    for size in group_sizes:
        models: dict[str, Any] = {}
        found: dict[str, list[float]] = {}
        for r in track(range(repeats), f"tracks: groups of {size}", repeats):
            groups = _cut_tracks(data, early, size, np.random.default_rng(seed + r), every)
            kept = groups >= 0
            X, y = every_point[kept], data.people[kept]
            models = models or tune(X, groups[kept], seed) | {"no projection": _NoProjection()}
            for name in (*WEAK, "no projection"):
                model = models[name].fit(X, groups[kept])
                value = error(model, X, y, every_point[late], data.people[late])
                found.setdefault(name, []).append(value)
        out[size] = {name: np.asarray(values) for name, values in found.items()}
    return out


class _NoProjection:
    """The vectors as they are, to be compared with."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        return X


def _cut_tracks(
    data: TrackedFaces, early: np.ndarray, size: int, rng: np.random.Generator, every: int = 1
) -> np.ndarray:
    """Groups (n,) of ``size`` frames in a row of one track; -1 for what is left over."""
    groups = np.full(len(early), -1)
    number = 0
    for name in np.unique(data.tracks[early & (data.tracks >= 0)]):
        rows = np.flatnonzero(early & (data.tracks == name))
        rows = rows[np.argsort(data.frames[rows], kind="stable")][::every]
        count = len(rows) // size
        start = int(rng.integers(0, len(rows) - count * size + 1)) if count else 0
        for k in range(count):
            groups[rows[start + k * size : start + (k + 1) * size]] = number
            number += 1
    return groups


def scatter_law(
    X: np.ndarray, people: np.ndarray, sizes: Sequence[int], repeats: int, seed: int
) -> dict[int, np.ndarray]:
    """Section 4.4: how much of the variance inside people random groups of each size show.

    Returns
    -------
    dict of int to (repeats,)
        ``tr S_g`` over the sum of ``σ²`` of each grouped picture's person, with σ² the unbiased
        variance of all of the person's pictures. Pictures of a group are drawn at random, so a
        group of n has the expected scatter (n − 1) σ², and the share is 1 − 1/n whatever the data.
    """
    names, counts = np.unique(people, return_counts=True)
    scatter = _scatter(X, people)
    variance = {n: scatter[n] / max(1, c - 1) for n, c in zip(names, counts, strict=True)}
    out = {}
    for size in sizes:
        found = []
        for r in range(repeats):
            groups = make_groups(people, size, random_state=seed + r)
            kept = groups >= 0
            whole = sum(variance[name] for name in people[kept])
            found.append(sum(_scatter(X[kept], groups[kept]).values()) / whole)
        out[size] = np.asarray(found)
    return out


def _scatter(X: np.ndarray, labels: np.ndarray) -> dict[Any, float]:
    """Sum of squared distances to the mean of each label."""
    return {
        name: float(np.square(X[labels == name] - X[labels == name].mean(axis=0)).sum())
        for name in np.unique(labels)
    }


def retrieve(
    X: np.ndarray,
    classes: np.ndarray,
    n_classes: tuple[int, ...],
    repeats: int,
    seed: int,
    *,
    group_size: int = 5,
    top: int = 15,
    words: str = "Corel-1K",
) -> dict[int, dict[str, np.ndarray]]:
    """Mean number of right pictures among the top K = 1 … ``top``, (repeats, top).

    Half of each class is learned from in groups and is what is searched; the other half asks.
    Classes are drawn anew each time.
    """
    out: dict[int, dict[str, np.ndarray]] = {}
    names = np.unique(classes)
    for count in n_classes:
        models: dict[str, Any] = {}
        found: dict[str, list[np.ndarray]] = {}
        for r in track(range(repeats), f"{words}: {count} classes", repeats):
            rng = np.random.default_rng(seed + r)
            rows = np.flatnonzero(np.isin(classes, rng.permutation(names)[:count]))
            half = int(np.min(np.unique(classes[rows], return_counts=True)[1])) // 2
            train, test = next(split_pictures(classes[rows], half, random_state=seed + r))
            train, test = rows[train], rows[test]
            groups = make_groups(classes[train], group_size, random_state=seed + r)
            models = models or tune(X[train], groups, seed)
            plain = {"no projection": (X[test], X[train])}
            for name in ("kernel NP-PER", "kernel RCA"):
                model = models[name].fit(X[train], groups)
                plain[name] = (model.transform(X[test]), model.transform(X[train]))
            for name, (probes, items) in plain.items():
                nearest = NearestNeighbourIdentifier(metric="euclidean").fit(items, classes[train])
                right = nearest.retrieve(probes, top).labels == classes[test][:, None]
                found.setdefault(name, []).append(np.cumsum(right, axis=1).mean(axis=0))
        out[count] = {name: np.asarray(values) for name, values in found.items()}
    return out


def summarise(values: np.ndarray) -> tuple[float, float, float]:
    """Mean of repetitions with the 95 % interval of the mean."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, mean, mean
    half = 1.96 * float(np.std(values, ddof=1)) / np.sqrt(len(values))
    return mean, mean - half, mean + half
