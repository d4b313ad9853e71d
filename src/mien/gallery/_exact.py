"""Exact search: everybody is a row, and the ratios of a probe are one matrix product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mien.gallery._protocol import PeopleBatch

if TYPE_CHECKING:
    from mien.verification import Scorer

__all__ = ["ExactIndex", "Shortlist", "best_of"]

# Scores that are held at once: 64 MiB.
_MOST_SCORES = 2**24
_BLOCK = 64
#: The score of a row that is nobody's; minus infinity would make NaN of a product.
_NOBODY = -1e30


class Shortlist:
    """The best people of each probe: numbers, ratios and sizes (n, depth); -1 where there is none.

    Rows are sorted by falling ratio.
    """

    def __init__(self, ids: np.ndarray, scores: np.ndarray, sizes: np.ndarray) -> None:
        order = np.argsort(-scores, axis=1, kind="stable")
        self.ids = np.take_along_axis(ids, order, axis=1)
        self.scores = np.take_along_axis(scores, order, axis=1)
        self.sizes = np.take_along_axis(sizes, order, axis=1)
        self.ids[self.scores < _NOBODY / 2] = -1

    def exclude(self, banned: Sequence[set[int] | None]) -> None:
        """Take people out of each probe's list; None is everybody. Empty changes nothing."""
        for i, people in enumerate(banned):
            mine = self.ids[i] >= 0 if people is None else np.isin(self.ids[i], list(people))
            if mine.any():
                self.scores[i, mine] = _NOBODY
                self.ids[i, mine] = -1
                order = np.argsort(-self.scores[i], kind="stable")
                for values in (self.ids, self.scores, self.sizes):
                    values[i] = values[i, order]

    @classmethod
    def interleave(cls, first: np.ndarray, one: Shortlist, two: Shortlist) -> Shortlist:
        """Rows of one where ``first`` (n,) is true, rows of two elsewhere; depths may differ."""
        depth = max(one.ids.shape[1], two.ids.shape[1])
        shape = len(first), depth
        ids, sizes = np.full(shape, -1, dtype=np.int64), np.ones(shape, dtype=np.int64)
        scores = np.full(shape, _NOBODY, dtype=np.result_type(one.scores, two.scores))
        for mine, short in ((first, one), (~first, two)):
            columns = slice(0, short.ids.shape[1])
            ids[mine, columns] = short.ids
            scores[mine, columns] = short.scores
            sizes[mine, columns] = short.sizes
        return cls(ids, scores, sizes)

    @classmethod
    def empty(cls, n: int) -> Shortlist:
        nothing = np.zeros((n, 0))
        return cls(nothing.astype(np.int64), nothing, nothing.astype(np.int64))


def best_of(ids: np.ndarray, sizes: np.ndarray, scores: np.ndarray, depth: int) -> Shortlist:
    """The best columns of scores (n, g) of people ids (g,) with sizes (g,)."""
    depth = min(depth, scores.shape[1])
    if depth == 0:
        return Shortlist.empty(len(scores))
    best = _best_columns(scores, depth)
    return Shortlist(ids[best], np.take_along_axis(scores, best, axis=1), sizes[best])


def _best_columns(scores: np.ndarray, depth: int) -> np.ndarray:
    """Columns (n, depth) of the highest scores (n, g) of each row, in any order."""
    n, g = scores.shape
    if g <= _BLOCK * depth:
        return np.argpartition(scores, -depth, axis=1)[:, -depth:]
    # The best of a row lie in the blocks with the highest maxima: a partition of few numbers.
    whole = g // _BLOCK * _BLOCK
    maxima = scores[:, :whole].reshape(n, -1, _BLOCK).max(axis=2)
    blocks = np.argpartition(maxima, -depth, axis=1)[:, -depth:]
    columns = (blocks[:, :, None] * _BLOCK + np.arange(_BLOCK)).reshape(n, -1)
    rest = np.broadcast_to(np.arange(whole, g), (n, g - whole))
    columns = np.concatenate([columns, rest], axis=1)
    inner = np.argpartition(np.take_along_axis(scores, columns, axis=1), -depth, axis=1)
    return np.take_along_axis(columns, inner[:, -depth:], axis=1)


class ExactIndex:
    """Rows of everybody whose inner products with a probe's row are the ratios.

    A row is the folded vector, the constant, and a one at the place of the person's size; a
    probe's row is the vector, a one, and what it adds for each size (`query_terms`).
    """

    def __init__(self, scorer: Scorer, dimension: int, expected: int = 0) -> None:
        self.scorer = scorer
        self.n = 0
        self._kinds = np.arange(1, int(scorer.sizes_[-1]) + 1)
        room = max(16, expected)
        self._ids = np.zeros(room, dtype=np.int64)
        self._sizes = np.ones(room, dtype=np.int64)
        self._rows = np.zeros((room, dimension + 1 + len(self._kinds)), dtype=np.float32)

    def put(self, batch: PeopleBatch) -> None:
        """Add people or replace their rows; numbers of new people only rise."""
        if len(batch.ids) == 0:
            return
        vectors, constants, sizes = self.scorer.index_people(batch.counts, batch.sums)
        last = self._ids[self.n - 1] if self.n else -1
        old = batch.ids <= last
        rows = np.empty(len(batch.ids), dtype=np.int64)
        rows[old] = np.searchsorted(self._ids[: self.n], batch.ids[old])
        new = int(np.count_nonzero(~old))
        rows[~old] = self.n + np.arange(new)
        self._grow(self.n + new)
        self._ids[rows] = batch.ids
        self._sizes[rows] = sizes
        width = vectors.shape[1]
        self._rows[rows, :width] = vectors
        self._rows[rows, width] = constants
        self._rows[rows, width + 1 :] = sizes[:, None] == self._kinds
        self.n += new

    def remove(self, ids: np.ndarray) -> None:
        rows = np.searchsorted(self._ids[: self.n], ids)
        rows = rows[rows < self.n]
        rows = rows[np.isin(self._ids[rows], ids)]
        self._rows[rows] = 0
        self._rows[rows, -1 - len(self._kinds)] = _NOBODY

    def search(self, X: np.ndarray, depth: int) -> Shortlist:
        """The best people of single probes X (n, d) of unit length."""
        if self.n == 0:
            return Shortlist.empty(len(X))
        terms = self.scorer.query_terms(X, self._kinds)
        query = np.hstack([X, np.ones((len(X), 1)), terms]).astype(np.float32)
        step = max(1, _MOST_SCORES // self.n)
        parts = []
        for start in range(0, len(X), step):
            scores = query[start : start + step] @ self._rows[: self.n].T
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
        self._sizes = np.concatenate([self._sizes, np.ones(more, np.int64)])
        self._rows = np.concatenate([self._rows, np.zeros((more, self._rows.shape[1]), np.float32)])
