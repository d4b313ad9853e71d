"""Relevant component analysis: whiten what varies inside groups."""

from __future__ import annotations

from typing import Any, ClassVar, Self, cast

import numpy as np
from scipy import linalg
from sklearn.utils._param_validation import StrOptions

from mien._core.constraints import FRACTION, POSITIVE_INTEGER
from mien._core.linalg import fix_signs, symmetrize, thin_svd
from mien._core.statistics import GroupStatistics
from mien._core.validation import NO_GROUP
from mien.errors import InputError
from mien.subspace._base import (
    GroupProjection,
    check_n_components,
    choose_solver,
    row_batches,
    scatter_tolerance,
    statistics_of,
)
from mien.subspace._consistency import MIN_GROUPS, choose_n_components, guess_n_components
from mien.subspace._contrasts import (
    Contrasts,
    group_contrasts,
    largest_singular_value,
    matrix_rank,
)
from mien.subspace._eigenfaces import scatter_directions
from mien.subspace._randomized import randomized_directions

__all__ = ["RelevantComponents", "check_whitening_rank", "whiten_residuals", "whiten_scatter"]


def whiten_residuals(residuals: np.ndarray, n_grouped: int, tolerance: float) -> np.ndarray:
    """Rows (k, d) that make ``residualsᵀ residuals / n_grouped`` the identity, k its rank."""
    _, s, Vt = thin_svd(residuals, rtol=0.0)
    keep = s > tolerance
    return Vt[keep] * (np.sqrt(n_grouped) / s[keep])[:, None]


def whiten_scatter(scatter: np.ndarray, n_grouped: int, rtol: float, largest: float) -> np.ndarray:
    """Rows (k, d) that make ``scatter / n_grouped`` the identity, k its numerical rank."""
    directions, scales = scatter_directions(scatter, rtol, largest)
    return directions * (np.sqrt(n_grouped) / scales)[:, None]


def _reduce_by_ratio(within: np.ndarray, scales: np.ndarray, n_components: int) -> np.ndarray:
    """Coordinates (m, r) of least within/total scatter in the basis where S_t is diag(scales²)."""
    ratio = symmetrize(within / np.outer(scales, scales))
    _, vectors = linalg.eigh(ratio, subset_by_index=[0, n_components - 1], check_finite=False)
    return (vectors / scales[:, None]).T


def _solve_from_data(
    contrasts: Contrasts, n_components: int | None, reduction: str, rtol: float, clip: bool
) -> np.ndarray:
    """Components (m, d) from contrasts, with the digits of the data themselves."""
    within = contrasts.within
    n = contrasts.n_grouped
    d = within.shape[1]
    if len(within) >= d and n_components in (None, d):
        tolerance = rtol * largest_singular_value(within, contrasts.between)
        components = whiten_residuals(within, n, tolerance)
        if len(components) == d:
            return components
    stacked = np.concatenate([within, contrasts.between])
    U, s, Vt = thin_svd(stacked, rtol)
    tolerance = rtol * s.max(initial=0.0)
    # Coordinates of the residuals are rows of the decomposition that is there already.
    residuals = U[: len(within)] * s
    if n_components is not None and n_components <= len(s) and reduction == "total":
        # As many independent directions as asked for: the rank of all others does not matter.
        whitener = whiten_residuals(residuals[:, :n_components], n, tolerance)
        if len(whitener) == n_components:
            return whitener @ Vt[:n_components]
    most = matrix_rank(residuals, tolerance)
    m = check_whitening_rank(n_components, most, clip=clip)
    if reduction == "fisher":
        basis = _reduce_by_ratio(residuals.T @ residuals, s, m)
        return whiten_residuals(residuals @ basis.T, n, 0.0) @ basis @ Vt
    return whiten_residuals(residuals[:, :m], n, tolerance) @ Vt[:m]


def _solve_from_scatters(
    statistics: GroupStatistics, n_components: int | None, reduction: str, rtol: float, clip: bool
) -> np.ndarray:
    """Components (m, d) from S_g, and from S_t where a reduction is needed."""
    within, n = statistics.within_scatter(), statistics.n_grouped
    total = statistics.scatter()
    # What rounding leaves of S_g is a fraction of S_t, from which it was computed.
    largest = largest_singular_value(total)
    d = len(within)
    if n_components is None or n_components == d:
        components = whiten_scatter(within, n, rtol, largest)
        if len(components) == d:
            return components
        most = len(components)
    else:
        values = linalg.eigvalsh(within, check_finite=False)
        most = int(np.count_nonzero(values > scatter_tolerance(rtol, d) * largest))
    m = check_whitening_rank(n_components, most, clip=clip)
    directions, scales = scatter_directions(total, rtol)
    if reduction == "fisher":
        basis = _reduce_by_ratio(directions @ within @ directions.T, scales, m) @ directions
    else:
        basis = directions[:m]
    inside = symmetrize(basis @ within @ basis.T)
    return whiten_scatter(inside, n, rtol, 0.0 if reduction == "fisher" else largest) @ basis


def check_whitening_rank(n_components: int | None, most: int, *, clip: bool = False) -> int:
    """The number of directions to whiten; more than there are is refused, or clipped."""
    if most == 0:
        raise InputError(
            "every group's points are equal: there is no variation inside groups to whiten"
        )
    if clip and n_components is not None:
        return min(n_components, most)
    return check_n_components(n_components, most, "the residuals inside the groups span")


