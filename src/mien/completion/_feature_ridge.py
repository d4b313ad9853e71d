"""Completion by ridge regression on Fastfood features of the visible part."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from mien._core.constraints import POSITIVE
from mien.completion._base import (
    Completer,
    Completion,
    Stream,
    first_batch,
    solve_ridge,
    squared_error,
)
from mien.kernelmaps import Fastfood

__all__ = ["FeatureRidgeCompleter", "fit_map"]

# Penalties that are tried, where a feature vector has length one.
_ALPHAS = (3e-6, 1e-5, 3e-5, 1e-4, 3e-4)
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

    What nonlinearity is worth: some tenths of a decibel on small sets of faces, less than a tenth
    on LFW. :class:`BlendCompleter` mixes it with the linear estimate.

    Parameters
    ----------
    expansion : float
        Number of frequencies per visible feature (padded to a power of two). Time and memory of
        the fit grow with its square; 5 serves thousands of faces.
    sigma : float or None
        Width of the kernel in median distances of the visible parts. Large values approach linear
        regression. None tries 1, 2 and 4 on the vectors held out, at three times the cost.
    alpha : float or None
        Penalty, for feature vectors of length one; None chooses it among five from 3e-6 to 3e-4
        on the vectors held out.
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
    The products of random features are summed over batches, so that memory does not grow with
    the number of vectors.

    References
    ----------
    Q. Le, T. Sarlós and A. Smola, "Fastfood: approximating kernel expansions in loglinear time",
    International Conference on Machine Learning, 2013.

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

    def _learn(self, stream: Stream, held_out: np.ndarray) -> None:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        best = np.inf
        for sigma in _SIGMAS if self.sigma is None else (float(self.sigma),):
            for candidate in self._solve(stream, sigma, seed):
                alpha, fitted, weights, intercept = candidate
                features = fitted.transform(np.ascontiguousarray(held_out[:, ~self.cover_]))
                error = squared_error(held_out, features @ weights + intercept, self.cover_)
                if not error >= best:
                    best = error
                    self.sigma_, self.alpha_, self.map_ = sigma, alpha, fitted
                    self.weights_, self.intercept_ = weights, intercept

    def _solve(
        self, stream: Stream, sigma: float, seed: int
    ) -> list[tuple[float, Fastfood, np.ndarray, np.ndarray]]:
        """Penalty, map, weights and intercept for each penalty that is tried."""
        visible = ~self.cover_
        sample = first_batch(stream)
        seen = np.ascontiguousarray(sample[:, visible])
        fitted = fit_map(seen, sigma, expansion=self.expansion, random_state=seed)
        # Sums about the means of the first batch lose no digits in float32.
        shift, face_shift = fitted.transform(seen).mean(axis=0), sample.mean(axis=0)
        gram = np.zeros((len(shift), len(shift)), sample.dtype)
        products = np.zeros((len(shift), sample.shape[1]), sample.dtype)
        total, faces, n = np.zeros(len(shift)), np.zeros(sample.shape[1]), 0
        for batch in stream():
            features = fitted.transform(np.ascontiguousarray(batch[:, visible])) - shift
            centred = batch - face_shift
            gram += features.T @ features
            products += features.T @ centred
            total += features.sum(axis=0, dtype=np.float64)
            faces += centred.sum(axis=0, dtype=np.float64)
            n += len(batch)
        total, faces = total / n, faces / n
        covariance = gram / n - np.outer(total, total)
        cross = products / n - np.outer(total, faces)
        found = []
        for alpha in _ALPHAS if self.alpha is None else (float(self.alpha),):
            weights = solve_ridge(covariance, cross, alpha).astype(sample.dtype)
            intercept = face_shift + faces - (shift + total) @ weights
            found.append((alpha, fitted, weights, intercept.astype(sample.dtype)))
        return found

    def _estimate(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        features = self.map_.transform(np.ascontiguousarray(seen, dtype=self.weights_.dtype))
        return Completion(features @ self.weights_ + self.intercept_)
