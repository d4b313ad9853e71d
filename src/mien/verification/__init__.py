"""Is it the same person? Likelihood ratios that carry over to your own domain."""

from mien.verification.joint_bayesian import JointBayesian
from mien.verification.statistics import JointBayesianStatistics

__all__ = ["JointBayesian", "JointBayesianStatistics"]
