"""Sparse codes and the dictionaries that they are made of."""

from mien.sparse.ksvd import KSVD
from mien.sparse.omp import orthogonal_matching_pursuit
from mien.sparse.weighted import WeightedKSVD

__all__ = ["KSVD", "WeightedKSVD", "orthogonal_matching_pursuit"]
