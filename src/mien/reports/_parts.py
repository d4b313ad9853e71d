"""The parts of a report, and how its numbers are put into words."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PIL import Image

from mien.errors import InputError

__all__ = [
    "FIGURE",
    "NOTHING",
    "Figure",
    "Heading",
    "PictureGrid",
    "Rows",
    "Words",
    "as_cell",
    "encode_picture",
    "to_plain",
    "words_of",
]

NOTHING = "–"
# Stands before the ids of a figure until its place on the page is known.
FIGURE = "mien-figure"


def to_plain(value: Any) -> Any:
    """What JSON can hold: NaN becomes None, infinities become words, arrays become lists."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): to_plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set):
        return [to_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_cell(value: Any) -> Any:
    """A value with both ends of its interval, as the metrics give it, as a list of three."""
    if isinstance(value, dict) and {"value", "low", "high"} <= set(value):
        return [value["value"], value["low"], value["high"]]
    return value


def _is_with_interval(value: Any) -> bool:
    """Whether a cell is a number with an interval, whose ends may be unknown."""
    return (
        isinstance(value, list | tuple)
        and len(value) == 3
        and all(entry is None or _is_number(entry) for entry in value)
    )


def _numbers_of(value: Any) -> list[float]:
    """The finite fractions in a cell: itself, or the entries of an interval."""
    entries = value if isinstance(value, list | tuple) else [value]
    return [e for e in entries if isinstance(e, float) and math.isfinite(e)]


def _decimals(values: Sequence[float]) -> int | None:
    """How many decimals a column needs for about four digits; None asks for exponents."""
    sizes = [abs(value) for value in values if value]
    if not sizes:
        return 3
    if max(sizes) >= 1e7 or max(sizes) < 1e-4:
        return None
    decimals = min(max(3 - math.floor(math.log10(max(sizes))), 0), 6)
    if max(sizes) < 10:
        decimals = max(decimals - 1, 3) if max(sizes) < 1 else 3
    # A rate of 0.0004 beside one of 1 must not read 0.000.
    if min(sizes) < 10.0**-decimals:
        decimals = min(decimals + 2, max(decimals, math.ceil(-math.log10(min(sizes))) + 1))
    return decimals


def words_of(value: Any, decimals: int | None) -> str:
    """A cell as words: fractions with the column's decimals, intervals in brackets."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        words = f"{value:.2e}" if decimals is None else f"{value:.{decimals}f}"
        return words.replace("-", "−")
    if isinstance(value, list | tuple):
        entries = [words_of(entry, decimals) for entry in value]
        if _is_with_interval(value):
            if value[1] is None and value[2] is None:
                return entries[0]
            return f"{entries[0]} [{entries[1]}, {entries[2]}]"
        if len(entries) == 2 and all(_is_number(entry) for entry in value):
            return f"[{entries[0]}, {entries[1]}]"
        return ", ".join(entries)
    return {"inf": "∞", "-inf": "−∞"}.get(value, str(value))


@dataclass(frozen=True)
class Heading:
    text: str

    def as_dict(self) -> dict[str, Any]:
        return {"kind": "heading", "text": self.text}


@dataclass(frozen=True)
class Words:
    text: str

    def as_dict(self) -> dict[str, Any]:
        return {"kind": "text", "text": self.text}


@dataclass(frozen=True)
class Figure:
    svg: str
    caption: str
    alt: str
    series: list[dict[str, Any]]
    name: str = ""
    axes: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        words = {"kind": "figure", "name": self.name, "caption": self.caption, "alt": self.alt}
        return {**words, **self.axes, "series": to_plain(self.series)}


@dataclass(frozen=True)
class PictureGrid:
    pictures: list[bytes]
    captions: list[str]
    title: str
    columns: int | None
    width: int
    links: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": "gallery",
            "title": self.title,
            "pictures": len(self.pictures),
            "captions": self.captions,
        }


@dataclass(frozen=True)
class Rows:
    title: str
    rows: list[dict[str, Any]]
    note: str
    columns: list[str] = field(init=False)

    def __post_init__(self) -> None:
        columns = list(dict.fromkeys(key for row in self.rows for key in row))
        object.__setattr__(self, "columns", columns)

    def as_dict(self) -> dict[str, Any]:
        return {"kind": "table", "title": self.title, "rows": self.rows, "note": self.note}

    def cells(self) -> list[list[str]]:
        """Words of every cell, row by row."""
        by_column = []
        for column in self.columns:
            values = [row.get(column) for row in self.rows]
            decimals = _decimals([number for value in values for number in _numbers_of(value)])
            by_column.append([words_of(value, decimals) for value in values])
        return [list(row) for row in zip(*by_column, strict=True)]

    def is_numeric(self, column: str) -> bool:
        """Whether a column holds numbers or intervals only, and so stands to the right."""
        values = [row.get(column) for row in self.rows]
        values = [value for value in values if value is not None]
        return bool(values) and all(
            _is_number(value)
            or _is_with_interval(value)
            or (isinstance(value, list) and value and all(_is_number(e) for e in value))
            or (isinstance(value, str) and re.fullmatch(r"[-−]?(inf|[\d.,]+(e[-+]?\d+)?)", value))
            for value in values
        )


def encode_picture(picture: np.ndarray) -> bytes:
    """PNG of one picture (h, w) or (h, w, 3), uint8 or floats in [0, 1]."""
    picture = np.asarray(picture)
    if picture.ndim not in (2, 3) or (picture.ndim == 3 and picture.shape[2] != 3):
        raise InputError(f"a picture must be (h, w) or (h, w, 3); got {picture.shape}")
    if picture.size == 0:
        raise InputError(f"a picture is empty: its shape is {picture.shape}")
    if picture.dtype == bool:
        picture = picture.astype(np.float32)
    if picture.dtype != np.uint8:
        # Completed pictures may leave [0, 1] a little; a page shows what a screen can.
        picture = np.nan_to_num(picture.astype(np.float32), nan=0.0)
        picture = np.round(np.clip(picture, 0.0, 1.0) * 255).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()
