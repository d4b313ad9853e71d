"""A table of a report in a terminal, as wide as that is."""

from __future__ import annotations

from typing import Any

from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text

from mien.reports._parts import Rows

__all__ = ["terminal_table"]


def _new_table(title: str, **options: Any) -> Table:
    return Table(
        title=Text(title) if title else None,
        title_style="bold",
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="dim",
        **options,
    )


def _pack_columns(widths: list[int], width: int) -> list[list[int]] | None:
    """Columns of stacked tables that fit, each beginning with the first; None if none can."""
    blocks: list[list[int]] = []
    room = 0
    for column in range(1, len(widths)):
        if blocks and widths[column] + 2 <= room:
            blocks[-1].append(column)
            room -= widths[column] + 2
            continue
        room = width - widths[0] - 2 - widths[column]
        if room < 0:
            return None
        blocks.append([0, column])
    return blocks


def terminal_table(table: Rows, width: int) -> Group:
    """A table for a console of that width.

    Where it is too wide it becomes several, one above the other, that all begin with the first
    column; where even that does not fit, one record after the other.
    """
    cells = table.cells()
    widths = [
        max(cell_len(words) for words in (name, *(row[index] for row in cells)))
        for index, name in enumerate(table.columns)
    ]
    blocks = [list(range(len(widths)))]
    if sum(widths) + 2 * (len(widths) - 1) > width and len(widths) > 2:
        blocks = _pack_columns(widths, width) or []
    parts: list[Any] = []
    for block in blocks:
        shown = _new_table("" if parts else table.title)
        for index in block:
            numeric = table.is_numeric(table.columns[index])
            shown.add_column(
                Text(table.columns[index]),
                justify="right" if numeric else "left",
                no_wrap=numeric,
                overflow="fold",
            )
        for row in cells:
            shown.add_row(*(Text(row[index]) for index in block))
        parts.extend([Text(""), shown] if parts else [shown])
    if not blocks:
        shown = _new_table(table.title, show_header=False)
        shown.add_column(style="dim", overflow="fold")
        shown.add_column(overflow="fold")
        for number, row in enumerate(cells):
            if number:
                shown.add_row("", "")
            for column, cell in zip(table.columns, row, strict=True):
                shown.add_row(Text(column), Text(cell))
        parts = [shown]
    if table.note:
        parts.append(Text(table.note, style="dim"))
    return Group(*parts)
