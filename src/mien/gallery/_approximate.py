"""Approximate search over many people; alone knows ``usearch``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mien._core.validation import require_module
from mien.gallery._protocol import PeopleBatch

if TYPE_CHECKING:
    from mien.verification import Scorer

__all__ = ["DIRECTIONS", "ApproximateIndex", "Directions"]

# Fewer directions make a quicker graph in which it is easier to find the way; what they lack,
# rescoring has. Settings of the graph were chosen on 100,000 drawn people.
DIRECTIONS = 48
_CONNECTIVITY = 16
_EXPANSION_ADD = 32
_EXPANSION_SEARCH = 768
#: Numbers from here on stand for nobody: places whose row was wiped.
_NOBODY = 2**62


def _leading_directions(scorer: Scorer, n_directions: int) -> np.ndarray:
    """Map (d, r) of centred vectors whose inner products are most of the ratio's cross term.

    The cross term of two single pictures is ``(x − mean)ᵀ A (y − mean)`` with a symmetric A. Its
    root takes both sides to one space, where the leading directions of the model's total
    covariance are kept. It is made of the model alone, and holds nothing of anybody.
    """
    from scipy import linalg

    model = scorer.model_
    weights = dict(zip(scorer.candidates_, scorer.coefficients_[0, 0], strict=False))
    ratio, cosine = weights.get("ratio", 0.0), weights.get("cosine", 0.0)
    # In double precision, whatever a file holds: a saved graph is asked in the same directions.
    psi = np.asarray(model.variance_ratios_, dtype=np.float64)[: model.rank_]
    projection = np.asarray(model.projection_, dtype=np.float64)[:, : model.rank_]
    cross = (projection * (ratio * psi / (1 + 2 * psi))) @ projection.T
    cross += max(cosine, 1e-9) * np.eye(len(cross))
    values, vectors = linalg.eigh(cross)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    total = model.identity_covariance_.astype(np.float64) + model.variation_covariance_
    _, leading = linalg.eigh(root @ total @ root)
    directions: np.ndarray = root @ leading[:, ::-1][:, :n_directions]
    return directions.astype(np.float32)


class Directions:
    """Rows by which candidates are found: the leading directions of a model, of unit length.

    Parameters
    ----------
    scorer : Scorer
        Gives the directions.
    dimension : int
        Of the vectors.
    """

    def __init__(self, scorer: Scorer, dimension: int) -> None:
        self._mean = scorer.model_.mean_.astype(np.float32)
        self._map = _leading_directions(scorer, min(DIRECTIONS, dimension))

    @property
    def n(self) -> int:
        """Length of a row."""
        return int(self._map.shape[1])

    def rows(self, X: np.ndarray) -> np.ndarray:
        """Rows (n, r) of vectors or means of them X (n, d)."""
        rows = (X - self._mean) @ self._map
        unit: np.ndarray = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30)
        return unit.astype(np.float32)


class ApproximateIndex:
    """A graph over half-precision rows of people; a search gives candidates to rescore.

    Parameters
    ----------
    scorer : Scorer
        Gives the directions.
    dimension : int
        Of the vectors.
    content : bytes or None
        What :meth:`save` gave.
    """

    def __init__(self, scorer: Scorer, dimension: int, content: bytes | None = None) -> None:
        usearch = require_module("usearch.index", "gallery", "a gallery of very many people")
        self._directions = Directions(scorer, dimension)
        self._graph = usearch.Index(
            ndim=self._directions.n,
            metric="ip",
            dtype="f16",
            connectivity=_CONNECTIVITY,
            expansion_add=_EXPANSION_ADD,
            expansion_search=_EXPANSION_SEARCH,
        )
        if content is not None:
            self._graph.load(content)
            self._graph.expansion_add = _EXPANSION_ADD
            self._graph.expansion_search = _EXPANSION_SEARCH

    @property
    def n(self) -> int:
        return len(self._graph)

    def put(self, batch: PeopleBatch) -> None:
        """Add people or replace their rows."""
        if len(batch.ids) == 0:
            return
        known = [int(number) for number in batch.ids if int(number) in self._graph]
        for number in known:
            self._graph.remove(number)
        rows = self._rows(batch.sums / batch.counts[:, None].astype(np.float32))
        self._graph.add(batch.ids.astype(np.uint64), rows)

    def remove(self, ids: np.ndarray) -> None:
        """Take people out, and overwrite the places where their rows were."""
        present = [int(number) for number in ids if int(number) in self._graph]
        for number in present:
            self._graph.remove(number)
        # A removed row stays in its place until another is put there: nobody's row of zeros.
        nothing = np.zeros(self._directions.n, dtype=np.float32)
        for i in range(len(present)):
            self._graph.add(_NOBODY + i, nothing)
        for i in range(len(present)):
            self._graph.remove(_NOBODY + i)

    def candidates(self, X: np.ndarray, depth: int) -> list[np.ndarray]:
        """Numbers of the likely best people of each probe X (n, d)."""
        if self.n == 0:
            return [np.zeros(0, dtype=np.int64) for _ in X]
        found = self._graph.search(self._rows(X), min(depth, self.n))
        # The answer to one question has no dimension for questions.
        keys = np.atleast_2d(found.keys).astype(np.int64)
        counts = [keys.shape[1]] if len(X) == 1 else found.counts
        return [mine[:count] for mine, count in zip(keys, counts, strict=True)]

    def save(self) -> bytes:
        return bytes(self._graph.save())

    def _rows(self, X: np.ndarray) -> np.ndarray:
        return self._directions.rows(X)
