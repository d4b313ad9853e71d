"""Folds, repetitions and strengths as tasks of workers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from mien._core.parallel import mapping_tasks
from mien.distributed._team import connect, open_team, stream

__all__ = ["use_workers", "workers_of"]


@contextmanager
def use_workers(client: Any = None, n_workers: int | None = None) -> Iterator[None]:
    """Let workers do the large independent tasks of whatever is called inside the block.

    Such tasks are the folds of ``Verifier(cross_fit=True)``, the strengths that
    `TransferJointBayesian` tries, the people held out by `mien.recognition.adapt`, and the
    repetitions of the papers.

    Parameters
    ----------
    client, n_workers
        As for :func:`fit`.

    Notes
    -----
    Results come in the order of the tasks and are those without workers: tasks depend on their
    arguments only, and a task of a worker that dies is done again by another one.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.distributed import use_workers
    >>> from mien.verification import JointBayesian, Verifier
    >>> rng = np.random.default_rng(0)
    >>> people = np.repeat(np.arange(60), 4)
    >>> X = 3 * rng.normal(size=(60, 5))[people] + rng.normal(size=(240, 5))
    >>> verifier = Verifier(JointBayesian(), (1,), cross_fit=True, random_state=0)
    >>> with use_workers(n_workers=1):                      # or client="tcp://scheduler:8786"
    ...     verifier = verifier.fit(X, people)
    >>> bool(verifier.score_pairs(X[:1], X[1:2])[0] > verifier.score_pairs(X[:1], X[4:5])[0])
    True
    """
    with open_team(client, n_workers) as team:

        def run(
            call: Callable[..., Any], items: list[Any], shared: tuple[Any, ...], words: str | None
        ) -> list[Any]:
            held = team.send((call, shared))
            named, total = words or "tasks", len(items)
            calls = stream(team, _do, items, held, words=named, total=total)
            return [team.get(one) for one in calls]

        with mapping_tasks(run):
            yield


@contextmanager
def workers_of(scheduler: Any) -> Iterator[Any]:
    """A client for as long as it is needed, whose workers are used; one that was given stays open.

    Parameters
    ----------
    scheduler : str, dask Client or None
        As for :func:`connect`; None gives None, and everything is done in this process.

    See Also
    --------
    use_workers : What they do.
    """
    if scheduler is None:
        yield None
        return
    client = connect(scheduler)
    with client if isinstance(scheduler, str) else nullcontext(), use_workers(client):
        yield client


def _do(item: Any, held: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    """A task on a worker, where nobody reads warnings and nobody has workers of its own."""
    call, shared = held
    with warnings.catch_warnings(), mapping_tasks(None):
        warnings.simplefilter("ignore")
        return call(item, *shared)
