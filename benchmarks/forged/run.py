"""Run forged inputs in child processes that may crash, hang and eat memory without harm.

A child takes items one after another and says before each that it begins and after each what came
of it. The parent counts a child that dies as a crash, one that computes for longer than the limit,
or waits for ten times as long, as a hang, and begins another one behind that item. Children have a
limit of memory.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import queue
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Part -> how many the issue asks for.
PARTS = {
    "models": 20_000,
    "galleries": 10_000,
    "pictures": 10_000,
    "names": 10_000,
    "arrays": 0,
    "kills": 2_000,
}
LIMIT_SECONDS = 120.0
LIMIT_BYTES = 3 * 2**30
FINE = ("worked", "refused")

Item = Callable[[int], tuple[str, str]]


def find_part(name: str, seed: int, folder: Path) -> Item:
    """The function of a part: number of an item -> what came of it, and words."""
    import importlib

    made: Item = importlib.import_module(f"benchmarks.forged.{name}").prepare(seed, folder)
    return made


def child(name: str, seed: int, first: int, n: int, folder: Path) -> None:
    """Take the items from first on, in a process of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    item = find_part(name, seed, folder)
    for k in range(first, n):
        pipe.write(json.dumps({"begin": k}) + "\n")
        try:
            outcome, words = item(k)
        except StopIteration:
            break
        except BaseException as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            outcome = "raw error"
            where = f"{Path(place.filename).name}:{place.lineno}"
            words = f"{type(error).__name__}: {error!s:.160} ({where})"
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        pipe.write(json.dumps({"end": k, "outcome": outcome, "words": words, "peak": peak}) + "\n")
    pipe.write(json.dumps({"done": True}) + "\n")


class Count:
    """What came of the items of one part."""

    def __init__(self) -> None:
        self.outcomes: collections.Counter[str] = collections.Counter()
        self.faults: list[str] = []
        self.peak = 0
        self.slowest = 0.0

    def add(self, k: int, outcome: str, words: str) -> None:
        self.outcomes[outcome] += 1
        if outcome not in FINE:
            self.faults.append(f"{k}: {outcome}: {words}")


def run_part(name: str, n: int, seed: int, show: Callable[[str], None] = print) -> Count:
    """All items of a part, over as many children as it takes."""
    count = Count()
    first = 0
    while first < n:
        folder = Path(tempfile.mkdtemp(prefix="mien-forged-"))
        try:
            first = _run_child(name, n, seed, first, folder, count)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        show(
            f"{name}: {sum(count.outcomes.values()):,} items, "
            + ", ".join(f"{number:,} {what}" for what, number in count.outcomes.most_common())
        )
    return count


def _run_child(name: str, n: int, seed: int, first: int, folder: Path, count: Count) -> int:
    """Follow one child; returns the item at which the next one begins."""
    command = [sys.executable, "-m", "benchmarks.forged", "--child", name, "--seed", str(seed)]
    command += ["--first", str(first), "--n", str(n), "--folder", str(folder)]
    environment = os.environ | {"TMPDIR": str(folder), "XDG_STATE_HOME": str(folder / "state")}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        lines: queue.Queue[str | None] = queue.Queue()
        stream: Any = process.stdout

        def read() -> None:
            for line in stream:
                lines.put(line)
            lines.put(None)

        threading.Thread(target=read, daemon=True).start()
        at, since, used = first - 1, time.monotonic(), 0.0
        while True:
            try:
                line = lines.get(timeout=2.0)
            except queue.Empty:
                # The first item also pays for imports and for what the part prepares.
                patience = LIMIT_SECONDS * (4 if at < first else 1)
                waited = time.monotonic() - since
                if _cpu_seconds(process.pid) - used < patience and waited < 10 * patience:
                    continue
                process.kill()
                count.add(max(at, first), "hang", f"silent for {LIMIT_SECONDS:.0f} s")
                return max(at, first) + 1
            if line is None:
                code = process.wait()
                count.add(max(at, first), "crash", f"exit code {code}")
                return max(at, first) + 1
            said = json.loads(line)
            if "begin" in said:
                at, since, used = said["begin"], time.monotonic(), _cpu_seconds(process.pid)
            elif "end" in said:
                count.add(said["end"], said["outcome"], said["words"])
                count.peak = max(count.peak, said["peak"])
                count.slowest = max(count.slowest, time.monotonic() - since)
            else:
                return n


def _cpu_seconds(pid: int) -> float:
    """What a process has computed so far; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks forged", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all if none is named")
    parser.add_argument("--n", type=int, help="items of each part")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.child:
        child(given.child, given.seed, given.first, given.n, given.folder)
        return
    bad = 0
    for name in given.parts or PARTS:
        start = time.perf_counter()
        n = given.n or PARTS[name] or 10**9
        count = run_part(name, n, given.seed, lambda text: print(text, flush=True))
        for fault in count.faults[:50]:
            print("   ", fault)
        bad += len(count.faults)
        print(
            f"{name}: {time.perf_counter() - start:.0f} s, peak {count.peak / 2**20:.0f} MiB, "
            f"slowest item {count.slowest:.1f} s, {len(count.faults)} faults"
        )
    sys.exit(bool(bad))
