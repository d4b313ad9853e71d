"""Plots of verification and identification: ROC, DET, Tippett, CMC, histograms of scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mien._core.validation import check_scores
from mien.reports._plot_general import plot_histograms
from mien.reports._plot_style import (
    COLOURS,
    FAINT,
    INK,
    add_legend,
    add_legend_below,
    check_not_empty,
    check_series,
    draw_bands,
    label_ends,
    line_style,
    new_axes,
    thin,
)

__all__ = ["plot_cmc", "plot_det", "plot_roc", "plot_score_histograms", "plot_tippett"]

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
        Title above the plot.

    Returns
    -------
    matplotlib.figure.Figure
        A false accept rate of zero cannot stand on a logarithmic axis; it is drawn at the left
        edge, one decade or less below the smallest that was measured.
    """
    check_not_empty("curves", curves)
    series = {name: check_series(name, curve[0], curve[1]) for name, curve in curves.items()}
    positive = np.concatenate([far[far > 0] for far, _ in series.values()])
    left = 10.0 ** np.floor(np.log10(positive.min())) if positive.size else 1e-4
    left = min(max(left, 1e-9), 0.1)
    figure, axes = new_axes("False accept rate", "Verification rate", title)
    axes.set_xscale("log")
    bands = {
        name: (np.maximum(np.asarray(x, dtype=float), left), low, high)
        for name, (x, low, high) in (bands or {}).items()
    }
    draw_bands(axes, bands, list(series))
    for index, (name, (far, rate)) in enumerate(series.items()):
        far = np.maximum(far, left)
        kept = thin(np.log10(far), rate)
        axes.plot(far[kept], rate[kept], label=name, **line_style(index))
    axes.set_xlim(left, 1.0)
    axes.set_ylim(0.0, 1.02)
    _say_perfect(axes, series, lambda far, rate: bool(np.any((far == 0) & (rate >= 1))))
    if len(series) > 3:
        add_legend_below(axes)
    else:
        add_legend(axes, loc="lower right")
    return figure


