"""Loading models and entering compiled kernels, against the sources before either checked anything.

Two workers, one on the sources of the commit ``BEFORE`` and one on these, fit the same models and
take turns. The times are those that the processor computed, so that neighbours matter less; a ratio
is the median over the turns. ``MIEN_BEFORE`` names a folder with those sources, where compiled
kernels are kept from one run to the next; without it they are checked out for the run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import Row

#: The last commit before statements of what a file may hold, and before doors of kernels.
BEFORE = "bf903b5"
TURNS = 15
AIM = 1.05

# Runs on both sources: only names that both have.
_WORKER = """
import importlib.util, json, sys, time, warnings
from functools import cache
import numpy as np

warnings.simplefilter("ignore")
import mien
from mien.committee import RandomSamplingLDA
from mien.kernelmaps import Fastfood, hadamard_transform
from mien.sparse import KSVD, orthogonal_matching_pursuit
from mien.verification import JointBayesian

folder = sys.argv[1]
rng = np.random.default_rng(0)
people = np.repeat(np.arange(60), 5)
faces = 2 * rng.normal(size=(60, 128))[people] + rng.normal(size=(300, 128))


@cache
def model(name):
    # Fitted when it is first needed: kernels take a while to compile.
    if name == "JointBayesian, 128":
        return JointBayesian().fit(faces, people)
    if name == "committee, 20 members":
        return RandomSamplingLDA(random_state=0).fit(faces, people)
    if name == "Fastfood, 1,024 to 8,192":
        return Fastfood(4, random_state=0).fit(rng.normal(size=(50, 1024)))
    # Before, atoms were kept in single precision whatever was given; now as it was given.
    signals = rng.normal(size=(600, 256)).astype(np.float32)
    return KSVD(512, max_iter=1, random_state=0).fit(signals)


@cache
def saved(name):
    return mien.save(model(name), f"{folder}/{len(name)}.mien")


FASTFOOD, ATOMS = "Fastfood, 1,024 to 8,192", "dictionary, 512 atoms of 256"
names = ("JointBayesian, 128", "committee, 20 members", FASTFOOD, ATOMS)
jobs = {"load: " + name: lambda name=name: mien.load(saved(name)) for name in names}
for n in (1, 100):
    X, Y = rng.normal(size=(n, 1024)), rng.normal(size=(n, 256))
    rows = "1 row" if n == 1 else f"{n} rows"
    jobs[f"dictionary codes, {rows}"] = lambda Y=Y: model(ATOMS).transform(Y)
    jobs[f"Fastfood, {rows}"] = lambda X=X: model(FASTFOOD).transform(X)
    jobs[f"Hadamard transform, {rows}"] = lambda X=X: hadamard_transform(X)


@cache
def diagonals():
    order = np.stack([rng.permutation(1024) for _ in range(4)])
    return [np.ones((4, 1024)), order, np.ones((4, 1024)), np.ones((4, 1024))]


def enter_kernel(X=rng.normal(size=(100, 1024)), out=np.zeros((100, 8192))):
    from mien.kernelmaps import _fourier_numba as kernels

    kernels.fastfood_features(X, *diagonals(), 4096, 1.0, (0, 4096), False, out)


if importlib.util.find_spec("numba"):
    jobs["kernel of Fastfood, 100 rows"] = enter_kernel

print(json.dumps(list(jobs)), flush=True)
for line in sys.stdin:
    job, seconds = json.loads(line)
    calls, start = 0, time.process_time()
    while calls < 3 or time.process_time() - start < seconds:
        jobs[job]()
        calls += 1
    print((time.process_time() - start) / calls, flush=True)
"""


class _Worker:
    """An interpreter on one of the two sources."""

    def __init__(self, source: Path, folder: Path) -> None:
        folder.mkdir()
        one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
        self.process = subprocess.Popen(
            [sys.executable, "-c", _WORKER, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=source,
            env=os.environ | one | {"PYTHONPATH": str(source / "src")},
        )
        self.jobs: list[str] = json.loads(self._ask(None))

    def _ask(self, line: str | None) -> str:
        write: Any = self.process.stdin
        read: Any = self.process.stdout
        if line is not None:
            write.write(line + "\n")
            write.flush()
        said = read.readline()
        if not said:
            raise RuntimeError("a worker of the benchmark ended")
        return str(said)

    def time(self, job: str, seconds: float) -> float:
        return float(self._ask(json.dumps([job, seconds])))


@contextmanager
def _sources_before(root: Path, folder: Path) -> Iterator[Path | None]:
    """The sources of ``BEFORE``; None where there is no clone that has them."""
    if "MIEN_BEFORE" in os.environ:
        yield Path(os.environ["MIEN_BEFORE"])
        return
    git, place = ["git", "-C", str(root), "worktree"], folder / "before"
    made = subprocess.run([*git, "add", "--detach", str(place), BEFORE], capture_output=True)
    if made.returncode:
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run([*git, "remove", "--force", str(place)], capture_output=True)


def rows() -> Iterator[Row]:
    root = Path(__file__).parents[1]
    with tempfile.TemporaryDirectory() as name, _sources_before(root, Path(name)) as old:
        if old is None:
            print(f"  the sources of {BEFORE} are not here: this benchmark needs a clone with git")
            return
        workers: list[_Worker] = []
        try:
            workers += [_Worker(old, Path(name) / "a"), _Worker(root, Path(name) / "b")]
            before, now = workers
            for job in (job for job in before.jobs if job in now.jobs):
                for worker in workers:
                    worker.time(job, 0.05)
                pairs = []
                for turn in range(TURNS):
                    order = workers if turn % 2 else workers[::-1]
                    took = {id(worker): worker.time(job, 0.02) for worker in order}
                    pairs.append((took[id(before)], took[id(now)]))
                ratio = median(b / a for a, b in pairs)
                note = "" if ratio <= AIM else f"above {AIM}"
                took_now = median(b for _, b in pairs)
                yield Row(job, "now", took_now, ratio, f"before ({BEFORE})", note)
        finally:
            for worker in workers:
                worker.process.kill()
                worker.process.wait()
