"""Approximate search over many people; alone knows ``usearch``."""

from __future__ import annotations

from typing import Any

import numpy as np

from mien._core.validation import require
from mien.gallery._store import PeopleBatch
from mien.verification import OpenSetVerifier

__all__ = ["ApproximateIndex"]

# Settings of the graph; chosen for a recall of the best person above 99 % at a million people.
CONNECTIVITY = 16
EXPANSION_ADD = 64
EXPANSION_SEARCH = 128
#: Numbers from here on stand for nobody: places whose vector was wiped.
_NOBODY = 2**62


class ApproximateIndex:
    """A graph over half-precision rows of people, in which a search gives candidates to rescore.

    Parameters
    ----------
    verifier : OpenSetVerifier
        Gives the rows.
    dimension : int
        Of the vectors.
    state : dict or None
        From :meth:`state`, with the ``content`` that was saved.

    Notes
    -----
    A ratio is an inner product with a constant; inner products have no triangle to walk by. All
    rows are therefore scaled into the unit ball and lifted to its surface by one more coordinate,
    ``√(1 − |v|²)``: then the largest inner product is the nearest row. The constant is one more
    coordinate. What a probe adds for people of one size (`query_terms`) is replaced by its mean
    over the first people; rescoring makes it right.
    """

    def __init__(
        self,
        verifier: OpenSetVerifier,
        dimension: int,
        state: dict[str, Any] | None = None,
        content: bytes | None = None,
    ) -> None:
        usearch = require("usearch.index", "gallery", "a gallery of very many people")
        self.verifier = verifier
        self.dimension = dimension
        self._graph = usearch.Index(
            ndim=dimension + 2,
            metric="ip",
            dtype="f16",
            connectivity=CONNECTIVITY,
            expansion_add=EXPANSION_ADD,
            expansion_search=EXPANSION_SEARCH,
        )
        self._scale = 0.0
        self._centre = 0.0
        self._terms: dict[int, float] = {}
        if state is not None and content is not None:
            self._graph.load(content)
            self._graph.expansion_add = EXPANSION_ADD
            self._graph.expansion_search = EXPANSION_SEARCH
            self._scale, self._centre = float(state["scale"]), float(state["centre"])
            self._terms = {int(size): float(term) for size, term in state["terms"].items()}

    @property
    def n(self) -> int:
        return len(self._graph)

    def put(self, batch: PeopleBatch) -> None:
        """Add people or replace their rows."""
        if len(batch.ids) == 0:
            return
        vectors, constants, sizes = self.verifier.index_people(batch.counts, batch.sums)
        if self._scale == 0.0:
            self._settle(vectors, constants, sizes, batch)
        known = np.asarray([bool(there) for there in self._graph.contains(batch.ids)])
        if known.any():
            self._graph.remove(batch.ids[known].astype(np.uint64))
        self._graph.add(batch.ids.astype(np.uint64), self._lift(vectors, constants, sizes))

    def _settle(
        self, vectors: np.ndarray, constants: np.ndarray, sizes: np.ndarray, batch: PeopleBatch
    ) -> None:
        """Scale and centre from the first people; later ones are clipped where they exceed it."""
        means = batch.sums / np.linalg.norm(batch.sums, axis=1, keepdims=True)
        kinds = np.arange(1, int(self.verifier.sizes_[-1]) + 1)
        terms = self.verifier.query_terms(means[:4096], kinds).mean(axis=0)
        self._terms = {int(k): float(t) for k, t in zip(kinds, terms, strict=True)}
        own = constants + np.asarray([self._terms[int(size)] for size in sizes])
        self._centre = float(np.median(own))
        norms = np.sqrt(np.sum(vectors**2, axis=1) + (own - self._centre) ** 2)
        self._scale = 1.1 * float(norms.max())

    def _lift(self, vectors: np.ndarray, constants: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        rows = np.empty((len(vectors), self.dimension + 2), dtype=np.float32)
        rows[:, :-2] = vectors
        shift = np.asarray([self._terms[int(size)] for size in sizes]) - self._centre
        rows[:, -2] = constants + shift
        rows[:, :-1] /= self._scale
        squares = np.sum(rows[:, :-1] ** 2, axis=1)
        rows[:, -1] = np.sqrt(np.maximum(1 - squares, 0))
        return rows / np.sqrt(np.maximum(squares, 1))[:, None]

    def remove(self, ids: np.ndarray) -> None:
        """Take people out, and overwrite the places where their rows were."""
        present = [int(i) for i in ids if i in self._graph]
        for number in present:
            self._graph.remove(number)
        # A removed row stays in its place until another is put there: nobody's row of zeros.
        for i in range(len(present)):
            self._graph.add(_NOBODY + i, np.zeros(self.dimension + 2, dtype=np.float32))
        for i in range(len(present)):
            self._graph.remove(_NOBODY + i)

    def candidates(self, X: np.ndarray, depth: int) -> list[np.ndarray]:
        """Numbers of the likely best people of each probe X (n, d)."""
        if self.n == 0:
            return [np.zeros(0, dtype=np.int64) for _ in X]
        query = np.zeros((len(X), self.dimension + 2), dtype=np.float32)
        query[:, :-2] = X
        query[:, -2] = 1
        query /= np.linalg.norm(query, axis=1, keepdims=True)
        found = self._graph.search(query, min(depth, self.n))
        if len(X) == 1:
            return [np.asarray(found.keys).astype(np.int64)]
        return [
            keys[:count].astype(np.int64)
            for keys, count in zip(found.keys, found.counts, strict=True)
        ]

    def save(self) -> tuple[dict[str, Any], bytes]:
        """What to keep of the scaling, and the graph."""
        terms = {str(size): term for size, term in self._terms.items()}
        state = {"scale": self._scale, "centre": self._centre, "terms": terms}
        return state, bytes(self._graph.save())
