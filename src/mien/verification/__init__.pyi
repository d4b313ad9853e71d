from ._camera import CameraModel
from ._decision import Decision, decide_people
from ._impostors import (
    ImpostorBelief,
    ImpostorCurve,
    ImpostorEvidence,
    ImpostorPrior,
    measure_impostors,
    measure_unnamed,
    update_belief,
)
from ._joint_bayesian import GroupStatistics, JointBayesian
from ._own_calibration import (
    IMPOSTORS,
    OwnCalibration,
    Promise,
    RatioLine,
    calibrate_own,
    fit_ratio_line,
    people_needed,
)
from ._scorer import Scorer
from ._scoring import ScoreBlock
from ._set_scores import SetScores
from ._steps import score_matrix, score_pairs
from ._thresholds import ThresholdTable, rate_per_person
from ._transfer import TransferJointBayesian
from ._unnamed import UnnamedFaces, observe_faces, observe_sets
from ._verifier import Verifier
from ._weak_names import WeakNames

__all__ = [
    "IMPOSTORS",
    "CameraModel",
    "Decision",
    "GroupStatistics",
    "ImpostorBelief",
    "ImpostorCurve",
    "ImpostorEvidence",
    "ImpostorPrior",
    "JointBayesian",
    "OwnCalibration",
    "Promise",
    "RatioLine",
    "ScoreBlock",
    "Scorer",
    "SetScores",
    "ThresholdTable",
    "TransferJointBayesian",
    "UnnamedFaces",
    "Verifier",
    "WeakNames",
    "calibrate_own",
    "decide_people",
    "fit_ratio_line",
    "measure_impostors",
    "measure_unnamed",
    "observe_faces",
    "observe_sets",
    "people_needed",
    "rate_per_person",
    "score_matrix",
    "score_pairs",
    "update_belief",
]
