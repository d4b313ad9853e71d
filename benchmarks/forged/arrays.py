"""Nasty arrays through every public method of every estimator (``tests/sweep.py``)."""

from __future__ import annotations

from pathlib import Path

from benchmarks.forged.run import Item
from tests.sweep import Sweep, trials


def prepare(seed: int, folder: Path) -> Item:
    sweep = Sweep()
    every = list(trials(seed))

    def item(k: int) -> tuple[str, str]:
        if k >= len(every):
            raise StopIteration
        outcome, words = sweep.run(every[k])
        return outcome, f"{' '.join(map(str, every[k]))}: {words}"

    return item
