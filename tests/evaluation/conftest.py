"""The naive references, for every test of this folder."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def naive() -> ModuleType:
    """References written straight from the definitions (naive.py)."""
    spec = importlib.util.spec_from_file_location("naive", Path(__file__).parent / "naive.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
