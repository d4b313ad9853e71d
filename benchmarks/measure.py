"""Time and memory of a call, and the row that every benchmark prints."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import platform
import resource
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Row", "machine", "metric_learn_rca", "own_peak", "peak_memory", "print_rows", "seconds"]


@dataclass(frozen=True)
class Row:
    """One line of a benchmark: what was done, by whom, how long, and how that compares."""

    job: str
    who: str
    seconds: float
    ratio: float | None = None
    against: str = ""
    note: str = ""


def seconds(call: Callable[[], Any], repeats: int = 3) -> float:
    """Best time of ``repeats`` calls, after one that warms caches and compilers."""
    call()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def peak_memory(call: Callable[..., Any], *args: Any) -> tuple[float, float]:
    """Seconds and peak MiB of ``call(*args)`` in a new interpreter (imports included).

    ``call`` is a function of a module; it and its arguments travel to the other process.
    """
    context = multiprocessing.get_context("spawn")
    parent, child = context.Pipe()
    process = context.Process(target=_measure, args=(child, call, args))
    process.start()
    child.close()
    try:
        result: tuple[float, float] = parent.recv()
    except EOFError:
        result = (0.0, 0.0)
    process.join()
    if process.exitcode != 0:
        raise RuntimeError(f"the measured call ended with exit code {process.exitcode}")
    return result


def _measure(pipe: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> None:
    start = time.perf_counter()
    call(*args)
    took = time.perf_counter() - start
    pipe.send((took, own_peak()))
    pipe.close()


def own_peak() -> float:
    """Peak MiB of this interpreter; what its parent held before is not counted."""
    try:
        with open("/proc/self/status") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def machine() -> str:
    """One line that says what was measured on."""
    return (
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}; every ratio is of one run on this machine"
    )


def print_rows(title: str, rows: Iterable[Row]) -> list[Row]:
    """Print rows as they come, so that a long benchmark shows what it has; return them."""
    printed = []
    print(f"\n{title}")
    print(f"  {'job':<46} {'who':<30} {'seconds':>10} {'ratio':>8}  against / note")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        note = ", ".join(part for part in (row.against, row.note) if part)
        print(f"  {row.job:<46} {row.who:<30} {row.seconds:>10.4g} {ratio:>8}  {note}", flush=True)
        printed.append(row)
    return printed


def metric_learn_rca() -> Any:
    """metric-learn's RCA; its last release calls scikit-learn by a keyword with another name."""
    try:
        package = importlib.import_module("metric_learn")
    except ImportError:
        return None
    util = importlib.import_module("metric_learn._util")
    for name in ("check_array", "check_X_y"):
        check = getattr(util, name)

        def renamed(*args: Any, check: Any = check, **kwargs: Any) -> Any:
            if "force_all_finite" in kwargs:
                kwargs["ensure_all_finite"] = kwargs.pop("force_all_finite")
            return check(*args, **kwargs)

        setattr(util, name, renamed)
    return package.RCA
