"""The weak-label methods in the feature space of a kernel, exact or approximate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from mien._core.constraints import POSITIVE_INTEGER
from mien.errors import InputError
from mien.subspace._base import check_n_components
from mien.subspace._kernel_base import KernelProjection, LinearModel
from mien.subspace._kernel_solvers import (
    KernelSolution,
    solve_kernel_null_space,
    solve_kernel_relevant_components,
    solve_kernel_relevant_components_grid,
)
from mien.subspace._null_space import NullSpaceProjection
from mien.subspace._relevant_components import RelevantComponents

__all__ = ["KernelNullSpaceProjection", "KernelRelevantComponents"]


class KernelNullSpaceProjection(KernelProjection):
    """Null-space projection in the feature space of a kernel (kernel NP-PER).

    However many points there are, the feature space of a Gaussian kernel has more dimensions, so
    there is a null space, up to rounding, and groups collapse to points.

    Parameters
    ----------
    n_components : int or None
        How many directions to keep; None keeps all ``rank(S_t) - rank(S_g)``.
    kernel : str or callable
        ``"rbf"``, ``"cosine"``, ``"linear"``, ``"polynomial"``, ``"laplacian"``, ``"sigmoid"``,
        ``"precomputed"`` (X is then the kernel itself), or ``f(X, Y) -> (n, m)``.
    sigma : float, "auto" or "median"
        Width of the Gaussian kernel ``exp(-|x - y|² / sigma²)``. ``"auto"`` takes the width with
        which points of held-out groups find their companions best, from 1/2 to 8 times the median
        distance; with fewer than four groups it is the median distance.
    kernel_params : dict or None
        Further arguments of the kernel.
    geometry : {"rkhs", "empirical"}
        Directions that are orthonormal in feature space, or the paper's rows of the kernel as
        plain vectors (Notes).
    approximation : {None, "nystroem", "fastfood"}
        Finite features that stand for the kernel, for more points than a kernel matrix can have.
    approximation_size : int or None
        How many features; None is the lesser of 2,000 and the number of points. The null space
        then needs more of them than residuals, N − R.
    fallback : {None, "relevant-components"}
        Where the null space is empty, as with too few features or a kernel that is numerically
        of low rank: refuse, or whiten.
    rtol : float
        Singular values at or below ``rtol`` times the largest count as zero. A kernel matrix
        holds squares, so below about 1e-7 rounding decides instead.
    random_state : int, RandomState or None
        Draws held-out groups, landmarks and random features.

    Attributes
    ----------
    sigma_ : float or None
        The width in use.
    components_ : (n_components, n_training_samples or n_features)
        Coefficients of the training points, or directions among the features.
    mean_ : (n_training_samples or n_features,)
    points_ : (n_training_samples, n_features)
        Kept where the kernel must be computed with them.
    rank_total_, rank_within_ : int
        Of S_t and S_g in feature space.

    Notes
    -----
    With the centred kernel ``K = F Fᵀ`` the linear method runs on F, the coordinates of the points
    in an orthonormal basis of feature space. The printed method takes the rows of K as features
    with unit coefficients, which is another geometry: those directions are not orthonormal in
    feature space and cost four to five points of accuracy; it stays as ``geometry="empirical"``.
    "Discard the last column", also printed, is unsafe and not done.

    Where K is safely regular, a Cholesky decomposition in the basis of group contrasts gives the
    projection directly; else the eigenvectors of K do.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.subspace import KernelNullSpaceProjection
    >>> rng = np.random.default_rng(0)
    >>> X, groups = rng.normal(size=(30, 2)), np.repeat(np.arange(10), 3)
    >>> Z = KernelNullSpaceProjection(sigma="median").fit_transform(X, groups)
    >>> Z.shape
    (30, 9)
    >>> bool(np.allclose(Z[groups == 4], Z[12], atol=1e-6))
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelProjection._parameter_constraints,
        "n_components": [POSITIVE_INTEGER, None],
        "fallback": [StrOptions({"relevant-components"}), None],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
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
        found = solve_kernel_null_space(K, groups, self.rtol)
        m = found.coefficients.shape[1]
        if m == 0:
            if self.fallback is not None:
                return solve_kernel_relevant_components(K, groups, n_components, self.rtol)
            raise InputError(
                f"the null space is empty: rank(S_t) = {found.rank_total} and rank(S_g) = "
                f"{found.rank_within} for {len(K)} points; the kernel is too smooth for so many "
                "points, or all are in one group. Use a smaller sigma, another kernel, or "
                'fallback="relevant-components"'
            )
        k = check_n_components(n_components, m, "rank(S_t) - rank(S_g) allows")
        return found._replace(coefficients=found.coefficients[:, :k])

    def _solve_grid(
        self, K: np.ndarray, groups: np.ndarray, grid: list[Any]
    ) -> list[KernelSolution]:
        found = solve_kernel_null_space(K, groups, self.rtol)
        return [found._replace(coefficients=found.coefficients[:, :m]) for m in grid]

    def _linear(self, n_components: Any) -> NullSpaceProjection:
        return NullSpaceProjection(n_components, fallback=self.fallback, rtol=self.rtol)

    def _keep_solution(self, solution: KernelSolution, groups: np.ndarray) -> None:
        super()._keep_solution(solution, groups)
        self.rank_total_, self.rank_within_ = solution.rank_total, solution.rank_within

    def _keep_linear(self, linear: LinearModel) -> None:
        super()._keep_linear(linear)
        self.rank_total_, self.rank_within_ = linear.rank_total_, linear.rank_within_


class KernelRelevantComponents(KernelProjection):
    """Relevant component analysis in the feature space of a kernel (kernel RCA).

    Parameters
    ----------
    n_components : int, "auto" or None
        Kernel principal components kept before whitening. None keeps as many as the rank of the
        within-group scatter; ``"auto"`` picks the number by held-out groups, together with sigma.
    kernel, sigma, kernel_params, geometry, approximation, n_features, rtol, random_state
        As in :class:`KernelNullSpaceProjection`.

    Attributes
    ----------
    sigma_ : float or None
        The width in use.
    components_ : (n_components, n_training_samples or n_features)
    mean_ : (n_training_samples or n_features,)
    points_ : (n_training_samples, n_features)
    n_components_ : int

    Notes
    -----
    The within-group scatter of a kernel is singular whatever the number of points; reducing to
    kernel principal components first, as here, is the paper's way, and the number of them matters
    much.

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
        n_components: int | str | None = None,
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
        return solve_kernel_relevant_components(K, groups, n_components, self.rtol)

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
