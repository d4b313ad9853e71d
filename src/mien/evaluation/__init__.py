"""Similarities in, numbers with intervals out: metrics, curves, reports."""

from mien.evaluation.bootstrap import bootstrap_verification
from mien.evaluation.calibration import LogisticCalibration, cllr, min_cllr
from mien.evaluation.clustering import (
    BCubed,
    PurityAccuracy,
    b_cubed,
    evaluate_clustering,
    majority_purity,
    pairwise_purity_accuracy,
)
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
from mien.evaluation.identification import (
    OpenSet,
    cmc,
    evaluate_identification,
    mate_ranks,
    open_set,
    rank_k_rate,
)
from mien.evaluation.intervals import (
    Interval,
    bootstrap_mean_interval,
    clopper_pearson_interval,
    draw_people,
    wilson_interval,
)
from mien.evaluation.reconstruction import evaluate_reconstruction, psnr, ssim
from mien.evaluation.retrieval import average_precision, correct_in_top, evaluate_retrieval
from mien.evaluation.streaming import ScoreHistogram, evaluate_all_pairs, iter_score_blocks
from mien.evaluation.verification import evaluate_verification

__all__ = [
    "BCubed",
    "Det",
    "FoldAccuracy",
    "Interval",
    "LogisticCalibration",
    "OpenSet",
    "PurityAccuracy",
    "Roc",
    "ScoreHistogram",
    "area_under_roc",
    "average_precision",
    "b_cubed",
    "best_threshold",
    "bootstrap_mean_interval",
    "bootstrap_verification",
    "cllr",
    "clopper_pearson_interval",
    "cmc",
    "correct_in_top",
    "det",
    "draw_people",
    "equal_error_rate",
    "evaluate_all_pairs",
    "evaluate_clustering",
    "evaluate_identification",
    "evaluate_reconstruction",
    "evaluate_retrieval",
    "evaluate_verification",
    "fold_accuracy",
    "fold_roc",
    "iter_score_blocks",
    "majority_purity",
    "mate_ranks",
    "min_cllr",
    "open_set",
    "pairwise_purity_accuracy",
    "psnr",
    "rank_k_rate",
    "roc",
    "ssim",
    "threshold_at_far",
    "verification_rate",
    "wilson_interval",
]
