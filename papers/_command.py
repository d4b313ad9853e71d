"""What the papers' command lines share: options, how a report is shown, and how errors are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from mien.cli import console, errors, print_json
from mien.errors import InputError, MienError

__all__ = [
    "AsJson",
    "DataHome",
    "Figures",
    "Out",
    "Quick",
    "Seed",
    "choose",
    "run_command",
    "show_report",
]

DataHome = Annotated[
    Path | None, typer.Option(help="Folder of the real data sets.", show_default="MIEN_DATA")
]
Out = Annotated[Path | None, typer.Option(help="Write report.html and report.json here.")]
Figures = Annotated[
    Path | None, typer.Option(help="Write each figure as an SVG file here, for the docs.")
]
Quick = Annotated[bool, typer.Option("--quick", help="A small version that takes minutes.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of every random choice.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def choose(given: Sequence[str] | None, known: Sequence[str], what: str) -> tuple[str, ...]:
    """Names given by a repeated option: all of them if none was, nothing for ``none`` alone."""
    if not given:
        return tuple(known)
    if list(given) == ["none"]:
        return ()
    unknown = [name for name in given if name not in known]
    if unknown:
        raise InputError(f"there is no {what} {unknown[0]!r}; there are {', '.join(known)}")
    return tuple(given)


def show_report(report: Any, out: Path | None, as_json: bool, figures: Path | None = None) -> None:
    """Write a report into a folder, if one is named, and print it as tables or as JSON."""
    if figures is not None:
        report.write_figures(figures)
    page = None if out is None else report.write(out)
    if as_json:
        print_json(report.to_dict())
    else:
        report.print(console)
    if page is not None:
        errors.print(f"\nReport: {page}", highlight=False, markup=False, soft_wrap=True)


def run_command(main: Callable[..., None], name: str, options: list[str]) -> int:
    """Run a paper's function on the options of the command line; return the exit code."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    try:
        app(options, prog_name=f"python -m papers {name}", standalone_mode=True)
    except MienError as error:
        errors.print(f"error: {error}", style="red", highlight=False, markup=False, soft_wrap=True)
        return 2
    except SystemExit as done:
        return int(done.code or 0)
    return 0
