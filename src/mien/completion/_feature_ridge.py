"""Completion by ridge regression on Fastfood features of the visible part."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from mien._core.constraints import POSITIVE
from mien.completion._base import (
    BatchStream,
    Completer,
    Completion,
    choose_penalty,
    first_batch,
    solve_ridge,
    squared_error,
)
from mien.kernelmaps import Fastfood

__all__ = ["FeatureRidgeCompleter", "fit_map"]

# Penalties that are tried, where a feature vector has length one.
_ALPHAS = (3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3)
# Widths that are tried, in median distances.
_SIGMAS = (1.0, 2.0, 4.0)


def fit_map(sample: np.ndarray, sigma: float | str, **options: Any) -> Fastfood:
    """A Fastfood map for such vectors; a number for sigma counts their median distance."""
    if isinstance(sigma, str):
        chosen = Fastfood(sigma=sigma, **options)
    else:
        median = Fastfood(sigma="median", **options).fit(sample).sigma_
        chosen = Fastfood(sigma=float(sigma) * median, **options)
    # The map works inside: it gives arrays, whatever the user has configured for transformers.
    return chosen.set_output(transform="default").fit(sample)


class FeatureRidgeCompleter(Completer):
    """Ridge regression of all features on Fastfood features of the visible ones: kernel ridge.

    What nonlinearity is worth on photographs of faces: less than a tenth of a decibel beside a
    ridge with a well chosen penalty. On thousands of rendered faces it is worth half a decibel.
    :class:`BlendCompleter` mixes it with the linear estimate.

    Parameters
    ----------
    expansion : float
        Number of frequencies per visible feature (padded to a power of two). Time and memory of
        the fit grow with its square; 5 serves thousands of faces.
    sigma : float or None
        Width of the kernel in median distances of the visible parts. Large values approach linear
        regression. None tries 1, 2 and 4 on the vectors held out, at three times the cost.
    alpha : float or None
        Penalty, for feature vectors of length one; None chooses it among seven from 3e-6 to
        3e-3 on the vectors held out.
    cover : (n_features,) of bool or None
        True for the features that will be covered; None takes the second half. No other cover
        can be completed.
    random_state : int, RandomState or None
        Seed of the frequencies.

    Attributes
    ----------
    sigma_, alpha_ : float
        The values in use.
    map_ : mien.kernelmaps.Fastfood
        The random features of the visible part.
    weights_ : (n_map_features, n_features)
        Weights from random features to all features.
    intercept_ : (n_features,)
        Added to it.
    cover_ : (n_features,) of bool
        The cover of ``fit``.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    RidgeCompleter : linear, for any cover.
    BlendCompleter : a weighted mean of both.
    sklearn.kernel_ridge.KernelRidge : exact, with a matrix of all pairs.

    Notes
    -----
    With more vectors than random features, the products of features are summed over batches, so
    that memory does not grow with the number of vectors; with fewer, the system has the size of
    the vectors.

    References
    ----------
    [Le2013]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.completion import FeatureRidgeCompleter
    >>> t = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
    >>> X = np.concatenate([t, t[:, :1] * t[:, 1:]], axis=1)
    >>> model = FeatureRidgeCompleter(16, cover=[False, False, True], random_state=0).fit(X)
    >>> bool(model.score(X) > -0.01)  # a product; no linear completer finds it
    True
    """

    any_cover = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "expansion": [POSITIVE],
        "sigma": [POSITIVE, None],
        "alpha": [POSITIVE, None],
        "cover": ["array-like", None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        expansion: float = 5,
        *,
        sigma: float | None = 2.0,
        alpha: float | None = None,
        cover: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.expansion = expansion
        self.sigma = sigma
        self.alpha = alpha
        self.cover = cover
        self.random_state = random_state

    def _learn(self, stream: BatchStream, held_out: np.ndarray) -> None:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        visible = ~self.cover_
        best = np.inf
        for sigma in _SIGMAS if self.sigma is None else (float(self.sigma),):
            system = _build_system(stream, visible, sigma, self.expansion, seed)
            features = system.map.transform(np.ascontiguousarray(held_out[:, visible]))

            def judge(
                alpha: float, system: _System = system, features: np.ndarray = features
            ) -> tuple[float, tuple[np.ndarray, np.ndarray]]:
                weights, intercept = system.solve(alpha)
                values = features @ weights + intercept
                return squared_error(held_out, values, self.cover_), (weights, intercept)

            alphas = _ALPHAS if self.alpha is None else (float(self.alpha),)
            alpha, error, (weights, intercept) = choose_penalty(judge, alphas)
            if not error >= best:
                best = error
                self.sigma_, self.alpha_, self.map_ = sigma, alpha, system.map
                self.weights_, self.intercept_ = weights, intercept

    def _estimate(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        features = self.map_.transform(np.ascontiguousarray(seen, dtype=self.weights_.dtype))
        return Completion(features @ self.weights_ + self.intercept_)


class _System(NamedTuple):
    """Means, and either sums of products of features or the features themselves, if fewer."""

    map: Fastfood
    feature_mean: np.ndarray
    vector_mean: np.ndarray
    covariance: np.ndarray
    cross: np.ndarray
    features: np.ndarray | None

    def solve(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Weights (m, d) and intercept (d,) of the ridge regression."""
        weights = solve_ridge(self.covariance, self.cross, alpha)
        if self.features is not None:
            weights = self.features.T @ weights
        dtype = self.cross.dtype
        intercept = self.vector_mean - self.feature_mean @ weights
        return weights.astype(dtype), intercept.astype(dtype)


def _build_system(
    stream: BatchStream, visible: np.ndarray, sigma: float, expansion: float, seed: int
) -> _System:
    """The system of the ridge regression, of the size of the samples or of the features."""
    sample = first_batch(stream)
    seen = np.ascontiguousarray(sample[:, visible])
    fitted = fit_map(seen, sigma, expansion=expansion, random_state=seed)
    # Sums about the means of the first batch lose no digits in float32.
    shift, vector_shift = fitted.transform(seen).mean(axis=0), sample.mean(axis=0)
    m, d = len(shift), len(visible)
    n = sum(len(batch) for batch in stream())
    if n < m:
        everything = np.concatenate(list(stream()))
        features = fitted.transform(np.ascontiguousarray(everything[:, visible]))
        feature_mean, vector_mean = features.mean(axis=0), everything.mean(axis=0)
        features = features - feature_mean
        gram, centred = features @ features.T / n, (everything - vector_mean) / n
        return _System(fitted, feature_mean, vector_mean, gram, centred, features)
    gram, products = np.zeros((m, m), sample.dtype), np.zeros((m, d), sample.dtype)
    total, vectors = np.zeros(m), np.zeros(d)
    for batch in stream():
        features = fitted.transform(np.ascontiguousarray(batch[:, visible])) - shift
        centred = batch - vector_shift
        gram += features.T @ features
        products += features.T @ centred
        total += features.sum(axis=0, dtype=np.float64)
        vectors += centred.sum(axis=0, dtype=np.float64)
    total, vectors = total / n, vectors / n
    covariance = gram / n - np.outer(total, total)
    cross = (products / n - np.outer(total, vectors)).astype(sample.dtype)
    return _System(fitted, shift + total, vector_shift + vectors, covariance, cross, None)
