"""Faces joined into people by the calibrated ratio of sets, under what is known for certain."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mien._core.progress import track
from mien._core.validation import NO_GROUP
from mien.errors import InputError, PerformanceWarning
from mien.gallery import NeighbourGraph
from mien.recognition._cluster_graph import (
    N_NEIGHBOURS,
    Neighbours,
    find_neighbours_here,
    link_by_neighbours,
)
from mien.verification import Scorer, SetScores

__all__ = ["Linked", "link_faces", "own_ratios"]

_BLOCK = 2**23
_STRETCH = 2**15
#: Above so many sets, all against all takes too long.
EXACT_SETS = 10_000


class Linked(NamedTuple):
    """Cluster (n,) of each face from 0, the largest first, and the ratio of each merge."""

    labels: np.ndarray
    ratios: np.ndarray


def link_faces(
    scorer: Scorer,
    vectors: np.ndarray,
    threshold: float,
    *,
    groups: np.ndarray | None = None,
    cannot_link: np.ndarray | None = None,
    known: np.ndarray | None = None,
    neighbours: int | None = None,
    find: Neighbours = find_neighbours_here,
) -> Linked:
    """Join faces while the calibrated log ratio of two sets of faces is above a threshold.

    Parameters
    ----------
    scorer : Scorer
        Scores two sets of vectors.
    vectors : (n, d)
        One face each.
    threshold : float
        In natural-log ratios; sets below it are never joined.
    groups : (n,) or None
        Faces of a group stay together whatever their ratio; -1 for none.
    cannot_link : (n_pairs, 2) or None
        Faces that are never in one cluster, directly or through others.
    known : (n,) or None
        Person of each face that was sorted before, -1 for new faces. People stay as they are
        unless a new face is added to them; only new faces are compared with all others.
    neighbours : int or None
        Compare each set with this many nearest neighbours; 0 compares every set with every other.
        None compares all with all up to 10,000 sets, and 24 neighbours each beyond.
    find : callable
        Finds the neighbours; workers may do it.

    Returns
    -------
    Linked

    Notes
    -----
    In rounds, every two sets that are each other's best allowed partner are joined; then only
    sets that changed, or whose partner did, are scored again. A best pair is always mutual, so
    each round joins at least one. Scores are made in blocks: memory is O(n · d + block), time
    O(n² · d) and a few rounds. Equal ratios go to the first in the order of size and appearance,
    so that two runs agree.

    With neighbours, the same rounds go along a graph of the nearest neighbours, found by the
    leading directions of the model and rescored by the same ratio. Time is then close to linear
    in the number of faces.
    """
    n = len(vectors)
    pieces = _pieces(_with_known(groups, known, n), n)
    vectors = np.asarray(vectors, dtype=np.float32)
    apart = _apart(cannot_link, pieces)
    fresh = np.ones(int(pieces.max(initial=-1)) + 1, dtype=bool)
    if known is not None:
        fresh[pieces[known != NO_GROUP]] = False
    if _wants_graph(neighbours, len(fresh)):
        sizes, sums = _sum_pieces(vectors, pieces)
        k = neighbours or N_NEIGHBOURS
        root, values = link_by_neighbours(
            scorer, sizes, sums, threshold, apart, fresh, n_neighbours=k, neighbours=find
        )
        return Linked(_number_by_size(root[pieces]), values.astype(np.float64))
    sets = _Sets(scorer, vectors, pieces)
    sets.keep_apart(apart)
    ratios: list[float] = []
    stale = np.flatnonzero(fresh)
    rounds = 0
    while stale.size:
        sets.find_partners(stale, f"comparing faces, round {(rounds := rounds + 1)}")
        pairs = sets.mutual_pairs(threshold)
        ratios += sets.values[pairs[:, 0]].tolist()
        stale = sets.join(pairs)
    labels = sets.root()[pieces]
    return Linked(_number_by_size(labels), np.asarray(ratios))


class _Sets:
    """Sets of faces by number, their sums, and the best partner of each."""

    def __init__(self, scorer: Scorer, vectors: np.ndarray, pieces: np.ndarray) -> None:
        self.scorer = scorer
        self.sizes, self.sums = _sum_pieces(vectors, pieces)
        n = len(self.sizes)
        self.alive = np.ones(n, dtype=bool)
        self.parent = np.arange(n)
        self.partners = np.full(n, -1)
        self.values = np.full(n, -np.inf, dtype=np.float32)
        self.strangers: dict[int, set[int]] = {}

    def keep_apart(self, pairs: np.ndarray) -> None:
        for a, b in pairs.tolist():
            self.strangers.setdefault(a, set()).add(b)
            self.strangers.setdefault(b, set()).add(a)

    def find_partners(self, rows: np.ndarray, words: str) -> None:
        """Score sets ``rows`` against all; better ones also become the partners of the others."""
        others = np.flatnonzero(self.alive)
        self.values[rows], self.partners[rows] = -np.inf, -1
        step = max(1, _BLOCK // len(others))
        for start in track(range(0, len(rows), step), words):
            here = rows[start : start + step]
            scores = self._score(here, others)
            self._offer(here, others, scores)
            self._offer(others, here, np.ascontiguousarray(scores.T))

    def _offer(self, sets: np.ndarray, offered: np.ndarray, scores: np.ndarray) -> None:
        """Take the best of the offered sets (their numbers rise) where it beats what there is."""
        best = np.argmax(scores, axis=1)
        values = scores[np.arange(len(sets)), best]
        names = offered[best]
        better = values > self.values[sets]
        # Equal ratios go to the smaller number: then a best pair is mutual.
        tie = (values == self.values[sets]) & (names < self.partners[sets])
        take = np.isfinite(values) & (better | tie)
        self.values[sets[take]], self.partners[sets[take]] = values[take], names[take]

    def _score(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Ratios (rows, columns); of two sets the smaller is the probe. -inf where forbidden."""
        scores = np.empty((len(rows), len(columns)), dtype=np.float32)
        wide = self.sizes[columns]
        for size in np.unique(self.sizes[rows]):
            r = np.flatnonzero(self.sizes[rows] == size)
            for larger in (True, False):
                c = np.flatnonzero((wide >= size) == larger)
                if not c.size:
                    continue
                a, b = rows[r], columns[c]
                small, large = (a, b) if larger else (b, a)
                block = self.scorer.score_sums(
                    self.sizes[small], self.sums[small], self.sizes[large], self.sums[large]
                )
                scores[np.ix_(r, c)] = block if larger else block.T
        place = {int(column): k for k, column in enumerate(columns)}
        for k, row in enumerate(rows.tolist()):
            scores[k, place[row]] = -np.inf
            for stranger in self.strangers.get(row, ()):
                scores[k, place[stranger]] = -np.inf
        return scores

    def mutual_pairs(self, threshold: float) -> np.ndarray:
        """Pairs (k, 2), the first number smaller, that are each other's best and good enough."""
        rows = np.flatnonzero(self.alive & (self.partners >= 0) & (self.values >= threshold))
        partners = self.partners[rows]
        mutual = (self.partners[partners] == rows) & (rows < partners)
        return np.column_stack([rows[mutual], partners[mutual]])

    def join(self, pairs: np.ndarray) -> np.ndarray:
        """Join each pair into its first set; returns the sets that must be scored again."""
        if not len(pairs):
            return np.zeros(0, dtype=np.int64)
        keep, gone = pairs[:, 0], pairs[:, 1]
        self.sums[keep] += self.sums[gone]
        self.sizes[keep] += self.sizes[gone]
        self.alive[gone] = False
        self.parent[gone] = keep
        for a, b in pairs.tolist():
            for stranger in self.strangers.pop(b, set()):
                self.strangers[stranger].discard(b)
                self.strangers[stranger].add(a)
                self.strangers.setdefault(a, set()).add(stranger)
        changed = np.zeros(len(self.alive), dtype=bool)
        changed[keep] = changed[gone] = True
        lost = (self.partners >= 0) & changed[self.partners]
        return np.flatnonzero(self.alive & (changed | lost))

    def root(self) -> np.ndarray:
        """The set (n_pieces,) that each piece has become part of."""
        root = self.parent
        while np.any(root != root[root]):
            root = root[root]
        return root


