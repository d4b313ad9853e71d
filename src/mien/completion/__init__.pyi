from ._auto import AutoCompleter
from ._base import Completer, Completion
from ._blend import BlendCompleter
from ._colour import complete_colour, refine_cover
from ._covers import COVERS, make_cover
from ._dictionary import DictionaryCompleter
from ._face_completer import CompletedFaces, FaceCompleter
from ._fastfood import FastfoodCompleter
from ._feature_ridge import FeatureRidgeCompleter
from ._low_rank import LowRankCompleter
from ._mixture import MixtureCompleter
from ._names import COMPLETERS, make_completer
from ._pca import PCACompleter
from ._ridge import RidgeCompleter

__all__ = [
    "COMPLETERS",
    "COVERS",
    "AutoCompleter",
    "BlendCompleter",
    "CompletedFaces",
    "Completer",
    "Completion",
    "DictionaryCompleter",
    "FaceCompleter",
    "FastfoodCompleter",
    "FeatureRidgeCompleter",
    "LowRankCompleter",
    "MixtureCompleter",
    "PCACompleter",
    "RidgeCompleter",
    "complete_colour",
    "make_completer",
    "make_cover",
    "refine_cover",
]
