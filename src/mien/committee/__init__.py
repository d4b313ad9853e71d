"""Many small discriminant classifiers, fused, for more pixels than pictures."""

from mien.committee.committee import Committee
from mien.committee.fusion import FUSION_RULES, RunningFusion, agreement, decide, fuse
from mien.committee.random_sampling_lda import RandomSamplingLDA
from mien.committee.report import CommitteeReport, committee_report, predicted_error

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
