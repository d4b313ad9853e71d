"""The one door to compiled kernels: they live in ``_*_numba.py`` and are imported late."""

from __future__ import annotations

import importlib
import warnings
from functools import cache
from types import ModuleType

from mien.errors import PerformanceWarning

__all__ = ["load_kernels"]


@cache
def load_kernels(module: str) -> ModuleType | None:
    """Import a module of compiled kernels, or say once that numba is missing.

    Parameters
    ----------
    module : str
        Full name of a ``_*_numba`` module, such as ``"mien.sparse._omp_numba"``.

    Returns
    -------
    module or None
        None where numba is not installed: the caller then uses the NumPy twin, which gives the
        same result and takes longer.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if error.name is None or error.name.split(".")[0] not in {"numba", "llvmlite"}:
            raise
        warnings.warn(
            f"numba is not installed, so {module} runs on its slower NumPy twin: "
            "pip install 'mien[fast]'",
            PerformanceWarning,
            stacklevel=2,
        )
        return None
