"""Run the tests on other machines' terms: kernels, threads, Pythons, widths, orders.

``make test`` shows that the tests pass here. A user has another processor, another Python, no
extra or no numba, a narrow terminal, a long home folder or another clock. Each variant below
changes several of these at once, so that all are covered in a few runs; variants that are about
numbers alone run only the packages that compute.

    python -m tools.everywhere              # all variants
    python -m tools.everywhere nehalem      # those whose name contains a word
    python -m tools.everywhere --list
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tools.environments import (
    ROOT,
    TESTING,
    InstallError,
    find_python,
    make_environment,
    run,
    stream,
)
from tools.pythons import fetch_python

# Packages whose results go through BLAS, LAPACK or compiled kernels.
NUMBERS = (
    "core", "verification", "committee", "subspace", "kernelmaps", "sparse", "multiview",
    "completion", "evaluation", "features", "datasets/test_rendered.py", "test_estimators.py",
)  # fmt: skip
LIMIT = 1800  # seconds of one variant
KERNELS = (
    "core/test_kernel_doors.py", "sparse", "kernelmaps", "evaluation/test_streaming.py",
    "datasets/test_rendered.py",
)  # fmt: skip
# Packages whose tests read what was printed, or the names of files.
PRINTED = ("cli", "crops", "media", "reports", "core/test_text.py", "gallery/test_attacks.py")
PROBE = """
import numpy, scipy.linalg, threadpoolctl
from numpy._core._multiarray_umath import __cpu_dispatch__ as built, __cpu_features__ as here
a = numpy.random.default_rng(0).normal(size=(300, 300))
scipy.linalg.eigh(a @ a.T)
names = {x.get("architecture") for x in threadpoolctl.threadpool_info() if x["user_api"] == "blas"}
print("/".join(sorted(map(str, names))), *[name for name in built if here[name]])
"""


class Unavailable(Exception):
    """The variant cannot be had on this machine; the message says why."""


@dataclass
class Variant:
    """One run: which Python, which tests, under which environment variables."""

    name: str
    what: str
    python: Callable[[], str | Path] = lambda: sys.executable
    tests: tuple[str, ...] = ()
    settings: Callable[[], dict[str, str]] = dict
    arguments: list[str] = field(default_factory=list)
    workers: str = "auto"
    part_of: str = ""  # another variant runs all of it


@dataclass
class Outcome:
    name: str
    what: str
    seconds: float = 0.0
    processor: float = 0.0
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    reason: str = ""
    log: str = ""


def _probe(**settings: str) -> list[str]:
    """The kernel that BLAS took and the instruction sets of NumPy's loops; empty if it crashed."""
    done = run([sys.executable, "-c", PROBE], env=os.environ | settings)
    return done.stdout.split() if done.returncode == 0 else []


def _kernel(name: str) -> dict[str, str]:
    """Settings for another BLAS kernel; Unavailable where the processor or the library has none."""
    usual, *loops = _probe()
    found = _probe(OPENBLAS_CORETYPE=name)
    if not found:
        raise Unavailable(f"this processor cannot run the kernel {name}")
    if found[0] == usual:
        raise Unavailable(f"OPENBLAS_CORETYPE={name} gives {usual}, as usual")
    settings = {"OPENBLAS_CORETYPE": name}
    if name == "Prescott" and loops:
        settings["NPY_DISABLE_CPU_FEATURES"] = " ".join(loops)
    return settings


def _some_kernel(name: str) -> dict[str, str]:
    """As ``_kernel``, or the usual one."""
    with contextlib.suppress(Unavailable):
        return _kernel(name)
    return {}


def _python(version: str) -> str:
    """A Python of this version that is here or can be fetched."""
    if python := find_python(version):
        return python
    try:
        return str(fetch_python(version))
    except InstallError as error:
        raise Unavailable(f"no Python {version} here, and none to fetch: {error}") from None


