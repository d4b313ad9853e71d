"""Tables of Markdown pages, written by the commands that make their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

__all__ = ["fill_page", "make_table", "write_tables"]


def make_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def fill_page(text: str, tables: dict[str, str]) -> str:
    """The page with the tables between ``<!-- NAME -->`` and ``<!-- end -->``.

    Marks without a table stay as they are: the numbers of another run.
    """
    for name, table in tables.items():
        mark = f"<!-- {name} -->"
        start = text.find(mark)
        end = text.find("<!-- end -->", start)
        if start >= 0 and end >= 0:
            text = f"{text[:start]}{mark}\n\n{table}\n\n{text[end:]}"
    return text


def write_tables(page: Path, tables: dict[str, str]) -> None:
    """Put tables into a page, or print them where it is ``-``."""
    if str(page) == "-":
        for name, table in tables.items():
            print(f"{name}\n\n{table}\n")
    else:
        page.write_text(fill_page(page.read_text(encoding="utf-8"), tables), encoding="utf-8")
