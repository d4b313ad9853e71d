"""From photographs and videos to people: the verbs as functions, and the verifiers they use."""

from mien.recognition._adapt import Adaptation, adapt
from mien.recognition._cluster import ClusteredFace, PeopleFound, cluster
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
    assign_people,
    identify,
    iter_identified,
)
from mien.recognition._people import Failure
from mien.recognition._source import fit_source
from mien.recognition._verifier import FaceVerifier, load_source, load_verifier
from mien.recognition._verify import Verification, verify

__all__ = [
    "Adaptation",
    "ClusteredFace",
    "CompletedFace",
    "CompletedPicture",
    "Enrolment",
    "FaceVerifier",
    "Failure",
    "IdentifiedFace",
    "IdentifiedPicture",
    "PeopleFound",
    "Verification",
    "adapt",
    "assign_people",
    "cluster",
    "complete",
    "complete_files",
    "enrol",
    "fit_source",
    "frame_face",
    "identify",
    "iter_identified",
    "load_completer",
    "load_source",
    "load_verifier",
    "name_targets",
    "verify",
]
