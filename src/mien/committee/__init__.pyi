from ._committee import Committee
from ._fusion import FUSION_RULES, RunningFusion, agreement, decide, fuse
from ._random_sampling_lda import RandomSamplingLDA
from ._report import CommitteeReport, committee_report, predicted_error

__all__ = [
    "FUSION_RULES",
    "Committee",
    "CommitteeReport",
    "RandomSamplingLDA",
    "RunningFusion",
    "agreement",
    "committee_report",
    "decide",
    "fuse",
    "predicted_error",
]
