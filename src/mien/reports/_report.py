"""One result as a table in the terminal, as JSON, and as a self-contained page."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mien._core.atomic import write_atomically
from mien._core.text import escape_html
from mien.errors import InputError
from mien.reports._page import STYLE, html_figure, html_gallery, html_table, html_text
from mien.reports._parts import (
    FIGURE,
    Figure,
    Heading,
    PictureGrid,
    Rows,
    Words,
    as_cell,
    encode_picture,
    to_plain,
)
from mien.reports._plot_text import add_namespace, figure_data, figure_to_svg

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Report"]


class Report:
    """A result that is written down once and shown in three ways.

    Parts are added in reading order. :meth:`print` shows headings, words and tables in the
    terminal; :meth:`write` makes ``report.html``, one page that needs no other file and no
    network, and ``report.json``, the same for programs.

    Parameters
    ----------
    title : str
        What the report is about.
    subtitle : str
        One line below the title: which data, which question.

    Notes
    -----
    In a table, whole numbers and fractions stand to the right, all fractions of a column with the
    same number of decimals. A pair of numbers is shown as an interval, three (or ``{value, low,
    high}``, as the metrics give it) as a value with its interval; None and NaN are a dash. In
    JSON, NaN is ``null`` and infinities are ``"inf"`` and ``"-inf"``. Everything is escaped: a
    name such as ``<b>`` is shown, not obeyed.

    Examples
    --------
    >>> from mien.reports import Report
    >>> report = Report("Two systems", "600 pairs")
    >>> report.table("Errors", [{"system": "a", "EER": 0.021}, {"system": "b", "EER": 0.1}])
    >>> [part["kind"] for part in report.to_dict()["parts"]]
    ['table']
    """

    def __init__(self, title: str, subtitle: str = "") -> None:
        self.title = title
        self.subtitle = subtitle
        self._parts: list[Heading | Words | Rows | Figure | PictureGrid] = []

    def heading(self, text: str) -> None:
        """Begin a section; sections are listed at the top of the page."""
        self._parts.append(Heading(str(text)))

    def text(self, text: str) -> None:
        """Add words; a blank line begins a paragraph, backticks make code."""
        self._parts.append(Words(str(text)))

    def table(self, title: str, rows: Sequence[dict[str, Any]], note: str = "") -> None:
        """Add a table.

        Parameters
        ----------
        title : str
            Stands above it.
        rows : list of dict
            Column name to value. Columns are all the names, in the order in which they come; a
            row that lacks one has a dash there.
        note : str
            Stands below it.
        """
        if not rows:
            raise InputError(f"the table {title!r} has no rows")
        plain = [{str(key): to_plain(as_cell(row[key])) for key in row} for row in rows]
        self._parts.append(Rows(str(title), plain, str(note)))

    def figure(self, figure: Any, caption: str, alt: str = "", *, name: str = "") -> None:
        """Add a figure of a ``plot_`` function, or any other of matplotlib.

        Parameters
        ----------
        figure : matplotlib.figure.Figure
            Drawn now: later changes do not reach the report.
        caption : str
            Stands below it.
        alt : str
            What it shows, for readers who do not see it; the caption if empty.
        name : str
            Name of its file for :meth:`write_figures`, without a suffix; unnamed figures stand on
            the page only.
        """
        svg = figure_to_svg(figure, name=FIGURE)
        series = figure_data(figure)
        words = (str(caption), str(alt) or str(caption))
        self._parts.append(Figure(svg, *words, series, str(name), _describe_axes(figure)))

    def gallery(
        self,
        images: Any,
        captions: Sequence[str] | None = None,
        title: str = "",
        columns: int | None = 8,
        links: Sequence[str] | None = None,
    ) -> None:
        """Add pictures in rows.

        Parameters
        ----------
        images : (n, h, w) or (n, h, w, 3), or a list of such pictures
            ``uint8``, or floats that are cut to [0, 1].
        captions : list of str, optional
            One for each picture.
        title : str
            Stands above them.
        columns : int or None
            Pictures in a row, also on a small screen, for rows that mean something; None takes as
            many as there is room for.
        links : list of str, optional
            File that each picture leads to, seen from the folder of the page; "" for none.
        """
        if len(images) == 0:
            raise InputError(f"the gallery {title!r} has no pictures")
        if columns is not None and columns < 1:
            raise InputError(f"columns must be at least 1; got {columns}")
        if captions is not None and len(captions) != len(images):
            raise InputError(f"{len(captions)} captions were given for {len(images)} pictures")
        pictures = [encode_picture(image) for image in images]
        words = [] if captions is None else [str(caption) for caption in captions]
        if links is not None and len(links) != len(images):
            raise InputError(f"{len(links)} links were given for {len(images)} pictures")
        width = max(np.asarray(image).shape[1] for image in images)
        leads = [] if links is None else [str(link) for link in links]
        self._parts.append(PictureGrid(pictures, words, str(title), columns, int(width), leads))

    def extend(self, other: Report) -> None:
        """Add every part of another report, without its title."""
        self._parts.extend(other._parts)

    # ------------------------------------------------------------ ways to show it

    def to_dict(self) -> dict[str, Any]:
        """The report for programs: titles, tables, the series of the figures."""
        return {
            "title": self.title,
            "subtitle": self.subtitle,
            "parts": [part.as_dict() for part in self._parts],
        }

    def to_html(self) -> str:
        """The report as one page without any other file."""
        headings = [part.text for part in self._parts if isinstance(part, Heading)]
        body: list[str] = []
        section = 0
        for number, part in enumerate(self._parts):
            if isinstance(part, Heading):
                section += 1
                body.append(f'<h2 id="section{section}">{escape_html(part.text)}</h2>')
            elif isinstance(part, Words):
                body.append(html_text(part.text))
            elif isinstance(part, Rows):
                body.append(html_table(part))
            elif isinstance(part, Figure):
                body.append(html_figure(part, number))
            else:
                body.append(html_gallery(part))
        links = "".join(
            f'<a href="#section{index}">{escape_html(words)}</a>'
            for index, words in enumerate(headings, start=1)
        )
        contents = f'<nav aria-label="Sections">{links}</nav>' if len(headings) > 2 else ""
        subtitle = f'<p class="subtitle">{escape_html(self.subtitle)}</p>' if self.subtitle else ""
        policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
        made = f"Made by mien {_version()} on {datetime.now(UTC):%d %B %Y, %H:%M} UTC"
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape_html(self.title)}</title>\n<style>{STYLE}</style>\n</head>\n"
            f"<body>\n<main>\n<header><h1>{escape_html(self.title)}</h1>{subtitle}</header>\n"
            f"{contents}\n" + "\n".join(body) + f"\n<footer>{made}</footer>\n</main>\n"
            "</body>\n</html>\n"
        )

    def write(self, folder: str | os.PathLike[str]) -> Path:
        """Write ``report.html`` and ``report.json`` into a folder, each whole or not at all.

        Parameters
        ----------
        folder : path
            Made if it is missing; reports that are there are replaced. They are readable by their
            owner only: they may show faces and names.

        Returns
        -------
        pathlib.Path
            The page.
        """
        folder = Path(folder)
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        write_atomically(folder / "report.json", (text + "\n").encode("utf-8"), private=True)
        page = self.to_html().encode("utf-8")
        return write_atomically(folder / "report.html", page, private=True)

    def write_figures(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write every named figure as ``NAME.svg`` into a folder.

        Parameters
        ----------
        folder : path
            Made if it is missing; figures of the same name are replaced.

        Returns
        -------
        list of pathlib.Path
            The files, in the order of the report.
        """
        named = [part for part in self._parts if isinstance(part, Figure) and part.name]
        return [
            write_atomically(
                Path(folder) / f"{part.name}.svg",
                add_namespace(part.svg).encode("utf-8"),
                private=True,
            )
            for part in named
        ]

    def print(self, console: Console | None = None) -> None:
        """Show headings, words and tables in the terminal.

        Parameters
        ----------
        console : rich.console.Console, optional
            Where to; the standard output if None.
        """
        from rich.console import Console
        from rich.text import Text

        from mien.reports._terminal import terminal_table

        console = Console() if console is None else console
        console.print(Text(self.title, style="bold"))
        if self.subtitle:
            console.print(Text(self.subtitle, style="dim"))
        pending: Heading | None = None
        for part in self._parts:
            if isinstance(part, Heading):
                # A section of figures alone has nothing to say in a terminal.
                pending = part
            if not isinstance(part, Words | Rows):
                continue
            if pending is not None:
                console.print()
                console.print(Text(pending.text, style="bold underline"))
                pending = None
            console.print()
            if isinstance(part, Words):
                console.print(Text(part.text.strip()))
            else:
                console.print(terminal_table(part, console.width))


def _describe_axes(figure: Any) -> dict[str, Any]:
    """Title and scales of a figure's first axes, which its series do not tell."""
    if not figure.axes:
        return {}
    axes = figure.axes[0]
    return {
        "title": axes.get_title(loc="left") or axes.get_title(),
        "logx": axes.get_xscale() == "log",
        "logy": axes.get_yscale() == "log",
    }


def _version() -> str:
    try:
        return metadata.version("mien")
    except metadata.PackageNotFoundError:
        return ""
