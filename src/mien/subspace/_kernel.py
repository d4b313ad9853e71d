"""The weak-label methods in the feature space of a kernel, exact or approximate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from mien._core.constraints import NON_NEGATIVE, POSITIVE_INTEGER, SHARE
from mien._core.validation import NO_GROUP
from mien.errors import InputError
from mien.subspace._base import check_n_components
from mien.subspace._kernel_base import KernelProjection, LinearModel
from mien.subspace._kernel_solvers import (
    KernelSolution,
    solve_kernel_null_space,
    solve_kernel_relevant_components,
    solve_kernel_relevant_components_grid,
    solve_kernel_soft_null_space,
)
from mien.subspace._null_space import NullSpaceProjection
from mien.subspace._relevant_components import RelevantComponents

__all__ = ["KernelNullSpaceProjection", "KernelRelevantComponents"]


class KernelNullSpaceProjection(KernelProjection):
    """Null-space projection in the feature space of a kernel (kernel NP-PER), soft or exact.

    However many points there are, the feature space of a Gaussian kernel has more dimensions, so
    there is a null space, up to rounding, in which groups collapse to points. The soft projection,
    which is the default, weighs down what varies inside groups instead of taking it out.

    Parameters
    ----------
    n_components : int or None, default=None
        How many directions to keep, those of most between-group scatter first. None keeps all:
        ``rank(S_t)`` of them, or ``rank(S_t) - rank(S_g)`` in the exact null space.
    regularization : "auto" or float, default="auto"
        λ, in units of the mean variance of a residual in feature space; 0 is the paper's exact
        null space. As in :class:`NullSpaceProjection`.
    between_shrinkage : "auto" or float, default="auto"
        Share of what groups differ by that is the same along all directions. As in
        :class:`NullSpaceProjection`.
    kernel : str or callable, default="rbf"
        ``"rbf"``, ``"cosine"``, ``"linear"``, ``"polynomial"``, ``"laplacian"``, ``"sigmoid"``,
        ``"precomputed"`` (X is then the kernel itself), or ``f(X, Y) -> (n, m)``.
    sigma : float, "auto" or "median", default="auto"
        Width of the Gaussian kernel ``exp(-|x - y|² / sigma²)``. ``"auto"`` takes the width with
        which points of held-out groups find their companions best, from 1/2 to 8 times the median
        distance; with fewer than four groups it is the median distance.
    kernel_params : dict or None, default=None
        Further arguments of the kernel, such as ``{"degree": 2}``.
    geometry : {"rkhs", "empirical"}, default="rkhs"
        Directions that are orthonormal in feature space, or the paper's rows of the kernel as
        plain vectors (Notes).
    approximation : {None, "nystroem", "fastfood"}, default=None
        Finite features that stand for the kernel. Use it for more than about 10,000 points: a
        kernel matrix takes memory with the square of their number, and time with its cube.
    approximation_size : int or None, default=None
        How many features; None is the lesser of 2,000 and the number of points. The exact null
        space needs more of them than there are residuals, N − R; both numbers are compared before
        any work. The soft one needs no more than time and memory allow.
    fallback : {None, "relevant-components"}, default=None
        For ``regularization=0``: where the null space is empty, as with too few features or a
        kernel that is numerically of low rank, refuse, or whiten.
    rtol : float, default=1e-9
        Singular values at or below ``rtol`` times the largest count as zero. A kernel matrix
        holds squares, so below about 1e-7 rounding decides instead.
    random_state : int, RandomState or None, default=None
        Draws held-out groups, landmarks and random features.

    Attributes
    ----------
    sigma_ : float or None
        The width in use.
    components_ : (n_components, n_training_samples or n_features)
        Coefficients of the training points, or directions among the features.
    mean_ : (n_training_samples or n_features,)
        What is subtracted from a row of the kernel, or from the features.
    points_ : (n_training_samples, n_features)
        Kept where the kernel must be computed with them.
    regularization_, between_shrinkage_ : float
        λ and the share in use.
    rank_total_, rank_within_ : int
        Of S_t and S_g in feature space.

    See Also
    --------
    NullSpaceProjection : The same in the space of the points, and what λ does.
    KernelRelevantComponents : Kernel principal components, whitened.

    Notes
    -----
    With the centred kernel ``K = F Fᵀ`` the linear method runs on F, the coordinates of the points
    in an orthonormal basis of feature space. The printed method takes the rows of K as features
    with unit coefficients, which is another geometry: those directions are not orthonormal in
    feature space and cost four to five points of accuracy; it stays as ``geometry="empirical"``.
    "Discard the last column", also printed, is unsafe and not done.

    For the exact null space, where K is safely regular, a Cholesky decomposition in the basis of
    group contrasts gives the projection directly; else the eigenvectors of K do, as they do for the
    soft one.

    References
    ----------
    [Kumar2007]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.subspace import KernelNullSpaceProjection
    >>> rng = np.random.default_rng(0)
    >>> X, groups = rng.normal(size=(30, 2)), np.repeat(np.arange(10), 3)
    >>> exact = KernelNullSpaceProjection(sigma="median", regularization=0)
    >>> Z = exact.fit_transform(X, groups)
    >>> Z.shape
    (30, 9)
    >>> bool(np.allclose(Z[groups == 4], Z[12], atol=1e-6))
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelProjection._parameter_constraints,
        "n_components": [POSITIVE_INTEGER, None],
        "regularization": [NON_NEGATIVE, StrOptions({"auto"})],
        "between_shrinkage": [SHARE, StrOptions({"auto"})],
        "fallback": [StrOptions({"relevant-components"}), None],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        regularization: float | str = "auto",
        between_shrinkage: float | str = "auto",
        kernel: str | Callable[..., Any] = "rbf",
        sigma: float | str = "auto",
        kernel_params: dict[str, Any] | None = None,
        geometry: str = "rkhs",
        approximation: str | None = None,
        approximation_size: int | None = None,
        fallback: str | None = None,
        rtol: float = 1e-9,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.regularization = regularization
        self.between_shrinkage = between_shrinkage
        self.kernel = kernel
        self.sigma = sigma
        self.kernel_params = kernel_params
        self.geometry = geometry
        self.approximation = approximation
        self.approximation_size = approximation_size
        self.fallback = fallback
        self.rtol = rtol
        self.random_state = random_state

    def _solve(self, K: np.ndarray, groups: np.ndarray, n_components: Any) -> KernelSolution:
        found = self._find(K, groups)
        m = found.coefficients.shape[1]
        if m == 0:
            if self.fallback is not None:
                return solve_kernel_relevant_components(K, groups, n_components, self.rtol)
            raise InputError(
                f"the null space is empty: rank(S_t) = {found.rank_total} and rank(S_g) = "
                f"{found.rank_within} for {len(K)} points; the kernel is too smooth for so many "
                "points, or all are in one group: use a smaller sigma, another kernel, or "
                'fallback="relevant-components"'
            )
        k = check_n_components(n_components, m, "the ranks of S_t and S_g allow")
        return found._replace(coefficients=found.coefficients[:, :k])

    def _solve_grid(
        self, K: np.ndarray, groups: np.ndarray, grid: list[Any]
    ) -> list[KernelSolution]:
        found = self._find(K, groups)
        return [found._replace(coefficients=found.coefficients[:, :m]) for m in grid]

    def _find(self, K: np.ndarray, groups: np.ndarray) -> KernelSolution:
        if self.regularization == 0:
            return solve_kernel_null_space(K, groups, self.rtol)
        return solve_kernel_soft_null_space(
            K, groups, self.regularization, self.between_shrinkage, self.rtol
        )

    def _linear(self, n_components: Any) -> NullSpaceProjection:
        return NullSpaceProjection(
            n_components,
            regularization=self.regularization,
            between_shrinkage=self.between_shrinkage,
            fallback=self.fallback,
            rtol=self.rtol,
        )

    def _check_size(self, n_features: int, groups: np.ndarray) -> None:
        """Compare the two numbers that an exact null space depends on, before any work."""
        names, counts = np.unique(groups[groups != NO_GROUP], return_counts=True)
        n_residuals = int(counts.sum()) - len(names)
        if self.regularization == 0 and self.fallback is None and n_features <= n_residuals:
            raise InputError(
                f"the null space is empty: approximation_size = {n_features} features cannot hold "
                f"N - R = {n_residuals} residuals inside groups and anything else: use "
                f'regularization="auto" (the soft null space), approximation_size above '
                f"{n_residuals}, or approximation=None"
            )

    def _keep_solution(self, solution: KernelSolution, groups: np.ndarray) -> None:
        super()._keep_solution(solution, groups)
        self.rank_total_, self.rank_within_ = solution.rank_total, solution.rank_within
        self.regularization_ = solution.regularization
        self.between_shrinkage_ = solution.between_shrinkage

    def _keep_linear(self, linear: LinearModel) -> None:
        super()._keep_linear(linear)
        self.rank_total_, self.rank_within_ = linear.rank_total_, linear.rank_within_
        self.regularization_ = linear.regularization_
        self.between_shrinkage_ = linear.between_shrinkage_


