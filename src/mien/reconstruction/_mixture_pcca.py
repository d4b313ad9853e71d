"""Completion by a mixture of probabilistic CCA: what is visible and what is hidden as two views."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

import numpy as np
from scipy import linalg

from mien.multiview import MixturePCCA
from mien.reconstruction._completer import Completer, Completion, Moments, Stream

__all__ = ["MixtureCompleter"]

_COMPONENTS = 100
_ITERATIONS = 30


class MixtureCompleter(Completer):
    """Expect the hidden pixels from the visible ones under a mixture of probabilistic CCA.

    Parameters
    ----------
    n_mixture : int
        Components of the mixture.
    n_latent : int
        Latent variables that the two parts share in a component.
    random_state : int
        Seed of the start.

    Notes
    -----
    Each part is reduced by its own PCA. The noise is full: what is private to the visible part must
    not be spent on the shared variables.
    """

    any_view = False

    def __init__(self, n_mixture: int, n_latent: int, random_state: int) -> None:
        self.n_mixture = n_mixture
        self.n_latent = n_latent
        self.random_state = random_state

    def fit(self, stream: Stream, mask: np.ndarray, held_out: np.ndarray) -> Self:
        moments = Moments.of(stream)
        self.mask = mask.copy()
        self.mean = moments.mean
        parts = (mask, ~mask)
        self.bases = tuple(_basis(moments, part) for part in parts)

        def batches() -> Iterator[tuple[np.ndarray, np.ndarray]]:
            for batch in stream():
                first, second = (
                    ((batch[:, part] - self.mean[part]) @ basis.T).astype(np.float64)
                    for part, basis in zip(parts, self.bases, strict=True)
                )
                yield first, second

        sizes = [len(basis) for basis in self.bases]
        self.mixture = MixturePCCA(
            max(1, min(self.n_mixture, moments.n_samples // (4 * sum(sizes)))),
            min(self.n_latent, *sizes),
            noise="full",
            max_iter=_ITERATIONS,
            tol=0,
            floor=1e-3,
            random_state=self.random_state,
        )
        self.mixture.fit_batches(batches)
        return self

    def complete(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        first = (seen - self.mean[self.mask]) @ self.bases[0].T
        expected = self.mixture.predict_view(first)
        values = np.empty((len(seen), len(self.mean)), dtype=np.float32)
        values[:, self.mask] = seen
        values[:, ~self.mask] = expected @ self.bases[1] + self.mean[~self.mask]
        return Completion(values)


def _basis(moments: Moments, part: np.ndarray) -> np.ndarray:
    """Leading principal components (k, pixels of the part) of a part of the face."""
    covariance = moments.covariance[np.ix_(part, part)]
    d = len(covariance)
    k = max(1, min(_COMPONENTS, d, moments.n_samples // 8))
    vectors = linalg.eigh(covariance, subset_by_index=[d - k, d - 1], check_finite=False)[1]
    return np.ascontiguousarray(vectors[:, ::-1].T)
