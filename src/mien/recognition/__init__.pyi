from ._adapt import Adaptation, adapt, adapt_to, adapt_vectors
from ._check import GalleryCheck, RateCheck, check_gallery, check_rates
from ._cluster import ClusteredFace, PeopleFound, cluster
from ._cluster_linkage import link_faces
from ._cluster_output import cluster_files
from ._complete import (
    CompletedFace,
    CompletedPicture,
    complete,
    frame_face,
    load_completer,
)
from ._complete_files import complete_files, name_targets
from ._constraints import sample_people
from ._enrol import Enrolment, enrol
from ._enrol_names import NamedEnrolment, NamedFace, enrol_names, report_names
from ._find import FoundPicture, find, forget_pictures, read_period, remember, report_found
from ._galleries import open_gallery
from ._identify import (
    IdentifiedFace,
    IdentifiedPicture,
    identify,
    identify_result,
    iter_identified,
)
from ._import import (
    PhotoImport,
    find_photo,
    import_photos,
    is_placeholder,
    make_thumbnails,
)
from ._models import FaceModel, engine_of, load_model, load_source
from ._name_faces import NamedFaces, name_faces
from ._people import Failure, choose_face, count_reasons, list_people
from ._questions import (
    OWNER_ODDS,
    Question,
    choose_questions,
    faces_concerned,
    rate_pairs,
    score_sets,
)
from ._recogniser import ComparedPair, Pair, Recogniser, read_pairs, verify_pairs
from ._review import PersonQuestion, ask_gallery, doubt_faces
from ._source import fit_source
from ._strangers import Strangers
from ._verify import Verification, compare_faces, verify
from ._visits import Visit, VisitEvent, Visits
from ._watch import watch
from ._write_names import (
    NAMES_WRITTEN,
    XMP_PLACES,
    NamesWritten,
    count_unconfirmed,
    export_xmp,
    write_names,
)

__all__ = [
    "NAMES_WRITTEN",
    "OWNER_ODDS",
    "XMP_PLACES",
    "Adaptation",
    "ClusteredFace",
    "ComparedPair",
    "CompletedFace",
    "CompletedPicture",
    "Enrolment",
    "FaceModel",
    "Failure",
    "FoundPicture",
    "GalleryCheck",
    "IdentifiedFace",
    "IdentifiedPicture",
    "NamedEnrolment",
    "NamedFace",
    "NamedFaces",
    "NamesWritten",
    "Pair",
    "PeopleFound",
    "PersonQuestion",
    "PhotoImport",
    "Question",
    "RateCheck",
    "Recogniser",
    "Strangers",
    "Verification",
    "Visit",
    "VisitEvent",
    "Visits",
    "adapt",
    "adapt_to",
    "adapt_vectors",
    "ask_gallery",
    "check_gallery",
    "check_rates",
    "choose_face",
    "choose_questions",
    "cluster",
    "cluster_files",
    "compare_faces",
    "complete",
    "complete_files",
    "count_reasons",
    "count_unconfirmed",
    "doubt_faces",
    "engine_of",
    "enrol",
    "enrol_names",
    "export_xmp",
    "faces_concerned",
    "find",
    "find_photo",
    "fit_source",
    "forget_pictures",
    "frame_face",
    "identify",
    "identify_result",
    "import_photos",
    "is_placeholder",
    "iter_identified",
    "link_faces",
    "list_people",
    "load_completer",
    "load_model",
    "load_source",
    "make_thumbnails",
    "name_faces",
    "name_targets",
    "open_gallery",
    "rate_pairs",
    "read_pairs",
    "read_period",
    "remember",
    "report_found",
    "report_names",
    "sample_people",
    "score_sets",
    "verify",
    "verify_pairs",
    "watch",
    "write_names",
]
