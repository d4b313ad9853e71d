from ._album import make_album
from ._catalogue import KNOWN_SETS, list_sets, load_faces
from ._folder import load_folder
from ._home import data_home
from ._lfw import EmbeddingSet, load_lfw, load_lfw_embeddings, load_lfw_landmarks
from ._lfw_protocol import LFWFold, LFWProtocol, PairList, load_lfw_protocol
from ._orl import load_orl
from ._record import FaceSet
from ._rendered import (
    CAMERAS,
    COVER_KINDS,
    IDENTITY_NAMES,
    LANDMARK_NAMES,
    NUISANCE_NAMES,
    RenderedCamera,
    crop_rendered,
    iter_faces,
    make_faces,
)
from ._splits import make_groups, make_pairs, split_people, split_pictures
from ._vectors import make_vectors
from ._yale import load_yale

__all__ = [
    "CAMERAS",
    "COVER_KINDS",
    "IDENTITY_NAMES",
    "KNOWN_SETS",
    "LANDMARK_NAMES",
    "NUISANCE_NAMES",
    "EmbeddingSet",
    "FaceSet",
    "LFWFold",
    "LFWProtocol",
    "PairList",
    "RenderedCamera",
    "crop_rendered",
    "data_home",
    "iter_faces",
    "list_sets",
    "load_faces",
    "load_folder",
    "load_lfw",
    "load_lfw_embeddings",
    "load_lfw_landmarks",
    "load_lfw_protocol",
    "load_orl",
    "load_yale",
    "make_album",
    "make_faces",
    "make_groups",
    "make_pairs",
    "make_vectors",
    "split_people",
    "split_pictures",
]
