from ._bootstrap import bootstrap_verification
from ._calibration import LogisticCalibration, cllr, min_cllr
from ._clustering import (
    BCubed,
    PurityAccuracy,
    b_cubed,
    evaluate_clustering,
    majority_purity,
    pairwise_purity_accuracy,
)
from ._completion import evaluate_completion, psnr, ssim
from ._curves import (
    Det,
    Roc,
    area_under_roc,
    det,
    equal_error_rate,
    roc,
    threshold_at_far,
    verification_rate,
)
from ._folds import FoldAccuracy, best_threshold, fold_accuracy, fold_roc
from ._identification import (
    OpenSet,
    cmc,
    evaluate_identification,
    mate_ranks,
    open_set,
    rank_k_rate,
)
from ._intervals import (
    Interval,
    bootstrap_mean_interval,
    clopper_pearson_interval,
    draw_people,
    wilson_interval,
)
from ._retrieval import average_precision, correct_in_top, evaluate_retrieval
from ._scorers import PairScorer, PersonKFold
from ._streaming import (
    ScoreHistogram,
    count_pairs,
    evaluate_all_pairs,
    iter_score_blocks,
    summarise_histogram,
)
from ._verification import evaluate_verification

__all__ = [
    "BCubed",
    "Det",
    "FoldAccuracy",
    "Interval",
    "LogisticCalibration",
    "OpenSet",
    "PairScorer",
    "PersonKFold",
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
    "count_pairs",
    "det",
    "draw_people",
    "equal_error_rate",
    "evaluate_all_pairs",
    "evaluate_clustering",
    "evaluate_completion",
    "evaluate_identification",
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
    "summarise_histogram",
    "threshold_at_far",
    "verification_rate",
    "wilson_interval",
]
