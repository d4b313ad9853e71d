"""Rules for tests: they wait as long as it takes, and leave nothing open for others to find."""

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


@pytest.mark.parametrize(
    "place",
    [p for p in sorted(HERE.rglob("test_*.py")) if "sqlite3.connect(" in p.read_text("utf-8")],
    ids=lambda p: p.name,
)
def test_every_database_is_closed(place: Path) -> None:
    """A ``with`` block ends a transaction only; from Python 3.13 on what stays open is warned of,
    in whichever test runs when it is found."""
    text = place.read_text(encoding="utf-8")
    assert "with sqlite3" + ".connect(" not in text, "use contextlib.closing(…)"
