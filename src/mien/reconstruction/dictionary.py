"""Completion by a dictionary: the code of what is seen, and the whole face of that code."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mien.reconstruction._completer import Completer, Completion, Stream, see
from mien.sparse import KSVD, WeightedKSVD, orthogonal_matching_pursuit

__all__ = ["DictionaryCompleter"]


class DictionaryCompleter(Completer):
    """K-SVD, or DW-KSVD where what is seen counts more.

    Parameters
    ----------
    beta : float
        Extra weight of what is seen; 0 is plain K-SVD.
    options : dict
        Arguments of :class:`mien.sparse.KSVD`.
    """

    def __init__(self, beta: float, options: dict[str, Any]) -> None:
        self.beta = beta
        self.options = options

    def fit(self, stream: Stream, mask: np.ndarray, held_out: np.ndarray) -> Self:
        if self.beta > 0:
            model: KSVD = WeightedKSVD(beta=self.beta, **self.options).fit_batches(
                stream, mask=mask
            )
        else:
            model = KSVD(**self.options).fit_batches(stream)
        self.atoms = model.components_
        self.n_nonzero = model.n_nonzero_
        self.objective = model.objective_
        self.options = {k: v for k, v in self.options.items() if k not in _NOT_KEPT}
        return self

    def complete(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        atoms = see(self.atoms, view)
        codes = orthogonal_matching_pursuit(
            seen.astype(np.float32), atoms, n_nonzero=min(self.n_nonzero, atoms.shape[1])
        )
        return Completion(np.asarray(codes @ self.atoms), codes)

    def pictures(self) -> np.ndarray:
        return self.atoms


# A path and a function belong to a training, not to a model.
_NOT_KEPT = ("checkpoint", "callback")
