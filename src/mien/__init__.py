"""Recognise, verify, group and complete faces when labels are few, weak or partial.

Packages are imported when they are first used, so that ``import mien`` stays quick:

>>> import mien
>>> mien.evaluation.equal_error_rate([2.0, 3.0], [0.0, 1.0])
0.0
"""

from __future__ import annotations

import importlib
from typing import Any

from mien.errors import MienError

__version__ = "0.1.0"

__all__ = [
    "MienError",
    "__version__",
    "committee",
    "completion",
    "crops",
    "datasets",
    "demo",
    "distributed",
    "errors",
    "evaluation",
    "faces",
    "features",
    "files",
    "gallery",
    "kernelmaps",
    "load",
    "media",
    "multiview",
    "recognition",
    "reports",
    "save",
    "service",
    "sparse",
    "subspace",
    "verification",
]

_FUNCTIONS = {"load": "mien.files", "save": "mien.files"}


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(_FUNCTIONS[name]), name)
    if name in __all__:
        return importlib.import_module(f"mien.{name}")
    raise AttributeError(f"module 'mien' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return list(__all__)
