"""Exact search: everybody is a row, and the ratios of a probe are one matrix product."""

from __future__ import annotations

import numpy as np

from mien.gallery._store import PeopleBatch
from mien.verification import OpenSetVerifier

__all__ = ["ExactIndex", "Shortlist", "best_of"]

# Scores that are held at once: 64 MiB.
_MOST_SCORES = 2**24


class Shortlist:
    """The best people of each probe: numbers, ratios and sizes (n, depth); -1 where there is none.

    Rows are sorted by falling ratio.
    """

    def __init__(self, ids: np.ndarray, scores: np.ndarray, sizes: np.ndarray) -> None:
        order = np.argsort(-scores, axis=1, kind="stable")
        self.ids = np.take_along_axis(ids, order, axis=1)
        self.scores = np.take_along_axis(scores, order, axis=1)
        self.sizes = np.take_along_axis(sizes, order, axis=1)
        self.ids[np.isneginf(self.scores)] = -1

    @classmethod
    def empty(cls, n: int) -> Shortlist:
        nothing = np.zeros((n, 0))
        return cls(nothing.astype(np.int64), nothing, nothing.astype(np.int64))


def best_of(ids: np.ndarray, sizes: np.ndarray, scores: np.ndarray, depth: int) -> Shortlist:
    """The best columns of scores (n, g) of people ids (g,) with sizes (g,)."""
    depth = min(depth, scores.shape[1])
    if depth == 0:
        return Shortlist.empty(len(scores))
    if depth == 1:
        best = scores.argmax(axis=1)[:, None]
    elif depth == scores.shape[1]:
        best = np.broadcast_to(np.arange(depth), scores.shape)
    else:
        best = np.argpartition(scores, -depth, axis=1)[:, -depth:]
    return Shortlist(ids[best], np.take_along_axis(scores, best, axis=1), sizes[best])


class ExactIndex:
    """Folded rows of everybody: ``x @ vectors[i] + constants[i] + query_terms(x, sizes[i])``."""

    def __init__(self, verifier: OpenSetVerifier, dimension: int, expected: int = 0) -> None:
        self.verifier = verifier
        self.n = 0
        room = max(16, expected)
        self._ids = np.zeros(room, dtype=np.int64)
        self._vectors = np.zeros((room, dimension), dtype=np.float32)
        self._constants = np.full(room, -np.inf, dtype=np.float32)
        self._sizes = np.ones(room, dtype=np.int64)

    def put(self, batch: PeopleBatch) -> None:
        """Add people or replace their rows; numbers of new people only rise."""
        if len(batch.ids) == 0:
            return
        vectors, constants, sizes = self.verifier.index_people(batch.counts, batch.sums)
        last = self._ids[self.n - 1] if self.n else -1
        old = batch.ids <= last
        rows = np.empty(len(batch.ids), dtype=np.int64)
        rows[old] = np.searchsorted(self._ids[: self.n], batch.ids[old])
        new = int(np.count_nonzero(~old))
        rows[~old] = self.n + np.arange(new)
        self._grow(self.n + new)
        self._ids[rows] = batch.ids
        self._vectors[rows] = vectors
        self._constants[rows] = constants
        self._sizes[rows] = sizes
        self.n += new

    def remove(self, ids: np.ndarray) -> None:
        rows = np.searchsorted(self._ids[: self.n], ids)
        rows = rows[rows < self.n]
        rows = rows[np.isin(self._ids[rows], ids)]
        self._constants[rows] = -np.inf
        self._vectors[rows] = 0

    def search(self, X: np.ndarray, depth: int) -> Shortlist:
        """The best people of single probes X (n, d) of unit length."""
        if self.n == 0:
            return Shortlist.empty(len(X))
        vectors, constants = self._vectors[: self.n], self._constants[: self.n]
        kinds, kind = np.unique(self._sizes[: self.n], return_inverse=True)
        terms = self.verifier.query_terms(X, kinds).astype(np.float32)
        step = max(1, _MOST_SCORES // self.n)
        parts = []
        for start in range(0, len(X), step):
            some = slice(start, start + step)
            scores = X[some].astype(np.float32) @ vectors.T
            scores += constants
            scores += terms[some] if len(kinds) == 1 else terms[some][:, kind]
            parts.append(best_of(self._ids[: self.n], self._sizes[: self.n], scores, depth))
        if len(parts) == 1:
            return parts[0]
        return Shortlist(
            *(
                np.concatenate([getattr(part, name) for part in parts])
                for name in ("ids", "scores", "sizes")
            )
        )

    def _grow(self, needed: int) -> None:
        room = len(self._ids)
        if needed <= room:
            return
        # Doubling keeps many small enrolments linear in their number.
        more = max(needed, 2 * room) - room
        self._ids = np.concatenate([self._ids, np.zeros(more, np.int64)])
        self._vectors = np.concatenate(
            [self._vectors, np.zeros((more, self._vectors.shape[1]), np.float32)]
        )
        self._constants = np.concatenate([self._constants, np.full(more, -np.inf, np.float32)])
        self._sizes = np.concatenate([self._sizes, np.ones(more, np.int64)])
