from ._base import GroupStatistics
from ._class_dependence import ClassDependenceFeatures
from ._clustering import ConstrainedClustering
from ._consistency import choose_n_components, group_consistency
from ._eigenfaces import Eigenfaces
from ._fisherfaces import Fisherfaces
from ._kernel import KernelNullSpaceProjection, KernelRelevantComponents
from ._neighbours import NearestNeighbourIdentifier
from ._null_space import NullSpaceLDA, NullSpaceProjection
from ._relevant_components import RelevantComponents

__all__ = [
    "ClassDependenceFeatures",
    "ConstrainedClustering",
    "Eigenfaces",
    "Fisherfaces",
    "GroupStatistics",
    "KernelNullSpaceProjection",
    "KernelRelevantComponents",
    "NearestNeighbourIdentifier",
    "NullSpaceLDA",
    "NullSpaceProjection",
    "RelevantComponents",
    "choose_n_components",
    "group_consistency",
]
