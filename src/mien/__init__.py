"""Recognise, verify, group and restore faces when labels are few, weak, foreign or partial.

The rooms of the house are imported when they are first used, so that ``import mien`` stays quick:

>>> import mien
>>> mien.evaluation.equal_error_rate([2.0, 3.0], [0.0, 1.0])
0.0
"""

from __future__ import annotations

import importlib
from typing import Any

from mien.errors import MienError

__version__ = "0.1.0"

_ROOMS = (
    "committee",
    "datasets",
    "errors",
    "evaluation",
    "experiments",
    "faces",
    "features",
    "files",
    "kernelmaps",
    "multiview",
    "reconstruction",
    "sparse",
    "subspace",
    "verification",
)
_LATE = {"load": "mien.files", "save": "mien.files"}

__all__ = sorted([*_ROOMS, *_LATE, "MienError", "__version__"])


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"mien.{name}")
    if name in _LATE:
        return getattr(importlib.import_module(_LATE[name]), name)
    raise AttributeError(f"module 'mien' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return list(__all__)