class KernelRelevantComponents(KernelProjection):
    """Relevant component analysis in the feature space of a kernel (kernel RCA).

    Parameters
    ----------
    n_components : int, "auto" or None, default="auto"
        Kernel principal components kept before whitening. ``"auto"`` picks the number by held-out
        groups, together with sigma; it needs four groups, and takes half as many as there are
        residuals where there are fewer. None keeps as many as the rank of the within-group
        scatter, which whitens noise.
    kernel, sigma, kernel_params, geometry, approximation, approximation_size, rtol, random_state
        As in :class:`KernelNullSpaceProjection`.

    Attributes
    ----------
    sigma_ : float or None
        The width in use.
    components_ : (n_components, n_training_samples or n_features)
        Coefficients of the training points, or directions among the features.
    mean_ : (n_training_samples or n_features,)
        What is subtracted from a row of the kernel, or from the features.
    points_ : (n_training_samples, n_features)
        Kept where the kernel must be computed with them.
    n_components_ : int
        Directions kept.

    See Also
    --------
    RelevantComponents : The same in the space of the points.
    KernelNullSpaceProjection : Weighs what varies inside groups, and keeps every direction.

    Notes
    -----
    The within-group scatter of a kernel is singular whatever the number of points; reducing to
    kernel principal components first, as here, is the paper's way, and the number of them matters
    much.

    References
    ----------
    [Shental2002]_, [Kumar2007]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.subspace import KernelRelevantComponents
    >>> rng = np.random.default_rng(0)
    >>> X, groups = rng.normal(size=(30, 2)), np.repeat(np.arange(10), 3)
    >>> KernelRelevantComponents(5, sigma="median").fit_transform(X, groups).shape
    (30, 5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelProjection._parameter_constraints,
        "n_components": [POSITIVE_INTEGER, StrOptions({"auto"}), None],
    }

    def __init__(
        self,
        n_components: int | str | None = "auto",
        *,
        kernel: str | Callable[..., Any] = "rbf",
        sigma: float | str = "auto",
        kernel_params: dict[str, Any] | None = None,
        geometry: str = "rkhs",
        approximation: str | None = None,
        approximation_size: int | None = None,
        rtol: float = 1e-9,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.sigma = sigma
        self.kernel_params = kernel_params
        self.geometry = geometry
        self.approximation = approximation
        self.approximation_size = approximation_size
        self.rtol = rtol
        self.random_state = random_state

    def _solve(self, K: np.ndarray, groups: np.ndarray, n_components: Any) -> KernelSolution:
        return solve_kernel_relevant_components(
            K, groups, n_components, self.rtol, clip=self.n_components == "auto"
        )

    def _solve_grid(
        self, K: np.ndarray, groups: np.ndarray, grid: list[Any]
    ) -> list[KernelSolution]:
        if grid == [None]:
            return [solve_kernel_relevant_components(K, groups, None, self.rtol)]
        return solve_kernel_relevant_components_grid(K, groups, grid, self.rtol)

    def _linear(self, n_components: Any) -> RelevantComponents:
        return RelevantComponents(n_components, rtol=self.rtol)

    def _keep_solution(self, solution: KernelSolution, groups: np.ndarray) -> None:
        super()._keep_solution(solution, groups)
        self.n_components_ = len(self.components_)

    def _keep_linear(self, linear: LinearModel) -> None:
        super()._keep_linear(linear)
        self.n_components_ = len(self.components_)
