"""What both kernel methods share: the kernel, its width, its approximation, and projecting."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mien._core.constraints import FRACTION, POSITIVE, POSITIVE_INTEGER
from mien._core.linalg import fix_signs, median_distance
from mien._core.rows import validate_rows
from mien._core.statistics import GroupStatistics
from mien._core.types import FLOATS
from mien._core.validation import NO_GROUP
from mien.errors import InputError, PerformanceWarning
from mien.subspace._base import BATCH_BYTES, check_points_and_groups
from mien.subspace._consistency import (
    MIN_GROUPS,
    choose_sigma,
    dimension_grid,
    guess_n_components,
    sample_groups,
    scale_n_components,
)
from mien.subspace._kernel_solvers import (
    KernelSolution,
)
from mien.subspace._kernels import (
    KERNELS,
    compute_kernel,
    fastfood_map,
    gaussian,
    map_features,
    nystroem_map,
)
from mien.subspace._null_space import NullSpaceProjection
from mien.subspace._relevant_components import RelevantComponents

__all__ = ["KernelProjection", "LinearModel"]

_MANY = 10_000
LinearModel = NullSpaceProjection | RelevantComponents


class KernelProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the kernel projections: the kernel, its width, its approximation, and projecting.

    Subclasses say which directions of the feature space are kept; their parameters are described
    with them.

    See Also
    --------
    KernelNullSpaceProjection : keeps directions in which no group varies.
    KernelRelevantComponents : whitens the variation inside groups.

    Notes
    -----
    A kernel of n points takes n² numbers and n³ time. Beyond some thousands of points,
    ``approximation`` replaces it by explicit features: "nystroem" by ``approximation_size`` of the
    points, for any kernel; "fastfood" by random frequencies, for the Gaussian kernel and at any
    dimension. The projection is then linear in these features.

    References
    ----------
    [Kumar2007]_, [Le2013]_ in the :doc:`bibliography </bibliography>`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(set(KERNELS)), callable],
        "sigma": [POSITIVE, StrOptions({"auto", "median"})],
        "kernel_params": [dict, None],
        "geometry": [StrOptions({"rkhs", "empirical"})],
        "approximation": [StrOptions({"nystroem", "fastfood"}), None],
        "approximation_size": [POSITIVE_INTEGER, None],
        "rtol": [FRACTION],
        "random_state": ["random_state"],
    }

    kernel: str | Callable[..., Any]
    sigma: float | str
    kernel_params: dict[str, Any] | None
    geometry: str
    approximation: str | None
    approximation_size: int | None
    rtol: float
    random_state: Any
    n_components: int | str | None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Self:
        """Learn the projection.

        Parameters
        ----------
        X : array-like (n_samples, n_features), or (n_samples, n_samples)
            Vectors, or their kernel with ``kernel="precomputed"``.
        y : array-like (n_samples,), optional
            The group of each vector, any labels; None, NaN, NaT and -1 are in no group. Ignored
            where ``groups`` is given.
        groups : array-like (n_samples,), optional
            The same as metadata, for a pipeline in which ``y`` holds the classes of a classifier
            further on.

        Returns
        -------
        self
        """
        X, groups = check_points_and_groups(self, X, y, groups)
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise InputError(f"a precomputed kernel must be square; got {X.shape}")
        elif self.kernel != "precomputed" and np.array_equal(X[0], X[-1]) and not np.any(X - X[0]):
            raise InputError(
                f"all {len(X)} points are the same, so there is no direction to project on: X "
                "needs at least two points that differ"
            )
        if self.approximation is not None:
            self._check_size(self._approximation_size(len(X)), groups)
        self.sigma_, n_components = self._choose(X, groups)
        if self.approximation is not None:
            return self._fit_features(X, groups, n_components)
        if len(X) > _MANY and self.kernel != "precomputed":
            warnings.warn(
                f"a kernel of {len(X)} points takes {8e-9 * len(X) ** 2:.1f} GB and time with the "
                'cube of their number: use approximation="nystroem" or "fastfood"',
                PerformanceWarning,
                stacklevel=2,
            )
        K = compute_kernel(X, X, self.kernel, self.sigma_, self.kernel_params)
        if self.geometry == "rkhs":
            self._keep_solution(self._solve(K, groups, n_components), groups)
        else:
            self._keep_linear(self._linear(n_components).fit(K, groups))
        if self.kernel != "precomputed":
            self.points_ = np.array(X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Project X (n_samples, n_features) to (n_samples, n_components).

        With ``kernel="precomputed"`` X is the kernel (n_samples, n_training_samples).
        """
        check_is_fitted(self, "components_")
        X = validate_rows(self, X, dtype=FLOATS, reset=False)
        width = max(self.components_.shape[1], self.n_features_in_)
        rows = max(1, BATCH_BYTES // (8 * width))
        parts = [self._project(X[start : start + rows]) for start in range(0, len(X), rows)]
        return np.concatenate(parts)

    def _project(self, X: np.ndarray) -> np.ndarray:
        if self.approximation is not None:
            K = map_features(X, self._map(), self.kernel, self.sigma_, self.kernel_params)
        else:
            points = X if self.kernel == "precomputed" else self.points_.astype(X.dtype, copy=False)
            K = compute_kernel(X, points, self.kernel, self.sigma_, self.kernel_params)
        components = self.components_.astype(K.dtype, copy=False)
        return K @ components.T - (self.components_ @ self.mean_).astype(K.dtype)

    def _map(self) -> Any:
        return self.map_ if self.approximation == "fastfood" else (self.landmarks_, self.whitener_)

    def _fit_features(self, X: np.ndarray, groups: np.ndarray, n_components: int | None) -> Self:
        """The linear method on features that stand for the kernel, in batches where N is large."""
        if self.geometry == "empirical":
            raise InputError('geometry="empirical" needs the whole kernel: approximation=None')
        n_features = self._approximation_size(len(X))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if self.approximation == "fastfood":
            self.map_ = fastfood_map(X, self.kernel, self.sigma_ or 1.0, n_features, seed)
        else:
            self.landmarks_, self.whitener_ = nystroem_map(
                X, self.kernel, self.sigma_, self.kernel_params, n_features, seed
            )

        def features(part: np.ndarray) -> np.ndarray:
            return map_features(part, self._map(), self.kernel, self.sigma_, self.kernel_params)

        linear = self._linear(n_components)
        rows = max(1, BATCH_BYTES // (8 * max(X.shape[1], n_features)))
        if len(X) <= max(n_features, rows):
            linear.fit(features(X), groups)
        else:
            linear.fit(
                GroupStatistics.from_batches(
                    (features(X[start : start + rows]), groups[start : start + rows])
                    for start in range(0, len(X), rows)
                )
            )
        self._keep_linear(linear)
        return self

    def _choose(self, X: np.ndarray, groups: np.ndarray) -> tuple[float | None, int | None]:
        """Resolve ``"auto"`` without labels: sigma, and the number of components."""
        auto = self.n_components == "auto"
        n_components = None if auto else cast(int | None, self.n_components)
        if self.kernel != "rbf" and self.n_components != "auto":
            return None, n_components
        _, counts = np.unique(groups[groups != NO_GROUP], return_counts=True)
        few = np.count_nonzero(counts >= 2) < MIN_GROUPS
        if auto and few:
            auto, n_components = False, guess_n_components(int(counts.sum()) - len(counts))
        wanted = self.sigma
        if wanted == "median" or (wanted == "auto" and few):
            wanted = median_distance(X, self.random_state)
        if not auto and wanted != "auto":
            return (float(wanted) if self.kernel == "rbf" else None), n_components
        return self._choose_by_groups(X, groups, wanted)

    def _choose_by_groups(
        self, X: np.ndarray, groups: np.ndarray, wanted: float | str
    ) -> tuple[float | None, int | None]:
        rng = check_random_state(self.random_state)
        rows = sample_groups(groups, rng)
        groups = groups[rows]
        if self.kernel == "rbf":
            values = euclidean_distances(np.asarray(X[rows], dtype=np.float64), squared=True)
        elif self.kernel == "precomputed":
            values = np.asarray(X[np.ix_(rows, rows)], dtype=np.float64)
        else:
            points = np.asarray(X[rows], dtype=np.float64)
            values = compute_kernel(points, points, self.kernel, None, self.kernel_params)
        smallest = int(len(rows) * 0.6) - len(np.unique(groups))
        auto = self.n_components == "auto"
        grid: list[Any] = dimension_grid(max(1, smallest)) if auto else [self.n_components]

        def project(sigma: float, learn: np.ndarray, held_out: np.ndarray) -> list[np.ndarray]:
            # A fixed kernel goes through the same search with one width.
            K = gaussian(values.copy(), sigma) if self.kernel == "rbf" else values
            inner, outer = K[np.ix_(learn, learn)], K[np.ix_(held_out, learn)]
            found = self._solve_grid(inner, groups[learn], grid)
            return [(outer - s.mean) @ s.coefficients for s in found]

        widths: list[float] | None = [1.0]
        if self.kernel == "rbf":
            widths = None if wanted == "auto" else [float(wanted)]
        sigma, variant = choose_sigma(values, groups, project, candidates=widths, random_state=rng)
        n_components = grid[variant]
        if auto:
            n_residuals = len(rows) - len(np.unique(groups))
            n_components = scale_n_components(n_components, 2 * n_residuals // 3, n_residuals)
        return (sigma if self.kernel == "rbf" else None), n_components

    def _approximation_size(self, n: int) -> int:
        return self.approximation_size or min(n, 2000)

    def _check_size(self, n_features: int, groups: np.ndarray) -> None:
        """Refuse before any work what this number of features cannot do."""

    def _solve(self, K: np.ndarray, groups: np.ndarray, n_components: Any) -> KernelSolution:
        raise NotImplementedError

    def _solve_grid(
        self, K: np.ndarray, groups: np.ndarray, grid: list[Any]
    ) -> list[KernelSolution]:
        raise NotImplementedError

    def _linear(self, n_components: Any) -> LinearModel:
        raise NotImplementedError

    def _keep_solution(self, solution: KernelSolution, groups: np.ndarray) -> None:
        self.mean_ = solution.mean
        self.components_ = fix_signs(solution.coefficients.T)

    def _keep_linear(self, linear: LinearModel) -> None:
        self.mean_, self.components_ = linear.mean_, linear.components_

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
