from ._ksvd import KSVD
from ._omp import orthogonal_matching_pursuit
from ._weighted import WeightedKSVD

__all__ = ["KSVD", "WeightedKSVD", "orthogonal_matching_pursuit"]
