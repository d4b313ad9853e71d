"""Figures as text: SVG for a page, numbers for a program."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np

from mien._core.text import safe_text
from mien._core.validation import require_module
from mien.reports._plot_style import COLOURS, FAINT, INK, RULE

__all__ = ["add_namespace", "figure_data", "figure_to_svg"]


def figure_to_svg(figure: Any, name: str = "figure", *, standalone: bool = False) -> str:
    """Write a figure as an ``<svg>`` element, for inside a page or for a file of its own.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Of this module, or any other.
    name : str
        Goes before every id, so that several figures can share a page.
    standalone : bool
        Whether to name SVG's namespace, without which a browser shows no file of its own.

    Returns
    -------
    str
        Without header, metadata or, unless standalone, addresses of any kind. The colours of this
        module are CSS variables (``--ink``, ``--faint``, ``--rule``, ``--c0`` …) with themselves
        as fallback, so that a page can set them for its dark mode.
    """
    matplotlib = require_module("matplotlib", "plots", "drawing")
    _take_words_as_they_are(figure)
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\sxmlns(:xlink)?="[^"]*"', "", svg)
    svg = svg.replace("xlink:href=", "href=")
    prefix = re.sub(r"[^A-Za-z0-9_-]", "-", name)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = svg.replace("url(#", f"url(#{prefix}-").replace('href="#', f'href="#{prefix}-')
    svg = re.sub(r"font: ((?:\w+ )*[\d.]+px) [^;\"]+", r"font: \1 var(--sans, sans-serif)", svg)
    names = {INK: "ink", FAINT: "faint", RULE: "rule"}
    names |= {colour: f"c{index}" for index, colour in enumerate(COLOURS)}
    for colour, variable in names.items():
        svg = svg.replace(f": {colour}", f": var(--{variable}, {colour})")
    # The page scales the picture; a width in points would not fit a phone.
    width = 6.5 * figure.get_figwidth()
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(
        r'(<svg[^>]*?) width="[^"]*"', rf'\1 style="max-width:{width:.4g}rem"', svg, count=1
    )
    svg = re.sub(r"\n\s*", "\n", svg).strip()
    return add_namespace(svg) if standalone else svg


def add_namespace(svg: str) -> str:
    """An ``<svg>`` element as a file of its own needs it."""
    return svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)


def figure_data(figure: Any) -> list[dict[str, Any]]:
    """The named lines, clouds of points and histograms that a figure shows, for programs.

    Returns
    -------
    list of dict
        ``name``, ``xlabel``, ``ylabel``, ``x`` and ``y`` each; a histogram has one x more than y,
        a cloud has ``points`` true, a line with error bars has their ends, ``low`` and ``high``.
    """
    found: list[dict[str, Any]] = []
    for axes in figure.axes:
        ends = _error_ends(axes)
        words = {"xlabel": axes.get_xlabel(), "ylabel": axes.get_ylabel()}
        shown = [(line.get_label(), *line.get_data()) for line in axes.get_lines()]
        for patch in axes.patches:
            if hasattr(patch, "get_data"):
                heights, edges, _ = patch.get_data()
                shown.append((patch.get_label(), edges, heights))
        for name, x, y in shown:
            if name and not name.startswith("_"):
                x, y = np.asarray(x, dtype=float).tolist(), np.asarray(y, dtype=float).tolist()
                bars = ends.get(name, {})
                found.append({"name": name, **words, "x": x, "y": y, **bars})
        for cloud in axes.collections:
            label = cloud.get_label()
            if isinstance(label, str) and label and not label.startswith("_"):
                x, y = np.asarray(cloud.get_offsets(), dtype=float).T.tolist()
                found.append({"name": label, **words, "x": x, "y": y, "points": True})
    return found


def _error_ends(axes: Any) -> dict[str, dict[str, list[float]]]:
    """Ends of the upright error bars of named lines; a line and its bars share their colour."""
    from matplotlib.colors import same_color

    found = {}
    for container in axes.containers:
        if not getattr(container, "has_yerr", False):
            continue
        bars = container.lines[2][-1]
        for line in axes.get_lines():
            if same_color(line.get_color(), bars.get_color()) and line.get_label()[:1] != "_":
                pairs = np.asarray([part[:, 1] for part in bars.get_segments()], dtype=float)
                if len(pairs) == len(line.get_xdata()):
                    low, high = pairs.T.tolist()
                    found[line.get_label()] = {"low": low, "high": high}
    return found


def _take_words_as_they_are(figure: Any) -> None:
    """Names from elsewhere are words: a dollar sign begins no mathematics, nothing is hidden."""
    for axes in figure.axes:
        legend = axes.get_legend()
        words = [axes.xaxis.label, axes.yaxis.label]
        words += [part for part in axes.get_children() if hasattr(part, "set_parse_math")]
        words += [] if legend is None else [*legend.get_texts(), legend.get_title()]
        for axis in (axes.xaxis, axes.yaxis):
            # Numbers on an axis are the library's own, and some of them mathematics.
            if type(axis.get_major_formatter()).__name__ == "FixedFormatter":
                words += axis.get_ticklabels()
        for text in words:
            text.set_parse_math(False)
            text.set_text("\n".join(safe_text(line) for line in text.get_text().split("\n")))
