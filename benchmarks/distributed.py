"""Learning and measuring on workers: time, memory, a worker killed on the way.

``python -m benchmarks distributed [--vectors N] [--people N] [--workers 1 2 3] [--pairs N] [--kill]
[--hosts] [--folder F]``: vectors (N, 128) of so many people are written as ``.npy`` and fitted by
`JointBayesian` in one process, by processes of this machine, and by workers of Dask. The floor is
reading the files and one product ``XᵀX``. ``--pairs`` evaluates so many vectors all against all.

With ``--hosts`` each worker is a host of its own: a network namespace with an address, joined to
the scheduler's by a bridge, and a folder of its own for what does not fit into memory (Linux, as
root). ``--kill`` ends a worker on the way as a failing power would, and another joins.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mien._core.progress import listening

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
    """Largest resident memory, and processor seconds, of the processes that this one started."""

    def __enter__(self) -> Watch:
        import psutil

        self.peak: dict[int, int] = {}
        self._first: dict[int, float] = {}
        self._last: dict[int, float] = {}
        self._stop = threading.Event()
        self._began = time.process_time()

        def look() -> None:
            for child in psutil.Process().children(recursive=True):
                try:
                    used = child.memory_info().rss
                    times = child.cpu_times()
                except psutil.Error:
                    continue
                self.peak[child.pid] = max(self.peak.get(child.pid, 0), used)
                self._last[child.pid] = times.user + times.system

        def keep_looking() -> None:
            while not self._stop.wait(0.05):
                look()

        look()
        self._first = dict(self._last)
        self._look = look
        self._thread = threading.Thread(target=keep_looking, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._look()
        spent = sum(last - self._first.get(pid, 0.0) for pid, last in self._last.items())
        self.cpu = spent + time.process_time() - self._began

    @property
    def mib(self) -> int:
        return max(self.peak.values(), default=0) >> 20


def floor(files: list[Path]) -> dict[str, float]:
    """Seconds of reading every file, and of one product in float64, in one process."""
    began, cpu, reading, product = time.monotonic(), time.process_time(), 0.0, 0.0
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
    cpu = time.process_time() - cpu
    return {"reading": round(reading, 2), "product": round(product, 2), "cpu": round(cpu, 1)}


def timed_fit(files: tuple[list[Path], list[Path]], **options: Any) -> tuple[dict[str, Any], Any]:
    from mien.distributed import fit
    from mien.verification import JointBayesian

    with Watch() as watch:
        began = time.monotonic()
        model = fit(JointBayesian(), *files, **options)
        seconds = time.monotonic() - began
    spent = {"seconds": round(seconds, 1), "cpu": round(watch.cpu, 1), "worker_mib": watch.mib}
    return spent, model


class Hosts:
    """Workers of Dask that are hosts: each in a network namespace, with a folder of its own.

    A bridge joins them to this namespace, in which the scheduler listens. No nanny starts a worker
    again that is lost: :meth:`replace` does.
    """

    _NET = "10.77.19"

    def __init__(self, n: int, folder: Path, memory: str) -> None:
        self.n, self.folder, self._memory = n, folder, memory
        self._name = f"mien{os.getpid() % 100_000}"
        self._started: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Hosts:
        _ip("link", "add", self._name, "type", "bridge")
        _ip("addr", "add", f"{self._NET}.1/24", "dev", self._name)
        _ip("link", "set", self._name, "up")
        for k in range(self.n):
            host, wire = f"{self._name}-{k}", f"m{os.getpid() % 100_000}-{k}"
            _ip("netns", "add", host)
            _ip("link", "add", wire, "type", "veth", "peer", "name", "eth0", "netns", host)
            _ip("link", "set", wire, "master", self._name)
            _ip("link", "set", wire, "up")
            _ip("-n", host, "link", "set", "lo", "up")
            _ip("-n", host, "link", "set", "eth0", "up")
            _ip("-n", host, "addr", "add", f"{self._NET}.{k + 2}/24", "dev", "eth0")
        self.address = f"tcp://{self._NET}.1:8786"
        self._start(["scheduler", "--host", f"{self._NET}.1", "--no-dashboard"])
        self.workers = [self._work(k) for k in range(self.n)]
        return self

    def _start(self, command: list[str], before: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
        with open(self.folder / "dask.log", "ab") as log:
            process = subprocess.Popen(
                [*before, sys.executable, "-m", "dask", *command], stdout=log, stderr=log
            )
        self._started.append(process)
        return process

    def _work(self, k: int) -> subprocess.Popen[bytes]:
        own = self.folder / f"host-{k}"
        own.mkdir(exist_ok=True)
        return self._start(
            [
                "worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
                "--memory-limit", self._memory, "--local-directory", str(own),
                "--host", f"{self._NET}.{k + 2}",
            ],
            ("ip", "netns", "exec", f"{self._name}-{k}"),
        )  # fmt: skip

    def kill(self, k: int) -> None:
        """End a worker at once; the next one of this host joins five seconds later."""
        self.workers[k].kill()
        self.workers[k].wait()
        time.sleep(5)
        self.workers[k] = self._work(k)

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            process.kill()
            process.wait()
        for k in range(self.n):
            _ip("netns", "del", f"{self._name}-{k}")
        _ip("link", "del", self._name)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@contextmanager
def started(n: int, folder: Path, memory: str, hosts: bool) -> Iterator[tuple[Any, Callable]]:
    """A client of n workers, and what kills one of them."""
    from distributed import Client, LocalCluster

    if hosts:
        with Hosts(n, folder, memory) as made, Client(made.address, timeout="60s") as client:
            client.wait_for_workers(n, timeout=120)
            yield client, lambda: made.kill(0)
        return
    with (
        LocalCluster(
            n_workers=n,
            threads_per_worker=1,
            memory_limit=memory,
            local_directory=str(folder),
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        yield client, lambda: os.kill(victim, signal.SIGKILL)


@contextmanager
def halfway(do: Callable[[], None]) -> Iterator[None]:
    """Do something in a thread when half of the parts have been read."""
    thread = threading.Thread(target=do)

    def show(words: str, done: int, total: int | None) -> None:
        if words == "statistics of the parts" and total and 2 * done >= total and not thread.ident:
            thread.start()

    with listening(show):
        yield
    thread.join()


def warm(client: Any) -> None:
    """Let every worker load what a fit needs."""
    from mien.distributed import fit
    from mien.verification import JointBayesian

    people = np.arange(4096) % 1024
    X = _identities(people) + np.random.default_rng(0).standard_normal((4096, D))
    fit(JointBayesian(), [(X[k::64], people[k::64]) for k in range(64)], client=client)


def run_fits(
    folder: Path,
    processes: list[int],
    workers: list[int],
    *,
    kill: bool,
    hosts: bool,
    memory: str,
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

    for n in processes:
        add(f"{n} process{'es' * (n > 1)}", *timed_fit(files, n_workers=n))
    what = "host" if hosts else "worker"
    for n in workers:
        with started(n, folder, memory, hosts) as (client, end_one):
            warm(client)
            add(f"Dask, {n} {what}{'s' * (n > 1)}", *timed_fit(files, client=client))
            if kill and n == max(workers):
                with halfway(end_one):
                    add(f"Dask, {n} {what}s, one killed", *timed_fit(files, client=client))
    return rows


def run_pairs(n: int, processes: list[int], workers: list[int]) -> list[dict[str, Any]]:
    from distributed import Client, LocalCluster
    from mien.distributed import evaluate_pairs
    from mien.verification import JointBayesian

    n_people = n // 10
    rng = np.random.default_rng(0)
    people = rng.integers(0, n_people, n)
    scale = np.linspace(2.0, 0.2, D, dtype=np.float32)
    X = _identities(people) * scale + rng.standard_normal((n, D), dtype=np.float32)
    model = JointBayesian().fit(X[:20_000], people[:20_000])
    rows: list[dict[str, Any]] = []

    def add(job: str, **options: Any) -> None:
        with Watch() as watch:
            began = time.monotonic()
            result = evaluate_pairs(model, X, people, **options)
            seconds = time.monotonic() - began
        row = {
            "job": f"all against all, {job}",
            "pairs": result["n_genuine"] + result["n_impostor"],
            "seconds": round(seconds, 1),
            "cpu": round(watch.cpu, 1),
            "worker_mib": watch.mib,
            "eer": result["eer"]["value"],
            "vr": {str(r["far"]): r["value"] for r in result["verification_rates"]},
        }
        answer = row["pairs"], row["eer"], row["vr"]
        row["same numbers"] = not rows or answer == tuple(
            rows[0][k] for k in ("pairs", "eer", "vr")
        )
        rows.append(row)
        print(json.dumps(row), flush=True)

    for k in processes:
        add(f"{k} process{'es' * (k > 1)}", n_workers=k)
    for k in workers:
        with (
            LocalCluster(
                n_workers=k, threads_per_worker=1, dashboard_address="127.0.0.1:0"
            ) as cluster,
            Client(cluster) as client,
        ):
            add(f"Dask, {k} worker{'s' * (k > 1)}", client=client)
    return rows


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks distributed", description=__doc__)
    parser.add_argument("--vectors", type=int, default=1_000_000)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--processes", type=int, nargs="*", default=[1], help="without Dask")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 3], help="of Dask")
    parser.add_argument("--pairs", type=int, default=0, help="vectors to compare all with all")
    parser.add_argument("--kill", action="store_true", help="kill a worker of Dask on the way")
    parser.add_argument("--hosts", action="store_true", help="each worker in a network of its own")
    parser.add_argument("--memory", default="auto", help="limit of each worker of Dask, as 2GB")
    parser.add_argument("--folder", type=Path, default=Path("distributed-benchmark"))
    parser.add_argument("--keep", action="store_true", help="keep the files")
    chosen = parser.parse_args(argv)
    if chosen.vectors:
        write_parts(chosen.folder, chosen.vectors, chosen.people)
        how = {"hosts": chosen.hosts, "kill": chosen.kill, "memory": chosen.memory}
        run_fits(chosen.folder, chosen.processes, chosen.workers, **how)
    if chosen.pairs:
        run_pairs(chosen.pairs, chosen.processes, chosen.workers)
    if not chosen.keep and chosen.folder.exists():
        shutil.rmtree(chosen.folder)
