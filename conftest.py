"""What holds for all tests and for the examples in docstrings.

Settings that must stand before NumPy is imported, extras that are not installed, random order.
"""

from __future__ import annotations

import doctest
import importlib.util
import os
import random
from collections.abc import Generator
from pathlib import Path

if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers share the cores: one thread each, or they get in each other's way.
    for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(_name, "1")
os.environ.setdefault("MPLBACKEND", "Agg")
# What the command line shows does not depend on the terminal that the tests run in. Consoles read
# the width when they are made, and subprocesses inherit it. Programs' output is read with --json.
os.environ["COLUMNS"] = os.environ.get("MIEN_TEST_COLUMNS", "200")
os.environ["NO_COLOR"] = "1"
for _name in (
    "LINES",
    "FORCE_COLOR",
    "PY_COLORS",
    "CLICOLOR_FORCE",
    "GITHUB_ACTIONS",
    "TTY_COMPATIBLE",
):
    os.environ.pop(_name, None)

import pytest  # noqa: E402

from tests.extras import explain_missing, missing_extra, room_of, uncollected  # noqa: E402


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*extras): skipped where an extra is not installed")
    if importlib.util.find_spec("numba") is None:
        # Said once to a user. As an error it would be said, and raised, at every call.
        config.addinivalue_line("filterwarnings", "ignore:numba is not installed")
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        # Kernels as plain Python: sums of unsigned numbers that wrap around, on purpose.
        config.addinivalue_line("filterwarnings", "ignore:overflow encountered in scalar")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        if reason := missing_extra(*mark.args):
            pytest.skip(reason)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in a random order")


def pytest_report_header(config: pytest.Config) -> list[str]:
    seed = config.getoption("--shuffle")
    return [
        *([] if seed is None else [f"random order: --shuffle {seed}"]),
        *(f"not collected: mien.{room} ({reason})" for room, reason in uncollected().items()),
    ]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle the files, and the tests inside each: fixtures of a file are still made once."""
    seed = config.getoption("--shuffle")
    if seed is not None:
        order = random.Random(seed)
        places = {str(item.path): order.random() for item in items}
        keys = {item: (places[str(item.path)], order.random()) for item in items}
        items.sort(key=keys.__getitem__)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Modules that cannot be imported without an extra.

    Compiled kernels are imported only where there is a compiler: half a module would stay.
    """
    if collection_path.match("_*_numba.py") and importlib.util.find_spec("numba") is None:
        return True
    return True if room_of(collection_path) in uncollected() else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Skip what needs an extra that is not installed, with the sentence that a user would read."""
    report = yield
    if report.failed and call.excinfo is not None:
        error: BaseException | None = call.excinfo.value
        failures = getattr(error, "failures", [error])  # of all examples in one docstring
        if isinstance(failures[0], doctest.UnexpectedException):
            error = failures[0].exc_info[1]
        if reason := explain_missing(error, item.path):
            report.outcome = "skipped"
            report.longrepr = (str(item.path), item.location[1] or 0, f"Skipped: {reason}")
    return report
