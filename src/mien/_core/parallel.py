"""One way to run in parallel: threads, results in order, and one BLAS thread for each.

Large tasks that need nothing of each other (folds, repetitions) go through :func:`map_tasks`, so
that workers of other machines can do them: see ``mien.distributed.use_workers``.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

from mien._core.progress import track

__all__ = [
    "TaskMapper",
    "count_processors",
    "count_threads",
    "map_tasks",
    "map_threads",
    "mapping_tasks",
    "one_blas_thread",
    "stream_threads",
]

Item = TypeVar("Item")
Result = TypeVar("Result")
#: ``mapper(call, items, shared, words)`` gives ``call(item, *shared)`` of every item, in order.
TaskMapper = Callable[[Callable[..., Any], list[Any], tuple[Any, ...], str | None], list[Any]]

_mapper: ContextVar[TaskMapper | None] = ContextVar("mien_tasks", default=None)


def count_threads(n_jobs: int | None) -> int:
    """Number of threads for scikit-learn's ``n_jobs``: None is 1, -1 is all cores."""
    if n_jobs is None or n_jobs == 1:
        return 1
    if n_jobs < 0:
        return max(1, _count_cores() + 1 + n_jobs)
    return n_jobs


def map_threads(
    call: Callable[[Item], Result], items: Iterable[Item], n_threads: int | None = None
) -> list[Result]:
    """Results of ``call(item)`` in the order of the items.

    Parameters
    ----------
    call : callable
        Must release the interpreter lock for most of its time, as NumPy and compiled kernels do.
    items : iterable
        What to call it with.
    n_threads : int or None
        None takes the cores that this process may use, and no more than NUMBA_NUM_THREADS.

    Notes
    -----
    BLAS is kept to one thread meanwhile, so that a product and a compiled kernel can follow each
    other in each thread: threads of BLAS that wait for work would take the cores from the kernel.
    """
    items = list(items)
    n_threads = min(len(items), n_threads or _count_cores())
    if n_threads <= 1:
        return [call(item) for item in items]
    with _pool(n_threads) as pool:
        return list(pool.map(call, items))


def map_tasks(
    call: Callable[..., Result],
    items: Iterable[Any],
    *shared: Any,
    words: str | None = None,
    threads: bool = False,
) -> list[Result]:
    """Results of ``call(item, *shared)`` in the order of the items, by workers if there are any.

    Parameters
    ----------
    call : callable
        Of a module, so that other processes find it; it depends on its arguments only.
    items : iterable
        What to call it with.
    *shared
        The same for all; sent to each worker once.
    words : str or None
        What progress is reported as.
    threads : bool
        Without workers: threads of this process, or one after the other.
    """
    items = list(items)
    mapper = _mapper.get()
    if mapper is not None:
        return mapper(call, items, shared, words)
    if threads:
        return map_threads(lambda item: call(item, *shared), items)
    listed = items if words is None else track(items, words)
    return [call(item, *shared) for item in listed]


@contextmanager
def mapping_tasks(mapper: TaskMapper | None) -> Iterator[None]:
    """Let a mapper do what :func:`map_tasks` is asked for inside the block."""
    token = _mapper.set(mapper)
    try:
        yield
    finally:
        _mapper.reset(token)


def stream_threads(
    call: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> Iterator[Result]:
    """The same one by one; at most ``n_threads`` results wait, so memory stays small."""
    if n_threads <= 1:
        yield from map(call, items)
        return
    with _pool(n_threads) as pool:
        waiting: deque[Any] = deque()
        for item in items:
            waiting.append(pool.submit(call, item))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@contextmanager
def _pool(n_threads: int) -> Iterator[ThreadPoolExecutor]:
    with one_blas_thread(), ThreadPoolExecutor(n_threads, thread_name_prefix="mien") as pool:
        yield pool


def one_blas_thread() -> Any:
    """A context in which BLAS uses one thread, for many small problems."""
    return _controller().limit(limits=1, user_api="blas")


def count_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _count_cores() -> int:
    cores = count_processors()
    wanted = os.environ.get("NUMBA_NUM_THREADS", "")
    return min(cores, int(wanted)) if wanted.isdigit() and int(wanted) else cores


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
