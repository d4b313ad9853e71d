"""The grammar of completers: learn whole vectors, complete them from their visible features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from scipy import linalg, sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, _fit_context
from sklearn.utils.validation import check_is_fitted

from mien._core.rows import check_rows, validate_rows
from mien._core.statistics import GroupStatistics
from mien._core.types import FLOATS
from mien._core.validation import check_labels
from mien.errors import InputError, InputTypeError

__all__ = [
    "BatchStream",
    "Completer",
    "Completion",
    "Moments",
    "choose_penalty",
    "first_batch",
    "gather",
    "see",
    "solve_ridge",
    "split_held_out",
    "squared_error",
]

BatchStream = Callable[[], Iterable[np.ndarray]]
FoundT = TypeVar("FoundT")
# What a model file may hold of a mean; pictures and vectors of faces are far below it.
_LARGEST = 1e9
_BATCH = 2048
# One in so many vectors is held out to choose penalties, and at most so many in all.
HELD_OUT_SHARE = 10
HELD_OUT_MAX = 500
# Vectors up to this size are kept in memory instead of being read again and again.
_MEMORY_BYTES = 2**30


class Completion(NamedTuple):
    """What a completer estimates.

    Attributes
    ----------
    values : (n, n_features)
        Estimates of all features, also of the visible ones.
    codes : csr_matrix (n, n_atoms) or None
        Sparse codes, where the method has any.
    """

    values: np.ndarray
    codes: sparse.csr_matrix | None = None


class Completer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """Base of the completers: scikit-learn transformers that fill in covered (NaN) features.

    A subclass has a parameter ``cover`` and implements ``_learn`` and ``_estimate``.

    Attributes
    ----------
    cover_ : (n_features,) of bool
        True for the features that were taken as covered in ``fit``.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The common grammar:

    - ``fit(X, groups=people)`` learns from whole vectors. A tenth of the people (of the rows,
      without groups) is held out to choose whatever is not given, such as a penalty.
    - ``transform(X)`` and ``complete(X)`` fill in NaN; ``complete(X, cover=...)`` fills in what
      the cover says, whatever stands there. Visible features are returned as they are.
    - ``estimate(seen, view)`` estimates all features from a linear view of them.
    - ``score(X)`` is minus the mean squared error of the covered features of whole vectors, so
      that ``GridSearchCV`` works.
    """

    cover: Any

    #: Whether covers (and linear views) other than that of ``fit`` can be completed.
    any_cover: bool = True

    #: Whether ``fit`` can learn from a completer of foreign vectors as well.
    takes_foreign: bool = False

    # ------------------------------------------------------------------ of a subclass

    @abstractmethod
    def _learn(self, stream: BatchStream, held_out: np.ndarray) -> None:
        """Learn from batches (n_i, d) for ``cover_``; vectors (k, d) held out choose the rest."""

    def _learn_beside(self, stream: BatchStream, held_out: np.ndarray, foreign: np.ndarray) -> None:
        """As ``_learn``, with the covariance (d, d) of foreign vectors to lean on."""
        raise NotImplementedError

    def _covariance(self) -> np.ndarray | None:
        """Covariance (d, d) of the vectors as far as it was learned; None if it was not."""
        return None

    @abstractmethod
    def _estimate(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        """All features from what is seen (n, m) through a view: booleans (d,) or (m, d)."""

    def get_pictures(self) -> np.ndarray | None:
        """Atoms or components (k, n_features) that can be looked at; None if there are none."""
        return None

    # ------------------------------------------------------------------ learning

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any = None, *, groups: Any = None, foreign: Completer | None = None
    ) -> Self:
        """Learn from whole vectors.

        Parameters
        ----------
        X : (n, n_features)
            Whole vectors, float32 or float64, without NaN.
        y : None
            Not used.
        groups : (n,) or None
            Who each row belongs to. Whole people are then held out to choose penalties; without
            it the first rows are, as rows of one person usually stand together.
        foreign : Completer or None
            Fitted on many other vectors of the same features: its covariance helps where X has
            few rows (:class:`RidgeCompleter`).
        """
        X = validate_rows(self, X, dtype=FLOATS, order="C", ensure_min_samples=2, largest=_LARGEST)
        held_out = split_held_out(len(X), groups)
        train = X[~held_out]
        return self._fit(
            lambda: (train[low : low + _BATCH] for low in range(0, len(train), _BATCH)),
            X[held_out],
            None if foreign is None else self._check_foreign(foreign),
        )

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_batches(
        self, batches: BatchStream, *, held_out: Any, foreign: Completer | None = None
    ) -> Self:
        """Learn from data larger than memory.

        Parameters
        ----------
        batches : callable
            Returns an iterator of batches (n_i, n_features), the same at every pass.
        held_out : (k, n_features)
            Vectors of other people than those in the batches, to choose penalties.
        foreign : Completer or None
            As in :meth:`fit`.
        """
        held_out = validate_rows(self, held_out, dtype=FLOATS, order="C", largest=_LARGEST)

        def checked() -> Iterator[np.ndarray]:
            for batch in batches():
                yield validate_rows(
                    self, batch, dtype=FLOATS, order="C", reset=False, largest=_LARGEST
                )

        return self._fit(
            checked, held_out, None if foreign is None else self._check_foreign(foreign)
        )

    def _fit(
        self, stream: BatchStream, held_out: np.ndarray, foreign: np.ndarray | None = None
    ) -> Self:
        d = held_out.shape[1]
        self.n_features_in_ = d
        if d < 2:
            raise InputError("one feature cannot be completed from others: n_features = 1")
        if self.cover is None:
            self.cover_ = np.arange(d) >= (d + 1) // 2
        else:
            self.cover_ = self._check_cover(np.array(self.cover), (d,))
            if not self.cover_.any():
                raise InputError("nothing is covered: the cover must hide at least one feature")
        if foreign is None:
            self._learn(stream, held_out)
        else:
            self._learn_beside(stream, held_out, foreign)
        return self

    def _check_foreign(self, foreign: Completer) -> np.ndarray:
        """The covariance (d, d) of a completer of foreign vectors."""
        if not self.takes_foreign:
            raise InputError(
                f"{type(self).__name__} cannot learn beside a foreign completer: ridge completers, "
                "and blends of them with others, can"
            )
        if not isinstance(foreign, Completer):
            raise InputTypeError(f"foreign must be a completer; got {type(foreign).__name__}")
        check_is_fitted(foreign)
        if foreign.n_features_in_ != self.n_features_in_:
            raise InputError(
                f"the foreign completer has {foreign.n_features_in_} features, and these vectors "
                f"have {self.n_features_in_}: both must be of the same"
            )
        covariance = foreign._covariance()
        if covariance is None:
            raise InputError(
                f"the foreign completer is a {type(foreign).__name__}, which keeps no covariance: "
                "take a ridge or low-rank completer, or a blend with one"
            )
        return covariance

    # ------------------------------------------------------------------ completing

    def complete(self, X: Any, *, cover: Any = None) -> np.ndarray:
        """Fill in the covered features.

        Parameters
        ----------
        X : (n, n_features)
            Vectors; what stands in covered features does not matter.
        cover : (n_features,) or (n, n_features) of bool, or None
            True where a feature is covered; None takes NaN as covered.

        Returns
        -------
        (n, n_features)
            X with estimates in the covered features.
        """
        check_is_fitted(self)
        X = validate_rows(
            self,
            X,
            dtype=FLOATS,
            order="C",
            reset=False,
            ensure_all_finite=False,
            largest=_LARGEST,
        )
        if cover is None:
            covers = np.isnan(X)
        else:
            covers = np.asarray(cover)
            shape = X.shape if covers.ndim == 2 else X.shape[1:]
            covers = np.broadcast_to(self._check_cover(covers, shape), X.shape)
        if not np.all(np.isfinite(np.where(covers, 0, X))):
            raise InputError("visible features must be finite")
        result = X.copy()
        kinds, which = np.unique(np.packbits(covers, axis=1), axis=0, return_inverse=True)
        for k in range(len(kinds)):
            rows = np.flatnonzero(which.ravel() == k)
            kind = covers[rows[0]]
            if not kind.any():
                continue
            values = self.estimate(X[np.ix_(rows, ~kind)], ~kind).values
            result[np.ix_(rows, kind)] = values[:, kind]
        return result

    def transform(self, X: Any) -> np.ndarray:
        """Fill in NaN: :meth:`complete` in scikit-learn's word."""
        return self.complete(X)

    def estimate(self, seen: Any, view: Any = None) -> Completion:
        """Estimate all features, also the visible ones, from a view of them.

        Parameters
        ----------
        seen : (n, m)
            What the view shows of each vector.
        view : (n_features,) of bool, (m, n_features) or None
            Which features are visible, or a matrix V such that ``seen = x @ V.T`` (block means
            of a picture, for instance); None takes the features not covered in ``fit``.
        """
        check_is_fitted(self)
        view = ~self.cover_ if view is None else np.asarray(view)
        m = int(view.sum()) if view.dtype == bool else len(view)
        if m == 0:
            raise InputError("everything is covered: at least one feature must be visible")
        seen = check_rows(seen, input_name="seen", dtype=FLOATS, largest=_LARGEST)
        if view.shape[-1] != self.n_features_in_ or seen.shape[1] != m:
            raise InputError(
                f"a view of {self.n_features_in_} features and what it shows are needed; got "
                f"{view.shape} and {seen.shape}"
            )
        if not self.any_cover and not (view.dtype == bool and np.array_equal(view, ~self.cover_)):
            raise InputError(
                f"{type(self).__name__} completes only the cover it was fitted with; ridge, "
                "low-rank, dictionary and PCA completers complete any"
            )
        return self._estimate(seen, view)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean squared error of the covered features of whole vectors X (n, d)."""
        check_is_fitted(self)
        X = validate_rows(self, X, dtype=FLOATS, order="C", reset=False, largest=_LARGEST)
        values = self._estimate(X[:, ~self.cover_], ~self.cover_).values
        return -float(np.mean((values - X)[:, self.cover_] ** 2, dtype=np.float64))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_cover(self, cover: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        if cover.dtype != bool or cover.shape != shape:
            raise InputError(
                f"a cover must be booleans of the shape {shape}, True where a feature is "
                f"covered; got {cover.dtype} {cover.shape}"
            )
        if np.any(np.all(cover, axis=-1)):
            raise InputError("everything is covered: at least one feature must be visible")
        return cover


def split_held_out(n: int, groups: Any = None) -> np.ndarray:
    """Rows (n,) of bool to hold out: a tenth, at most 500; whole groups where they are known."""
    wanted = max(1, min(n // HELD_OUT_SHARE, HELD_OUT_MAX))
    if groups is None:
        return np.arange(n) < wanted
    labels = check_labels("groups", groups, n, missing="unknown")
    names, which, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(names) < 2:
        return np.arange(n) < wanted
    order = np.random.RandomState(0).permutation(len(names))
    enough = 1 + int(np.searchsorted(np.cumsum(counts[order]), wanted))
    return np.isin(which, order[: min(enough, len(names) - 1)])


def gather(stream: BatchStream) -> np.ndarray | None:
    """All vectors of a stream in one array, or None where they do not fit into memory."""
    parts, size = [], 0
    for batch in stream():
        parts.append(batch)
        size += batch.nbytes
        if size > _MEMORY_BYTES:
            return None
    return np.concatenate(parts)


def see(atoms: np.ndarray, view: np.ndarray) -> np.ndarray:
    """What a view shows of the rows of ``atoms`` (k, d): (k, m)."""
    if view.dtype == bool:
        return np.ascontiguousarray(atoms[:, view])
    return np.asarray(atoms @ view.T.astype(atoms.dtype))


class Moments(NamedTuple):
    """Mean (d,), covariance (d, d) and number of the vectors of a stream."""

    mean: np.ndarray
    covariance: np.ndarray
    n_samples: int

    @classmethod
    def of(cls, stream: BatchStream) -> Moments:
        moments = GroupStatistics()
        for batch in stream():
            moments.collect(batch)
        if moments.n_samples == 0:
            raise InputError("there is nothing to learn from: the stream is empty")
        n = moments.n_samples
        return cls(moments.mean, moments.scatter() / n, n)


def first_batch(stream: BatchStream) -> np.ndarray:
    """The first vectors of a stream."""
    batches: Iterator[np.ndarray] = iter(stream())
    return next(batches)


def solve_ridge(gram: np.ndarray, products: np.ndarray, alpha: float) -> np.ndarray:
    """Solve (gram + alpha·I) W = products for symmetric gram (m, m), products (m, k)."""
    gram = np.array(gram, dtype=np.float64)
    gram[np.diag_indices(len(gram))] += alpha
    return np.asarray(linalg.solve(gram, products, assume_a="pos", check_finite=False))


def choose_penalty(
    judge: Callable[[float], tuple[float, FoundT]], penalties: Sequence[float]
) -> tuple[float, float, FoundT]:
    """The best of ascending penalties, its error and what was found with it.

    ``judge`` gives the error and the solution of a penalty. The search starts in the middle and
    goes on in each direction as long as it gets better: the error has one valley.
    """
    middle = len(penalties) // 2
    tried = {middle: judge(penalties[middle])}
    for step in (1, -1):
        place = middle + step
        while 0 <= place < len(penalties):
            tried[place] = judge(penalties[place])
            if tried[place][0] >= tried[place - step][0]:
                break
            place += step
        if len(tried) > 2:
            break
    best = min(tried, key=lambda place: tried[place][0])
    return penalties[best], *tried[best]


def squared_error(truth: np.ndarray, values: np.ndarray, cover: np.ndarray) -> float:
    """Mean squared error of the covered features."""
    return float(np.mean((truth - values)[:, cover] ** 2, dtype=np.float64))
