"""The one door to compiled kernels: they live in ``_*_numba.py`` and are imported late."""

from __future__ import annotations

import importlib
import os
import warnings
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np

from mien._core.progress import report
from mien.errors import InputError, PerformanceWarning

__all__ = ["check_indices", "check_pointers", "check_shape", "load_kernels"]

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


# ---------------------------------------------------------------- what kernels check at their door


def check_shape(name: str, array: np.ndarray, *shape: int) -> None:
    """Refuse an array of another shape, before compiled code reads beyond its end."""
    if array.shape != shape:
        raise InputError(f"{name} has the shape {array.shape}, and a kernel needs {shape}")


def check_indices(name: str, indices: np.ndarray, size: int) -> None:
    """Refuse indices outside 0 … size - 1; one pass over them."""
    if indices.dtype.kind not in "iu":
        raise InputError(f"{name} must be integers; got {indices.dtype}")
    if indices.size and not (indices.min() >= 0 and indices.max() < size):
        raise InputError(
            f"{name} points to places from {indices.min()} to {indices.max()}, and there are {size}"
        )


def check_pointers(name: str, pointers: np.ndarray, n: int, size: int) -> None:
    """Refuse pointers of a compressed matrix with n rows that do not rise from 0 to size."""
    check_shape(name, pointers, n + 1)
    rising = pointers.dtype.kind in "iu" and bool(np.all(pointers[1:] >= pointers[:-1]))
    if not rising or pointers[0] != 0 or pointers[-1] > size:
        raise InputError(f"{name} must rise from 0 to at most {size}")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
