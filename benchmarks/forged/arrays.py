"""Nasty arrays through every public method of every estimator (``tests/sweep.py``).

In a random order, so that any number of them goes through every estimator; ``--n`` beyond the
number of ways (about 30,000) takes all.
"""

from __future__ import annotations

import random
from pathlib import Path

from benchmarks.forged.run import Item
from tests.sweep import Sweep, trials


def prepare(seed: int, folder: Path) -> Item:
    sweep = Sweep()
    every = list(trials(seed))
    random.Random(seed).shuffle(every)

    def item(k: int) -> tuple[str, str]:
        if k >= len(every):
            raise StopIteration
        outcome, words = sweep.run(every[k])
        return outcome, f"{' '.join(map(str, every[k]))}: {words}"

    return item
