"""Projections learned from groups without names."""

from mien.subspace.eigenfaces import Eigenfaces
from mien.subspace.fisherfaces import Fisherfaces
from mien.subspace.null_space import NullSpaceLDA, NullSpaceProjection
from mien.subspace.relevant_components import RelevantComponents
from mien.subspace.statistics import GroupStatistics

__all__ = [
    "Eigenfaces",
    "Fisherfaces",
    "GroupStatistics",
    "NullSpaceLDA",
    "NullSpaceProjection",
    "RelevantComponents",
]