def _newest(version: str) -> Path:
    return _environment(f"python{version}", _python(version), "[all]", newest=True)


def _environment(name: str, python: str, extras: str, *, newest: bool = False) -> Path:
    packages = ["--editable", f".{extras}", *TESTING]
    constraints = None if newest else ROOT / "constraints.txt"
    try:
        return make_environment(name, python, packages, constraints=constraints)
    except InstallError as error:
        raise Unavailable(f"packages cannot be installed: {str(error).strip()[-300:]}") from None


def _without_extras() -> Path:
    for version in ("3.12", "3.13"):
        with contextlib.suppress(Unavailable):
            return _environment("no-extras", _python(version), "")
    return _environment("no-extras", sys.executable, "")


def _long_folder() -> str:
    folder = Path(tempfile.gettempdir(), *["a folder with a rather long name"] * 4)
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


def _elsewhere() -> dict[str, str]:
    return _some_kernel("Nehalem") | {
        "MIEN_TEST_COLUMNS": "40", "TMPDIR": _long_folder(), "LC_ALL": "C", "TZ": "XXX-12:45",
        "MIEN_DATA": os.path.join(tempfile.gettempdir(), "nothing-is-here"),
    }  # fmt: skip


def make_variants(seed: int) -> list[Variant]:
    """All variants, the cheap ones first."""
    shuffled = ["--shuffle", str(seed)]
    where = (
        "40 columns, a long TMPDIR, LC_ALL=C, another TZ, no ../shared, BLAS kernel of 2008 where "
        f"it runs, order {seed}"
    )
    return [
        Variant(
            "bounds", "compiled kernels with bounds checks", tests=KERNELS,
            settings=lambda: {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": tempfile.mkdtemp()},
        ),
        Variant(
            "interpreted", "the same kernels as plain Python (NUMBA_DISABLE_JIT)",
            tests=(
                "datasets/test_rendered.py::test_the_compiled_renderer_equals_its_twin",
                "evaluation/test_streaming.py", "kernelmaps/test_hadamard.py", "sparse/test_omp.py",
            ),
            settings=lambda: {"NUMBA_DISABLE_JIT": "1"},
        ),
        Variant(
            "prescott", f"BLAS kernel of 2004, NumPy without AVX, one thread, order {seed}",
            tests=NUMBERS, settings=lambda: _kernel("Prescott") | {"OPENBLAS_NUM_THREADS": "1"},
            arguments=shuffled,
        ),
        Variant(
            "nehalem", f"BLAS kernel of 2008, order {seed}", tests=NUMBERS,
            settings=lambda: _kernel("Nehalem"), arguments=shuffled,
        ),
        Variant(
            "haswell", "BLAS kernel with FMA, two threads", tests=NUMBERS, workers="1",
            settings=lambda: _kernel("Haswell") | {"OPENBLAS_NUM_THREADS": "2"},
        ),
        Variant(
            "two-threads", "two threads of BLAS", tests=NUMBERS, workers="1",
            settings=lambda: {"OPENBLAS_NUM_THREADS": "2"},
        ),
        Variant(
            "no-extras",
            "no numba and no other extra, Python 3.12 or 3.13 where found, two threads of BLAS, "
            f"200 columns, order {seed}",
            python=_without_extras,
            settings=lambda: {"MIEN_TEST_COLUMNS": "200", "OPENBLAS_NUM_THREADS": "2"},
            arguments=shuffled,
        ),
        Variant(
            "python3.13", "the newest versions of everything",
            python=lambda: _newest("3.13"),
        ),
        Variant(
            "printed", f"what prints or writes, {where}", tests=PRINTED, settings=_elsewhere,
            arguments=shuffled, part_of="elsewhere",
        ),
        Variant(
            "elsewhere", f"everything that does not compute, {where}", settings=_elsewhere,
            arguments=[*shuffled, *(f"--ignore=tests/{name}" for name in NUMBERS)],
        ),
    ]  # fmt: skip


def _processor_seconds() -> float:
    """What all children that ended have used of the processors."""
    used = os.times()
    return used.children_user + used.children_system


def _exists(name: str) -> bool:
    return (ROOT / "tests" / name.partition("::")[0]).exists()


def run_variant(variant: Variant, *, seconds: float = LIMIT) -> Outcome:
    """Run pytest, show its progress and count."""
    outcome = Outcome(variant.name, variant.what)
    start = time.monotonic()
    try:
        settings, python = variant.settings(), variant.python()
    except Unavailable as error:
        outcome.reason = str(error)
        return outcome
    inside = {**os.environ, **settings}
    paths = [f"tests/{name}" for name in variant.tests if _exists(name)]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [
            str(python), "-m", "pytest", "-q", "-n", variant.workers, "--dist", "worksteal",
            "--tb=short", "-rfE", f"--junitxml={report}", "-p", "no:cacheprovider",
            *variant.arguments, *paths,
        ]  # fmt: skip
        before = _processor_seconds()
        code, outcome.log = stream(command, seconds=seconds, cwd=ROOT, env=inside)
        outcome.seconds = time.monotonic() - start
        outcome.processor = _processor_seconds() - before
        if report.is_file():
            counts = ET.parse(report).getroot()[0].attrib
            outcome.failed = int(counts["failures"]) + int(counts["errors"])
            outcome.skipped = int(counts["skipped"])
            outcome.passed = int(counts["tests"]) - outcome.failed - outcome.skipped
        if code < 0:
            outcome.failed, outcome.reason = 1, f"stopped after {outcome.seconds:.0f} s"
        elif code != 0 and outcome.failed == 0:
            outcome.failed, outcome.reason = 1, f"pytest ended with {code}"
    return outcome


def show(outcomes: list[Outcome]) -> None:
    """Print the table and the closing line."""
    width = max(len(outcome.name) for outcome in outcomes)
    print(f"\n{'variant':{width}}  passed  failed  skipped  seconds   CPU s  what is different")
    for o in outcomes:
        if not o.log:
            print(f"{o.name:{width}}  not run: {o.reason}")
            continue
        counts = (
            f"{o.passed:6d}  {o.failed:6d}  {o.skipped:7d}  {o.seconds:7.0f}  {o.processor:6.0f}"
        )
        print(f"{o.name:{width}}  {counts}  {o.what}{f' ({o.reason})' if o.reason else ''}")
    ran = [o for o in outcomes if o.log]
    total = {k: sum(getattr(o, k) for o in ran) for k in ("passed", "failed", "skipped", "seconds")}
    words = [f"{total['failed']} failed"] if total["failed"] else []
    words += [f"{total['passed']} passed", f"{total['skipped']} skipped"]
    words += [f"{len(ran)} variants", f"{len(outcomes) - len(ran)} not run"]
    print(f"==== {', '.join(words)} in {total['seconds']:.0f}s ====")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("only", nargs="*", help="run the variants whose name contains one of these")
    parser.add_argument("--seed", type=int, default=None, help="of the random order")
    parser.add_argument(
        "--limit", type=float, default=LIMIT, help="seconds after which a variant is stopped"
    )
    parser.add_argument("--list", action="store_true", help="print the variants and end")
    options = parser.parse_args()
    seed = random.randrange(10**6) if options.seed is None else options.seed
    variants = [
        v for v in make_variants(seed)
        if (any(word in v.name for word in options.only) if options.only else not v.part_of)
    ]  # fmt: skip
    if options.list:
        for variant in variants:
            print(f"{variant.name:12} {variant.what}")
        return 0
    print(f"random order: --seed {seed}")
    outcomes = []
    for variant in variants:
        print(f"{variant.name} ({variant.what}) ...", flush=True)
        outcomes.append(run_variant(variant, seconds=options.limit))
    show(outcomes)
    return 1 if any(outcome.failed for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
