"""Rendered people, real sets, splits and protocols."""

from mien.datasets._record import FaceSet
from mien.datasets.catalogue import list_sets, load_faces
from mien.datasets.folder import load_folder
from mien.datasets.home import data_home
from mien.datasets.lfw import EmbeddingSet, load_lfw, load_lfw_embeddings, load_lfw_landmarks
from mien.datasets.lfw_protocol import LFWFold, LFWProtocol, PairList, load_lfw_protocol
from mien.datasets.orl import load_orl
from mien.datasets.rendered import (
    CAMERAS,
    IDENTITY_NAMES,
    LANDMARK_NAMES,
    NUISANCE_NAMES,
    OCCLUSIONS,
    Camera,
    crop_rendered,
    iter_faces,
    make_faces,
)
from mien.datasets.splits import (
    fold_people,
    make_groups,
    make_pairs,
    split_people,
    split_pictures,
)
from mien.datasets.yale import load_yale

__all__ = [
    "CAMERAS",
    "IDENTITY_NAMES",
    "LANDMARK_NAMES",
    "NUISANCE_NAMES",
    "OCCLUSIONS",
    "Camera",
    "EmbeddingSet",
    "FaceSet",
    "LFWFold",
    "LFWProtocol",
    "PairList",
    "crop_rendered",
    "data_home",
    "fold_people",
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
    "make_faces",
    "make_groups",
    "make_pairs",
    "split_people",
    "split_pictures",
]
