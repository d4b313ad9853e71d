"""The parts of a report as HTML, and the style of the page."""

from __future__ import annotations

import base64
import re
from urllib.parse import quote

from mien._core.text import escape_html
from mien.reports._parts import FIGURE, Figure, PictureGrid, Rows

__all__ = ["STYLE", "html_figure", "html_gallery", "html_table", "html_text"]


_LEAST_CELL, _MOST_CELL = 104, 176  # pixels of a picture that stands where there is room

STYLE = """
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
.table{margin:1.5rem 0;overflow-x:auto;width:max-content;
max-width:min(calc(100vw - 2.5rem),max(100%,calc(50vw + 25.5rem)))}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.94rem;min-width:40%}
caption{text-align:left;font-weight:600;padding:0 0 .45rem;white-space:nowrap}
th{font-weight:500;color:var(--faint);text-align:left;border-bottom:1.5px solid var(--faint);
padding:.3rem 1.3rem .3rem 0;vertical-align:bottom}
td{border-bottom:1px solid var(--rule);padding:.36rem 1.3rem .36rem 0;vertical-align:baseline}
th:last-child,td:last-child{padding-right:.2rem}
.n{text-align:right;white-space:nowrap}
th.n,td.i{white-space:normal}.i span{display:inline-block;white-space:nowrap}
.note{color:var(--faint);font-size:.88rem;margin:.5rem 0 0}
figure{margin:1.8rem 0;break-inside:avoid}
figure>svg{display:block;width:100%;height:auto}
figcaption{color:var(--faint);font-size:.9rem;margin-top:.5rem;max-width:42rem}
figcaption.title{color:var(--ink);font-weight:600;font-size:1rem;margin:0 0 .5rem}
.grid{display:grid;gap:.5rem .35rem}
.grid div{min-width:0}.grid a{color:inherit}
.grid img{display:block;width:100%;height:auto;border-radius:2px;background:var(--wash)}
.flow img{aspect-ratio:1;object-fit:contain}
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


def html_text(text: str) -> str:
    """Paragraphs at blank lines, ``code`` in backticks, everything else escaped."""
    paragraphs = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        words = escape_html(" ".join(paragraph.split()))
        words = re.sub(r"`+([^`]+)`+", r"<code>\1</code>", words)
        paragraphs.append(f"<p>{words}</p>")
    return "\n".join(paragraphs)


def _html_cell(cell: str, numeric: bool) -> str:
    """A value and its interval may stand on two lines where a table is wide."""
    value, bracket, ends = cell.partition(" [")
    if numeric and bracket:
        return f"{escape_html(value)} <span>[{escape_html(ends)}</span>"
    return escape_html(cell)


def html_table(table: Rows) -> str:
    cells = table.cells()
    classes = []
    for k, column in enumerate(table.columns):
        numeric, long = table.is_numeric(column), any(" [" in row[k] for row in cells)
        classes.append(f' class="n{" i" * long}"' if numeric else "")
    head = "".join(
        f'<th scope="col"{kind}>{escape_html(column)}</th>'
        for column, kind in zip(table.columns, classes, strict=True)
    )
    body = "\n".join(
        "<tr>"
        + "".join(
            f"<td{kind}>{_html_cell(cell, bool(kind))}</td>"
            for cell, kind in zip(row, classes, strict=True)
        )
        + "</tr>"
        for row in cells
    )
    caption = f"<caption>{escape_html(table.title)}</caption>" if table.title else ""
    note = f'<p class="note">{escape_html(table.note)}</p>' if table.note else ""
    label = escape_html(table.title or "table")
    return (
        f'<div class="table" tabindex="0" role="group" aria-label="{label}"><table>{caption}'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>{note}</div>"
    )


def html_figure(figure: Figure, number: int) -> str:
    alt = escape_html(figure.alt)
    svg = figure.svg.replace(f"{FIGURE}-", f"f{number}-")
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{alt}"', 1)
    return f"<figure>{svg}<figcaption>{escape_html(figure.caption)}</figcaption></figure>"


def html_gallery(gallery: PictureGrid) -> str:
    items = []
    for index, picture in enumerate(gallery.pictures):
        caption = gallery.captions[index] if gallery.captions else ""
        alt = caption or f"{gallery.title or 'picture'}, {index + 1} of {len(gallery.pictures)}"
        data = base64.b64encode(picture).decode("ascii")
        words = f"<span>{escape_html(caption)}</span>" if caption else ""
        shown = f'<img alt="{escape_html(alt)}" src="data:image/png;base64,{data}">{words}'
        if gallery.links and gallery.links[index]:
            shown = f'<a href="{quote(gallery.links[index])}">{shown}</a>'
        items.append(f"<div>{shown}</div>")
    title = (
        f'<figcaption class="title">{escape_html(gallery.title)}</figcaption>'
        if gallery.title
        else ""
    )
    style = _grid_style(gallery.columns, gallery.width)
    kind = "grid flow" if gallery.columns is None else "grid"
    return f'<figure>{title}<div class="{kind}" style="{style}">{"".join(items)}</div></figure>'


def _grid_style(columns: int | None, width: int) -> str:
    """Where the pictures of this width stand; None is as many in a row as there is room for."""
    if columns is None:
        cell = min(max(width, _LEAST_CELL), _MOST_CELL)
        return f"grid-template-columns:repeat(auto-fill,minmax({cell}px,1fr))"
    # Small pictures are shown larger; one or two in a row may be as wide as they are.
    cell = max(min(2 * width, 144), min(width, 960 // columns))
    return f"grid-template-columns:repeat({columns},1fr);max-width:min(100%,{cell * columns}px)"
