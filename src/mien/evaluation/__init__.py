"""Similarities in, numbers with intervals out: metrics, curves, reports."""

from mien.evaluation.bootstrap import bootstrap_verification
from mien.evaluation.calibration import LogisticCalibration, cllr, min_cllr
from mien.evaluation.curves import (
    Det,
    Roc,
    area_under_roc,
    det,
    equal_error_rate,
    roc,
    threshold_at_far,
    verification_rate,
)
from mien.evaluation.folds import FoldAccuracy, best_threshold, fold_accuracy, fold_roc
from mien.evaluation.intervals import (
    Interval,
    bootstrap_mean_interval,
    clopper_pearson_interval,
    draw_people,
    wilson_interval,
)
from mien.evaluation.verification import evaluate_verification

__all__ = [
    "Det",
    "FoldAccuracy",
    "Interval",
    "LogisticCalibration",
    "Roc",
    "area_under_roc",
    "best_threshold",
    "bootstrap_mean_interval",
    "bootstrap_verification",
    "cllr",
    "clopper_pearson_interval",
    "det",
    "draw_people",
    "equal_error_rate",
    "evaluate_verification",
    "fold_accuracy",
    "fold_roc",
    "min_cllr",
    "roc",
    "threshold_at_far",
    "verification_rate",
    "wilson_interval",
]
