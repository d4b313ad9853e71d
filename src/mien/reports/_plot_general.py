"""Curves, points, bars and histograms of anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mien._core.validation import check_scores
from mien.errors import InputError
from mien.reports._plot_style import (
    COLOURS,
    INK,
    add_legend,
    check_not_empty,
    check_series,
    error_band,
    label_ends,
    line_style,
    new_axes,
    thin,
)

__all__ = ["plot_bars", "plot_curves", "plot_histograms", "plot_scatter"]

_MOST_BARS_AS_ERROR = 24
_MOST_TICKS = 8


def plot_curves(
    series: Mapping[str, Any],
    xlabel: str = "",
    ylabel: str = "",
    title: str = "",
    logx: bool = False,
) -> Any:
    """Draw named curves, with error bars on short ones and bands on long ones.

    Parameters
    ----------
    series : mapping of str to (x, y) or (x, y, error)
        ``error`` is None, one number, (n,) for the same distance below and above, or (2, n) for
        distances below and above, as in matplotlib.
    xlabel, ylabel, title : str
        Words of the axes.
    logx : bool
        Whether x is logarithmic.

    Returns
    -------
    matplotlib.figure.Figure
        Each name is written at the end of its line.
    """
    check_not_empty("series", series)
    figure, axes = new_axes(xlabel, ylabel, title)
    if logx:
        axes.set_xscale("log")
        spans = [float(np.max(e[0]) / max(np.min(e[0]), 1e-300)) for e in series.values()]
        if max(spans) < 1e4:
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        places = np.unique(np.concatenate([np.asarray(e[0], float) for e in series.values()]))
        if len(places) <= _MOST_TICKS:  # over less than two decades matplotlib labels minor ticks
            axes.set_xticks(places)
            axes.minorticks_off()
    ends = []
    for index, (name, entry) in enumerate(series.items()):
        x, y = check_series(name, entry[0], entry[1])
        if logx and np.any(x <= 0):
            raise InputError(f"{name}: a logarithmic axis needs x above zero; got {x.min():g}")
        band = error_band(name, y, entry[2] if len(entry) > 2 else None)
        kept = thin(np.log10(x) if logx else x, y)
        style = line_style(index)
        short = x.size <= _MOST_BARS_AS_ERROR
        if short:
            style |= {"marker": "o", "markersize": 4}
        axes.plot(x[kept], y[kept], label=name, **style)
        if band is not None and short:
            axes.errorbar(
                x,
                y,
                yerr=np.abs(np.stack([y - band[0], band[1] - y])),
                fmt="none",
                ecolor=style["color"],
                elinewidth=1.1,
                capsize=2.5,
                label="_error",
            )
        elif band is not None:
            low, high = band
            axes.fill_between(
                x[kept], low[kept], high[kept], color=style["color"], alpha=0.18, linewidth=0
            )
        ends.append((float(y[np.argmax(x)]), name, style["color"]))
    if len(series) > 1:
        label_ends(axes, ends)
    return figure


def plot_scatter(
    points: Mapping[str, Any], xlabel: str = "", ylabel: str = "", title: str = ""
) -> Any:
    """Draw named clouds of points, such as a projection of pictures to the plane.

    Parameters
    ----------
    points : mapping of str to (x, y)
        Arrays (n,) each. Clouds of many points are drawn as one raster, to keep the file small.
    xlabel, ylabel, title : str
        Words of the axes.
    """
    check_not_empty("points", points)
    figure, axes = new_axes(xlabel, ylabel, title)
    markers = "os^Dv<>P"
    many = sum(np.asarray(pair[0]).size for pair in points.values()) > 1500
    for index, (name, pair) in enumerate(points.items()):
        x, y = check_series(name, pair[0], pair[1])
        axes.scatter(
            x,
            y,
            s=9 if many else 20,
            alpha=0.5 if many else 0.8,
            label=name,
            linewidths=0,
            color=COLOURS[index % len(COLOURS)],
            marker=markers[index % len(markers)],
            rasterized=many,
        )
    add_legend(axes, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def plot_bars(
    values: Mapping[str, Any], xlabel: str = "", title: str = "", *, percent: bool = False
) -> Any:
    """Draw one bar a name with its value beside it, the first name on top.

    Parameters
    ----------
    values : mapping of str to float or (value, error)
        ``error`` is one distance, or (below, above).
    xlabel, title : str
        Words of the axes.
    percent : bool
        Whether the values are shares, to be written as per cent.
    """
    check_not_empty("values", values)
    height = 0.9 + 0.36 * len(values)
    figure, axes = new_axes(xlabel, "", title, size=(6.4, max(height, 1.6)), grid="x")
    numbers, errors = [], []
    for name, entry in values.items():
        value, error = entry if isinstance(entry, tuple | list) else (entry, None)
        numbers.append(float(value))
        band = error_band(name, np.asarray([float(value)]), _as_column(error))
        errors.append((0.0, 0.0) if band is None else (value - band[0][0], band[1][0] - value))
    places = np.arange(len(numbers))
    axes.barh(places, numbers, height=0.62, color=COLOURS[0])
    distances = np.abs(np.asarray(errors, dtype=float)).T
    if distances.any():
        axes.errorbar(
            numbers, places, xerr=distances, fmt="none", ecolor=INK, elinewidth=1.1, capsize=3
        )
    for place, number, above in zip(places, numbers, distances[1], strict=True):
        words = f"{100 * number:.1f} %" if percent else f"{number:.4g}"
        axes.annotate(
            words,
            (number + above, place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=INK,
        )
    axes.set_yticks(places, list(values))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(numbers) - 0.4, -0.6)
    axes.margins(x=0.14)
    if percent:
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    return figure


def _as_column(error: Any) -> Any:
    """(below, above) as (2, 1); anything else as it is."""
    if error is None or np.ndim(error) == 0:
        return error
    return np.reshape(np.asarray(error, dtype=float), (2, 1))


def plot_histograms(
    samples: Mapping[str, Any],
    xlabel: str = "",
    title: str = "",
    *,
    ylabel: str = "Density",
    bins: int | None = None,
    normal: bool = False,
) -> Any:
    """Draw the densities of named samples over the same bins.

    Parameters
    ----------
    samples : mapping of str to array-like (n,)
        Numbers; infinite ones are left out.
    xlabel, title, ylabel : str
        Words of the axes.
    bins : int, optional
        How many, between the 0.05 % and 99.95 % quantiles of all samples; what lies outside is
        counted in the first and the last. If None, between 12 and 60, more for larger samples.
    normal : bool
        Also draw the normal density with the mean and the standard deviation of each sample.
    """
    check_not_empty("samples", samples)
    arrays = {name: check_scores(name, values) for name, values in samples.items()}
    arrays = {name: values[np.isfinite(values)] for name, values in arrays.items()}
    low = min((float(np.quantile(v, 0.0005)) for v in arrays.values() if v.size), default=0.0)
    high = max((float(np.quantile(v, 0.9995)) for v in arrays.values() if v.size), default=1.0)
    if not high > low:
        low, high = low - 0.5, high + 0.5
    if bins is None:
        smallest = min(values.size for values in arrays.values())
        bins = int(np.clip(2 * np.cbrt(smallest) * 1.5, 12, 60))
    edges = np.linspace(low, high, bins + 1)
    figure, axes = new_axes(xlabel, ylabel, title, grid="y")
    for index, (name, values) in enumerate(arrays.items()):
        density = np.histogram(np.clip(values, low, high), bins=edges)[0] / max(values.size, 1)
        density = density / np.diff(edges)
        # Different people in vermilion, the same in blue: as in the other plots of pairs.
        colour = COLOURS[{"different people": 1, "same person": 0}.get(name, index) % len(COLOURS)]
        axes.stairs(density, edges, fill=True, color=colour, alpha=0.22)
        axes.stairs(density, edges, color=colour, linewidth=1.5, label=name)
        if normal and values.size > 1 and values.std() > 0:
            x = np.linspace(low, high, 201)
            z = (x - values.mean()) / values.std()
            y = np.exp(-0.5 * z**2) / (values.std() * np.sqrt(2 * np.pi))
            axes.plot(x, y, "--", color=colour, linewidth=1.2, label=f"{name}, normal")
    axes.set_ylim(bottom=0.0)
    add_legend(axes, loc="best")
    return figure
