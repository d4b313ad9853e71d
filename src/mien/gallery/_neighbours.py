"""Nearest neighbours among very many sets of faces, by a graph; knows ``usearch`` for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mien._core.progress import report
from mien._core.validation import require_module
from mien.errors import MissingDependencyError
from mien.gallery._approximate import Directions

if TYPE_CHECKING:
    from mien.verification import Scorer

__all__ = ["NeighbourGraph", "drop_own"]

# Chosen on vectors drawn from the shipped model: see `python -m benchmarks grouping`.
_CONNECTIVITY = 16
_EXPANSION_ADD = 48
_EXPANSION_SEARCH = 64
#: So few are compared one by one, which is exact.
_EXACT = 2048
_BLOCK = 16384


class NeighbourGraph:
    """Rows of sets in the leading directions of a model, and the nearest of them.

    Parameters
    ----------
    scorer : Scorer
        Gives the directions.
    means : (n, d)
        Mean vector of each set.
    n_threads : int
        Threads that build and search the graph.

    Notes
    -----
    Neighbours are candidates: they are found by the cosine of 48 leading directions, and who uses
    them rescores them exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.gallery import NeighbourGraph
    >>> from mien.recognition import load_source
    >>> X = np.random.default_rng(0).normal(size=(5, 128)).astype(np.float32)
    >>> NeighbourGraph(load_source("sface").scorer, X).nearest(np.arange(5), 3).shape
    (5, 3)
    """

    def __init__(self, scorer: Scorer, means: np.ndarray, *, n_threads: int = 1) -> None:
        self._directions = directions = Directions(scorer, means.shape[1])
        self._rows = np.concatenate(
            [directions.rows(means[k : k + _BLOCK]) for k in range(0, len(means), _BLOCK)]
        )
        self._n_threads = n_threads
        self._graph = None
        if len(means) > _EXACT:
            usearch = require_module("usearch.index", "gallery", "grouping very many faces")
            self._graph = usearch.Index(
                ndim=directions.n,
                metric="ip",
                dtype="f16",
                connectivity=_CONNECTIVITY,
                expansion_add=_EXPANSION_ADD,
                expansion_search=_EXPANSION_SEARCH,
            )
            for start in range(0, len(means), _BLOCK):
                rows = self._rows[start : start + _BLOCK]
                keys = np.arange(start, start + len(rows), dtype=np.uint64)
                self._graph.add(keys, rows, threads=n_threads)
                report("graph of neighbours", start + len(rows), len(means))

    @staticmethod
    def available() -> bool:
        """Whether very many sets can be searched here: usearch is installed."""
        try:
            require_module("usearch.index", "gallery", "grouping very many faces")
        except MissingDependencyError:
            return False
        return True

    def nearest(self, which: np.ndarray, n_neighbours: int) -> np.ndarray:
        """The nearest other sets (n, n_neighbours) of sets ``which`` (n,); -1 where there are few.

        In no order that means anything.
        """
        found = np.full((len(which), n_neighbours), -1, dtype=np.int64)
        count = min(n_neighbours + 1, len(self._rows))
        for start in range(0, len(which), _BLOCK):
            part = which[start : start + _BLOCK]
            keys, _ = self._search(self._rows[part], count)
            keys = drop_own(keys, part)[:, :n_neighbours]
            found[start : start + len(part), : keys.shape[1]] = keys
            report("neighbours", start + len(part), len(which))
        return found

    def search(self, means: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The nearest sets of foreign means (n, d): numbers and similarities, both (n, count).

        -1 and -inf where there are fewer.
        """
        keys = np.full((len(means), count), -1, dtype=np.int64)
        values = np.full((len(means), count), -np.inf, dtype=np.float32)
        held = min(count, len(self._rows))
        for start in range(0, len(means), _BLOCK):
            rows = slice(start, min(start + _BLOCK, len(means)))
            keys[rows, :held], values[rows, :held] = self._search(
                self._directions.rows(means[rows]), held
            )
        return keys, values

    def _search(self, rows: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Numbers and similarities (n, count) of the nearest; -1 and -inf where there is none."""
        if self._graph is None:
            scores = rows @ self._rows.T
            best = np.argpartition(-scores, count - 1, axis=1)[:, :count]
            return best.astype(np.int64), np.take_along_axis(scores, best, axis=1)
        found = self._graph.search(rows, count, threads=self._n_threads)
        keys = np.atleast_2d(found.keys).astype(np.int64)
        values = 1 - np.atleast_2d(found.distances).astype(np.float32)
        counts = np.atleast_1d(found.counts) if len(rows) > 1 else np.array([keys.shape[1]])
        absent = np.arange(keys.shape[1]) >= counts[:, None]
        keys[absent], values[absent] = -1, -np.inf
        return keys, values


def drop_own(keys: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Candidates (n, k) without those who asked, ``own`` (n,); what is left comes first."""
    keys = np.where(keys == own[:, None], -1, keys)
    return np.take_along_axis(keys, np.argsort(keys < 0, axis=1, kind="stable"), axis=1)
