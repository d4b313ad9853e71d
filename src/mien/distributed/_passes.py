"""Passes over parts by workers, for learners that need sums over all data again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from mien._core.parallel import one_blas_thread
from mien._core.passes import BatchPasses, Sums, split_rows
from mien.distributed._parts import Part, read_part
from mien.distributed._team import Team, stream
from mien.distributed._tree import Tree
from mien.errors import InputError

__all__ = ["TeamPasses"]

#: Rows of a batch, where the learner does not say.
_ROWS = 8192
_FIRST_ROWS = 64


class TeamPasses:
    """What :class:`mien._core.passes.Passes` asks for, done by a team.

    Parameters
    ----------
    team : Team
        Who does the work.
    parts : list of Part
        Read anew at every pass.
    model : estimator
        Checks the batches, and says how large they are.
    before : list of transformer
        Fitted steps that come before it.
    """

    def __init__(self, team: Team, parts: list[Part], model: Any, before: list[Any]) -> None:
        self._team, self._parts = team, parts
        self._size = getattr(model, "batch_size", None) or _ROWS
        self._reader = _Reader(clone(model), before, self._size)
        self.first = self._find_first()
        self._reader.checker._check_batch(*self.first, reset=True)

    def _find_first(self) -> tuple[np.ndarray, Any]:
        for part in self._parts:
            X, y = self._reader.read(part)
            if len(X):
                return X[:_FIRST_ROWS], None if y is None else y[:_FIRST_ROWS]
        raise InputError("there are no vectors: at least one part with rows is needed")

    def batches(self) -> Iterator[Any]:
        """Read in this process, one after the other."""
        for part in self._parts:
            yield from self._reader.batches(part)

    def total(self, collect: Callable[..., Sums], *parameters: Any) -> Sums:
        """The sum over all parts, in a fixed tree."""
        tree = Tree(self._team)
        held = self._team.send((self._reader, collect, parameters))
        words, total = "pass over the parts", len(self._parts)
        for call in stream(self._team, _total_of, self._parts, held, words=words, total=total):
            tree.push(call)
        found: Sums | None = self._team.get(tree.total()).sums
        if found is None:
            raise InputError("there are no vectors: at least one part with rows is needed")
        return found


class _Reader:
    """Reads a part as batches that were checked; it is sent to the workers."""

    def __init__(self, checker: Any, before: list[Any], size: int) -> None:
        self.checker, self.before, self.size = checker, before, size

    def read(self, part: Part) -> tuple[np.ndarray, Any]:
        """Rows of a part, through the steps before, and their second view or None."""
        X, y = read_part(part)
        if len(X):
            for step in self.before:
                X = step.transform(X)
        return X, y

    def batches(self, part: Part) -> Iterator[Any]:
        X, y = self.read(part)
        for batch in split_rows((X,) if y is None else (X, y), self.size):
            try:
                yield self.checker._check_batch(*batch, *([None] if y is None else []))
            except InputError as error:
                raise InputError(f"{part.name}: {error}") from error


class _Sum:
    """A sum that may be of nothing: a part can be empty."""

    def __init__(self, sums: Any) -> None:
        self.sums = sums

    def merge(self, other: _Sum) -> _Sum:
        if other.sums is not None:
            self.sums = other.sums if self.sums is None else self.sums.merge(other.sums)
        return self


def _total_of(part: Part, held: tuple[_Reader, Callable[..., Any], tuple[Any, ...]]) -> _Sum:
    """The sum over the batches of a part."""
    reader, collect, parameters = held
    batches = list(reader.batches(part))
    if not batches:
        return _Sum(None)
    # One thread everywhere: with more, BLAS adds in another order.
    with one_blas_thread():
        return _Sum(BatchPasses(lambda: batches).total(collect, *parameters))
