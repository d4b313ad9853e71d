"""Completion by factor analysis: a few directions, and a variance of noise per feature."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from mien._core.constraints import POSITIVE, POSITIVE_INTEGER
from mien._core.linalg import fix_signs
from mien.completion._base import (
    BatchStream,
    Completer,
    Completion,
    Moments,
    choose_penalty,
    see,
    solve_ridge,
    squared_error,
)
from mien.completion._ridge import choose_alphas

__all__ = ["LowRankCompleter"]


class LowRankCompleter(Completer):
    """Ridge regression with the covariance kept as a few directions and a variance per feature.

    Small to store, and fast where every vector has a cover of its own: the system to solve has as
    many unknowns as directions. The shipped model of ``mien complete`` is one.

    Parameters
    ----------
    n_components : int
        Number of directions. 100 are within .1 dB of :class:`RidgeCompleter` for faces of 64
        pixels; each costs two bytes per feature in the model file.
    alpha : float or None
        Minimum variance of the noise of a feature, in squared units of the features. None chooses
        it among ten shares (.001 to 30) of the mean variance on the vectors held out.
    cover : (n_features,) of bool or None
        True for the features that will be covered, for which alpha is chosen; None takes the
        second half. Any other cover can be completed as well.

    Attributes
    ----------
    components_ : (n_components, n_features) float16
        Directions W, scaled by their standard deviations, the longest first.
    mean_ : (n_features,) float16
        Mean of the vectors.
    noise_variance_ : (n_features,) float16
        Variance of the noise of each feature.
    alpha_ : float
        The minimum variance in use.
    cover_ : (n_features,) of bool
        The cover of ``fit``.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    RidgeCompleter : the same with the full covariance.
    sklearn.decomposition.FactorAnalysis : the model, fitted by EM.

    Notes
    -----
    A vector is z·W + mean + noise with z and the noise Gaussian. W are the leading
    eigenvectors of the covariance, and the noise of a feature has the variance that they leave.
    Half precision makes files half as large; it moves a pixel by less than a grey value.

    References
    ----------
    [Rubin1982]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.completion import LowRankCompleter
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 8)) + 0.01 * rng.normal(size=(300, 8))
    >>> model = LowRankCompleter(n_components=3).fit(X[:250])
    >>> bool(np.abs(model.complete(X[250:], cover=np.arange(8) > 4) - X[250:]).max() < 0.2)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [POSITIVE_INTEGER],
        "alpha": [POSITIVE, None],
        "cover": ["array-like", None],
    }

    def __init__(
        self, n_components: int = 100, *, alpha: float | None = None, cover: Any = None
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.cover = cover

    def _learn(self, stream: BatchStream, held_out: np.ndarray) -> None:
        moments = Moments.of(stream)
        mean, covariance, _ = moments
        directions = _leading_directions(covariance, min(self.n_components, len(mean)))
        rest = covariance.diagonal() - np.einsum("kd,kd->d", directions, directions)
        self.mean_ = mean.astype(np.float16)
        self.components_ = directions.astype(np.float16)
        visible = ~self.cover_

        def judge(alpha: float) -> tuple[float, np.ndarray]:
            self.noise_variance_ = _to_half(np.maximum(rest, alpha))
            values = self._estimate(held_out[:, visible], visible).values
            return squared_error(held_out, values, self.cover_), self.noise_variance_

        chosen = choose_penalty(judge, choose_alphas(self.alpha, moments))
        self.alpha_, _, self.noise_variance_ = chosen

    def _estimate(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        directions, mean = self.components_.astype(np.float32), self.mean_.astype(np.float32)
        noise_variance = self.noise_variance_.astype(np.float32)
        part = see(directions, view)
        centred = seen - see(mean[None], view)
        if view.dtype == bool:
            weighed = part / noise_variance[view]
            gram = weighed @ part.T
            weights = solve_ridge(gram, weighed @ centred.T, 1.0).T
        else:
            noise = (view * noise_variance) @ view.T
            weights = solve_ridge(part.T @ part + noise, centred.T, 0.0).T @ part.T
        return Completion((weights @ directions + mean).astype(np.float32))

    def _covariance(self) -> np.ndarray:
        directions = self.components_.astype(np.float64)
        covariance = directions.T @ directions
        covariance[np.diag_indices(len(covariance))] += self.noise_variance_
        return covariance

    def get_pictures(self) -> np.ndarray:
        """The directions (n_components, n_features) as float32."""
        return self.components_.astype(np.float32)


def _to_half(values: np.ndarray) -> np.ndarray:
    """Positive values in half precision, never rounded to zero."""
    return np.maximum(values, np.finfo(np.float16).tiny).astype(np.float16)


def _leading_directions(covariance: np.ndarray, k: int) -> np.ndarray:
    """Rows W (k, d), the longest first, with WᵀW the best approximation of rank k."""
    from scipy.sparse.linalg import eigsh

    d = len(covariance)
    if 8 * k < d:
        values, vectors = eigsh(covariance, k, v0=np.ones(d))
    else:
        values, vectors = linalg.eigh(
            covariance, subset_by_index=[d - k, d - 1], check_finite=False
        )
    order = np.argsort(-values, kind="stable")
    return fix_signs((vectors[:, order] * np.sqrt(np.maximum(values[order], 0))).T)