class RelevantComponents(GroupProjection):
    """Relevant component analysis (RCA): make what varies inside groups of unit size.

    Parameters
    ----------
    n_components : int, "auto" or None, default="auto"
        Directions to keep before whitening. ``"auto"`` picks the number with which points of
        held-out groups find their companions best, without any class label. It needs the points
        and four groups of two or more; from statistics, and with fewer groups, it takes half as
        many as there are residuals, N − R. None keeps all where S_g is regular, else as many as its
        rank, and so whitens directions of which next to nothing is known: the errors of nearest
        neighbours were 53 to 88 % on faces, where ``"auto"`` gave 2 to 20.
    reduction : {"total", "fisher"}, default="total"
        How to reduce: the directions of most total scatter (the paper), or those of least ratio
        of within-group to total scatter (Bar-Hillel et al., and metric-learn).
    solver : {"auto", "svd", "statistics", "randomized"}, default="auto"
        What is decomposed: the data, their scatters from one pass in batches, or a sketch of the
        data (needs ``n_components``). ``"auto"`` chooses by size.
    rtol : float, default=1e-9
        Singular values at or below ``rtol`` times the largest count as zero.
    random_state : int, RandomState or None, default=None
        For ``solver="randomized"`` and the folds of ``n_components="auto"``.

    Attributes
    ----------
    mean_ : (n_features,)
        Mean of all points, grouped or not; it becomes the origin.
    components_ : (n_components, n_features)
        The within-group covariance becomes the identity.
    n_components_ : int
        Directions kept: may be fewer than asked for where some of them do not vary inside groups.

    See Also
    --------
    NullSpaceProjection : Weighs every direction instead of leaving most of them out; better on
        most sets of faces at hand.
    KernelRelevantComponents : The same in the feature space of a kernel.

    Notes
    -----
    The within-group covariance is ``S_g / N`` with N the points in groups, as in metric-learn;
    the paper's text leaves N out, which scales every distance alike. Points in no group (-1)
    count in the total scatter only. The paper's objection holds: whitening divides by the root
    of each eigenvalue and leaves out those that are zero, where the null space method begins.

    References
    ----------
    [Shental2002]_, [BarHillel2005]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.subspace import RelevantComponents
    >>> rng = np.random.default_rng(0)
    >>> X, groups = rng.normal(size=(60, 3)) * [1, 5, 10], np.repeat(np.arange(20), 3)
    >>> Z = RelevantComponents(3).fit_transform(X, groups)
    >>> residuals = Z - np.repeat(Z.reshape(20, 3, 3).mean(axis=1), 3, axis=0)
    >>> bool(np.allclose(residuals.T @ residuals / 60, np.eye(3)))
    True
    """

    _additive = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [POSITIVE_INTEGER, StrOptions({"auto"}), None],
        "reduction": [StrOptions({"total", "fisher"})],
        "solver": [StrOptions({"auto", "svd", "statistics", "randomized"})],
        "rtol": [FRACTION],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int | str | None = "auto",
        *,
        reduction: str = "total",
        solver: str = "auto",
        rtol: float = 1e-9,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.reduction = reduction
        self.solver = solver
        self.rtol = rtol
        self.random_state = random_state

    def _fit_points(self, X: np.ndarray, groups: np.ndarray) -> Self:
        n_components: int | None
        if self.n_components == "auto":
            n_components = self._choose(X, groups)
        else:
            n_components = cast(int | None, self.n_components)
        solver = choose_solver(X, self.solver, n_components)
        if solver == "statistics":
            return self._fit_scatters(statistics_of(X, groups), n_components)
        if solver == "randomized":
            return self._fit_sketch(X, groups, n_components)
        contrasts = group_contrasts(X, groups)
        self.mean_ = contrasts.mean
        clip = self.n_components == "auto"
        self._keep(_solve_from_data(contrasts, n_components, self.reduction, self.rtol, clip))
        return self

    def _fit_statistics(self, statistics: GroupStatistics) -> Self:
        if self.n_components == "auto":
            n_residuals = statistics.n_grouped - statistics.n_groups
            return self._fit_scatters(statistics, guess_n_components(n_residuals))
        return self._fit_scatters(statistics, cast(int | None, self.n_components))

    def _choose(self, X: np.ndarray, groups: np.ndarray) -> int:
        """The number of components by held-out groups, or by a rule where there are too few."""
        _, counts = np.unique(groups[groups != NO_GROUP], return_counts=True)
        if np.count_nonzero(counts >= 2) >= MIN_GROUPS:
            return choose_n_components(X, groups, random_state=self.random_state)
        return guess_n_components(int(counts.sum()) - len(counts))

    def _fit_scatters(self, statistics: GroupStatistics, n_components: int | None) -> Self:
        self.mean_ = statistics.mean
        clip = self.n_components == "auto"
        self._keep(_solve_from_scatters(statistics, n_components, self.reduction, self.rtol, clip))
        return self

    def _fit_sketch(self, X: np.ndarray, groups: np.ndarray, n_components: int | None) -> Self:
        if n_components is None:
            raise InputError('solver="randomized" needs n_components; got None')
        if self.reduction != "total":
            raise InputError(
                'solver="randomized" keeps directions of most total scatter: use reduction="total"'
            )
        self.mean_, basis, _ = randomized_directions(
            X, n_components, random_state=self.random_state
        )
        coordinates = np.concatenate([part @ basis for part, _ in row_batches(X, groups)])
        contrasts = group_contrasts(coordinates, groups)
        self._keep(
            whiten_residuals(
                contrasts.within,
                contrasts.n_grouped,
                self.rtol * linalg.norm(contrasts.within, 2),
            )
            @ basis.T
        )
        return self

    def _keep(self, components: np.ndarray) -> None:
        self.components_ = fix_signs(components)
        self.n_components_ = len(components)
