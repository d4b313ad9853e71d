"""What the verbs below ``mien reproduce`` share: their options, and how a report is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli._display import console, errors, print_json
from mien.errors import InputError

__all__ = ["AsJson", "Data", "Out", "OutFolder", "name_page", "show_report", "split_names"]

Data = Annotated[Path | None, typer.Option(help="Folder of the real data. (Default: MIEN_DATA.)")]
Out = Annotated[Path | None, typer.Option(help="Folder for report.html and report.json.")]
OutFolder = Annotated[Path, typer.Option(help="Folder for report.html and report.json.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the numbers for programs, and nothing else.")
]


def show_report(report: Any, out: Path | None, as_json: bool) -> None:
    """Write a report into a folder, if one is named, and print it as a table or as JSON."""
    page = None if out is None else report.write(out)
    if as_json:
        print_json(report.to_dict())
    else:
        report.print(console)
    name_page(page)


def name_page(page: Path | None) -> None:
    """Say where the page is, on the stream that pipes do not see."""
    if page is not None:
        errors.print(f"\nThe report: {page}", highlight=False, markup=False, soft_wrap=True)


def split_names(text: str, known: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Names with commas between them; "none" is none of them."""
    chosen = tuple(name for name in text.split(",") if name and name != "none")
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise InputError(f"no such {what}: {', '.join(unknown)}; there are {', '.join(known)}")
    return chosen
