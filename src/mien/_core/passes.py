"""Passes over data in batches, for learners that need sums over all data again and again.

A learner writes functions that make what it needs of one batch, ``collect(batch, *parameters)``;
what they return has ``merge``. :class:`Passes` adds up the results of all batches: here one after
the other in this process. ``mien.distributed`` has another one, in which workers do it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from mien._core.progress import report
from mien.errors import InputError

__all__ = [
    "BatchPasses",
    "KeptRows",
    "Passes",
    "RunningMoments",
    "Sums",
    "choose_rows",
    "split_rows",
]


class Mergeable(Protocol):
    """What is added up."""

    def merge(self, other: Self, /) -> Self:
        """Add the result of other samples; may change this one."""


Sums = TypeVar("Sums", bound=Mergeable)


class Passes(Protocol):
    """The data, as often as a learner asks for it."""

    def total(self, collect: Callable[..., Sums], *parameters: Any) -> Sums:
        """The sum of ``collect(batch, *parameters)`` over all batches, in a fixed order."""

    def batches(self) -> Iterable[Any]:
        """The batches themselves, read in this process: for the first rows, which are a start."""


class BatchPasses:
    """Passes in this process.

    Parameters
    ----------
    batches : callable
        Gives all batches anew whenever it is called.
    words : str or None
        What progress within a pass is reported as; None reports none.
    """

    def __init__(self, batches: Callable[[], Iterable[Any]], words: str | None = None) -> None:
        self.batches = batches
        self._words = words

    def total(self, collect: Callable[..., Sums], *parameters: Any) -> Sums:
        """The sum over all batches, one after the other."""
        found: Sums | None = None
        for done, batch in enumerate(self.batches()):
            if self._words is not None:
                report(self._words, done)
            part = collect(batch, *parameters)
            found = part if found is None else found.merge(part)
        if found is None:
            raise InputError("the batches are empty: every pass must give the same samples")
        return found


class RunningMoments:
    """Number, mean and sum of squared deviations of rows V (n, d), without cancellation."""

    def __init__(self, V: np.ndarray) -> None:
        self.n = len(V)
        self.mean = V.mean(axis=0, dtype=np.float64) if self.n else np.zeros(V.shape[1])
        self.scatter = np.square(V - self.mean).sum(axis=0, dtype=np.float64)

    def merge(self, other: RunningMoments) -> RunningMoments:
        """Add the moments of other rows."""
        n = self.n + other.n
        if other.n:
            change = other.mean - self.mean
            self.scatter += other.scatter + np.square(change) * self.n * other.n / n
            self.mean = self.mean + change * other.n / n
        self.n = n
        return self


@dataclass
class KeptRows:
    """Rows (n, d) that are kept; those of later batches come after them."""

    values: np.ndarray

    def merge(self, other: KeptRows) -> KeptRows:
        """Put the rows of later batches behind these."""
        return KeptRows(np.concatenate([self.values, other.values]))


def choose_rows(X: np.ndarray, share: float, seed: int) -> np.ndarray:
    """About a share of the rows, as booleans (n,).

    Whether a row is among them depends on its values and the seed: batches may be cut anyhow.
    """
    if share >= 1:
        return np.ones(len(X), dtype=bool)
    words = np.ascontiguousarray(X).view(np.uint32).astype(np.uint64)
    rng = np.random.default_rng(seed)
    odd = rng.integers(0, 2**63, words.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    mixed = words @ odd
    for factor, bits in ((0xBF58476D1CE4E5B9, 30), (0x94D049BB133111EB, 27)):
        mixed = (mixed ^ (mixed >> np.uint64(bits))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    drawn: np.ndarray = (mixed >> np.uint64(11)).astype(np.float64) / 2.0**53 < share
    return drawn


def split_rows(batch: Any, size: int) -> Iterable[Any]:
    """A batch, or a tuple of arrays that belong together row by row, in smaller ones."""
    n = len(batch[0]) if isinstance(batch, tuple) else len(batch)
    for low in range(0, n, size):
        rows = slice(low, low + size)
        yield tuple(one[rows] for one in batch) if isinstance(batch, tuple) else batch[rows]
