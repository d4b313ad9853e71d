"""Run forged inputs in child processes that may crash, hang and eat memory without harm.

A child takes items one after another and says before each that it begins and after each what came
of it. The parent counts a child that dies as a crash, one that computes for longer than the limit,
or waits for ten times as long, as a hang, and begins another one behind that item. Children have a
limit of memory, and more than ``BOUND_BYTES`` of resident memory is a fault as well. A refusal must
be one sentence of at most ``LONGEST`` letters.

With ``--log FOLDER`` each item is written down, and the same command continues where it stopped.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import queue
import re
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
    "arrays": 5_000,
    "kills": 2_000,
}
LIMIT_SECONDS = 120.0
LIMIT_BYTES = 3 * 2**30
BOUND_BYTES = 2**30
LONGEST = 600
FINE = ("worked", "refused")

Item = Callable[[int], tuple[str, str]]


def find_part(name: str, seed: int, folder: Path) -> Item:
    """The function of a part: number of an item -> what came of it, and words."""
    import importlib

    made: Item = importlib.import_module(f"benchmarks.forged.{name}").prepare(seed, folder)
    return made


def refused(error: Exception, where: str = "") -> tuple[str, str]:
    """The outcome of a refusal: its words must be one sentence."""
    words = str(error)
    fine = words.strip() and "\n" not in words and len(words) <= LONGEST
    fine = fine and not re.search(r"[.!?] [A-Z]", words)
    return ("refused" if fine else "too many words"), f"{where}{words:.200}"


def make_folder() -> Path:
    """A temporary folder, in memory where the system has such a place."""
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() and os.access(memory, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="mien-forged-", dir=place))


def child(name: str, seed: int, first: int, n: int, folder: Path) -> None:
    """Take the items from first on, in a process of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    item = find_part(name, seed, folder)
    for k in range(first, n):
        pipe.write(json.dumps({"begin": k}) + "\n")
        start = time.process_time()
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
        said = {"end": k, "outcome": outcome, "words": words, "peak": peak}
        said["seconds"] = round(time.process_time() - start, 4)
        pipe.write(json.dumps(said) + "\n")
    pipe.write(json.dumps({"done": True}) + "\n")


class Count:
    """What came of the items of one part."""

    def __init__(self, log: Path | None = None) -> None:
        self.outcomes: collections.Counter[str] = collections.Counter()
        self.faults: list[str] = []
        self.peak = 0
        self.slowest = 0.0
        self.seconds = 0.0
        self.next = 0
        self.log: Any = None
        if log is not None:
            log.parent.mkdir(parents=True, exist_ok=True)
            if log.exists():
                for line in log.read_text().splitlines():
                    self.add(*json.loads(line))
            self.log = log.open("a", buffering=1)

    def add(self, k: int, outcome: str, words: str, peak: int = 0, seconds: float = 0.0) -> None:
        if self.log is not None:
            self.log.write(json.dumps([k, outcome, words, peak, seconds]) + "\n")
        self.next = k + 1
        self.outcomes[outcome] += 1
        if outcome not in FINE:
            self.faults.append(f"{k}: {outcome}: {words}")
        if peak > BOUND_BYTES >= self.peak:
            self.faults.append(f"{k}: memory: {peak / 2**20:.0f} MiB")
        self.peak = max(self.peak, peak)
        self.slowest = max(self.slowest, seconds)
        self.seconds += seconds


def run_part(
    name: str,
    n: int,
    seed: int,
    log: Path | None = None,
    show: Callable[[str], None] = print,
) -> Count:
    """All items of a part, over as many children as it takes."""
    count = Count(log)
    first = count.next
    while first < n:
        folder = make_folder()
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
                count.add(*(said[key] for key in ("end", "outcome", "words", "peak", "seconds")))
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
    parser.add_argument("--log", type=Path, help="folder of what came of each item; continue there")
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.child:
        child(given.child, given.seed, given.first, given.n, given.folder)
        return
    bad = 0
    for name in given.parts or PARTS:
        n = given.n or PARTS[name]
        log = given.log and given.log / f"{name}-{given.seed}.jsonl"
        count = run_part(name, n, given.seed, log, lambda text: print(text, flush=True))
        for fault in count.faults[:50]:
            print("   ", fault)
        bad += len(count.faults)
        print(
            f"{name}: {count.seconds:.0f} s of computing, peak {count.peak / 2**20:.0f} MiB of at "
            f"most {BOUND_BYTES / 2**20:.0f}, slowest item {count.slowest:.1f} s, "
            f"{len(count.faults)} faults"
        )
    sys.exit(bool(bad))
