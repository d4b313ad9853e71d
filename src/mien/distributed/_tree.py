"""Sums in an order that depends on the number of parts only."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from mien.distributed._team import Team

__all__ = ["Tree"]

_FAN_IN = 4


class Tree:
    """A sum of statistics in an order that depends on their number only.

    Every four are added as soon as they are there, and every four of those: few wait at a time.
    Where results stay with the workers, they are added there.
    """

    def __init__(self, team: Team) -> None:
        self._team = team
        self._levels: list[list[Any]] = []

    def push(self, item: Any, level: int = 0) -> None:
        """Add the next statistics, or the call that makes them."""
        if level == len(self._levels):
            self._levels.append([])
        waiting = self._levels[level]
        waiting.append(item)
        if len(waiting) == _FAN_IN:
            self._levels[level] = []
            self.push(self._add(waiting), level + 1)

    def total(self) -> Any:
        """The sum, or the call that makes it."""
        level = 0
        while level < len(self._levels) - 1 or len(self._levels[level]) > 1:
            waiting = self._levels[level]
            if waiting:
                self._levels[level] = []
                self.push(self._add(waiting), level + 1)
            level += 1
        return self._levels[level][0]

    def _add(self, items: list[Any]) -> Any:
        return self._team.call(_merge, items) if self._team.keeps_results else _merge(items)


def _merge(items: list[Any]) -> Any:
    """Their sum; what was given stays as it is, so that the task can be repeated."""
    total = deepcopy(items[0])
    for one in items[1:]:
        total = total.merge(one)
    return total
