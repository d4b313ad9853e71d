"""A forked process that uses a kernel goes on, whatever its parent did before."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CODE = """
import multiprocessing, sys, warnings
import numpy as np
from mien.errors import PerformanceWarning
from mien.kernelmaps import Fastfood

warnings.simplefilter("ignore", PerformanceWarning)
X = np.random.default_rng(0).normal(size=(64, 10))
model = Fastfood(2, sigma=1.0, random_state=0).fit(X)


def work(part):
    return model.transform(part)


if __name__ == "__main__":
    expected = model.transform(X)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = np.vstack(pool.map(work, np.array_split(X, 4)))
    print(np.abs(found - expected).max() < 1e-9)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_pool_of_forked_processes_neither_dies_nor_hangs() -> None:
    pytest.importorskip("numba")
    environment = os.environ | {"NUMBA_NUM_THREADS": "2"}
    ended = subprocess.run(
        [sys.executable, "-c", CODE],
        capture_output=True,
        text=True,
        timeout=600,
        env=environment,
        check=False,
    )
    assert ended.stdout.strip() == "True", ended.stderr
