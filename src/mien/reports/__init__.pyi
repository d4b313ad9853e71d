from ._plot_general import plot_bars, plot_curves, plot_histograms, plot_scatter
from ._plot_recognition import (
    plot_cmc,
    plot_det,
    plot_roc,
    plot_score_histograms,
    plot_tippett,
)
from ._plot_text import figure_data, figure_to_svg
from ._report import Report
from ._score_files import ScoreTable, read_scores
from ._scores import evaluate_scores, report_scores

__all__ = [
    "Report",
    "ScoreTable",
    "evaluate_scores",
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
    "read_scores",
    "report_scores",
]
