"""The style of the house, and the checks and parts that all plots share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mien._core.validation import require_module
from mien.errors import InputError

__all__ = [
    "COLOURS",
    "FAINT",
    "INK",
    "RULE",
    "add_legend",
    "add_legend_below",
    "check_not_empty",
    "check_series",
    "draw_bands",
    "error_band",
    "label_ends",
    "line_style",
    "new_axes",
    "thin",
]

# Okabe and Ito's colours without the yellow, which is lost on white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a6a53")
INK, FAINT, RULE = "#1f2328", "#6b7075", "#dcdee1"
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.4, 1.2)), (0, (6, 1.4, 1.4, 1.4)))
_MOST_POINTS = 400
_POINTS_PER_LETTER, _LETTERS_OF_A_LINE = 5.2, 8  # of a legend, at 9 points


def check_series(name: str, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Two flat float arrays of one length, or an error that names the series."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if x.ndim != 1 or x.shape != y.shape or x.size == 0:
        raise InputError(
            f"{name}: x and y must be flat, of one length and not empty; got {x.shape}, {y.shape}"
        )
    return x, y


def check_not_empty(what: str, series: Mapping[str, Any]) -> None:
    if not series:
        raise InputError(f"{what} is empty: at least one named series is needed")


def thin(x: np.ndarray, y: np.ndarray, most: int = _MOST_POINTS) -> np.ndarray:
    """Indices of at most ``most`` points that keep the shape of a long curve.

    Points are taken at equal steps of arc length in a square that holds the curve, so steep and
    flat stretches both keep theirs. The ends are always kept; nothing is interpolated.
    """
    if x.size <= most:
        return np.arange(x.size)
    spans = [np.ptp(values[np.isfinite(values)]) or 1.0 for values in (x, y)]
    steps = np.abs(np.diff(x)) / spans[0] + np.abs(np.diff(y)) / spans[1]
    length = np.concatenate([[0.0], np.cumsum(np.nan_to_num(steps, posinf=0.0))])
    wanted = np.linspace(0.0, length[-1], most)
    picked = np.searchsorted(length, wanted)
    return np.unique(np.concatenate([[0], np.minimum(picked, x.size - 1), [x.size - 1]]))


def error_band(name: str, y: np.ndarray, error: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Lower and upper ends from distances (n,) or (2, n), or None."""
    if error is None:
        return None
    error = np.asarray(error, dtype=float)
    if error.ndim == 0:
        error = np.full(y.shape, float(error))
    if error.shape not in {y.shape, (2, *y.shape)}:
        raise InputError(
            f"{name}: the error must be ({y.size},) or (2, {y.size}); got {error.shape}"
        )
    below, above = (error, error) if error.ndim == 1 else error
    return y - below, y + above


def new_axes(
    xlabel: str, ylabel: str, title: str, size: tuple[float, float] = (6.4, 4.2), grid: str = "both"
) -> tuple[Any, Any]:
    """A new figure with one pair of axes in the style of the house."""
    figure = require_module("matplotlib.figure", "plots", "drawing").Figure(
        figsize=size, layout="constrained", facecolor="none"
    )
    axes = figure.add_subplot(facecolor="none")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)
        axes.spines[side].set_linewidth(0.8)
    axes.tick_params(which="both", color=FAINT, labelcolor=INK, labelsize=9, width=0.8)
    if grid:
        axes.grid(True, axis=grid, color=RULE, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.set_xlabel(xlabel, color=INK, fontsize=10)
    axes.set_ylabel(ylabel, color=INK, fontsize=10)
    if title:
        axes.set_title(title, color=INK, fontsize=11, loc="left", pad=10)
    return figure, axes


def line_style(index: int) -> dict[str, Any]:
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": _DASHES[(index // len(COLOURS) + index) % len(_DASHES)],
        "linewidth": 1.8,
        "solid_capstyle": "round",
    }


def add_legend(axes: Any, **where: Any) -> None:
    """A frameless legend whose words have the colours of their lines; none for one series."""
    handles, labels = axes.get_legend_handles_labels()
    if len(handles) < 2:
        return
    legend = axes.legend(
        handles, labels, frameon=False, fontsize=9, handlelength=2.6, labelcolor=INK, **where
    )
    legend.set_in_layout(True)


def add_legend_below(axes: Any, offset: float = 0.14) -> None:
    """The same under the axes, where many or long names cover no line; in two columns if they fit.

    The figure grows with the number of rows; ``offset`` is what the labels of the axis take, as a
    share of its height.
    """
    width, height = axes.figure.get_size_inches()
    letters = int((width - 1) * 72 / _POINTS_PER_LETTER) - _LETTERS_OF_A_LINE
    names = axes.get_legend_handles_labels()[1]
    longest = max(map(len, names), default=0)
    if longest > letters:
        for line in axes.get_lines():
            if line.get_label() in names and len(line.get_label()) > letters:
                line.set_label(f"{line.get_label()[: letters - 1]}…")
    n_columns = 2 if 2 * longest + _LETTERS_OF_A_LINE <= letters else 1
    n_rows = -(-len(names) // n_columns)
    axes.figure.set_size_inches(width, height + 0.2 * n_rows)
    add_legend(axes, loc="upper left", bbox_to_anchor=(0.0, -offset), ncols=n_columns)


def label_ends(axes: Any, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write each name at the right end of its line, moved apart where they would overlap.

    ``ends`` holds (y of the last point in data units, name, colour).
    """
    low, high = axes.get_ylim()
    heights = [(y - low) / ((high - low) or 1.0) for y, _, _ in ends]
    gap = 0.062
    order = np.argsort(heights, kind="stable")
    placed = np.asarray(heights)[order]
    for i in range(1, placed.size):
        placed[i] = max(placed[i], placed[i - 1] + gap)
    placed -= max(0.0, placed[-1] - 1.0) if placed.size else 0.0
    for i in range(placed.size - 2, -1, -1):
        placed[i] = min(placed[i], placed[i + 1] - gap)
    for height, index in zip(placed, order, strict=True):
        _, name, colour = ends[index]
        axes.annotate(
            name,
            (1.0, height),
            xycoords="axes fraction",
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=colour,
        )


def draw_bands(axes: Any, bands: Mapping[str, Any] | None, names: Sequence[str]) -> None:
    """Shade (x, low, high) behind the curve of the same name."""
    for name, (x, low, high) in (bands or {}).items():
        if name not in names:
            raise InputError(f"a band is named {name!r}, and no curve is; curves: {list(names)}")
        x, low = check_series(name, x, low)
        x, high = check_series(name, x, high)
        kept = thin(x, low)
        axes.fill_between(
            x[kept],
            low[kept],
            high[kept],
            linewidth=0,
            alpha=0.18,
            color=COLOURS[list(names).index(name) % len(COLOURS)],
        )
