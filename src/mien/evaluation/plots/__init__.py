"""Curves, histograms and bars as figures in one style; the only home of matplotlib.

Every function takes plain arrays and returns a ``matplotlib.figure.Figure``; nothing is shown and
no global state is touched. The colours can be told apart by colour-blind readers and the lines
also differ by their dashes. In a :class:`~mien.evaluation.report.Report` the figures follow the
reader's light or dark mode.
"""

from __future__ import annotations

from mien.evaluation.plots.general import plot_bars, plot_curves, plot_histograms, plot_scatter
from mien.evaluation.plots.recognition import (
    plot_cmc,
    plot_det,
    plot_roc,
    plot_score_histograms,
    plot_tippett,
)
from mien.evaluation.plots.text import figure_data, figure_to_svg

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
