"""Is it the same person? Likelihood ratios that carry over to your own domain."""

from mien._core.statistics import GroupStatistics
from mien.verification._weak_names import WeakNames
from mien.verification.calibrated import CalibratedVerifier
from mien.verification.joint_bayesian import JointBayesian
from mien.verification.open_set import OpenSetVerifier
from mien.verification.scoring import ScoreBlock
from mien.verification.transfer import TransferJointBayesian

__all__ = [
    "CalibratedVerifier",
    "GroupStatistics",
    "JointBayesian",
    "OpenSetVerifier",
    "ScoreBlock",
    "TransferJointBayesian",
    "WeakNames",
]
