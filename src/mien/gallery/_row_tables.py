"""The tables of a gallery: which values a row has, and what it means to be one row."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["TABLES", "Table"]


class Table(NamedTuple):
    """Columns of a table without its checksum, and those that name a row."""

    columns: tuple[str, ...]
    key: tuple[str, ...]


#: Tables whose rows are counted and summed; ``meta`` and ``audit`` are checked in their own way.
TABLES = {
    "person": Table(
        ("id", "tag", "name", "added", "revision", "hidden", "consent", "retain_until"), ("id",)
    ),
    "person_key": Table(("person", "wrapped"), ("person",)),
    "template": Table(
        ("person", "digest", "face", "vector", "source", "quality", "added", "revision"),
        ("digest", "face"),
    ),
    "thumbnail": Table(("person", "digest", "face", "content"), ("digest", "face")),
    # Faces that can be brought back: ``change`` is the one that removed them.
    "removed": Table(
        ("change", "person", "digest", "face", "vector", "source", "quality", "added", "revision",
         "thumbnail"),
        ("change", "digest", "face"),
    ),
    "link": Table(
        ("id", "kind", "digest", "face", "other", "other_face", "person", "added"), ("id",)
    ),
    "change": Table(("id", "time", "action", "people", "faces", "content", "undone"), ("id",)),
    "usage": Table(("person", "day"), ("person",)),
}  # fmt: skip
