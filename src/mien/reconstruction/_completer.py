"""What every way to complete a face shares: learn from a stream, complete from what is seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import linalg, sparse

from mien._core.statistics import GroupStatistics
from mien.errors import InputError

__all__ = ["Completer", "Completion", "Moments", "Stream", "see", "solve_ridge", "squared_error"]

Stream = Callable[[], Iterator[np.ndarray]]


class Completion(NamedTuple):
    """Completed vectors (n, d) and, where the method has them, sparse codes (n, n_atoms)."""

    values: np.ndarray
    codes: sparse.csr_matrix | None = None


class Completer(ABC):
    """Learns whole vectors and completes them from a linear view of them.

    A view is either a boolean mask (d,), of which the true entries are seen, or a matrix (m, d).
    The state is plain attributes, so that a model file can hold it.
    """

    #: Whether views other than the mask of ``fit`` can be completed.
    any_view: bool = True

    @abstractmethod
    def fit(self, stream: Stream, mask: np.ndarray, held_out: np.ndarray) -> Self:
        """Learn from batches (n_i, d).

        ``mask`` (d,) is what will be seen; faces (k, d) held out serve to choose penalties.
        """

    @abstractmethod
    def complete(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        """Complete what is seen (n, m) of some vectors through a view."""

    def pictures(self) -> np.ndarray | None:
        """Atoms or components (k, d) that can be looked at, if there are any."""
        return None

    def to_arrays(self) -> dict[str, Any]:
        """The state, for model files."""
        return dict(vars(self))

    @classmethod
    def from_arrays(cls, state: dict[str, Any]) -> Self:
        """Take the state of a model file back."""
        completer = cls.__new__(cls)
        vars(completer).update(state)
        return completer


def see(atoms: np.ndarray, view: np.ndarray) -> np.ndarray:
    """What a view shows of the rows of ``atoms`` (k, d): (k, m)."""
    if view.dtype == bool:
        return np.ascontiguousarray(atoms[:, view])
    return np.asarray(atoms @ view.T.astype(atoms.dtype))


class Moments(NamedTuple):
    """Mean (d,), covariance (d, d) and number of the vectors of a stream."""

    mean: np.ndarray
    covariance: np.ndarray
    n_samples: int

    @classmethod
    def of(cls, stream: Stream) -> Moments:
        moments: GroupStatistics | None = None
        for batch in stream():
            moments = moments or GroupStatistics()
            moments.collect(batch)
        if moments is None or moments.n_samples < 2:
            raise InputError("at least two faces are needed to learn from")
        n = moments.n_samples
        return cls(moments.mean, moments.scatter() / n, n)


def solve_ridge(gram: np.ndarray, products: np.ndarray, alpha: float) -> np.ndarray:
    """Solve (gram + alpha·I) W = products for symmetric gram (m, m), products (m, k)."""
    gram = np.array(gram, dtype=np.float64)
    gram[np.diag_indices(len(gram))] += alpha
    return np.asarray(linalg.solve(gram, products, assume_a="pos", check_finite=False))


def squared_error(truth: np.ndarray, values: np.ndarray) -> float:
    """Mean squared error of completed vectors, cut to [0, 1] as pictures are."""
    return float(np.mean((truth - np.clip(values, 0, 1)) ** 2, dtype=np.float64))
