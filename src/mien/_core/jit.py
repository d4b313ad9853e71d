"""The one door to compiled kernels: they live in ``_*_numba.py`` and are imported late."""

from __future__ import annotations

import importlib
import os
import warnings
from functools import cache
from pathlib import Path
from types import ModuleType

from mien._core.progress import report
from mien.errors import PerformanceWarning

__all__ = ["load_kernels"]

# Whether this process has loaded kernels, and whether it was forked from one that had.
_state = {"loaded": False, "forked": False}


def _after_fork() -> None:
    # The threads of the parent are not there, and the library that ran them ends a process that
    # asks for them.
    _state["forked"] = _state["forked"] or _state["loaded"]
    _load_once.cache_clear()


def load_kernels(module: str) -> ModuleType | None:
    """Import a module of compiled kernels, or say once that numba is missing.

    Parameters
    ----------
    module : str
        Full name of a ``_*_numba`` module, such as ``"mien.sparse._omp_numba"``.

    Returns
    -------
    module or None
        None where numba is not installed, and in a process that was forked from one that had
        used kernels: the caller then uses the NumPy twin, which gives the same result and takes
        longer.
    """
    return _load_once(module)


def _is_compiled(module: ModuleType) -> bool:
    """Whether numba has kept something of this module beside it, or keeps it elsewhere."""
    file = Path(module.__file__ or "")
    kept = file.with_name("__pycache__")
    return "NUMBA_CACHE_DIR" in os.environ or any(kept.glob(f"{file.stem}.*.nbi"))


@cache
def _load_once(module: str) -> ModuleType | None:
    if _state["forked"]:
        warnings.warn(
            f"this process was forked from one that had used compiled kernels, so {module} runs "
            "on its slower NumPy twin: start processes with the method 'spawn' or 'forkserver'",
            PerformanceWarning,
            stacklevel=3,
        )
        return None
    _state["loaded"] = True
    try:
        loaded = importlib.import_module(module)
        if not _is_compiled(loaded):
            report("compiling kernels (once; `mien warm` does it in advance)", 0, 1)
        return loaded
    except ImportError as error:
        if error.name is None or error.name.split(".")[0] not in {"numba", "llvmlite"}:
            raise
        warnings.warn(
            f"numba is not installed, so {module} runs on its slower NumPy twin: "
            "pip install 'mien[fast]'",
            PerformanceWarning,
            stacklevel=3,
        )
        return None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
