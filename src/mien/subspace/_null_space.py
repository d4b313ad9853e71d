"""Null-space projection: directions in which groups collapse to points and stay apart."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import linalg
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import validate_data

from mien._core.constraints import FRACTION, POSITIVE_INTEGER
from mien._core.linalg import fix_signs, null_space, symmetrize, thin_svd
from mien._core.statistics import GroupStatistics
from mien._core.validation import check_labels
from mien.errors import InputError
from mien.subspace._base import FLOATS, GroupProjection, check_n_components, scatter_tolerance
from mien.subspace._contrasts import (
    Contrasts,
    group_contrasts,
    largest_singular_value,
    triangle_has_full_rank,
)
from mien.subspace._eigenfaces import scatter_directions
from mien.subspace._relevant_components import RelevantComponents

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
    """Null-space projection with partial equivalence relations (NP-PER).

    Points of a group belong to one class, whose name nobody knows; two groups may share it. The
    projection keeps the directions in which every group collapses to a point and the group means
    do not all coincide: the null space of the within-group scatter S_g inside the range of the
    total scatter S_t. With whole classes as groups it is null-space LDA.

    Parameters
    ----------
    n_components : int or None
        How many directions to keep, those of most between-group scatter first; None keeps all
        ``m = rank(S_t) - rank(S_g)``.
    fallback : {None, "relevant-components"}
        What to do where the null space is empty, which is so when there are enough points inside
        groups to fill the space (d ≤ N − R): refuse, or learn :class:`RelevantComponents`.
    rtol : float
        Singular values at or below ``rtol`` times the largest of the data count as zero.

    Attributes
    ----------
    mean_ : (n_features,)
    components_ : (n_components, n_features)
        Orthonormal rows (whitening rows where the fallback was taken).
    rank_total_, rank_within_ : int
        Numerical ranks of S_t and S_g.
    method_ : str
        ``"null-space"`` or ``"relevant-components"``.

    Notes
    -----
    The paper minimises a determinant, which is zero as soon as one direction lies in the null
    space: the criterion here is the trace with orthonormal columns, whose minimisers are what the
    paper computes. Points in no group (-1) count in S_t only: they widen the space and collapse
    nowhere.

    Residuals enter as orthonormal contrasts inside the groups; a QR decomposition of those, whose
    condition is estimated, gives the complement; only where the rank is in doubt a singular value
    decomposition decides. From :class:`GroupStatistics` the ranks are those that scatters can
    show, about 1e-7 of the largest singular value.

    References
    ----------
    S. Kumar, H. A. Rowley. Classification of weakly-labeled data with partial equivalence
    relations. ICCV 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.subspace import NullSpaceProjection
    >>> rng = np.random.default_rng(0)
    >>> X, groups = rng.normal(size=(12, 50)), np.repeat(np.arange(4), 3)
    >>> Z = NullSpaceProjection().fit_transform(X, groups)
    >>> Z.shape
    (12, 3)
    >>> bool(np.allclose(Z[groups == 0], Z[0]))
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [POSITIVE_INTEGER, None],
        "fallback": [StrOptions({"relevant-components"}), None],
        "rtol": [FRACTION],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        fallback: str | None = None,
        rtol: float = 1e-9,
    ) -> None:
        self.n_components = n_components
        self.fallback = fallback
        self.rtol = rtol

    def _fit_points(self, X: np.ndarray, groups: np.ndarray) -> Self:
        contrasts = group_contrasts(X, groups)
        solution = solve_null_space(contrasts, self.rtol)
        self.mean_ = contrasts.mean
        if self._keep(solution, X.shape[1], len(contrasts.within)):
            return self
        return self._fall_back(RelevantComponents(self.n_components, rtol=self.rtol).fit(X, groups))

    def _fit_statistics(self, statistics: GroupStatistics) -> Self:
        d = statistics.n_features
        directions, scales = scatter_directions(statistics.scatter(), self.rtol)
        within = symmetrize(directions @ statistics.within_scatter() @ directions.T)
        values, vectors = linalg.eigh(within, check_finite=False)
        largest = scales.max(initial=0.0) ** 2
        null = vectors[:, values <= scatter_tolerance(self.rtol, d) * largest]
        left = (directions.T @ null).T
        between = (scales * null.T) if null.size else np.zeros((0, len(scales)))
        U, s, _ = linalg.svd(between, full_matrices=False) if null.size else (null, scales[:0], 0)
        rank = len(scales)
        solution = NullSpaceSolution(U.T @ left if null.size else left, s, rank, rank - len(s))
        if self._keep(solution, d, statistics.n_grouped - statistics.n_groups):
            return self
        model = RelevantComponents(self.n_components, rtol=self.rtol)
        return self._fall_back(model.fit(statistics))

    def _keep(self, solution: NullSpaceSolution, d: int, n_residuals: int) -> bool:
        """Take over a solution; False where it is empty and a fallback is wanted."""
        self.rank_total_, self.rank_within_ = solution.rank_total, solution.rank_within
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
        f"n_features = {d} and N - R = {n_residuals} residuals inside groups; it needs "
        'n_features > N - R and groups that differ. Use fallback="relevant-components", '
        "KernelNullSpaceProjection, more features, or fewer points in groups"
    )


class NullSpaceLDA(GroupProjection):
    """Null-space linear discriminant analysis: the same with class labels.

    Parameters
    ----------
    n_components : int or None
        How many directions to keep; None keeps all, at most one less than there are classes.
    fallback : {None, "relevant-components"}
        What to do where the null space is empty, as in :class:`NullSpaceProjection`.
    rtol : float
        Singular values at or below ``rtol`` times the largest of the data count as zero.

    Attributes
    ----------
    mean_ : (n_features,)
    components_ : (n_components, n_features)
        Orthonormal rows.
    classes_ : (n_classes,)
    rank_total_, rank_within_ : int
        Numerical ranks of S_t and S_w.

    Notes
    -----
    Every label is a class, -1 too. For points in no class use :class:`NullSpaceProjection`.

    References
    ----------
    R. Huang, Q. Liu, H. Lu, S. Ma. Solving the small sample size problem of LDA. ICPR 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.subspace import NullSpaceLDA
    >>> X = np.random.default_rng(0).normal(size=(6, 20))
    >>> NullSpaceLDA().fit_transform(X, ["a", "a", "b", "b", "c", "c"]).shape
    (6, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [POSITIVE_INTEGER, None],
        "fallback": [StrOptions({"relevant-components"}), None],
        "rtol": [FRACTION],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        fallback: str | None = None,
        rtol: float = 1e-9,
    ) -> None:
        self.n_components = n_components
        self.fallback = fallback
        self.rtol = rtol

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Learn from X (n_samples, n_features) and classes y (n_samples,)."""
        X, y = validate_data(self, X, y, dtype=FLOATS, ensure_min_samples=2)
        self.classes_, classes = np.unique(
            check_labels("y", y, len(X), missing="class"), return_inverse=True
        )
        if len(self.classes_) < 2:
            raise InputError("at least two classes are needed; got one class")
        projection = NullSpaceProjection(
            self.n_components, fallback=self.fallback, rtol=self.rtol
        ).fit(X, classes)
        self.mean_, self.components_ = projection.mean_, projection.components_
        self.rank_total_, self.rank_within_ = projection.rank_total_, projection.rank_within_
        return self
