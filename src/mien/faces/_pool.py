"""Engines that stay loaded: whoever needs one borrows it, and the next finds it warm."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from mien.faces._engines import FaceEngine, load_engine

__all__ = ["borrow_engine"]

# Networks of an engine take some 40 MB (sface) or 130 MB (dlib).
_MAX_IDLE = 4

_lock = threading.Lock()
_idle: dict[str, list[FaceEngine]] = {}


@contextmanager
def borrow_engine(name: str = "sface") -> Iterator[FaceEngine]:
    """Use an engine that was loaded before, or load one and keep it for the next.

    Parameters
    ----------
    name : {"sface", "dlib"}
        As for `load_engine`.

    Yields
    ------
    FaceEngine
        Nobody else uses it inside the ``with`` block; two threads get two engines. Up to four of
        each name are kept for the rest of the process.

    See Also
    --------
    load_engine : an engine of one's own.

    Examples
    --------
    >>> from mien.faces import borrow_engine
    >>> with borrow_engine("sface") as first:
    ...     pass
    >>> with borrow_engine("sface") as second:
    ...     first is second
    True
    """
    with _lock:
        idle = _idle.get(name)
        engine = idle.pop() if idle else None
    if engine is None:
        engine = load_engine(name)
    try:
        yield engine
    finally:
        with _lock:
            idle = _idle.setdefault(name, [])
            if len(idle) < _MAX_IDLE:
                idle.append(engine)


def _forget() -> None:
    """A forked child must not use networks whose threads stayed in the parent."""
    global _lock
    _lock = threading.Lock()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
