"""Many starts of K-means at once, and how pure the clusters of each are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mien._core.validation import check_choice

__all__ = ["STARTS", "KMeansRuns", "judge_clusters", "kmeans_starts"]

#: How the first centres are drawn: the best of a few far points at each step, or any points.
STARTS = ("k-means++", "random")
_MOST_STEPS = 300


class KMeansRuns(NamedTuple):
    """Clusters (starts, n) and costs (starts,) of every start."""

    labels: np.ndarray
    costs: np.ndarray


def _squared_distances(Z: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Squared distances (starts, n, k) of points (n, m) to centres (starts, k, m)."""
    lengths = np.einsum("skm,skm->sk", centres, centres)
    products = Z @ centres.transpose(0, 2, 1)
    return np.maximum(
        np.einsum("nm,nm->n", Z, Z)[:, None] - 2 * products + lengths[:, None, :], 0.0
    )


def _plus_plus(Z: np.ndarray, k: int, starts: int, rng: np.random.Generator) -> np.ndarray:
    """First centres, rows (starts, k) of Z, by greedy k-means++."""
    n = len(Z)
    trials = 2 + int(np.log(k))
    between = _squared_distances(Z, Z[None])[0]
    np.fill_diagonal(between, 0.0)
    rows = np.empty((starts, k), dtype=np.int64)
    rows[:, 0] = rng.integers(n, size=starts)
    nearest = between[rows[:, 0]]
    every = np.arange(starts)
    for step in range(1, k):
        sums = np.cumsum(nearest, axis=1)
        # Where every point is a centre already, any point is as good.
        sums[sums[:, -1] <= 0] = np.arange(1.0, n + 1)
        drawn = rng.random((starts, trials)) * sums[:, -1:]
        candidates = (sums[:, :, None] <= drawn[:, None, :]).sum(axis=1).clip(0, n - 1)
        after = np.minimum(nearest[:, None, :], between[candidates])
        best = np.argmin(after.sum(axis=2), axis=1)
        rows[:, step], nearest = candidates[every, best], after[every, best]
    return rows


def _new_centres(Z: np.ndarray, squared: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """Means (starts, k, m) of the clusters; an empty one takes the point that lies farthest off."""
    members = (labels[:, None, :] == np.arange(k)[:, None]).astype(np.float64)
    counts = members.sum(axis=2)
    for start in np.flatnonzero((counts == 0).any(axis=1)):
        off = np.take_along_axis(squared[start], labels[start][:, None], axis=1)[:, 0]
        empty = np.flatnonzero(counts[start] == 0)
        for cluster, row in zip(empty, np.argsort(-off, kind="stable"), strict=False):
            members[start, :, row] = 0.0
            members[start, cluster, row] = 1.0
        counts[start] = members[start].sum(axis=1)
    return (members @ Z) / np.maximum(counts, 1.0)[:, :, None]


def kmeans_starts(
    Z: np.ndarray, k: int, starts: int, *, init: str = "k-means++", random_state: int = 0
) -> KMeansRuns:
    """Lloyd's K-means of Z (n, m) from many starts, all at once.

    Notes
    -----
    The same as scikit-learn's with ``n_init=1`` for each start, whose every call costs more than
    its arithmetic on a hundred points.
    """
    check_choice("init", init, STARTS)
    rng = np.random.default_rng(random_state)
    if init == "random":
        rows = np.argsort(rng.random((starts, len(Z))), axis=1)[:, :k]
    else:
        rows = _plus_plus(Z, k, starts, rng)
    centres = Z[rows]
    labels = np.full((starts, len(Z)), -1)
    costs = np.full(starts, np.inf)
    active = np.arange(starts)
    for _ in range(_MOST_STEPS):
        squared = _squared_distances(Z, centres[active])
        found = np.argmin(squared, axis=2)
        cost = np.take_along_axis(squared, found[:, :, None], axis=2)[..., 0].sum(axis=1)
        # Points that coincide can change places for ever: a step must also pay.
        moved = (found != labels[active]).any(axis=1) & (cost < (1 - 1e-9) * costs[active])
        labels[active], costs[active] = found, cost
        if not moved.any():
            break
        active, squared, found = active[moved], squared[moved], found[moved]
        centres[active] = _new_centres(Z, squared, found, k)
    return KMeansRuns(labels, costs)


def judge_clusters(people: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Purity and accuracy (starts, 4) of clusters (starts, n): over pairs, then by majority.

    By pairs: of pairs in one cluster, the part of one person; of pairs of one person, the part in
    one cluster. By majority: the part of pictures that are of their cluster's first person, and
    the part that are in their person's first cluster.
    """
    names = np.unique(people, return_inverse=True)[1]
    k = int(labels.max()) + 1
    who = (names == np.arange(names.max() + 1)[:, None]).astype(np.float64)
    members = (labels[:, None, :] == np.arange(k)[:, None]).astype(np.float64)
    table = members @ who.T

    def pairs(counts: np.ndarray) -> np.ndarray:
        return (counts * (counts - 1)).sum(axis=-1)

    together = pairs(table.reshape(len(labels), -1))
    purity = together / np.maximum(pairs(table.sum(axis=2)), 1.0)
    accuracy = together / np.maximum(pairs(table.sum(axis=1)), 1.0)
    majority = table.max(axis=2).sum(axis=1), table.max(axis=1).sum(axis=1)
    return np.column_stack([purity, accuracy, *(part / len(people) for part in majority)])
