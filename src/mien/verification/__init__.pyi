from ._decision import Decision, decide_people
from ._joint_bayesian import GroupStatistics, JointBayesian
from ._scoring import ScoreBlock
from ._thresholds import ThresholdTable, rate_per_person
from ._transfer import TransferJointBayesian
from ._verifier import Verifier
from ._weak_names import WeakNames

__all__ = [
    "Decision",
    "GroupStatistics",
    "JointBayesian",
    "ScoreBlock",
    "ThresholdTable",
    "TransferJointBayesian",
    "Verifier",
    "WeakNames",
    "decide_people",
    "rate_per_person",
]
