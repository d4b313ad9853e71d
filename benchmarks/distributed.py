"""Learning and measuring on workers: time, memory, a worker killed on the way.

``python -m benchmarks distributed [--vectors N] [--people N] [--workers 1 2 3] [--pairs N] [--kill]
[--dask] [--folder F]``: vectors (N, 128) of so many people are written as ``.npy`` and fitted by
`JointBayesian` in one process, by processes of this machine, and by workers of Dask. The floor is
reading the files and one product ``XᵀX``. ``--pairs`` evaluates so many vectors all against all.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

D = 128
ROWS = 250_000


def write_parts(folder: Path, n: int, n_people: int, seed: int = 0) -> None:
    """Vectors in files of 250,000; people come in any order."""
    folder.mkdir(parents=True, exist_ok=True)
    scale = np.linspace(2.0, 0.2, D, dtype=np.float32)
    for k, low in enumerate(range(0, n, ROWS)):
        if (folder / f"y-{k:04d}.npy").exists():
            continue
        rng = np.random.default_rng([seed, k])
        rows = min(ROWS, n - low)
        people = rng.integers(0, n_people, rows)
        X = rng.standard_normal((rows, D), dtype=np.float32)
        for start in range(0, rows, 8192):
            part = people[start : start + 8192]
            X[start : start + 8192] += _identities(part) * scale
        np.save(folder / f"x-{k:04d}.npy", X)
        np.save(folder / f"y-{k:04d}.npy", people)


def _identities(people: np.ndarray) -> np.ndarray:
    """A vector (n, 128) for each number of a person, always the same, close to normal."""
    x = people.astype(np.uint64)[:, None] * np.uint64(D) + np.arange(D, dtype=np.uint64)
    for factor, bits in ((0xBF58476D1CE4E5B9, 30), (0x94D049BB133111EB, 27)):
        x = (x ^ (x >> np.uint64(bits))) * np.uint64(factor)
    x ^= x >> np.uint64(31)
    parts = [((x >> np.uint64(s)) & np.uint64(0xFFFF)).astype(np.float32) for s in (0, 16, 32, 48)]
    return (sum(parts) / np.float32(65536) - np.float32(2)) * np.float32(np.sqrt(3))


class Watch:
    """Largest resident memory of the children of this process, looked at every 50 ms."""

    def __enter__(self) -> Watch:
        import psutil

        self.peak: dict[int, int] = {}
        self._stop = threading.Event()

        def look() -> None:
            while not self._stop.wait(0.05):
                for child in psutil.Process().children(recursive=True):
                    try:
                        used = child.memory_info().rss
                    except psutil.Error:
                        continue
                    self.peak[child.pid] = max(self.peak.get(child.pid, 0), used)

        self._thread = threading.Thread(target=look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def mib(self) -> int:
        return max(self.peak.values(), default=0) >> 20


def floor(files: list[Path]) -> dict[str, float]:
    """Seconds of reading every file, and of one product in float64, in one process."""
    began, reading, product = time.monotonic(), 0.0, 0.0
    total = np.zeros((D, D))
    for file in files:
        began = time.monotonic()
        X = np.load(file)
        reading += time.monotonic() - began
        began = time.monotonic()
        for low in range(0, len(X), 8192):
            Z = X[low : low + 8192].astype(np.float64)
            total += Z.T @ Z
        product += time.monotonic() - began
    return {"reading": round(reading, 2), "product": round(product, 2)}


def timed_fit(files: tuple[list[Path], list[Path]], **options: Any) -> tuple[dict[str, Any], Any]:
    from mien.distributed import fit
    from mien.verification import JointBayesian

    with Watch() as watch:
        began = time.monotonic()
        model = fit(JointBayesian(), *files, **options)
        seconds = time.monotonic() - began
    return {"seconds": round(seconds, 1), "worker_mib": watch.mib}, model


def run_fits(
    folder: Path, workers: list[int], *, processes: bool, dask: bool, kill: bool
) -> list[dict[str, Any]]:
    files = sorted(folder.glob("x-*.npy")), sorted(folder.glob("y-*.npy"))
    rows: list[dict[str, Any]] = [{"job": "floor", **floor(files[0])}]
    print(json.dumps(rows[-1]), flush=True)
    first: Any = None

    def add(job: str, row: dict[str, Any], model: Any) -> None:
        nonlocal first
        if first is None:
            first = model
        same = bool(np.array_equal(first.projection_, model.projection_))
        known = {"n_samples": model.n_samples_, "n_people": model.n_people_}
        rows.append({"job": job, **row, **known, "equal to the bit": same})
        print(json.dumps(rows[-1]), flush=True)

    for n in workers if processes else ():
        add(f"{n} process{'es' * (n > 1)}", *timed_fit(files, n_workers=n))
    if dask:
        from distributed import Client, LocalCluster

        for n in workers:
            with (
                LocalCluster(
                    n_workers=n, threads_per_worker=1, dashboard_address="127.0.0.1:0"
                ) as cluster,
                Client(cluster) as client,
            ):
                add(f"Dask, {n} worker{'s' * (n > 1)}", *timed_fit(files, client=client))
                if kill and n == max(workers):
                    victim = next(iter(client.run(os.getpid).values()))
                    after = rows[-1]["seconds"] / 2
                    threading.Timer(after, os.kill, (victim, signal.SIGKILL)).start()
                    add(f"Dask, {n} workers, one killed", *timed_fit(files, client=client))
    return rows


def run_pairs(folder: Path, n: int, workers: list[int]) -> list[dict[str, Any]]:
    from mien.distributed import evaluate_pairs
    from mien.verification import JointBayesian

    n_people = n // 10
    rng = np.random.default_rng(0)
    people = rng.integers(0, n_people, n)
    scale = np.linspace(2.0, 0.2, D, dtype=np.float32)
    X = _identities(people) * scale + rng.standard_normal((n, D), dtype=np.float32)
    model = JointBayesian().fit(X[:20_000], people[:20_000])
    rows = []
    for k in workers:
        began = time.monotonic()
        result = evaluate_pairs(model, X, people, n_workers=k)
        rows.append(
            {
                "job": f"all against all, {k} process{'es' * (k > 1)}",
                "pairs": result["n_genuine"] + result["n_impostor"],
                "seconds": round(time.monotonic() - began, 1),
                "eer": result["eer"]["value"],
                "vr": {str(r["far"]): r["value"] for r in result["verification_rates"]},
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    return rows


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks distributed", description=__doc__)
    parser.add_argument("--vectors", type=int, default=1_000_000)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--pairs", type=int, default=0, help="vectors to compare all with all")
    parser.add_argument("--no-dask", action="store_true")
    parser.add_argument("--no-processes", action="store_true")
    parser.add_argument("--kill", action="store_true", help="kill a worker of Dask on the way")
    parser.add_argument("--folder", type=Path, default=Path("distributed-benchmark"))
    parser.add_argument("--keep", action="store_true", help="keep the files")
    chosen = parser.parse_args(argv)
    if chosen.vectors:
        write_parts(chosen.folder, chosen.vectors, chosen.people)
        how = {"processes": not chosen.no_processes, "dask": not chosen.no_dask}
        run_fits(chosen.folder, chosen.workers, **how, kill=chosen.kill)
    if chosen.pairs:
        run_pairs(chosen.folder, chosen.pairs, chosen.workers)
    if not chosen.keep and chosen.folder.exists():
        shutil.rmtree(chosen.folder)
