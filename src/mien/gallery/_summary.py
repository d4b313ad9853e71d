"""What all rows of a gallery come to: how many, their sum, and the end of the audit trail."""

from __future__ import annotations

import json
from typing import Any

from mien.gallery._row_codec import RowCodec
from mien.gallery._row_tables import TABLES

__all__ = ["Summary"]

_MODULUS = 2**256
_TABLES = tuple(TABLES)


class Summary:
    """Numbers of rows, and sums of what each row adds; a row can be added and taken out again.

    Each row has a checksum, so it cannot be altered; the sums tell whether one was left out,
    added or brought back. In a sealed gallery terms and summary are keyed.
    """

    def __init__(self) -> None:
        self.counts = dict.fromkeys(_TABLES, 0)
        self.sums = dict.fromkeys(_TABLES, 0)
        self.trail = bytes(16)

    @classmethod
    def parse(cls, text: Any, codec: RowCodec, tables: tuple[str, ...] = _TABLES) -> Summary:
        """Read what :meth:`text` gave; galleries of format 2 had fewer ``tables``."""
        summary = cls()
        try:
            held = json.loads(text)
            summary.trail = bytes.fromhex(held["trail"])
            for name in tables:
                summary.counts[name] = int(held[name][0])
                summary.sums[name] = int(held[name][1], 16)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise codec.corrupted("its summary is not readable") from error
        return summary

    def text(self) -> str:
        """As JSON, for a row of its own."""
        tables = {name: [self.counts[name], f"{self.sums[name]:x}"] for name in _TABLES}
        return json.dumps({"trail": self.trail.hex(), **tables})

    def add(self, table: str, term: int) -> None:
        self.counts[table] += 1
        self.sums[table] = (self.sums[table] + term) % _MODULUS

    def remove(self, table: str, term: int) -> None:
        self.counts[table] -= 1
        self.sums[table] = (self.sums[table] - term) % _MODULUS

    def follow(self, check: bytes) -> None:
        """The audit trail ends with this checksum now."""
        self.trail = check

    def require(self, table: str, found: Summary, codec: RowCodec) -> None:
        """Refuse rows that do not come to what this summary says."""
        fault = self.fault(table, found)
        if fault is not None:
            raise codec.corrupted(fault)

    def fault(self, table: str, found: Summary) -> str | None:
        """What is wrong with rows that come to ``found``, if anything is."""
        if found.counts[table] != self.counts[table]:
            return (
                f"it has {found.counts[table]:,} rows of {table}, and had {self.counts[table]:,} "
                "when it was last changed"
            )
        if found.sums[table] != self.sums[table]:
            return f"rows of {table} were exchanged or brought back"
        return None
