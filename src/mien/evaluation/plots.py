"""Curves, histograms and bars as figures in one style; the only home of matplotlib.

Every function takes plain arrays and returns a ``matplotlib.figure.Figure``; nothing is shown and
no global state is touched. The colours can be told apart by colour-blind readers and the lines
also differ by their dashes. In a :class:`~mien.evaluation.report.Report` the figures follow the
reader's light or dark mode.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

from mien._core.validation import check_scores, require
from mien.errors import InputError

__all__ = [
    "figure_data",
    "figure_to_svg",
    "plot_bars",
    "plot_cmc",
    "plot_curves",
    "plot_det",
    "plot_histograms",
    "plot_roc",
    "plot_scatter",
    "plot_score_histograms",
    "plot_tippett",
]

# Okabe and Ito's colours without the yellow, which is lost on white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a6a53")
INK, FAINT, RULE = "#1f2328", "#6b7075", "#dcdee1"
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.4, 1.2)), (0, (6, 1.4, 1.4, 1.4)))
_MOST_POINTS = 400
_MOST_BARS_AS_ERROR = 24
_PROBIT_TICKS = (
    1e-6,
    1e-5,
    0.0001,
    0.001,
    0.005,
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.4,
    0.6,
    0.8,
    0.9,
    0.99,
)


# ---------------------------------------------------------------- arrays


def _check_series(name: str, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Two flat float arrays of one length, or an error that names the series."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if x.ndim != 1 or x.shape != y.shape or x.size == 0:
        raise InputError(
            f"{name}: x and y must be flat, of one length and not empty; got {x.shape}, {y.shape}"
        )
    return x, y


def _check_not_empty(what: str, series: Mapping[str, Any]) -> None:
    if not series:
        raise InputError(f"{what} is empty: at least one named series is needed")


def _thin(x: np.ndarray, y: np.ndarray, most: int = _MOST_POINTS) -> np.ndarray:
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


def _error_band(name: str, y: np.ndarray, error: Any) -> tuple[np.ndarray, np.ndarray] | None:
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


# ---------------------------------------------------------------- the style


def _axes(
    xlabel: str, ylabel: str, title: str, size: tuple[float, float] = (6.4, 4.2), grid: str = "both"
) -> tuple[Any, Any]:
    """A new figure with one pair of axes in the style of the house."""
    figure = require("matplotlib.figure", "plots", "drawing").Figure(
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


def _line_style(index: int) -> dict[str, Any]:
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": _DASHES[(index // len(COLOURS) + index) % len(_DASHES)],
        "linewidth": 1.8,
        "solid_capstyle": "round",
    }


def _legend(axes: Any, **where: Any) -> None:
    """A frameless legend whose words have the colours of their lines; none for one series."""
    handles, labels = axes.get_legend_handles_labels()
    if len(handles) < 2:
        return
    legend = axes.legend(
        handles, labels, frameon=False, fontsize=9, handlelength=2.6, labelcolor=INK, **where
    )
    legend.set_in_layout(True)


def _label_ends(axes: Any, ends: Sequence[tuple[float, str, str]]) -> None:
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


def _draw_bands(axes: Any, bands: Mapping[str, Any] | None, names: Sequence[str]) -> None:
    """Shade (x, low, high) behind the curve of the same name."""
    for name, (x, low, high) in (bands or {}).items():
        if name not in names:
            raise InputError(f"a band is named {name!r}, and no curve is; curves: {list(names)}")
        x, low = _check_series(name, x, low)
        x, high = _check_series(name, x, high)
        kept = _thin(x, low)
        axes.fill_between(
            x[kept],
            low[kept],
            high[kept],
            linewidth=0,
            alpha=0.18,
            color=COLOURS[list(names).index(name) % len(COLOURS)],
        )


# ---------------------------------------------------------------- verification


def plot_roc(
    curves: Mapping[str, Any],
    *,
    bands: Mapping[str, Any] | None = None,
    title: str = "",
) -> Any:
    """Draw verification rate over false accept rate, which is logarithmic.

    Parameters
    ----------
    curves : mapping of str to (far, rate, ...)
        Arrays (n,) each, as :func:`mien.evaluation.roc` gives them; what follows the first two
        (thresholds) is not read.
    bands : mapping of str to (far, low, high), optional
        Intervals, shaded behind the curve of the same name.
    title : str
        What stands above.

    Returns
    -------
    matplotlib.figure.Figure
        A false accept rate of zero cannot stand on a logarithmic axis; it is drawn at the left
        edge, one decade or less below the smallest that was measured.
    """
    _check_not_empty("curves", curves)
    series = {name: _check_series(name, curve[0], curve[1]) for name, curve in curves.items()}
    positive = np.concatenate([far[far > 0] for far, _ in series.values()])
    left = 10.0 ** np.floor(np.log10(positive.min())) if positive.size else 1e-4
    left = min(max(left, 1e-9), 0.1)
    figure, axes = _axes("False accept rate", "Verification rate", title)
    axes.set_xscale("log")
    bands = {
        name: (np.maximum(np.asarray(x, dtype=float), left), low, high)
        for name, (x, low, high) in (bands or {}).items()
    }
    _draw_bands(axes, bands, list(series))
    for index, (name, (far, rate)) in enumerate(series.items()):
        far = np.maximum(far, left)
        kept = _thin(np.log10(far), rate)
        axes.plot(far[kept], rate[kept], label=name, **_line_style(index))
    axes.set_xlim(left, 1.0)
    axes.set_ylim(0.0, 1.02)
    _legend(axes, loc="lower right")
    return figure


def plot_det(
    curves: Mapping[str, Any],
    *,
    bands: Mapping[str, Any] | None = None,
    title: str = "",
) -> Any:
    """Draw false reject rate over false accept rate, both on the scale of normal deviates.

    Parameters
    ----------
    curves : mapping of str to (far, frr, ...)
        Arrays (n,) each, as :func:`mien.evaluation.det` gives them.
    bands : mapping of str to (far, low, high), optional
        Intervals of the false reject rate.
    title : str
        What stands above.

    Returns
    -------
    matplotlib.figure.Figure
        The lines are in normal deviates (probits). A rate of 0, which has none, is drawn at the
        edge; rates much above the equal error rate lie outside.

    Notes
    -----
    Gaussian scores of equal variance give straight lines of slope -1 here. The dotted diagonal is
    where both errors are equal.
    """
    _check_not_empty("curves", curves)
    series = {name: _check_series(name, curve[0], curve[1]) for name, curve in curves.items()}
    rates = np.concatenate([np.concatenate(pair) for pair in series.values()])
    inside = rates[(rates > 0) & (rates < 1)]
    best = min(float(np.maximum(far, frr).min()) for far, frr in series.values())
    low = float(np.clip(inside.min() / 1.5 if inside.size else 1e-3, max(1e-6, best / 2000), 0.02))
    # Beyond one and a half times the largest equal error rate there is little to see.
    worst = max(float(np.maximum(far, frr).min()) for far, frr in series.values())
    high = float(np.clip(1.5 * worst, 0.6, 0.995))

    def probit(values: Any) -> np.ndarray:
        # Zero stands on the edge; what is above the largest rate shown leaves the frame.
        return np.asarray(ndtri(np.clip(np.asarray(values, dtype=float), low, 1 - 1e-7)))

    many = len(series) > 3
    size = (7.2, 5.0) if many else (5.4, 5.0)
    figure, axes = _axes("False accept rate", "False reject rate", title, size=size)
    ticks = _spread_ticks([tick for tick in _PROBIT_TICKS if low <= tick <= high], low, high)
    labels = [f"{100 * tick:g} %" for tick in ticks]
    axes.set_xticks(probit(ticks), labels, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(probit(ticks), labels)
    ends = (float(ndtri(low)), float(ndtri(high)))
    # Not to the corner, where the legend stands.
    equal = (ends[0], min(ends[1], float(ndtri(0.4))))
    axes.plot(equal, equal, color=FAINT, linewidth=0.9, linestyle=(0, (1, 2)))
    _draw_bands(
        axes,
        {name: tuple(map(probit, band)) for name, band in (bands or {}).items()},
        list(series),
    )
    for index, (name, (far, frr)) in enumerate(series.items()):
        x, y = probit(far), probit(frr)
        kept = _thin(np.minimum(x, ends[1]), np.minimum(y, ends[1]))
        axes.plot(x[kept], y[kept], label=name, **_line_style(index))
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    axes.set_aspect("equal")
    # Many names would cover the curves of the weaker systems.
    _legend(axes, **({"loc": "center left", "bbox_to_anchor": (1, 0.5)} if many else {"loc": 1}))
    return figure


def _spread_ticks(ticks: Sequence[float], low: float, high: float) -> list[float]:
    """Leave out the ticks whose words would touch those of the one before."""
    span = float(ndtri(high) - ndtri(low))
    kept: list[float] = []
    for tick in ticks:
        if not kept or float(ndtri(tick) - ndtri(kept[-1])) >= 0.06 * span:
            kept.append(tick)
    return kept


def plot_tippett(scores: Mapping[str, Any], *, title: str = "", natural_log: bool = True) -> Any:
    """Draw how many comparisons have a log-likelihood ratio above each value.

    Parameters
    ----------
    scores : mapping of str to (genuine, impostor)
        Log-likelihood ratios of pairs of the same person and of different people.
    title : str
        What stands above.
    natural_log : bool
        Whether the ratios are natural logarithms (the rule in this library); the axis is decimal.

    Returns
    -------
    matplotlib.figure.Figure
        Two lines a system: the share of genuine and of impostor pairs above the value. Right of
        zero the impostor line is the share of misleading evidence.
    """
    _check_not_empty("scores", scores)
    figure, axes = _axes("log₁₀ likelihood ratio", "Share of pairs above", title)
    scale = np.log(10.0) if natural_log else 1.0
    kinds = ("same person", "different people")
    ratios = {
        (name, kind): np.sort(check_scores(f"{name} ({kind})", values)) / scale
        for name, pair in scores.items()
        for kind, values in zip(kinds, pair, strict=True)
    }
    finite = [np.abs(values[np.isfinite(values)]) for values in ratios.values()]
    reach = max((float(np.quantile(size, 0.998)) for size in finite if size.size), default=1.0)
    reach = 1.03 * min(max(reach, 1.0), 30.0)
    for index, ((name, kind), values) in enumerate(ratios.items()):
        above = 1.0 - np.arange(1, values.size + 1) / values.size
        # From the left edge, where all pairs are above, to the right one, where none is.
        values = np.concatenate([[min(-reach, values[0]), values[0]], values])
        values = np.concatenate([values, [max(reach, values[-1])]])
        above = np.concatenate([[1.0, 1.0], above, [0.0]])
        kept = _thin(np.clip(values, -reach, reach), above)
        alone = len(scores) == 1
        style = _line_style(index if alone else index // 2)
        style["linestyle"] = "-" if kind == "same person" else (0, (4, 1.6))
        label = kind if alone else f"{name}, {kind}"
        axes.plot(np.clip(values, -reach, reach)[kept], above[kept], label=label, **style)
    axes.axvline(0.0, color=FAINT, linewidth=0.9, linestyle=(0, (1, 2)))
    axes.set_xlim(-reach, reach)
    axes.set_ylim(0.0, 1.02)
    if len(scores) > 2:
        _legend(axes, loc="center left", bbox_to_anchor=(1.0, 0.5))
    else:
        _legend(axes, loc="lower left")
    return figure


def plot_score_histograms(
    genuine: Any,
    impostor: Any,
    *,
    thresholds: Mapping[str, float] | None = None,
    xlabel: str = "Score",
    title: str = "",
) -> Any:
    """Draw where the scores of genuine and of impostor pairs lie, with thresholds if wanted.

    Parameters
    ----------
    genuine, impostor : array-like (n,), (m,)
        Scores.
    thresholds : mapping of str to float, optional
        Drawn as vertical lines with their names.
    xlabel, title : str
        Words of the axes.
    """
    figure = plot_histograms(
        {"different people": impostor, "same person": genuine},
        xlabel=xlabel,
        title=title,
        ylabel="Density",
    )
    axes = figure.axes[0]
    for index, (name, value) in enumerate((thresholds or {}).items()):
        axes.axvline(value, color=INK, linewidth=1.0, linestyle=(0, (1, 1.5)), label="_threshold")
        axes.annotate(
            name,
            (value, 1.0 - 0.07 * index),
            xycoords=("data", "axes fraction"),
            xytext=(4, -2),
            textcoords="offset points",
            va="top",
            fontsize=8.5,
            color=INK,
        )
    return figure


def plot_cmc(
    curves: Mapping[str, Any],
    *,
    bands: Mapping[str, Any] | None = None,
    title: str = "",
) -> Any:
    """Draw the identification rate within the first k places.

    Parameters
    ----------
    curves : mapping of str to array-like (k,)
        Entry 0 is rank 1, as :func:`mien.evaluation.cmc` gives them.
    bands : mapping of str to (ranks, low, high), optional
        Intervals.
    title : str
        What stands above.
    """
    _check_not_empty("curves", curves)
    figure, axes = _axes("Rank", "Identification rate", title)
    rates = {name: np.asarray(values, dtype=float).ravel() for name, values in curves.items()}
    _draw_bands(axes, bands, list(rates))
    ends = []
    for index, (name, values) in enumerate(rates.items()):
        ranks, values = _check_series(name, np.arange(1, values.size + 1), values)
        kept = _thin(ranks, values)
        marker = {"marker": "o", "markersize": 3.5} if values.size <= 30 else {}
        axes.plot(ranks[kept], values[kept], label=name, **_line_style(index), **marker)
        ends.append((float(values[-1]), name, COLOURS[index % len(COLOURS)]))
    longest = max(values.size for values in rates.values())
    axes.set_xlim(0.5 if longest <= 30 else 1, longest + (0.5 if longest <= 30 else 0))
    lowest = min(float(values.min()) for values in rates.values())
    axes.set_ylim(max(0.0, np.floor(lowest * 10 - 0.5) / 10), 1.02)
    axes.xaxis.get_major_locator().set_params(integer=True)
    _label_ends(axes, ends)
    return figure


# ---------------------------------------------------------------- anything


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
        Each name stands at the end of its line.
    """
    _check_not_empty("series", series)
    figure, axes = _axes(xlabel, ylabel, title)
    if logx:
        axes.set_xscale("log")
        spans = [float(np.max(e[0]) / max(np.min(e[0]), 1e-300)) for e in series.values()]
        if max(spans) < 1e4:
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ends = []
    for index, (name, entry) in enumerate(series.items()):
        x, y = _check_series(name, entry[0], entry[1])
        if logx and np.any(x <= 0):
            raise InputError(f"{name}: a logarithmic axis needs x above zero; got {x.min():g}")
        band = _error_band(name, y, entry[2] if len(entry) > 2 else None)
        kept = _thin(np.log10(x) if logx else x, y)
        style = _line_style(index)
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
        _label_ends(axes, ends)
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
    _check_not_empty("points", points)
    figure, axes = _axes(xlabel, ylabel, title)
    markers = "os^Dv<>P"
    many = sum(np.asarray(pair[0]).size for pair in points.values()) > 1500
    for index, (name, pair) in enumerate(points.items()):
        x, y = _check_series(name, pair[0], pair[1])
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
    _legend(axes, loc="center left", bbox_to_anchor=(1.0, 0.5))
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
    _check_not_empty("values", values)
    height = 0.9 + 0.36 * len(values)
    figure, axes = _axes(xlabel, "", title, size=(6.4, max(height, 1.6)), grid="x")
    numbers, errors = [], []
    for name, entry in values.items():
        value, error = entry if isinstance(entry, tuple | list) else (entry, None)
        numbers.append(float(value))
        band = _error_band(name, np.asarray([float(value)]), _as_column(error))
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
    """
    _check_not_empty("samples", samples)
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
    figure, axes = _axes(xlabel, ylabel, title, grid="y")
    for index, (name, values) in enumerate(arrays.items()):
        density = np.histogram(np.clip(values, low, high), bins=edges)[0] / max(values.size, 1)
        density = density / np.diff(edges)
        # Different people in vermilion, the same in blue: as in the other plots of pairs.
        colour = COLOURS[{"different people": 1, "same person": 0}.get(name, index) % len(COLOURS)]
        axes.stairs(density, edges, fill=True, color=colour, alpha=0.22)
        axes.stairs(density, edges, color=colour, linewidth=1.5, label=name)
    axes.set_ylim(bottom=0.0)
    _legend(axes, loc="best")
    return figure


# ---------------------------------------------------------------- figures as text


def figure_to_svg(figure: Any, name: str = "figure") -> str:
    """Write a figure as an ``<svg>`` element to stand inside a page.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Of this module, or any other.
    name : str
        Goes before every id, so that several figures can share a page.

    Returns
    -------
    str
        Without header, metadata or addresses of any kind. The colours of this module are CSS
        variables (``--ink``, ``--faint``, ``--rule``, ``--c0`` …) with themselves as fallback, so
        that a page can set them for its dark mode.
    """
    matplotlib = require("matplotlib", "plots", "drawing")
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
    return re.sub(r"\n\s*", "\n", svg).strip()


def figure_data(figure: Any) -> list[dict[str, Any]]:
    """The named lines and histograms that a figure shows, for programs.

    Returns
    -------
    list of dict
        ``name``, ``xlabel``, ``ylabel``, ``x`` and ``y`` each; a histogram has one x more than y.
    """
    found = []
    for axes in figure.axes:
        words = {"xlabel": axes.get_xlabel(), "ylabel": axes.get_ylabel()}
        shown = [(line.get_label(), *line.get_data()) for line in axes.get_lines()]
        for patch in axes.patches:
            if hasattr(patch, "get_data"):
                heights, edges, _ = patch.get_data()
                shown.append((patch.get_label(), edges, heights))
        for name, x, y in shown:
            if name and not name.startswith("_"):
                x, y = np.asarray(x, dtype=float).tolist(), np.asarray(y, dtype=float).tolist()
                found.append({"name": name, **words, "x": x, "y": y})
    return found
