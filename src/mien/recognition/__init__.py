"""From photographs and videos to people: the verbs as functions, and the models they use."""

from mien.gallery import FaceModel
from mien.recognition._adapt import Adaptation, adapt
from mien.recognition._cluster import ClusteredFace, PeopleFound, cluster
from mien.recognition._cluster_output import cluster_files
from mien.recognition._complete import (
    CompletedFace,
    CompletedPicture,
    complete,
    frame_face,
    load_completer,
)
from mien.recognition._complete_files import complete_files, name_targets
from mien.recognition._enrol import Enrolment, enrol
from mien.recognition._identify import (
    IdentifiedFace,
    IdentifiedPicture,
    identify,
    iter_identified,
)
from mien.recognition._models import load_model, load_source
from mien.recognition._people import Failure, count_reasons
from mien.recognition._source import fit_source
from mien.recognition._verify import Verification, verify

__all__ = [
    "Adaptation",
    "ClusteredFace",
    "CompletedFace",
    "CompletedPicture",
    "Enrolment",
    "FaceModel",
    "Failure",
    "IdentifiedFace",
    "IdentifiedPicture",
    "PeopleFound",
    "Verification",
    "adapt",
    "cluster",
    "cluster_files",
    "complete",
    "complete_files",
    "count_reasons",
    "enrol",
    "fit_source",
    "frame_face",
    "identify",
    "iter_identified",
    "load_completer",
    "load_model",
    "load_source",
    "name_targets",
    "verify",
]