def _sum_pieces(vectors: np.ndarray, pieces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of faces (n_pieces,) and sums of their vectors (n_pieces, d)."""
    sizes = np.bincount(pieces)
    if len(sizes) == len(pieces) and np.array_equal(pieces, np.arange(len(pieces))):
        return sizes, vectors.copy()
    order = np.argsort(pieces, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return sizes, np.add.reduceat(vectors[order], starts, axis=0)


def _with_known(groups: np.ndarray | None, known: np.ndarray | None, n: int) -> np.ndarray | None:
    """Groups in which the faces of a person sorted before are together, and what touches them."""
    if known is None:
        return groups
    if known.shape != (n,):
        raise InputError(f"known has the shape {known.shape} for {n} faces")
    if groups is None:
        return known
    held = [(known, 0), (groups, int(known.max(initial=NO_GROUP)) + 1)]
    rows = np.concatenate([np.flatnonzero(names != NO_GROUP) for names, _ in held])
    names = np.concatenate([names[names != NO_GROUP] + first for names, first in held])
    n_names = int(names.max(initial=-1)) + 1
    links = coo_array((np.ones(len(rows)), (rows, n + names)), shape=(n + n_names, n + n_names))
    component = connected_components(links, directed=False)[1][:n]
    touched = np.zeros(n, dtype=bool)
    touched[rows] = True
    return np.where(touched, component, NO_GROUP)


def _wants_graph(neighbours: int | None, n_sets: int) -> bool:
    """Whether to go along a graph: if asked to, or where all against all would take too long."""
    if neighbours is not None:
        if neighbours < 0:
            raise InputError(f"neighbours must be 0 or more; got {neighbours}")
        return neighbours > 0 and n_sets > 1
    if n_sets <= EXACT_SETS:
        return False
    if not NeighbourGraph.available():
        warnings.warn(
            f"{n_sets:,} sets of faces are compared all with all, because usearch is not installed "
            "(pip install 'mien[gallery]'): time grows with the square of their number",
            PerformanceWarning,
            stacklevel=3,
        )
        return False
    return True


def _pieces(groups: np.ndarray | None, n: int) -> np.ndarray:
    """Number (n,) of what stays together, in the order in which it first comes."""
    if groups is None:
        return np.arange(n)
    names = np.where(groups == NO_GROUP, -1 - np.arange(n), groups)
    _, first, inverse = np.unique(names, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def _apart(cannot_link: np.ndarray | None, pieces: np.ndarray) -> np.ndarray:
    if cannot_link is None or not len(cannot_link):
        return np.zeros((0, 2), dtype=np.int64)
    apart = pieces[np.asarray(cannot_link)]
    clash = np.flatnonzero(apart[:, 0] == apart[:, 1])
    if clash.size:
        i, j = cannot_link[clash[0]]
        raise InputError(
            f"faces {i} and {j} are in one group and must be apart: {clash.size} of "
            f"{len(apart)} pairs contradict the groups"
        )
    return apart


def _number_by_size(labels: np.ndarray) -> np.ndarray:
    """The same partition, numbered from 0: the largest first, then the one that comes first."""
    _, first, inverse, counts = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    return np.argsort(np.lexsort((first, -counts)))[inverse]


def own_ratios(scorer: Scorer, vectors: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Log ratio (n,) of each face with the others of its cluster; NaN for a face alone."""
    vectors = np.asarray(vectors, dtype=np.float32)
    out = np.full(len(labels), np.nan)
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    order = order[sizes[labels[order]] >= 2]
    # In stretches of whole clusters, so that only some of the sums exist at a time.
    for rows in _stretches(order, labels):
        inverse = np.unique(labels[rows], return_inverse=True)[1]
        counts = np.bincount(inverse)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        totals = np.add.reduceat(vectors[rows], starts, axis=0)[inverse]
        k = len(rows)
        both = np.concatenate([vectors[rows], totals - vectors[rows]])
        numbers = np.concatenate([np.ones(k, np.int64), counts[inverse] - 1])
        sets = SetScores(scorer, numbers, both)
        out[rows] = sets.score(np.arange(k), np.arange(k, 2 * k))
    return out


def _stretches(order: np.ndarray, labels: np.ndarray) -> Iterator[np.ndarray]:
    """Whole clusters of some thousand faces together; ``order`` has them one after the other."""
    if not len(order):
        return
    ends = np.append(np.flatnonzero(np.diff(labels[order])) + 1, len(order))
    start = 0
    while start < len(order):
        end = int(ends[min(int(np.searchsorted(ends, start + _STRETCH)), len(ends) - 1)])
        yield order[start:end]
        start = end
