"""Run every job, or those named: ``python -m benchmarks [job ...] [--page FILE]``.

``--page`` puts the tables of jobs that have some into a page of the docs, between its marks;
``--resume FILE`` is for jobs that can go on where they stopped, such as ``photos``. Where the real
data that a job needs are missing, a job that was named ends with an error; without names, the
other jobs are run.

``python -m benchmarks forged``, ``grouping`` and ``distributed`` are commands of their own, with
options: see ``forged/run.py``, ``grouping.py`` and ``distributed.py``.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

import benchmarks
from benchmarks.data import run_command
from benchmarks.measure import machine, print_rows
from mien.errors import MissingDataError
from tools.tables import write_tables


def _take(words: list[str], option: str) -> tuple[list[str], Path | None]:
    """The words without an option and its file, and that file."""
    if option not in words[:-1]:
        return words, None
    place = words.index(option)
    return words[:place] + words[place + 2 :], Path(words[place + 1])


def main(wanted: list[str]) -> None:
    if wanted[:1] == ["forged"]:
        from benchmarks.forged.run import main as run_forged

        run_forged(wanted[1:])
        return
    if wanted[:1] in (["grouping"], ["distributed"]):
        importlib.import_module(f"benchmarks.{wanted[0]}").main(wanted[1:])
        return
    wanted, page = _take(wanted, "--page")
    wanted, resume = _take(wanted, "--resume")
    jobs = [
        m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name.startswith("bench_")
    ]
    chosen = [j for j in jobs if not wanted or j.removeprefix("bench_") in wanted]
    if not chosen:
        sys.exit(f"no such job; there are {', '.join(j.removeprefix('bench_') for j in jobs)}")
    print(machine())
    for job in chosen:
        module = importlib.import_module(f"benchmarks.{job}")
        made = module.rows() if resume is None else module.rows(resume=resume)
        try:
            rows = print_rows(job.removeprefix("bench_"), made)
        except MissingDataError as error:
            if wanted:
                raise
            print(f"  stopped: {error}")
            continue
        if page is not None and hasattr(module, "make_tables"):
            write_tables(page, module.make_tables(rows))


if __name__ == "__main__":
    run_command(lambda: main(sys.argv[1:]))
