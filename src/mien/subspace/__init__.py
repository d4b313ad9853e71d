"""Projections learned from groups without names, and what to do in the projected space."""

from mien.subspace.class_dependence import ClassDependenceFeatures
from mien.subspace.clustering import ConstrainedClustering
from mien.subspace.consistency import choose_n_components, group_consistency
from mien.subspace.eigenfaces import Eigenfaces
from mien.subspace.fisherfaces import Fisherfaces
from mien.subspace.groups import (
    group_bursts,
    group_folders,
    group_table,
    group_tracks,
    pairs_in_pictures,
)
from mien.subspace.kernel import KernelNullSpaceProjection, KernelRelevantComponents
from mien.subspace.neighbours import NearestNeighbourIdentifier
from mien.subspace.null_space import NullSpaceLDA, NullSpaceProjection
from mien.subspace.relevant_components import RelevantComponents
from mien.subspace.statistics import GroupStatistics

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
    "group_bursts",
    "group_consistency",
    "group_folders",
    "group_table",
    "group_tracks",
    "pairs_in_pictures",
]
