"""One result as a table in the terminal, as JSON, and as a page that stands by itself."""

from __future__ import annotations

import base64
import html
import io
import json
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from rich.cells import cell_len
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from mien._core.atomic import write_atomically
from mien.errors import InputError
from mien.evaluation import plots

__all__ = ["Report"]

_NOTHING = "–"
# Stands before the ids of a figure until its place on the page is known.
_FIGURE = "mien-figure"


# ---------------------------------------------------------------- numbers as words


def _plain(value: Any) -> Any:
    """What JSON can hold: NaN becomes None, infinities become words, arrays become lists."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _as_cell(value: Any) -> Any:
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


def _words(value: Any, decimals: int | None) -> str:
    """A cell as words: fractions with the column's decimals, intervals in brackets."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return _NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        words = f"{value:.2e}" if decimals is None else f"{value:.{decimals}f}"
        return words.replace("-", "−")
    if isinstance(value, list | tuple):
        entries = [_words(entry, decimals) for entry in value]
        if _is_with_interval(value):
            if value[1] is None and value[2] is None:
                return entries[0]
            return f"{entries[0]} [{entries[1]}, {entries[2]}]"
        if len(entries) == 2 and all(_is_number(entry) for entry in value):
            return f"[{entries[0]}, {entries[1]}]"
        return ", ".join(entries)
    return {"inf": "∞", "-inf": "−∞"}.get(value, str(value))


# ---------------------------------------------------------------- parts of a report


@dataclass(frozen=True)
class _Heading:
    text: str

    def as_dict(self) -> dict[str, Any]:
        return {"kind": "heading", "text": self.text}


@dataclass(frozen=True)
class _Text:
    text: str

    def as_dict(self) -> dict[str, Any]:
        return {"kind": "text", "text": self.text}


