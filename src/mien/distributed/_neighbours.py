"""Nearest neighbours of very many sets of faces: a graph per shard, on many workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mien.distributed._team import Team, open_team, stream, unshare
from mien.gallery import NeighbourGraph

__all__ = ["finding_neighbours"]

#: Sets of a shard. A worker holds one at a time, and asks it about all others.
_SHARD = 2**17


@contextmanager
def finding_neighbours(
    client: Any = None, n_workers: int | None = None
) -> Iterator[Callable[[Any, np.ndarray, np.ndarray, int], np.ndarray]]:
    """A function that finds nearest neighbours by workers, for as long as they are there.

    Parameters
    ----------
    client, n_workers
        As for :func:`fit`.

    Yields
    ------
    callable
        ``find(scorer, means, which, n_neighbours)`` gives candidates (n, n_neighbours) of the sets
        ``which`` (n,) among all sets with ``means``; -1 where there are fewer.
    """
    with open_team(client, n_workers) as team:

        def find(scorer: Any, means: np.ndarray, which: np.ndarray, k: int) -> np.ndarray:
            return _find(team, scorer, means, which, k)

        yield find


def _find(team: Team, scorer: Any, means: np.ndarray, which: np.ndarray, k: int) -> np.ndarray:
    shards = [(low, min(low + _SHARD, len(means))) for low in range(0, len(means), _SHARD)]
    held = team.share(means), team.share(which)
    best = np.full((len(which), k), -1, dtype=np.int64)
    near = np.full((len(which), k), -np.inf, dtype=np.float32)
    words, total = "shards of neighbours", len(shards)
    for call in stream(team, _search, shards, scorer, *held, k, words=words, total=total):
        keys, values = team.get(call)
        keys, values = np.hstack([best, keys]), np.hstack([near, values])
        order = np.argsort(-values, axis=1, kind="stable")[:, :k]
        best = np.take_along_axis(keys, order, axis=1)
        near = np.take_along_axis(values, order, axis=1)
    return best


def _search(
    shard: tuple[int, int], scorer: Any, shared: Any, asked: Any, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Candidates among the sets of a shard, numbered as among all, without those who ask."""
    means, which = unshare(shared), unshare(asked)
    low, high = shard
    graph = NeighbourGraph(scorer, np.asarray(means[low:high]))
    keys, values = graph.search(means[which], k + 1)
    keys = np.where(keys < 0, -1, keys + low)
    own = keys == which[:, None]
    keys[own], values[own] = -1, -np.inf
    return keys, values
