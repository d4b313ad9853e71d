"""Many independent pieces of linear algebra at once: a thread a core, each with its own BLAS."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["map_threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_threads(
    call: Callable[[Item], Result], items: Iterable[Item], n_threads: int | None = None
) -> list[Result]:
    """Results of ``call(item)`` in the order of the items.

    BLAS is kept to one thread meanwhile, so that a product and a compiled kernel can follow each
    other in each thread: threads of BLAS that wait for work would take the cores from the kernel.

    Parameters
    ----------
    call : callable
        Must let go of the interpreter for most of its time.
    items : iterable
        What to call it with.
    n_threads : int or None
        None takes the cores that this process may use, and no more than NUMBA_NUM_THREADS.
    """
    items = list(items)
    n_threads = min(len(items), n_threads or _count_cores())
    if n_threads <= 1:
        return [call(item) for item in items]
    with (
        _controller().limit(limits=1, user_api="blas"),
        ThreadPoolExecutor(n_threads, thread_name_prefix="mien") as pool,
    ):
        return list(pool.map(call, items))


def _count_cores() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    wanted = os.environ.get("NUMBA_NUM_THREADS", "")
    return min(cores or 1, int(wanted)) if wanted.isdigit() and int(wanted) else cores or 1


@cache
def _controller() -> Any:
    return ThreadpoolController()
