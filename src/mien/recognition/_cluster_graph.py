"""Very many faces joined into people along a graph of nearest neighbours."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mien._core.progress import report
from mien.gallery import NeighbourGraph
from mien.verification import Scorer, SetScores

__all__ = ["N_NEIGHBOURS", "Neighbours", "find_neighbours_here", "link_by_neighbours"]

#: Candidates of each set. More find more of what the exact method finds, and take longer.
N_NEIGHBOURS = 24
#: Log ratios below the threshold that a pair may have and still be kept: sets grow.
_SLACK = 25.0
_MOST_GRAPHS = 8

Neighbours = Callable[[Scorer, np.ndarray, np.ndarray, int], np.ndarray]


def find_neighbours_here(
    scorer: Scorer, means: np.ndarray, which: np.ndarray, n_neighbours: int
) -> np.ndarray:
    """The nearest of all sets with these means, for those asked about, on this machine."""
    from mien._core.parallel import count_threads

    graph = NeighbourGraph(scorer, means, n_threads=count_threads(-1))
    return graph.nearest(which, n_neighbours)


def link_by_neighbours(
    scorer: Scorer,
    sizes: np.ndarray,
    sums: np.ndarray,
    threshold: float,
    apart: np.ndarray,
    fresh: np.ndarray,
    *,
    n_neighbours: int = N_NEIGHBOURS,
    neighbours: Neighbours = find_neighbours_here,
) -> tuple[np.ndarray, np.ndarray]:
    """Join sets of faces while the ratio of two neighbours is above a threshold.

    Parameters
    ----------
    scorer : Scorer
        Compares sets.
    sizes, sums : (n,), (n, d)
        Of the sets; ``sums`` is changed.
    threshold : float
        In natural-log ratios.
    apart : (n_pairs, 2)
        Sets that are never joined, directly or through others.
    fresh : (n,) bool
        Sets that ask for neighbours at first; the others were sorted before, and are only found.
    n_neighbours : int
        Candidates of each set.
    neighbours : callable
        Finds them; workers may do it.

    Returns
    -------
    root (n,), ratios (n_joins,)
        The set that each has become part of, and the ratio of each join.

    Notes
    -----
    The nearest neighbours of every set are rescored by the calibrated ratio. In rounds, every two
    sets that are each other's best allowed candidate are joined; a joined set has the candidates
    of both. Where nothing is left to join, sets that have grown ask for neighbours again, now by
    their means, until that joins nothing more. Time is that of the graph, about n log n.
    """
    n = len(sizes)
    sets = SetScores(scorer, sizes, sums)
    root = np.arange(n)
    alive = np.ones(n, dtype=bool)
    asking = fresh.copy()
    apart_keys = _keys(apart[:, 0], apart[:, 1], n) if len(apart) else np.zeros(0, np.int64)
    apart_keys = np.unique(apart_keys)
    pairs, values = np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.float32)
    ratios: list[np.ndarray] = []
    rounds = 0
    for _ in range(_MOST_GRAPHS):
        there = np.flatnonzero(alive)
        if len(there) < 2 or not asking.any():
            break
        means = sets.sums[there] / sets.sizes[there].astype(np.float32)[:, None]
        asked = np.flatnonzero(asking[there])
        found = neighbours(scorer, means, asked, min(n_neighbours, len(there) - 1))
        del means
        new = _pairs_of(there, asked, found, n)
        asking[:] = False
        new = _setdiff(new, _keys(pairs[:, 0], pairs[:, 1], n))
        new = _setdiff(new, apart_keys)
        fresh_pairs = np.column_stack(np.divmod(new, n))
        pairs, values = _keep(
            np.concatenate([pairs, fresh_pairs]),
            np.concatenate([values, sets.score(fresh_pairs[:, 0], fresh_pairs[:, 1])]),
            threshold,
        )
        joined = 0
        while len(pairs):
            mutual = _mutual(pairs, values, threshold, n)
            if not len(mutual):
                break
            keep, gone = pairs[mutual, 0], pairs[mutual, 1]
            ratios.append(values[mutual])
            sets.join(keep, gone)
            alive[gone] = False
            root[gone] = keep
            asking[keep] = True
            joined += len(mutual)
            moved = np.arange(n)
            moved[gone] = keep
            apart_keys = _move(apart_keys, moved, n)
            pairs, values = _relabel(sets, pairs, values, moved, keep, apart_keys, threshold)
            rounds += 1
            report("joining faces", int(n - np.count_nonzero(alive)), n)
        if joined == 0:
            break
    while np.any(root != root[root]):
        root = root[root]
    return root, np.concatenate(ratios) if ratios else np.zeros(0, np.float32)


def _keys(a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    """One number (n_pairs,) for each pair, whichever comes first in it."""
    return np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b)


def _pairs_of(there: np.ndarray, asked: np.ndarray, found: np.ndarray, n: int) -> np.ndarray:
    """Keys of the pairs of those who asked and those who were found, each once, sorted."""
    rows = np.repeat(there[asked], found.shape[1])
    columns = found.ravel()
    held = columns >= 0
    return np.unique(_keys(rows[held], there[columns[held]], n))


def _setdiff(keys: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Keys that are not among the others; the keys are sorted, and stay so."""
    if not len(others) or not len(keys):
        return keys
    others = np.sort(others)
    place = np.minimum(np.searchsorted(others, keys), len(others) - 1)
    return keys[others[place] != keys]


def _keep(pairs: np.ndarray, values: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    near = values >= threshold - _SLACK
    return pairs[near], values[near]


def _mutual(pairs: np.ndarray, values: np.ndarray, threshold: float, n: int) -> np.ndarray:
    """Places of the pairs that are best for both; equal ratios go to the smaller number."""
    good = np.flatnonzero(values >= threshold)
    a, b, value = pairs[good, 0], pairs[good, 1], values[good]
    best = np.full(n, -np.inf, dtype=np.float32)
    np.maximum.at(best, a, value)
    np.maximum.at(best, b, value)
    partner = np.full(n, n, dtype=np.int64)
    for one, other in ((a, b), (b, a)):
        top = value == best[one]
        np.minimum.at(partner, one[top], other[top])
    return good[(partner[a] == b) & (partner[b] == a)]


def _move(keys: np.ndarray, moved: np.ndarray, n: int) -> np.ndarray:
    if not len(keys):
        return keys
    a, b = np.divmod(keys, n)
    return np.unique(_keys(moved[a], moved[b], n))


def _relabel(
    sets: SetScores,
    pairs: np.ndarray,
    values: np.ndarray,
    moved: np.ndarray,
    keep: np.ndarray,
    apart_keys: np.ndarray,
    threshold: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs after sets were joined: those that were touched are made again and rescored."""
    n = len(moved)
    changed = np.zeros(n, dtype=bool)
    changed[keep] = True
    after = moved[pairs]
    touched = changed[after[:, 0]] | changed[after[:, 1]]
    inside = after[:, 0] == after[:, 1]
    again = after[touched & ~inside]
    keys = _setdiff(np.unique(_keys(again[:, 0], again[:, 1], n)), apart_keys)
    again = np.column_stack(np.divmod(keys, n))
    scores = sets.score(again[:, 0], again[:, 1])
    again, scores = _keep(again, scores, threshold)
    return np.concatenate([pairs[~touched], again]), np.concatenate([values[~touched], scores])
