"""What the projections share: reading the data, fitting from parts, projecting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from mien._core.progress import track
from mien._core.validation import check_groups
from mien.errors import InputError
from mien.subspace._statistics import GroupStatistics

__all__ = ["GroupProjection", "LinearProjection"]

FLOATS = [np.float64, np.float32]
BATCH_BYTES = 2**26


class LinearProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """``transform(X) = (X - mean_) @ components_.T``."""

    mean_: np.ndarray
    components_: np.ndarray

    def transform(self, X: Any) -> np.ndarray:
        """Project X (n_samples, n_features) to (n_samples, n_components); float32 stays so."""
        check_is_fitted(self, "components_")
        X = validate_data(self, X, dtype=FLOATS, reset=False)
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
    """A projection whose ``fit(X, y)`` takes groups, -1 for points in none."""

    def _check_groups(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        if y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        X = validate_data(self, X, dtype=FLOATS, ensure_min_samples=2)
        return X, check_groups(y, len(X))

    def fit_statistics(self, statistics: GroupStatistics) -> Self:
        """Fit from :class:`GroupStatistics`, such as those of several parts merged."""
        raise NotImplementedError

    def fit_batches(self, batches: Iterable[tuple[Any, Any]]) -> Self:
        """Fit from an iterable of ``(X (n, d), groups (n,))``: one pass, one batch in memory."""
        return self.fit_statistics(GroupStatistics.from_batches(batches))

    def _start_from(self, statistics: GroupStatistics) -> None:
        if not np.any(statistics.group_sizes >= 2):
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


def row_batches(X: np.ndarray, y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Parts of an array or memory map that stay small as float64, with their labels."""
    rows = max(1, BATCH_BYTES // (8 * X.shape[1]))
    for start in range(0, len(X), rows):
        yield X[start : start + rows], y[start : start + rows]


def statistics_of(X: np.ndarray, groups: np.ndarray) -> GroupStatistics:
    """Statistics of X (n, d) in batches, so that no float64 copy of it is made."""
    statistics = GroupStatistics(X.shape[1])
    statistics.reserve(len(np.unique(groups)))
    for part, labels in track(row_batches(X, groups), "statistics of the groups"):
        statistics.update(part, labels)
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
