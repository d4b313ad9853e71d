"""Faces joined into people by the calibrated ratio of sets, under what is known for certain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mien._core.progress import track
from mien._core.validation import NO_GROUP
from mien.errors import InputError
from mien.verification import Scorer

__all__ = ["Linked", "link_faces", "own_ratios"]

_BLOCK = 2**23


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
    """
    n = len(vectors)
    pieces = _pieces(groups, n)
    sets = _Sets(scorer, np.asarray(vectors, dtype=np.float32), pieces)
    sets.keep_apart(_apart(cannot_link, pieces))
    ratios: list[float] = []
    stale = np.arange(len(sets.sizes))
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
        self.sizes = np.bincount(pieces)
        order = np.argsort(pieces, kind="stable")
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        self.sums = np.add.reduceat(vectors[order], starts, axis=0)
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
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        if len(rows) < 2:
            continue
        total = vectors[rows].sum(axis=0)
        for start in range(0, len(rows), 256):
            part = rows[start : start + 256]
            ones = np.ones(len(part), dtype=np.int64)
            scores = scorer.score_sums(
                ones, vectors[part], ones * (len(rows) - 1), total - vectors[part]
            )
            out[part] = np.diagonal(scores)
    return out
