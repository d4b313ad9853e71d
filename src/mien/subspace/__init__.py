"""Projections learned from groups without names."""

from mien.subspace.consistency import choose_n_components, group_consistency
from mien.subspace.eigenfaces import Eigenfaces
from mien.subspace.fisherfaces import Fisherfaces
from mien.subspace.kernel import KernelNullSpaceProjection, KernelRelevantComponents
from mien.subspace.null_space import NullSpaceLDA, NullSpaceProjection
from mien.subspace.relevant_components import RelevantComponents
from mien.subspace.statistics import GroupStatistics

__all__ = [
    "Eigenfaces",
    "Fisherfaces",
    "GroupStatistics",
    "KernelNullSpaceProjection",
    "KernelRelevantComponents",
    "NullSpaceLDA",
    "NullSpaceProjection",
    "RelevantComponents",
    "choose_n_components",
    "group_consistency",
]
