"""What the projections share: reading the data, fitting from parts, projecting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mien._core.progress import track
from mien._core.rows import validate_rows
from mien._core.statistics import GroupStatistics
from mien._core.types import FLOATS
from mien._core.validation import check_groups
from mien.errors import InputError

__all__ = ["GroupProjection", "GroupStatistics", "LinearProjection"]

BATCH_BYTES = 2**26


class LinearProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """``transform(X) = (X - mean_) @ components_.T``."""

    mean_: np.ndarray
    components_: np.ndarray

    def transform(self, X: Any) -> np.ndarray:
        """Project X (n_samples, n_features) to (n_samples, n_components); float32 stays so."""
        check_is_fitted(self, "components_")
        X = validate_rows(self, X, dtype=FLOATS, reset=False)
        components = self.components_.astype(X.dtype, copy=False)
        # The mean is projected once and not subtracted from every picture.
        return X @ components.T - (self.components_ @ self.mean_).astype(X.dtype)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class GroupProjection(LinearProjection):
    """A projection that learns from groups: ``fit(X, groups)``, or ``fit(statistics)``."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Self:
        """Learn the projection.

        Parameters
        ----------
        X : array-like (n_samples, n_features), or GroupStatistics
            Vectors (a memory map is fine), or the statistics of parts of them, merged.
        y : array-like (n_samples,), optional
            The group of each vector, any labels; None, NaN, NaT and -1 are in no group. Ignored
            where ``groups`` is given.
        groups : array-like (n_samples,), optional
            The same as metadata, for a pipeline in which ``y`` holds the classes of a classifier
            further on. Call ``set_fit_request(groups=True)`` and switch on scikit-learn's
            metadata routing.

        Returns
        -------
        self
        """
        if isinstance(X, GroupStatistics):
            self._start_from(X)
            return self._fit_statistics(X)
        X, groups = check_points_and_groups(self, X, y, groups)
        return self._fit_points(X, groups)

    def _fit_points(self, X: np.ndarray, groups: np.ndarray) -> Self:
        raise NotImplementedError

    def _fit_statistics(self, statistics: GroupStatistics) -> Self:
        raise NotImplementedError

    def _start_from(self, statistics: GroupStatistics) -> None:
        if not np.any(statistics.counts >= 2):
            raise InputError(
                "at least 1 group of two or more points is needed; got 0 among "
                f"{statistics.n_groups} groups of {statistics.n_samples} points"
            )
        self.n_features_in_ = statistics.n_features
        self.mean_ = statistics.mean

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def check_points_and_groups(
    estimator: Any, X: Any, y: Any, groups: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Vectors (n, d) and their groups (n,), -1 for none; groups stand in ``groups`` or in ``y``."""
    groups = y if groups is None else groups
    if groups is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: give "
            "the group of each sample as y, or as groups="
        )
    X = validate_rows(estimator, X, dtype=FLOATS, ensure_min_samples=2)
    return X, check_groups(groups, len(X))


def row_batches(X: np.ndarray, y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Parts of an array or memory map that stay small as float64, with their labels."""
    rows = max(1, BATCH_BYTES // (8 * X.shape[1]))
    for start in range(0, len(X), rows):
        yield X[start : start + rows], y[start : start + rows]


def statistics_of(X: np.ndarray, groups: np.ndarray) -> GroupStatistics:
    """Statistics of X (n, d) in batches, so that no float64 copy of it is made."""
    statistics = GroupStatistics()
    for part, labels in track(row_batches(X, groups), "statistics of the groups"):
        statistics.collect(part, labels)
    return statistics


def choose_solver(X: np.ndarray, wanted: str, n_components: int | None) -> str:
    """Pick a decomposition of the data, of their scatters, or a randomised one, by size.

    Data that are no taller than wide, or small, are decomposed themselves: every digit counts.
    Taller ones go through scatters (d, d) in one pass. Where those would not fit and a number of
    components was asked for, a few passes find the directions of most variance.
    """
    if wanted != "auto":
        return wanted
    n, d = X.shape
    if n * d <= 2**20:
        return "svd"
    if min(n, d) > 8192 and n_components is not None:
        return "randomized"
    return "svd" if n <= d else "statistics"


def check_n_components(n_components: int | None, most: int, why: str) -> int:
    """The number asked for, or ``most``; more than ``most`` is refused with the reason."""
    if n_components is None:
        return most
    if n_components > most:
        raise InputError(f"n_components={n_components} is more than the {most} that {why}")
    return n_components


def scatter_tolerance(rtol: float, n: int) -> float:
    """Relative tolerance for eigenvalues of a scatter: ``rtol²``, or what rounding leaves."""
    return max(rtol**2, 4 * n * np.finfo(float).eps)
