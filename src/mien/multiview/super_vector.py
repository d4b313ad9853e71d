"""The multi-view super vector: what two views share, and what each has alone."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mien.errors import InputError
from mien.multiview._mixture import Posterior, expectation, gate, posterior
from mien.multiview._normalise import normalise
from mien.multiview.bags import check_paired_bags, encode_bags
from mien.multiview.mixture_pcca import MixturePCCA

__all__ = ["MixtureGradients", "MultiViewSuperVector", "mixture_gradients"]


class MixtureGradients(NamedTuple):
    """Means over a bag: latent (K, q), and gradients (K, D) by the means and the noise."""

    latent: np.ndarray
    means: np.ndarray
    noise: np.ndarray


def mixture_gradients(model: MixturePCCA, X: np.ndarray, Y: np.ndarray) -> MixtureGradients:
    """Gradient of the mean log-likelihood of paired samples by μ and the diagonal of Ψ.

    Parameters
    ----------
    model : MixturePCCA
        Fitted.
    X, Y : (n, d_x), (n, d_y)
        Paired samples; at least one.

    Returns
    -------
    MixtureGradients
        ``latent`` is ``(1/n) Σ γ̂ ẑ``. By Fisher's identity the others are the exact gradients of
        the marginal likelihood: ``(1/n) Σ γ̂ Ψ⁻¹ (x̃ − μ)`` with ``x̃ = x − W ẑ``, and the diagonal of
        ``½ (1/n) Σ γ̂ Ψ⁻¹ (S̃ − Ψ̃) Ψ⁻¹`` with ``Ψ̃ = Ψ − W Σ_z Wᵀ``.
    """
    check_is_fitted(model)
    V = np.hstack([X, Y]) - model.location_
    return _gradients(model, posterior(model._parameters()).astype(V.dtype), V)


def _gradients(model: MixturePCCA, prepared: Posterior, V: np.ndarray) -> MixtureGradients:
    K, q, D = prepared.latent_maps.shape
    n = len(V)
    latent, by_means, by_noise = np.zeros((K, q)), np.zeros((K, D)), np.zeros((K, D))
    if n == 0:
        return MixtureGradients(latent, by_means, by_noise)
    _, gamma = expectation(V, prepared)
    least = gate(V.dtype)
    all_loadings = model.loadings_.astype(V.dtype, copy=False)
    for k in range(K):
        owned = np.flatnonzero(gamma[:, k] > least)
        if owned.size == 0:
            continue
        g = gamma[owned, k]
        rows = V[owned] - prepared.means[k]
        z = rows @ prepared.latent_maps[k].T
        W = all_loadings[k]
        private = rows - z @ W.T
        latent[k] = g @ z / n
        spread = W @ prepared.latent_covariances[k]
        if isinstance(prepared.whiteners, tuple):
            start = 0
            for whitener in prepared.whiteners:
                part = slice(start, start + whitener.shape[1])
                precision = whitener[k].T @ whitener[k]
                scaled = private[:, part] @ precision
                by_means[k, part] = g @ scaled / n
                # diag(Ψ⁻¹ Ψ̃ Ψ⁻¹) with Ψ̃ = Ψ − W Σ_z Wᵀ
                shared = precision @ spread[part]
                model_part = np.diagonal(precision) - np.einsum(
                    "dq,dq->d", shared, precision @ W[part]
                )
                by_noise[k, part] = (g @ np.square(scaled) - g.sum() * model_part) / (2 * n)
                start = part.stop
        else:
            precision = prepared.whiteners[k]
            expected = 1 / precision - np.einsum("dq,dq->d", spread, W)
            by_means[k] = g @ private * precision / n
            residual = g @ np.square(private) - g.sum() * expected
            by_noise[k] = residual * np.square(precision) / (2 * n)
    return MixtureGradients(latent, by_means, by_noise)


class MultiViewSuperVector(TransformerMixin, BaseEstimator):
    """Encode a bag of paired descriptors by the shared latent part Z and the private part G.

    Parameters
    ----------
    mixture : MixturePCCA or None
        The mixture that is learned from the descriptors; None takes 16 components with 8 latent
        variables.
    latent : bool
        Encode Z: the mean of ``γ̂ ẑ`` for each component.
    gradient : bool
        Encode G: the gradients by the means and noise variances of both views.
    scaling : {"information", "none"}
        "information" brings G to the units of a Fisher vector: times the inverse root of the
        information that one descriptor would carry were nothing shared. "none" leaves it the
        gradient that the paper prints, in which features with little noise drown the others.
    intra, power, l2 : bool, float, bool
        Unit length of each component's part, then the signed power, then unit length of the whole.
    max_descriptors : int
        Most pairs, drawn over all bags, that the mixture is learned from.
    n_jobs : int or None
        Threads that encode.
    random_state : int, RandomState or None
        Of the draw.

    Attributes
    ----------
    mixture_ : MixturePCCA
        The fitted mixture.

    Notes
    -----
    ``Z_k = (1/N) Σ γ̂ ẑ`` and ``G_k = (1/N) Σ γ̂ (x̃ − μ)/Ψ`` with its second-order twin, for both
    views; sums run over the bag, so that they are defined for components that no descriptor uses.
    Z and G of a component are normalised on their own, then power and l2 follow over each of the
    two parts and they are concatenated: the text of the paper does not say, so this is ours. An
    empty bag is a zero vector.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.multiview import MixturePCCA, MultiViewSuperVector
    >>> rng = np.random.default_rng(0)
    >>> X = [rng.normal(size=(n, 3)) for n in (60, 50)]
    >>> Y = [x[:, :2] + 0.1 * rng.normal(size=(len(x), 2)) for x in X]
    >>> mixture = MixturePCCA(2, 1, tol=0.01, random_state=0)
    >>> MultiViewSuperVector(mixture).fit(X, Y).transform(X, Y).shape
    (2, 22)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - scikit-learn's grammar
        "mixture": [MixturePCCA, None],
        "latent": ["boolean"],
        "gradient": ["boolean"],
        "scaling": [StrOptions({"none", "information"})],
        "intra": ["boolean"],
        "power": [Interval(Real, 0, 1, closed="right")],
        "l2": ["boolean"],
        "max_descriptors": [Interval(Integral, 2, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        mixture: MixturePCCA | None = None,
        *,
        latent: bool = True,
        gradient: bool = True,
        scaling: str = "information",
        intra: bool = True,
        power: float = 0.5,
        l2: bool = True,
        max_descriptors: int = 200_000,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.mixture = mixture
        self.latent = latent
        self.gradient = gradient
        self.scaling = scaling
        self.intra = intra
        self.power = power
        self.l2 = l2
        self.max_descriptors = max_descriptors
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, Y: Any) -> MultiViewSuperVector:
        """Learn the mixture from the paired descriptors of all bags.

        Parameters
        ----------
        X, Y : bags
            See :func:`mien.multiview.check_bags`; the same numbers of descriptors in both.
        """
        if not (self.latent or self.gradient):
            raise InputError("nothing to encode: latent and gradient are both False")
        first, second = check_paired_bags(X, Y)
        rows = np.arange(len(first.descriptors))
        rng = check_random_state(self.random_state)
        if len(rows) > self.max_descriptors:
            rows = np.sort(rng.choice(len(rows), self.max_descriptors, replace=False))
        seed = rng.randint(2**31 - 1)
        mixture = MixturePCCA(16, 8, tol=1e-3, random_state=seed)
        if self.mixture is not None:
            mixture = clone(self.mixture)
        self.mixture_ = mixture.fit(first.descriptors[rows], second.descriptors[rows])
        self.n_features_in_ = first.descriptors.shape[1]
        return self

    def transform(self, X: Any, Y: Any) -> np.ndarray:
        """Encode each bag: (n_bags, K q + 2 K (d_x + d_y)) with both parts."""
        check_is_fitted(self)
        model = self.mixture_
        first, second = check_paired_bags(X, Y, model.n_features_views_)
        dtype = np.result_type(first.descriptors, second.descriptors)
        prepared = posterior(model._parameters()).astype(dtype)
        location = model.location_.astype(dtype)
        K, q, D = prepared.latent_maps.shape
        scale = np.sqrt(model._noise_variances())

        def encode(i: int) -> np.ndarray:
            V = np.hstack([first.bag(i), second.bag(i)]) - location
            found = _gradients(model, prepared, V)
            by_means, by_noise = found.means, found.noise
            if self.scaling == "information":
                root = np.sqrt(np.maximum(model.weights_, np.finfo(float).tiny))[:, None]
                by_means = by_means * scale / root
                by_noise = by_noise * np.square(scale) * np.sqrt(2) / root
            gradient = np.concatenate([by_means, by_noise], axis=1)
            return np.concatenate([found.latent.ravel(), gradient.ravel()])

        out = encode_bags(encode, len(first), K * q + 2 * K * D, self.n_jobs)
        parts = []
        if self.latent:
            parts.append(normalise(out[:, : K * q], K, self.intra, self.power, self.l2))
        if self.gradient:
            parts.append(normalise(out[:, K * q :], K, self.intra, self.power, self.l2))
        both = np.concatenate(parts, axis=1)
        return both / np.sqrt(len(parts)) if self.l2 else both

    def fit_transform(self, X: Any, Y: Any) -> np.ndarray:
        """Learn the mixture, then encode the same bags."""
        return self.fit(X, Y).transform(X, Y)
