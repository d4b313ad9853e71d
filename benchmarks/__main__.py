"""Run every job, or those named: ``python -m benchmarks [job ...]``.

``python -m benchmarks forged`` is a command of its own, with options: see ``forged/run.py``.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks
from benchmarks.measure import machine, print_rows


def main(wanted: list[str]) -> None:
    if wanted[:1] == ["forged"]:
        from benchmarks.forged.run import main as run_forged

        run_forged(wanted[1:])
        return
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
