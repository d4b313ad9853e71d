"""Run every job, or those named: ``python -m benchmarks [job ...]``."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks
from benchmarks.measure import machine, print_rows


def main(wanted: list[str]) -> None:
    jobs = [
        m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name.startswith("bench_")
    ]
    chosen = [j for j in jobs if not wanted or j.removeprefix("bench_") in wanted]
    if not chosen:
        sys.exit(f"no such job; there are {', '.join(j.removeprefix('bench_') for j in jobs)}")
    print(machine())
    for job in chosen:
        print_rows(job.removeprefix("bench_"), importlib.import_module(f"benchmarks.{job}").rows())


if __name__ == "__main__":
    main(sys.argv[1:])
