"""The names that are promised to stay are there, and not too many."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "stability.md"
ROWS = re.findall(r"^\| `(mien[\w.]*)` \| (.+) \|$", PAGE.read_text("utf-8"), flags=re.MULTILINE)
STABLE = {(room, name) for room, names in ROWS for name in re.findall(r"`(\w+)`", names)}


def test_stable_names_are_public() -> None:
    for room, name in sorted(STABLE):
        module = importlib.import_module(room)
        assert name in module.__all__, f"{room}.{name}"
        assert getattr(module, name).__doc__


def test_the_core_is_small() -> None:
    assert 35 <= len(STABLE) <= 50
