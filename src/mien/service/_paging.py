"""Lists that are read in pages: ``limit`` entries, and a ``cursor`` to the next ones."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Query

from mien.service._problems import Problem

__all__ = ["Cursor", "Limit", "cut_page", "decode_cursor", "encode_cursor"]

T = TypeVar("T")
Limit = Annotated[int, Query(ge=1, le=1000, description="Entries per page.")]
Cursor = Annotated[str | None, Query(description="From the page before.", max_length=500)]


def encode_cursor(place: Sequence[Any]) -> str:
    """Where a page ended, as a client sees it."""
    return base64.urlsafe_b64encode(json.dumps([*place]).encode()).decode().rstrip("=")


def decode_cursor(cursor: str, kinds: Sequence[type]) -> list[Any]:
    """Where the page before ended, or a problem."""
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        fits = isinstance(place, list) and len(place) == len(kinds)
        if fits and all(isinstance(a, kind) for a, kind in zip(place, kinds, strict=True)):
            return list(place)
    except (ValueError, binascii.Error, RecursionError):
        pass
    raise Problem(422, "invalid-cursor", "The cursor is not one that this server gave.")


def cut_page(
    entries: Sequence[T],
    place: Callable[[T], tuple[Any, ...]],
    limit: int,
    cursor: str | None,
    *,
    falling: bool = False,
) -> tuple[list[T], str | None]:
    """The next entries of a list, and the cursor behind them; None at the end.

    Parameters
    ----------
    entries : sequence
        All of them, sorted by their places.
    place : callable
        Entry -> plain values that never change, so that entries which come or go between two
        pages cost no other.
    limit, cursor : int, str or None
        What the client asks for.
    falling : bool
        Whether the places fall from entry to entry.
    """
    left = list(entries)
    if cursor is not None and left:
        kinds = [type(value) for value in place(left[0])]
        before = tuple(decode_cursor(cursor, kinds))
        left = [one for one in left if (place(one) < before if falling else place(one) > before)]
    page = left[:limit]
    return page, encode_cursor(place(page[-1])) if len(left) > limit else None
