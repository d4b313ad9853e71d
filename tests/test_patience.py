"""Tests wait for what happens, as long as it takes: a busy machine is not a failure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# A client that asks a real server; in-process ones have no clock.
_ASKS = re.compile(r"httpx\.(?:Async)?(?:Client|get|post|put|patch|delete|request)\(")


@pytest.mark.parametrize("place", sorted((HERE / "service").glob("*.py")), ids=lambda p: p.name)
def test_every_client_of_a_server_is_patient(place: Path) -> None:
    text = place.read_text(encoding="utf-8")
    for found in _ASKS.finditer(text):
        call = text[found.start() : found.start() + 300]
        line = text.count("\n", 0, found.start()) + 1
        assert "timeout=PATIENCE" in call, f"line {line}: use Server.client(), or timeout=PATIENCE"