def _say_perfect(
    axes: Any,
    series: Mapping[str, tuple[np.ndarray, np.ndarray]],
    separates: Callable[[np.ndarray, np.ndarray], bool],
) -> None:
    """A curve without errors lies on the edge and cannot be seen: say so, over no other curve."""
    names = [name for name, (far, rate) in series.items() if separates(far, rate)]
    if not names:
        return
    words = "no errors: every genuine score is above every impostor score"
    if len(names) == len(series):
        axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", color=INK, wrap=True)
    else:
        for line in axes.get_lines():
            if line.get_label() in names:
                line.set_label(f"{line.get_label()} (no errors)")


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
        Title above the plot.

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
    check_not_empty("curves", curves)
    series = {name: check_series(name, curve[0], curve[1]) for name, curve in curves.items()}
    rates = np.concatenate([np.concatenate(pair) for pair in series.values()])
    inside = rates[(rates > 0) & (rates < 1)]
    best = min(float(np.maximum(far, frr).min()) for far, frr in series.values())
    low = float(np.clip(inside.min() / 1.5 if inside.size else 1e-3, max(1e-6, best / 2000), 0.02))
    # Beyond one and a half times the largest equal error rate there is little to see.
    worst = max(float(np.maximum(far, frr).min()) for far, frr in series.values())
    high = float(np.clip(1.5 * worst, 0.6, 0.995))

    def probit(values: Any) -> np.ndarray:
        # Zero stands on the edge; what is above the largest rate shown leaves the frame.
        return np.asarray(_normal_deviate(np.clip(np.asarray(values, dtype=float), low, 1 - 1e-7)))

    figure, axes = new_axes("False accept rate", "False reject rate", title, size=(5.4, 5.0))
    ticks = _spread_ticks([tick for tick in _PROBIT_TICKS if low <= tick <= high], low, high)
    labels = [f"{100 * tick:g} %" for tick in ticks]
    axes.set_xticks(probit(ticks), labels, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(probit(ticks), labels)
    ends = (float(_normal_deviate(low)), float(_normal_deviate(high)))
    # Not to the corner, where the legend stands.
    equal = (ends[0], min(ends[1], float(_normal_deviate(0.4))))
    axes.plot(equal, equal, color=FAINT, linewidth=0.9, linestyle=(0, (1, 2)))
    draw_bands(
        axes,
        {name: tuple(map(probit, band)) for name, band in (bands or {}).items()},
        list(series),
    )
    for index, (name, (far, frr)) in enumerate(series.items()):
        x, y = probit(far), probit(frr)
        kept = thin(np.minimum(x, ends[1]), np.minimum(y, ends[1]))
        axes.plot(x[kept], y[kept], label=name, **line_style(index))
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    axes.set_aspect("equal")
    _say_perfect(axes, series, lambda far, frr: bool(np.any((far == 0) & (frr == 0))))
    if len(series) > 3:  # they would cover the curves of the weaker systems
        add_legend_below(axes, 0.22)
    else:
        add_legend(axes, loc=1)
    return figure


def _normal_deviate(rates: Any) -> Any:
    """Where the standard normal distribution function takes these values."""
    from scipy.special import ndtri  # late: SciPy takes longer to load than a report to write

    return ndtri(rates)


def _spread_ticks(ticks: Sequence[float], low: float, high: float) -> list[float]:
    """Leave out the ticks whose words would touch those of the one before."""
    span = float(_normal_deviate(high) - _normal_deviate(low))
    kept: list[float] = []
    for tick in ticks:
        if not kept or float(_normal_deviate(tick) - _normal_deviate(kept[-1])) >= 0.06 * span:
            kept.append(tick)
    return kept


def plot_tippett(scores: Mapping[str, Any], *, title: str = "", natural_log: bool = True) -> Any:
    """Draw how many comparisons have a log-likelihood ratio above each value.

    Parameters
    ----------
    scores : mapping of str to (genuine, impostor)
        Log-likelihood ratios of pairs of the same person and of different people.
    title : str
        Title above the plot.
    natural_log : bool
        Whether the ratios are natural logarithms (the rule in this library); the axis is decimal.

    Returns
    -------
    matplotlib.figure.Figure
        Two lines a system: the share of genuine and of impostor pairs above the value. Right of
        zero the impostor line is the share of misleading evidence.
    """
    check_not_empty("scores", scores)
    figure, axes = new_axes("log₁₀ likelihood ratio", "Share of pairs above", title)
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
        kept = thin(np.clip(values, -reach, reach), above)
        alone = len(scores) == 1
        style = line_style(index if alone else index // 2)
        style["linestyle"] = "-" if kind == "same person" else (0, (4, 1.6))
        label = kind if alone else f"{name}, {kind}"
        axes.plot(np.clip(values, -reach, reach)[kept], above[kept], label=label, **style)
    axes.axvline(0.0, color=FAINT, linewidth=0.9, linestyle=(0, (1, 2)))
    axes.set_xlim(-reach, reach)
    axes.set_ylim(0.0, 1.02)
    if len(scores) > 1:
        add_legend_below(axes)
    else:
        add_legend(axes, loc="lower left")
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
        Title above the plot.
    """
    check_not_empty("curves", curves)
    figure, axes = new_axes("Rank", "Identification rate", title)
    rates = {name: np.asarray(values, dtype=float).ravel() for name, values in curves.items()}
    draw_bands(axes, bands, list(rates))
    ends = []
    for index, (name, values) in enumerate(rates.items()):
        ranks, values = check_series(name, np.arange(1, values.size + 1), values)
        kept = thin(ranks, values)
        marker = {"marker": "o", "markersize": 3.5} if values.size <= 30 else {}
        axes.plot(ranks[kept], values[kept], label=name, **line_style(index), **marker)
        ends.append((float(values[-1]), name, COLOURS[index % len(COLOURS)]))
    longest = max(values.size for values in rates.values())
    axes.set_xlim(0.5 if longest <= 30 else 1, longest + (0.5 if longest <= 30 else 0))
    lowest = min(float(values.min()) for values in rates.values())
    axes.set_ylim(max(0.0, np.floor(lowest * 10 - 0.5) / 10), 1.02)
    axes.xaxis.get_major_locator().set_params(integer=True)
    label_ends(axes, ends)
    return figure
