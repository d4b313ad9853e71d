"""Completion by least squares on principal components."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from mien._core.constraints import POSITIVE_INTEGER
from mien._core.linalg import fix_signs, numerical_rank
from mien.completion._base import BatchStream, Completer, Completion, Moments, see

__all__ = ["PCACompleter"]


class PCACompleter(Completer):
    """Least squares of the visible features on principal components.

    The first row of the paper's tables, and a warning: with as many components as pay for whole
    vectors, what is covered runs wild. :class:`RidgeCompleter` is the sound form of it.

    Parameters
    ----------
    n_components : int
        Number of components; at most the numerical rank of the data is kept. Few (10 to 30) fit
        what is covered best, many (100) what is visible.
    cover : (n_features,) of bool or None
        True for the features that will be covered; None takes the second half. The components do
        not depend on it, and any other cover can be completed.

    Attributes
    ----------
    components_ : (n_components, n_features)
        Principal components, the largest variance first.
    mean_ : (n_features,)
        Mean of the vectors.
    n_components_ : int
        Number of components kept.
    cover_ : (n_features,) of bool
        The cover of ``fit``.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    RidgeCompleter : the best linear estimate.
    LowRankCompleter : components with a variance of noise per feature.

    References
    ----------
    [JuefeiXu2016]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.completion import PCACompleter
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6))
    >>> model = PCACompleter(n_components=2).fit(X[:150])
    >>> bool(np.allclose(model.complete(X[150:], cover=np.arange(6) > 3), X[150:]))
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [POSITIVE_INTEGER],
        "cover": ["array-like", None],
    }

    def __init__(self, n_components: int = 100, *, cover: Any = None) -> None:
        self.n_components = n_components
        self.cover = cover

    def _learn(self, stream: BatchStream, held_out: np.ndarray) -> None:
        moments = Moments.of(stream)
        d = len(moments.mean)
        k = min(self.n_components, d)
        values, vectors = linalg.eigh(
            moments.covariance, subset_by_index=[d - k, d - 1], check_finite=False
        )
        # Beyond the numerical rank a direction is rounding, and another on every processor.
        rank = max(1, numerical_rank(np.maximum(values, 0), 1e-10))
        directions = fix_signs(vectors[:, ::-1][:, :rank].T)
        self.mean_ = moments.mean.astype(held_out.dtype)
        self.components_ = np.ascontiguousarray(directions, dtype=held_out.dtype)
        self.n_components_ = len(self.components_)

    def _estimate(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        basis = see(self.components_, view).astype(np.float64)
        centred = seen - see(self.mean_[None], view)
        weights = linalg.lstsq(basis.T, centred.T, cond=1e-7, check_finite=False)[0].T
        return Completion((weights @ self.components_ + self.mean_).astype(self.mean_.dtype))

    def get_pictures(self) -> np.ndarray:
        """The components (n_components, n_features)."""
        return self.components_
