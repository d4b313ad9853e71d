"""Many small discriminant classifiers, fused, for more pixels than pictures."""

from mien.committee.fusion import agreement, decide, fuse
from mien.committee.random_sampling_lda import RandomSamplingLDA

__all__ = ["RandomSamplingLDA", "agreement", "decide", "fuse"]