@dataclass(frozen=True)
class _Figure:
    svg: str
    caption: str
    alt: str
    series: list[dict[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        return {"kind": "figure", "caption": self.caption, "series": _plain(self.series)}


@dataclass(frozen=True)
class _Gallery:
    pictures: list[bytes]
    captions: list[str]
    title: str
    columns: int
    width: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "kind": "gallery",
            "title": self.title,
            "pictures": len(self.pictures),
            "captions": self.captions,
        }


@dataclass(frozen=True)
class _Table:
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
            by_column.append([_words(value, decimals) for value in values])
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


def _encode_picture(picture: np.ndarray) -> bytes:
    """PNG of one picture (h, w) or (h, w, 3), uint8 or floats in [0, 1]."""
    picture = np.asarray(picture)
    if picture.ndim not in (2, 3) or (picture.ndim == 3 and picture.shape[2] != 3):
        raise InputError(f"a picture must be (h, w) or (h, w, 3); got {picture.shape}")
    if picture.size == 0:
        raise InputError(f"a picture is empty: its shape is {picture.shape}")
    if picture.dtype == bool:
        picture = picture.astype(np.float32)
    if picture.dtype != np.uint8:
        # Restored pictures may leave [0, 1] a little; a page shows what a screen can.
        picture = np.nan_to_num(picture.astype(np.float32), nan=0.0)
        picture = np.round(np.clip(picture, 0.0, 1.0) * 255).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


# ---------------------------------------------------------------- the terminal


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


def _terminal_table(table: _Table, width: int) -> Group:
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


# ---------------------------------------------------------------- the page

_STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1f2328;--faint:#6b7075;--rule:#dcdee1;
--wash:#f6f7f8;--link:#0b5cad;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#e69f00;
--c5:#56b4e9;--c6:#7a6a53;
--sans:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
@media(prefers-color-scheme:dark){:root{--paper:#15181c;--ink:#e4e6e9;--faint:#9aa0a6;
--rule:#33383e;--wash:#1c2025;--link:#79b8f3;--c0:#56aee6;--c1:#f0873a;--c2:#34c496;--c3:#e09cc4;
--c4:#f0b93a;--c5:#8fd0f5;--c6:#bfae94}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 var(--sans)}
main{max-width:56rem;margin:0 auto;padding:3rem 1.25rem 4rem}
h1{font-size:1.9rem;line-height:1.2;margin:0;letter-spacing:-.015em}
.subtitle{color:var(--faint);margin:.4rem 0 0;font-size:1.05rem}
nav{margin:1.6rem 0 0;padding:.7rem 0;border:solid var(--rule);border-width:1px 0;font-size:.92rem}
nav a{color:var(--link);text-decoration:none;margin-right:1.3em;display:inline-block}
nav a:hover,nav a:focus{text-decoration:underline}
h2{font-size:1.3rem;line-height:1.3;margin:3rem 0 .6rem;letter-spacing:-.01em}
p{margin:.7rem 0;max-width:44rem;overflow-wrap:anywhere}
code{font:.92em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--wash);
padding:.1em .3em;border-radius:3px}
.table{margin:1.5rem 0;overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.94rem;min-width:40%}
caption{text-align:left;font-weight:600;padding:0 0 .45rem;white-space:nowrap}
th{font-weight:500;color:var(--faint);text-align:left;border-bottom:1.5px solid var(--faint);
padding:.3rem 1.3rem .3rem 0;vertical-align:bottom}
td{border-bottom:1px solid var(--rule);padding:.36rem 1.3rem .36rem 0;vertical-align:baseline}
th:last-child,td:last-child{padding-right:.2rem}
.n{text-align:right;white-space:nowrap}
.note{color:var(--faint);font-size:.88rem;margin:.5rem 0 0}
figure{margin:1.8rem 0;break-inside:avoid}
figure>svg{display:block;width:100%;height:auto}
figcaption{color:var(--faint);font-size:.9rem;margin-top:.5rem;max-width:42rem}
figcaption.title{color:var(--ink);font-weight:600;font-size:1rem;margin:0 0 .5rem}
.grid{display:grid;gap:.5rem .35rem}
.grid div{min-width:0}
.grid img{display:block;width:100%;height:auto;border-radius:2px;background:var(--wash)}
.grid span{display:block;font-size:.74rem;line-height:1.3;color:var(--faint);
margin-top:.15rem;overflow-wrap:anywhere}
footer{margin-top:3.5rem;padding-top:.8rem;border-top:1px solid var(--rule);color:var(--faint);
font-size:.85rem}
@media(max-width:36rem){main{padding:1.6rem .9rem 3rem}h1{font-size:1.5rem}
.grid{gap:.3rem .2rem}.grid span{font-size:.62rem}table{font-size:.88rem}
th,td{padding-right:.9rem}}
@media print{:root{--paper:#fff;--ink:#000;--faint:#555;--rule:#ccc;--wash:#f4f4f4;--link:#000}
main{max-width:none;padding:0}nav{display:none}h2{break-after:avoid}.table,tr{break-inside:avoid}
body{font-size:10.5pt}}
"""


def _html_text(text: str) -> str:
    """Paragraphs at blank lines, ``code`` in backticks, everything else escaped."""
    paragraphs = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        words = html.escape(" ".join(paragraph.split()))
        words = re.sub(r"`+([^`]+)`+", r"<code>\1</code>", words)
        paragraphs.append(f"<p>{words}</p>")
    return "\n".join(paragraphs)


def _html_table(table: _Table) -> str:
    classes = [' class="n"' if table.is_numeric(column) else "" for column in table.columns]
    head = "".join(
        f'<th scope="col"{kind}>{html.escape(column)}</th>'
        for column, kind in zip(table.columns, classes, strict=True)
    )
    body = "\n".join(
        "<tr>"
        + "".join(
            f"<td{kind}>{html.escape(cell)}</td>" for cell, kind in zip(row, classes, strict=True)
        )
        + "</tr>"
        for row in table.cells()
    )
    caption = f"<caption>{html.escape(table.title)}</caption>" if table.title else ""
    note = f'<p class="note">{html.escape(table.note)}</p>' if table.note else ""
    label = html.escape(table.title or "table", quote=True)
    return (
        f'<div class="table" tabindex="0" role="group" aria-label="{label}"><table>{caption}'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>{note}</div>"
    )


def _html_figure(figure: _Figure, number: int) -> str:
    alt = html.escape(figure.alt, quote=True)
    svg = figure.svg.replace(f"{_FIGURE}-", f"f{number}-")
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{alt}"', 1)
    return f"<figure>{svg}<figcaption>{html.escape(figure.caption)}</figcaption></figure>"


def _html_gallery(gallery: _Gallery) -> str:
    items = []
    for index, picture in enumerate(gallery.pictures):
        caption = gallery.captions[index] if gallery.captions else ""
        alt = caption or f"{gallery.title or 'picture'}, {index + 1} of {len(gallery.pictures)}"
        data = base64.b64encode(picture).decode("ascii")
        words = f"<span>{html.escape(caption)}</span>" if caption else ""
        items.append(
            f'<div><img alt="{html.escape(alt, quote=True)}" src="data:image/png;base64,{data}">'
            f"{words}</div>"
        )
    title = (
        f'<figcaption class="title">{html.escape(gallery.title)}</figcaption>'
        if gallery.title
        else ""
    )
    widest = min(2 * gallery.width, 144) * gallery.columns
    style = f"grid-template-columns:repeat({gallery.columns},1fr);max-width:min(100%,{widest}px)"
    return f'<figure>{title}<div class="grid" style="{style}">{"".join(items)}</div></figure>'


# ---------------------------------------------------------------- the report


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
    >>> from mien.evaluation.report import Report
    >>> report = Report("Two systems", "600 pairs")
    >>> report.table("Errors", [{"system": "a", "EER": 0.021}, {"system": "b", "EER": 0.1}])
    >>> [part["kind"] for part in report.to_dict()["parts"]]
    ['table']
    """

    def __init__(self, title: str, subtitle: str = "") -> None:
        self.title = title
        self.subtitle = subtitle
        self._parts: list[_Heading | _Text | _Table | _Figure | _Gallery] = []

    def heading(self, text: str) -> None:
        """Begin a section; sections are listed at the top of the page."""
        self._parts.append(_Heading(str(text)))

    def text(self, text: str) -> None:
        """Add words; a blank line begins a paragraph, backticks make code."""
        self._parts.append(_Text(str(text)))

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
        plain = [{str(key): _plain(_as_cell(row[key])) for key in row} for row in rows]
        self._parts.append(_Table(str(title), plain, str(note)))

    def figure(self, figure: Any, caption: str, alt: str = "") -> None:
        """Add a figure of :mod:`mien.evaluation.plots`, or any other of matplotlib.

        Parameters
        ----------
        figure : matplotlib.figure.Figure
            Drawn now: later changes do not reach the report.
        caption : str
            Stands below it.
        alt : str
            What it shows, for readers who do not see it; the caption if empty.
        """
        svg = plots.figure_to_svg(figure, name=_FIGURE)
        series = plots.figure_data(figure)
        self._parts.append(_Figure(svg, str(caption), str(alt) or str(caption), series))

    def gallery(
        self,
        images: Any,
        captions: Sequence[str] | None = None,
        title: str = "",
        columns: int = 8,
    ) -> None:
        """Add pictures in rows of ``columns``.

        Parameters
        ----------
        images : (n, h, w) or (n, h, w, 3), or a list of such pictures
            ``uint8``, or floats that are cut to [0, 1].
        captions : list of str, optional
            One for each picture.
        title : str
            Stands above them.
        columns : int
            Pictures in a row, also on a small screen: rows may mean something.
        """
        if len(images) == 0:
            raise InputError(f"the gallery {title!r} has no pictures")
        if columns < 1:
            raise InputError(f"columns must be at least 1; got {columns}")
        if captions is not None and len(captions) != len(images):
            raise InputError(f"{len(captions)} captions were given for {len(images)} pictures")
        pictures = [_encode_picture(image) for image in images]
        words = [] if captions is None else [str(caption) for caption in captions]
        width = max(np.asarray(image).shape[1] for image in images)
        self._parts.append(_Gallery(pictures, words, str(title), int(columns), int(width)))

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
        headings = [part.text for part in self._parts if isinstance(part, _Heading)]
        body: list[str] = []
        section = 0
        for number, part in enumerate(self._parts):
            if isinstance(part, _Heading):
                section += 1
                body.append(f'<h2 id="section{section}">{html.escape(part.text)}</h2>')
            elif isinstance(part, _Text):
                body.append(_html_text(part.text))
            elif isinstance(part, _Table):
                body.append(_html_table(part))
            elif isinstance(part, _Figure):
                body.append(_html_figure(part, number))
            else:
                body.append(_html_gallery(part))
        links = "".join(
            f'<a href="#section{index}">{html.escape(words)}</a>'
            for index, words in enumerate(headings, start=1)
        )
        contents = f'<nav aria-label="Sections">{links}</nav>' if len(headings) > 2 else ""
        subtitle = f'<p class="subtitle">{html.escape(self.subtitle)}</p>' if self.subtitle else ""
        policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
        made = f"Made by mien {_version()} on {datetime.now(UTC):%d %B %Y, %H:%M} UTC"
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{html.escape(self.title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
            f"<body>\n<main>\n<header><h1>{html.escape(self.title)}</h1>{subtitle}</header>\n"
            f"{contents}\n" + "\n".join(body) + f"\n<footer>{made}</footer>\n</main>\n"
            "</body>\n</html>\n"
        )

    def write(self, folder: str | os.PathLike[str]) -> Path:
        """Write ``report.html`` and ``report.json`` into a folder, each whole or not at all.

        Parameters
        ----------
        folder : path
            Made if it is missing; reports that are there are replaced.

        Returns
        -------
        pathlib.Path
            The page.
        """
        folder = Path(folder)
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        write_atomically(folder / "report.json", (text + "\n").encode("utf-8"))
        return write_atomically(folder / "report.html", self.to_html().encode("utf-8"))

    def print(self, console: Console | None = None) -> None:
        """Show headings, words and tables in the terminal.

        Parameters
        ----------
        console : rich.console.Console, optional
            Where to; the standard output if None.
        """
        console = Console() if console is None else console
        console.print(Text(self.title, style="bold"))
        if self.subtitle:
            console.print(Text(self.subtitle, style="dim"))
        pending: _Heading | None = None
        for part in self._parts:
            if isinstance(part, _Heading):
                # A section of figures alone has nothing to say in a terminal.
                pending = part
            if not isinstance(part, _Text | _Table):
                continue
            if pending is not None:
                console.print()
                console.print(Text(pending.text, style="bold underline"))
                pending = None
            console.print()
            if isinstance(part, _Text):
                console.print(Text(part.text.strip()))
            else:
                console.print(_terminal_table(part, console.width))


def _version() -> str:
    try:
        return metadata.version("mien")
    except metadata.PackageNotFoundError:
        return ""
