"""Null-space projection: directions in which groups collapse to points and stay apart."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import linalg
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions

from mien._core.constraints import FRACTION, NON_NEGATIVE, POSITIVE_INTEGER, SHARE
from mien._core.linalg import fix_signs, null_space, symmetrize, thin_svd
from mien._core.rows import validate_rows
from mien._core.statistics import GroupStatistics
from mien._core.types import FLOATS
from mien._core.validation import check_groups, check_labels
from mien.errors import InputError
from mien.subspace._base import (
    GroupProjection,
    check_n_components,
    choose_solver,
    scatter_tolerance,
    statistics_of,
)
from mien.subspace._contrasts import (
    Contrasts,
    group_contrasts,
    largest_singular_value,
    triangle_has_full_rank,
)
from mien.subspace._eigenfaces import scatter_directions
from mien.subspace._relevant_components import RelevantComponents
from mien.subspace._soft import (
    GroupCounts,
    SoftSolution,
    solve_soft_null_space,
    weigh_directions,
)

__all__ = [
    "NullSpaceLDA",
    "NullSpaceProjection",
    "NullSpaceSolution",
    "solve_null_space",
]


class NullSpaceSolution(NamedTuple):
    """Orthonormal rows (m, d), their between scales (m,), and the two ranks."""

    directions: np.ndarray
    scales: np.ndarray
    rank_total: int
    rank_within: int


def solve_null_space(contrasts: Contrasts, rtol: float) -> NullSpaceSolution:
    """The part of the range of S_t that S_g sends to zero, most between-scatter first.

    Because ``S_t = withinᵀ within + betweenᵀ between``, that part is what is left of the
    ``between`` rows when the span of the ``within`` rows is taken out of them. No d×d matrix is
    made when there are more features than points.
    """
    within, between = contrasts.within, contrasts.between
    tolerance = rtol * largest_singular_value(within, between)
    if within.shape[0] < within.shape[1]:
        rank_within, left, lift = _take_out_by_qr(within, between, tolerance)
    else:
        rank_within, left, lift = _take_out_by_null_space(within, between, tolerance)
    U, s, _ = thin_svd(left, rtol=0.0) if left.size else (left, np.zeros(0), left)
    m = int(np.count_nonzero(s > tolerance))
    directions = lift(U[:, :m]).T if m else np.zeros((0, within.shape[1]))
    return NullSpaceSolution(directions, s[:m], rank_within + m, rank_within)


def _take_out_by_qr(
    within: np.ndarray, between: np.ndarray, tolerance: float
) -> tuple[int, np.ndarray, Any]:
    """Rank of ``within``, the rest of ``between`` in complement coordinates, and the way back."""
    k, d = within.shape
    if k == 0:
        return 0, between.T, lambda U: U
    qr, tau, _, _ = linalg.lapack.dgeqrf(np.asfortranarray(within.T))
    if not triangle_has_full_rank(qr[:k], tolerance):
        basis = thin_svd(within, rtol=0.0)
        rows = basis.Vt[basis.s > tolerance]
        rest = between.T - rows.T @ (rows @ between.T)
        # Once more: what the first subtraction left of the span by cancellation.
        rest -= rows.T @ (rows @ rest)
        return len(rows), rest, lambda U: U

    def multiply(C: np.ndarray, trans: str) -> np.ndarray:
        C = np.asfortranarray(C)
        work = max(1, C.shape[1]) * 64
        return linalg.lapack.dormqr("L", trans, qr, tau, C, work, overwrite_c=True)[0]

    def lift(U: np.ndarray) -> np.ndarray:
        padded = np.zeros((d, U.shape[1]), order="F")
        padded[k:] = U
        return multiply(padded, "N")

    return k, multiply(between.T, "T")[k:], lift


def _take_out_by_null_space(
    within: np.ndarray, between: np.ndarray, tolerance: float
) -> tuple[int, np.ndarray, Any]:
    d = within.shape[1]
    (R,) = linalg.qr(within, mode="r", check_finite=False)
    R = R[:d]
    if triangle_has_full_rank(R, tolerance):
        return d, np.zeros((0, len(between))), None
    largest = linalg.norm(R, 2)
    basis = null_space(R, tolerance / largest) if largest > tolerance else np.eye(d)
    return d - basis.shape[1], basis.T @ between.T, lambda U: basis @ U


class NullSpaceProjection(GroupProjection):
    """Null-space projection with partial equivalence relations (NP-PER), soft or exact.

    Points of a group belong to one class, whose name nobody knows; two groups may share it. What
    varies inside groups is of no use for telling classes apart: the soft projection weighs it
    down, and the exact one takes it out, so that every group collapses to a point.

    Parameters
    ----------
    n_components : int or None, default=None
        How many directions to keep, those of most between-group scatter first. None keeps all:
        ``rank(S_t)`` of them, or ``rank(S_t) - rank(S_g)`` in the exact null space. Keep all unless
        the projected vectors must be short.
    regularization : "auto" or float, default="auto"
        λ, in units of the mean variance of a residual inside a group. A direction with the
        variance v inside groups is weighed by :math:`\\sqrt{λ / (v + λ)}`. 0 is the paper's exact
        null space, which suits data with far more features than points and groups that show
        everything that varies. ``"auto"`` computes λ from the residuals, without labels (Notes).
    between_shrinkage : "auto" or float, default="auto"
        Directions along which groups hardly differ are weighed down as well. This share, from 0 to
        1, of what groups differ by is taken to be the same along all directions: 1 leaves it at
        λ, 0 trusts the groups at hand, which suits many groups of the very people that will be
        asked for. ``"auto"`` computes it from the groups, without labels (Notes). Without effect
        where ``regularization=0``.
    fallback : {None, "relevant-components"}, default=None
        For ``regularization=0``: what to do where the null space is empty, which is so when there
        are enough points inside groups to fill the space (d ≤ N − R): refuse, or learn
        :class:`RelevantComponents`.
    rtol : float, default=1e-9
        Singular values at or below ``rtol`` times the largest of the data count as zero.

    Attributes
    ----------
    mean_ : (n_features,)
        Mean of all points, grouped or not; it becomes the origin.
    components_ : (n_components, n_features)
        Weighted directions; orthonormal rows where ``regularization=0``.
    regularization_, between_shrinkage_ : float
        λ and the share in use.
    rank_total_, rank_within_ : int
        Numerical ranks of S_t and S_g.
    method_ : {"soft-null-space", "null-space", "relevant-components"}
        What was learned; the last one where the fallback was taken.

    See Also
    --------
    KernelNullSpaceProjection : The same in the feature space of a kernel.
    RelevantComponents : Whitening of the leading principal components.
    NullSpaceLDA : The same with classes that have names.
    NearestNeighbourIdentifier, ConstrainedClustering : What to do in the projected space.

    Notes
    -----
    Let S_t be the total scatter, S_g the scatter inside groups, N − R the number of residuals
    (points in groups less groups), and :math:`C = S_g / (N - R)`. The soft projection is

    .. math:: x \\mapsto D A \\left(I + C / (\\lambda \\bar c)\\right)^{-1/2} (x - \\text{mean}),
              \\qquad \\bar c = \\operatorname{tr} C / \\operatorname{rank} S_t,

    with A a rotation inside the range of S_t to the directions of most between-group scatter. As λ
    goes to 0 it becomes the orthogonal projection on the null space of S_g. A null space of few
    residuals is mostly noise: the directions that the residuals at hand happen not to span. So
    ``"auto"`` takes :math:`\\lambda = s (1 - s) + 0.05`, where s is the oracle approximating
    shrinkage of C [Chen2010]_, the share of a ball that makes C the best estimate of the
    covariance of residuals, or one half where that is less.

    D is diagonal, with :math:`\\sqrt{g / (1 + g)}`: the share of the variance along a direction
    that lies between classes, where g is the variance of class means in units of what varies inside
    groups and λ, estimated from the scatter of group means less what residuals put into it. Few
    groups show few directions of that, so g is drawn towards its mean by ``between_shrinkage``;
    ``"auto"`` is twice the oracle approximating shrinkage of the between-group scatter after the
    first weighing. With 1, D is the identity, and a large λ is no projection at all. With groups
    as classes and D a cut after R − 1 directions, this is linear discriminant analysis with a
    shrunk covariance, which is worse for new people, who differ along other directions too.

    Both rules were chosen on other divisions of nine sets at hand than those that are reported.
    They differ little: seven such rules lie within two points of each other on ORL, LFW and
    rendered people and within four on Yale, and with rendered people left out, the other three
    sets would have kept D the identity (``python -m papers weak-labels --part soft``).

    The paper minimises a determinant, which is zero as soon as one direction lies in the null
    space: the criterion here is the trace with orthonormal columns, whose minimisers are what the
    paper computes [Kumar2007]_. Points in no group (None, NaN, -1) count in S_t only: they widen
    the space and collapse nowhere.

    For the exact null space, residuals enter as orthonormal contrasts inside the groups; a QR
    decomposition of those, whose condition is estimated, gives the complement; only where the rank
    is in doubt a singular value decomposition decides. From :class:`GroupStatistics` the ranks are
    those that scatters can show, about 1e-7 of the largest singular value.

    Compare projected points by their cosine: see :class:`NearestNeighbourIdentifier`.

    References
    ----------
    Keys are those of the :doc:`bibliography </bibliography>`: [Kumar2007]_, [Chen2010]_.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.subspace import NullSpaceProjection
    >>> rng = np.random.default_rng(0)
    >>> X, groups = rng.normal(size=(12, 50)), np.repeat(np.arange(4), 3)
    >>> NullSpaceProjection().fit_transform(X, groups).shape
    (12, 11)

    The paper's method makes each group one point:

    >>> Z = NullSpaceProjection(regularization=0).fit_transform(X, groups)
    >>> Z.shape
    (12, 3)
    >>> bool(np.allclose(Z[groups == 0], Z[0]))
    True
    """

    _additive = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [POSITIVE_INTEGER, None],
        "regularization": [NON_NEGATIVE, StrOptions({"auto"})],
        "between_shrinkage": [SHARE, StrOptions({"auto"})],
        "fallback": [StrOptions({"relevant-components"}), None],
        "rtol": [FRACTION],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        regularization: float | str = "auto",
        between_shrinkage: float | str = "auto",
        fallback: str | None = None,
        rtol: float = 1e-9,
    ) -> None:
        self.n_components = n_components
        self.regularization = regularization
        self.between_shrinkage = between_shrinkage
        self.fallback = fallback
        self.rtol = rtol

    def _fit_points(self, X: np.ndarray, groups: np.ndarray) -> Self:
        if self.regularization != 0:
            if choose_solver(X, "auto", None) == "statistics":
                return self._fit_statistics(statistics_of(X, groups))
            contrasts = group_contrasts(X, groups)
            self.mean_ = contrasts.mean
            return self._keep_soft(
                solve_soft_null_space(contrasts, self.regularization, self.between_shrinkage)
            )
        contrasts = group_contrasts(X, groups)
        solution = solve_null_space(contrasts, self.rtol)
        self.mean_ = contrasts.mean
        if self._keep(solution, X.shape[1], len(contrasts.within)):
            return self
        return self._fall_back(self._whitening().fit(X, groups))

    def _fit_statistics(self, statistics: GroupStatistics) -> Self:
        self.mean_ = statistics.mean
        d, n_residuals = statistics.n_features, statistics.n_grouped - statistics.n_groups
        directions, scales = scatter_directions(statistics.scatter(), self.rtol)
        within = symmetrize(directions @ statistics.within_scatter() @ directions.T)
        if self.regularization != 0:
            between = np.diag(scales**2) - within
            n_units = statistics.n_samples - n_residuals
            found = weigh_directions(
                within,
                between,
                GroupCounts(n_residuals, n_units, statistics.n_samples),
                self.regularization,
                self.between_shrinkage,
            )
            return self._keep_soft(found._replace(directions=found.directions @ directions))
        values, vectors = linalg.eigh(within, check_finite=False)
        largest = scales.max(initial=0.0) ** 2
        null = vectors[:, values <= scatter_tolerance(self.rtol, d) * largest]
        left = (directions.T @ null).T
        between = (scales * null.T) if null.size else np.zeros((0, len(scales)))
        U, s, _ = linalg.svd(between, full_matrices=False) if null.size else (null, scales[:0], 0)
        rank = len(scales)
        solution = NullSpaceSolution(U.T @ left if null.size else left, s, rank, rank - len(s))
        if self._keep(solution, d, n_residuals):
            return self
        return self._fall_back(self._whitening().fit(statistics))

    def _keep_soft(self, solution: SoftSolution) -> Self:
        if solution.rank_total == 0:
            raise InputError(_empty_message(0, 0, 0, 0))
        self.rank_total_, self.rank_within_ = solution.rank_total, solution.rank_within
        self.regularization_ = solution.regularization
        self.between_shrinkage_ = solution.between_shrinkage
        k = check_n_components(self._most_components(), solution.rank_total, "rank(S_t) allows")
        self.components_ = fix_signs(solution.directions[:k])
        self.method_ = "soft-null-space"
        return self

    def _most_components(self) -> int | None:
        return self.n_components

    def _keep(self, solution: NullSpaceSolution, d: int, n_residuals: int) -> bool:
        """Take over an exact solution; False where it is empty and a fallback is wanted."""
        self.rank_total_, self.rank_within_ = solution.rank_total, solution.rank_within
        self.regularization_, self.between_shrinkage_ = 0.0, 1.0
        m = len(solution.directions)
        if m == 0 and self.fallback is None:
            raise InputError(
                _empty_message(solution.rank_total, solution.rank_within, d, n_residuals)
            )
        if m == 0:
            return False
        k = check_n_components(self.n_components, m, "rank(S_t) - rank(S_g) allows")
        self.components_ = fix_signs(solution.directions[:k])
        self.method_ = "null-space"
        return True

    def _whitening(self) -> RelevantComponents:
        return RelevantComponents(self.n_components or "auto", rtol=self.rtol, random_state=0)

    def _fall_back(self, model: RelevantComponents) -> Self:
        self.components_ = model.components_
        self.method_ = "relevant-components"
        return self


def _empty_message(rank_total: int, rank_within: int, d: int, n_residuals: int) -> str:
    """What to say where no direction is left, with the numbers and the ways out."""
    if rank_total == 0:
        return "all samples are equal: at least two different samples are needed"
    return (
        f"the null space is empty: rank(S_t) = {rank_total} and rank(S_g) = {rank_within}, with "
        f"n_features = {d} and N - R = {n_residuals} residuals inside groups; the exact one needs "
        'n_features > N - R and groups that differ. Use regularization="auto" (the soft null '
        'space), fallback="relevant-components", or fewer points in groups'
    )


class NullSpaceLDA(NullSpaceProjection):
    """Null-space linear discriminant analysis: the projection with named classes, soft or exact.

    Parameters
    ----------
    n_components : int or None, default=None
        How many directions to keep; None keeps all that tell the classes apart, at most one less
        than there are classes.
    regularization : "auto" or float, default="auto"
        λ, in units of the mean variance of a residual inside a class; 0 is the exact null space of
        [Huang2002]_. As in :class:`NullSpaceProjection`.
    between_shrinkage : "auto" or float, default="auto"
        As in :class:`NullSpaceProjection`.
    fallback : {None, "relevant-components"}, default=None
        For ``regularization=0``: what to do where the null space is empty.
    rtol : float, default=1e-9
        Singular values at or below ``rtol`` times the largest of the data count as zero.

    Attributes
    ----------
    mean_ : (n_features,)
        Mean of all samples.
    components_ : (n_components, n_features)
        Weighted directions; orthonormal rows where ``regularization=0``.
    classes_ : (n_classes,)
        The classes, sorted.
    regularization_, between_shrinkage_, rank_total_, rank_within_, method_
        As in :class:`NullSpaceProjection`.

    See Also
    --------
    NullSpaceProjection : For groups without names, and points in no group.
    Fisherfaces : Principal components, then Fisher's discriminants.

    Notes
    -----
    Every label is a class, -1 too. With λ from the data this is linear discriminant analysis with
    a shrunk covariance whose discriminants are not rescaled to unit variance.

    References
    ----------
    [Huang2002]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.subspace import NullSpaceLDA
    >>> X = np.random.default_rng(0).normal(size=(6, 20))
    >>> NullSpaceLDA().fit_transform(X, ["a", "a", "b", "b", "c", "c"]).shape
    (6, 2)
    """

    _additive = False

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from X (n_samples, n_features) and classes y (n_samples,)."""
        X, y = validate_rows(self, X, y, dtype=FLOATS, ensure_min_samples=2)
        self.classes_, classes = np.unique(
            check_labels("y", y, len(X), missing="class"), return_inverse=True
        )
        if len(self.classes_) < 2:
            raise InputError("at least two classes are needed; got one class")
        check_groups(classes, len(X))
        return self._fit_points(X, classes)

    def _most_components(self) -> int | None:
        most = min(len(self.classes_) - 1, self.rank_total_)
        return check_n_components(self.n_components, most, "the classes allow")
