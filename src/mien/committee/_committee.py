"""A committee of any scikit-learn classifier, on random subspaces or bags."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mien._core.constraints import (
    AT_LEAST_TWO,
    NON_NEGATIVE_INTEGER,
    POSITIVE_FRACTION,
    POSITIVE_INTEGER,
)
from mien._core.linalg import gram_svd
from mien._core.parallel import count_threads, map_threads, stream_threads
from mien._core.rows import validate_rows
from mien._core.types import FLOATS
from mien.committee._fusion import fuse_members
from mien.committee._preparation import Prepared, prepare
from mien.committee._sampling import draw_columns, draw_pictures, member_generators, unique_share
from mien.errors import InputError

__all__ = ["Committee"]


class Committee(Prepared, ClassifierMixin, BaseEstimator):
    """Many copies of one classifier, each on its own columns or its own pictures, fused.

    Parameters
    ----------
    estimator : classifier or None
        Any scikit-learn classifier; None is linear discriminant analysis. It is cloned.
    n_members : int
        T.
    sampling : {"subspace", "images", "both"}
        Random columns, a bootstrap or subset of each class's rows, or both.
    max_features : int, float or None
        Columns of a member, ``n_fixed`` among them: a number, or a share of all (rounded, one at
        least). None is all of them. Used with ``"subspace"`` and ``"both"``.
    n_fixed : int
        The first columns, which every member has.
    n_images : int, float or None
        None: a bootstrap of the rows of each class. A number or a share: a random subset without
        replacement, of two rows at least.
    pca : bool
        Rotate to principal components first, once for all members: columns are then eigenfaces,
        the largest first.
    preparation : transformer, list of them or None, default=None
        What is done to the vectors first, such as ``sklearn.preprocessing.Normalizer()`` (length)
        or :class:`mien.features.LightNormalizer` (light, then length). A list is a choice, in
        which None means the vectors as they are: small committees learn from 63 % of
        everybody's pictures, five times, and the candidate with the least error on the others, the
        out-of-bag error, is taken. Under strong changes of light give
        ``[None, Normalizer(), LightNormalizer(), LightNormalizer(smooth=1.0)]``.
    fusion : {"sum", "product", "min", "max", "vote"}
        See :func:`fuse`.
    n_jobs : int or None
        Threads. The result is the same whatever it is.
    random_state : int, RandomState or None
        Seed of the draws, and of the members that have a ``random_state`` of their own.

    Attributes
    ----------
    classes_ : (c,)
        The labels, sorted.
    members_ : list of classifiers
        Fitted members.
    columns_ : (T, m)
        The columns of each.
    mean_, components_ : (n_features,), (rank, n_features), or None
        The shared rotation, with ``pca=True``.
    unique_share_ : (T,)
        Share of the rows that each member saw.
    preparation_ : transformer or None
        The fitted preparation.
    choice_ : list of dict
        Name and out-of-bag error of every candidate, and which was chosen; empty without a choice.

    See Also
    --------
    RandomSamplingLDA : The committee of Fisherfaces, which needs far less memory.
    fuse : The rules by which members are combined.

    Notes
    -----
    A member's posterior is its ``predict_proba``. Where it has none, it is the softmax of its
    ``decision_function`` (for two classes, its logistic), which is not calibrated; and where that
    has not one column a class, the indicator of its ``predict``, which makes the sum a vote.
    For LDA on eigenfaces :class:`RandomSamplingLDA` is the same idea and much quicker.

    References
    ----------
    [Ho1998]_, [Breiman1996]_, [Kittler1998]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import LinearSVC
    >>> from mien.committee import Committee
    >>> X, y = load_iris(return_X_y=True)
    >>> committee = Committee(LinearSVC(), n_members=5, max_features=2, random_state=0).fit(X, y)
    >>> bool(committee.score(X, y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_members": [POSITIVE_INTEGER],
        "sampling": [StrOptions({"subspace", "images", "both"})],
        "max_features": [
            POSITIVE_INTEGER,
            POSITIVE_FRACTION,
            None,
        ],
        "n_fixed": [NON_NEGATIVE_INTEGER],
        "n_images": [
            AT_LEAST_TWO,
            POSITIVE_FRACTION,
            None,
        ],
        "pca": ["boolean"],
        "preparation": [HasMethods(["fit", "transform"]), list, tuple, None],
        "fusion": [StrOptions({"sum", "product", "min", "max", "vote"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_members: int = 10,
        *,
        sampling: str = "subspace",
        max_features: int | float | None = 0.5,
        n_fixed: int = 0,
        n_images: int | float | None = None,
        pca: bool = False,
        preparation: Any = None,
        fusion: str = "sum",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_members = n_members
        self.sampling = sampling
        self.max_features = max_features
        self.n_fixed = n_fixed
        self.n_images = n_images
        self.pca = pca
        self.preparation = preparation
        self.fusion = fusion
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows X (n_samples, n_features) of the classes y (n_samples,)."""
        X, y = validate_rows(self, X, y, dtype=FLOATS)
        check_classification_targets(y)
        self.classes_, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        if len(self.classes_) < 2:
            raise InputError("a committee needs two classes or more; got one class")
        if np.all(X[0] == X):
            raise InputError("all rows are the same: nothing tells the classes apart")
        F = self._fit_rotation(self._prepare(X, y))
        generators = member_generators(self.n_members, self.random_state)
        n_columns = self._resolve_columns(F.shape[1])
        columns, rows, members = [], [], []
        for rng in generators:
            columns.append(draw_columns(*n_columns, F.shape[1], rng))
            bag = self.sampling != "subspace"
            row = draw_pictures(codes, counts, self.n_images, rng) if bag else np.ones_like(codes)
            rows.append(row)
            members.append(_seeded_clone(self.estimator, rng))
        self.columns_ = np.stack(columns)
        self.unique_share_ = unique_share(np.stack(rows))
        self.members_ = map_threads(
            lambda given: _fit_member(given[0], F, y, *given[1:]),
            zip(members, self.columns_, rows, strict=True),
            count_threads(self.n_jobs),
        )
        return self

    def _fit_rotation(self, X: np.ndarray) -> np.ndarray:
        self.mean_, self.components_ = None, None
        if not self.pca:
            return X
        self.mean_ = X.mean(axis=0)
        decomposition = gram_svd(X.astype(np.float64) - self.mean_)
        self.components_ = decomposition.Vt.astype(X.dtype)
        return self._rotate(X)

    def _rotate(self, X: np.ndarray) -> np.ndarray:
        if self.components_ is None:
            return X
        return np.asarray((X - self.mean_) @ self.components_.T)

    def _resolve_columns(self, available: int) -> tuple[int, int]:
        """Fixed and random columns of a member."""
        if self.sampling == "images" or self.max_features is None:
            return available, 0
        wanted = self.max_features
        if isinstance(wanted, float):
            wanted = max(1, self.n_fixed, round(wanted * available))
        if wanted > available or self.n_fixed > wanted:
            raise InputError(
                f"max_features = {wanted} columns, {self.n_fixed} of them fixed, cannot be drawn "
                f"from {available}"
            )
        return self.n_fixed, wanted - self.n_fixed

    def _member_posteriors(self, X: Any) -> Iterator[np.ndarray]:
        check_is_fitted(self)
        X = validate_rows(self, X, dtype=FLOATS, reset=False)
        F = self._rotate(prepare(getattr(self, "preparation_", None), X))
        return stream_threads(
            lambda given: _posterior(given[0], F[:, given[1]], self.classes_),
            zip(self.members_, self.columns_, strict=True),
            count_threads(self.n_jobs),
        )

    def predict_proba(self, X: Any) -> np.ndarray:
        """Posterior (n, c) of the committee, fused member by member."""
        return fuse_members(self._member_posteriors(X), self.fusion)

    def predict(self, X: Any) -> np.ndarray:
        """Likeliest class (n,) of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def member_proba(self, X: Any) -> np.ndarray:
        """Posteriors (T, n, c) of every member."""
        return np.stack(list(self._member_posteriors(X)))


def _seeded_clone(member: Any, rng: np.random.Generator) -> Any:
    """Clone the member and seed whatever in it takes a ``random_state``."""
    copy = LinearDiscriminantAnalysis() if member is None else clone(member)
    seeds = {
        name: int(rng.integers(2**31 - 1))
        for name in sorted(copy.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    }
    return copy.set_params(**seeds)


def _fit_member(
    member: Any, F: np.ndarray, y: np.ndarray, columns: np.ndarray, row: np.ndarray
) -> Any:
    chosen = np.repeat(np.arange(len(F)), row)
    return member.fit(F[np.ix_(chosen, columns)], y[chosen])


def _posterior(member: Any, F: np.ndarray, classes: np.ndarray) -> np.ndarray:
    if hasattr(member, "predict_proba"):
        return np.asarray(member.predict_proba(F))
    if hasattr(member, "decision_function"):
        scores = np.asarray(member.decision_function(F))
        if scores.ndim == 1:
            positive = expit(scores)
            return np.column_stack([1 - positive, positive])
        if scores.shape[1] == len(classes):
            return np.asarray(softmax(scores, axis=1))
    return (member.predict(F)[:, None] == classes).astype(np.float64)
