"""Progress without a display: learners report it, and a display may listen.

A learner writes ``for batch in track(batches, "pass over the data", total=n)``. Nothing happens
unless somebody listens; the command line listens with a progress bar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

__all__ = ["Listener", "listening", "report", "track"]

T = TypeVar("T")
Listener = Callable[[str, int, int | None], None]

_listener: ContextVar[Listener | None] = ContextVar("mien_progress", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Send what is reported inside the block to ``listener(description, done, total)``."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report(description: str, done: int, total: int | None = None) -> None:
    """Say that ``done`` of ``total`` steps of ``description`` are done."""
    listener = _listener.get()
    if listener is not None:
        listener(description, done, total)


def track(items: Iterable[T], description: str, total: int | None = None) -> Iterator[T]:
    """Yield the items and report each one that was consumed."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    for done, item in enumerate(items, start=1):
        yield item
        report(description, done, total)
