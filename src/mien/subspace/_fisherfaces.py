"""Fisher's discriminants after principal components, for pictures with names."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context

from mien._core.constraints import FRACTION, POSITIVE_INTEGER
from mien._core.linalg import fix_signs, simultaneous_diagonalisation, thin_svd
from mien._core.rows import validate_rows
from mien._core.statistics import GroupStatistics
from mien._core.types import FLOATS
from mien._core.validation import check_labels
from mien.errors import InputError
from mien.subspace._base import (
    GroupProjection,
    check_n_components,
    choose_solver,
    statistics_of,
)
from mien.subspace._contrasts import group_contrasts
from mien.subspace._eigenfaces import scatter_directions

__all__ = ["Fisherfaces"]


def _default_n_pca(n_residuals: int, n_classes: int, rank: int) -> int:
    """Half of N - C, so that S_w is estimated from twice as many residuals as it has rows."""
    return max(1, min(rank, n_residuals, max(n_residuals // 2, n_classes - 1)))


class Fisherfaces(GroupProjection):
    """Principal components, then the directions of largest between/within ratio.

    Parameters
    ----------
    n_components : int or None, default=None
        How many discriminants to keep; None keeps all, at most one less than there are classes.
    n_pca : int or None, default=None
        Principal components kept before. None keeps half of N − C (and at least C − 1 where
        N − C allows): N − C itself, as the method is often printed, leaves S_w regular and so
        badly estimated that it overfits (over half of all ORL faces wrong).
    rtol : float, default=1e-9
        Singular values at or below ``rtol`` times the largest count as zero.

    Attributes
    ----------
    mean_ : (n_features,)
        Mean of the samples; it becomes the origin.
    components_ : (n_components, n_features)
        The within-class covariance ``S_w / N`` becomes the identity.
    explained_variance_ratio_ : (n_components,)
        Share of each discriminant in the between-class variance, in units of the variance inside
        classes, descending; as in scikit-learn's ``LinearDiscriminantAnalysis``.
    classes_ : (n_classes,)
        The classes, sorted.
    n_pca_ : int
        Principal components in use.

    See Also
    --------
    NullSpaceLDA : Weighs directions instead of choosing a number of principal components.
    mien.committee.RandomSamplingLDA : Many of these, each on other components.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : Without the principal components.

    Notes
    -----
    In the space of the leading principal components, V solves
    :math:`V^T S_w V = N I` with :math:`V^T S_b V` diagonal and descending.

    References
    ----------
    [Belhumeur1997]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.subspace import Fisherfaces
    >>> X = np.random.default_rng(0).normal(size=(12, 40))
    >>> Fisherfaces().fit_transform(X, np.repeat(["ann", "bob", "cy"], 4)).shape
    (12, 2)
    """

    _additive = True
    _needs_labels = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [POSITIVE_INTEGER, None],
        "n_pca": [POSITIVE_INTEGER, None],
        "rtol": [FRACTION],
    }

    def __init__(
        self, n_components: int | None = None, *, n_pca: int | None = None, rtol: float = 1e-9
    ) -> None:
        self.n_components = n_components
        self.n_pca = n_pca
        self.rtol = rtol

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from X (n_samples, n_features) and classes y (n_samples,).

        X may also be GroupStatistics whose groups are the classes.
        """
        if isinstance(X, GroupStatistics):
            self._start_from(X)
            return self._fit_statistics(X)
        X, y = validate_rows(self, X, y, dtype=FLOATS, ensure_min_samples=2)
        self.classes_, classes = np.unique(
            check_labels("y", y, len(X), missing="class"), return_inverse=True
        )
        if choose_solver(X, "auto", None) == "statistics":
            return self._fit_scatters(statistics_of(X, classes))
        contrasts = group_contrasts(X, classes)
        U, s, Vt = thin_svd(np.concatenate([contrasts.within, contrasts.between]), self.rtol)
        coordinates = U * s
        k = len(contrasts.within)
        n_pca = self._choose_n_pca(k, len(s))
        self.mean_ = contrasts.mean
        residuals, between = coordinates[:k, :n_pca], coordinates[k:, :n_pca]
        self._keep(residuals.T @ residuals, between.T @ between, Vt[:n_pca], len(X))
        return self

    def _fit_statistics(self, statistics: GroupStatistics) -> Self:
        self.classes_ = np.sort(statistics.labels)
        return self._fit_scatters(statistics)

    def _fit_scatters(self, statistics: GroupStatistics) -> Self:
        self.mean_ = statistics.mean
        directions, _ = scatter_directions(statistics.scatter(), self.rtol)
        n_residuals = statistics.n_grouped - statistics.n_groups
        basis = directions[: self._choose_n_pca(n_residuals, len(directions))]
        within = basis @ statistics.within_scatter() @ basis.T
        between = basis @ statistics.between_scatter() @ basis.T
        self._keep(within, between, basis, statistics.n_grouped)
        return self

    def _choose_n_pca(self, n_residuals: int, rank: int) -> int:
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise InputError("at least two classes are needed; got one class")
        if rank == 0:
            raise InputError("all samples are equal: at least two different samples are needed")
        if n_residuals < 1:
            raise InputError("every class has one sample: no variation inside classes is known")
        if self.n_pca is None:
            self.n_pca_ = _default_n_pca(n_residuals, n_classes, rank)
        elif self.n_pca > min(n_residuals, rank):
            raise InputError(
                f"n_pca={self.n_pca} makes the within-class scatter singular: it can be at most "
                f"{min(n_residuals, rank)}, the lesser of N - C = {n_residuals} and the rank "
                f"{rank} of the data"
            )
        else:
            self.n_pca_ = self.n_pca
        return self.n_pca_

    def _keep(self, within: np.ndarray, between: np.ndarray, basis: np.ndarray, n: int) -> None:
        V, ratios = simultaneous_diagonalisation(within, between)
        most = min(len(self.classes_) - 1, len(ratios))
        k = check_n_components(self.n_components, most, "the classes and n_pca allow")
        self.components_ = fix_signs(np.sqrt(n) * V[:, :k].T @ basis)
        self.explained_variance_ratio_ = ratios[:k] / ratios[:most].sum()
