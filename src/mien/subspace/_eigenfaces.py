"""Principal components: the directions of most variance, for pictures without any label."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions

from mien._core.constraints import FRACTION, POSITIVE_INTEGER
from mien._core.linalg import fix_signs, numerical_rank, thin_svd
from mien._core.rows import validate_rows
from mien._core.statistics import GroupStatistics
from mien._core.types import FLOATS
from mien._core.validation import NO_GROUP
from mien.errors import InputError
from mien.subspace._base import (
    LinearProjection,
    check_n_components,
    choose_solver,
    scatter_tolerance,
    statistics_of,
)
from mien.subspace._randomized import randomized_directions

__all__ = ["Eigenfaces", "principal_directions", "scatter_directions"]


def principal_directions(X: np.ndarray, rtol: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean (d,), directions (rank, d) and scales (rank,) of X (n, d), most variance first."""
    X = np.asarray(X, dtype=np.float64)
    mean = X.mean(axis=0)
    centred = X - mean
    # Rounding of a constant feature is not a direction.
    noise = np.finfo(float).eps * np.abs(X).max() * np.sqrt(X.size)
    _, s, Vt = thin_svd(centred, rtol)
    keep = int(np.count_nonzero(s > noise))
    return mean, Vt[:keep], s[:keep]


def scatter_directions(
    scatter: np.ndarray, rtol: float, largest: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Directions (rank, d) and scales (rank,) of a scatter matrix (d, d), largest first.

    The tolerance is relative to its largest eigenvalue, or to ``largest`` where that is more.
    """
    values, vectors = linalg.eigh(scatter, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    unit = max(largest, float(values[0]), 0.0)
    rank = int(np.count_nonzero(values > scatter_tolerance(rtol, len(scatter)) * unit))
    return fix_signs(vectors[:, :rank].T), np.sqrt(values[:rank])


class Eigenfaces(LinearProjection):
    """Project on the directions of most variance (principal components).

    Parameters
    ----------
    n_components : int or None, default=None
        How many directions to keep; None keeps the numerical range of the centred data. Fewer make
        shorter vectors and drop what varies least, which for faces is mostly noise.
    solver : {"auto", "svd", "statistics", "randomized"}, default="auto"
        What is decomposed: the centred data, their scatter from one pass in batches, or a sketch
        in a few passes (needs ``n_components``). ``"auto"`` chooses by size.
    rtol : float, default=1e-9
        Singular values at or below ``rtol`` times the largest count as zero.
    random_state : int, RandomState or None, default=None
        For ``solver="randomized"``.

    Attributes
    ----------
    mean_ : (n_features,)
        Mean of the samples; it becomes the origin.
    components_ : (n_components, n_features)
        Orthonormal rows, most variance first; the largest entry of each is positive.
    scales_ : (n_components,)
        Root of the scatter along each: the singular values of the centred data.

    See Also
    --------
    sklearn.decomposition.PCA : The same without statistics of parts.
    NullSpaceProjection, RelevantComponents : Use groups as well.
    Fisherfaces : Uses names as well.

    Notes
    -----
    With the centred data :math:`X = U \\operatorname{diag}(s) V^T`, the rows of :math:`V^T` are the
    components. Data that are no taller than wide are decomposed themselves; taller ones through
    their scatter :math:`X^T X`, in one pass; and ``"randomized"`` finds the leading directions by
    block power iteration [Halko2011]_ where neither fits into memory.

    References
    ----------
    [Turk1991]_, [Halko2011]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.subspace import Eigenfaces
    >>> X = np.random.default_rng(0).normal(size=(5, 100))
    >>> Eigenfaces().fit_transform(X).shape
    (5, 4)
    """

    _additive = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [POSITIVE_INTEGER, None],
        "solver": [StrOptions({"auto", "svd", "statistics", "randomized"})],
        "rtol": [FRACTION],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        solver: str = "auto",
        rtol: float = 1e-9,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.rtol = rtol
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from X (n_samples, n_features), or from GroupStatistics; y is ignored."""
        if isinstance(X, GroupStatistics):
            return self._fit_statistics(X)
        X = validate_rows(self, X, dtype=FLOATS, ensure_min_samples=2)
        solver = choose_solver(X, self.solver, self.n_components)
        if solver == "statistics":
            return self._fit_statistics(statistics_of(X, np.full(len(X), NO_GROUP)))
        if solver == "svd":
            mean, directions, scales = principal_directions(X, self.rtol)
        else:
            if self.n_components is None:
                raise InputError('solver="randomized" needs n_components; got None')
            mean, basis, scales = randomized_directions(
                X, self.n_components, random_state=self.random_state
            )
            keep = numerical_rank(scales, self.rtol)
            directions, scales = fix_signs(basis[:, :keep].T), scales[:keep]
        return self._keep(mean, directions, scales)

    def _fit_statistics(self, statistics: GroupStatistics) -> Self:
        self.n_features_in_ = statistics.n_features
        return self._keep(statistics.mean, *scatter_directions(statistics.scatter(), self.rtol))

    def _keep(self, mean: np.ndarray, directions: np.ndarray, scales: np.ndarray) -> Self:
        if len(scales) == 0:
            raise InputError(
                "all samples are equal: no direction has variance; at least two different "
                "samples are needed"
            )
        k = check_n_components(self.n_components, len(scales), "the centred data span")
        self.mean_, self.components_, self.scales_ = mean, directions[:k].copy(), scales[:k].copy()
        return self
