"""The multi-view super vector: what two views share, and what each has alone."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
    clone,
)
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mien._core.constraints import AT_LEAST_TWO, POSITIVE_FRACTION
from mien._core.sampling import cap_rows
from mien.errors import InputError
from mien.multiview._bags import check_paired_bags, for_each_stretch
from mien.multiview._mixture import Posterior, expectation, gate, posterior
from mien.multiview._mixture_pcca import MixturePCCA
from mien.multiview._normalise import join_parts

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
    prepared = posterior(model._parameters()).astype(V.dtype)
    found = _gradients(model, prepared, V, np.array([0, len(V)]))
    return MixtureGradients(*(part[0] for part in found))


def _gradients(
    model: MixturePCCA,
    prepared: Posterior,
    V: np.ndarray,
    offsets: np.ndarray,
    gradient: bool = True,
) -> MixtureGradients:
    """Latent (B, K, q) and gradients (B, K, D) of B bags, the rows of V between the offsets.

    Many small bags cost as much as one large bag: a component works on the rows of all of them
    that it owns a part of, and sums run over stretches of those. Without the gradient its place
    is left empty (B, K, 0).
    """
    K, q, D = prepared.latent_maps.shape
    sizes = np.diff(offsets)
    B = len(sizes)
    latent = np.zeros((B, K, q))
    by_means, by_noise = (np.zeros((B, K, D if gradient else 0)) for _ in range(2))
    if len(V) == 0:
        return MixtureGradients(latent, by_means, by_noise)
    bag = np.repeat(np.arange(B), sizes)
    _, gamma = expectation(V, prepared)
    shares = np.ascontiguousarray(gamma.T)
    least = gate(V.dtype)
    all_loadings = model.loadings_.astype(V.dtype, copy=False)
    for k in range(K):
        owned = np.flatnonzero(shares[k] > least)
        if owned.size == 0:
            continue
        g = shares[k, owned]
        starts = np.flatnonzero(np.diff(bag[owned], prepend=-1))
        mine = bag[owned[starts]]
        rows = V[owned] - prepared.means[k]
        z = rows @ prepared.latent_maps[k].T
        latent[mine, k] = _sum_stretches(g, z, starts)
        if not gradient:
            continue
        W = all_loadings[k]
        private = rows - z @ W.T
        counts = np.add.reduceat(g, starts)[:, None]
        spread = W @ prepared.latent_covariances[k]
        if isinstance(prepared.whiteners, tuple):
            start = 0
            for whitener in prepared.whiteners:
                part = slice(start, start + whitener.shape[1])
                precision = whitener[k].T @ whitener[k]
                scaled = private[:, part] @ precision
                by_means[mine, k, part] = _sum_stretches(g, scaled, starts)
                # diag(Ψ⁻¹ Ψ̃ Ψ⁻¹) with Ψ̃ = Ψ − W Σ_z Wᵀ
                shared = precision @ spread[part]
                model_part = np.diagonal(precision) - np.einsum(
                    "dq,dq->d", shared, precision @ W[part]
                )
                squares = _sum_stretches(g, np.square(scaled), starts)
                by_noise[mine, k, part] = (squares - counts * model_part) / 2
                start = part.stop
        else:
            precision = prepared.whiteners[k]
            expected = 1 / precision - np.einsum("dq,dq->d", spread, W)
            by_means[mine, k] = _sum_stretches(g, private, starts) * precision
            residual = _sum_stretches(g, np.square(private), starts) - counts * expected
            by_noise[mine, k] = residual * np.square(precision) / 2
    means = 1 / np.maximum(sizes, 1)[:, None, None]
    return MixtureGradients(latent * means, by_means * means, by_noise * means)


def _sum_stretches(weights: np.ndarray, rows: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Weighted sums of rows (n, m) over the stretches that begin at starts."""
    if len(starts) == 1:
        return (weights @ rows)[None]
    return np.add.reduceat(weights[:, None] * rows, starts, axis=0)


def information_scale(model: MixturePCCA) -> np.ndarray:
    """Factors (K, 2 D) that bring gradients by μ and Ψ to the units of a Fisher vector."""
    scale = np.sqrt(model._noise_variances())
    root = np.sqrt(np.maximum(model.weights_, np.finfo(float).tiny))[:, None]
    factors = np.concatenate([scale, np.sqrt(2) * np.square(scale)], axis=1)
    return np.asarray(factors / root)


def latent_scale(model: MixturePCCA) -> np.ndarray:
    """Factors (K, 1) that bring the mean latent variables to the same units."""
    root = np.sqrt(np.maximum(model.weights_, np.finfo(float).tiny))
    return np.asarray(1 / root)[:, None]


# Components by default: as many as the pairs support.
_MOST_COMPONENTS = 64
_PAIRS_PER_COMPONENT = 1000
# Descriptors that are worked on at once: bags are small, and each call costs something.
_ROWS = 4096


class MultiViewSuperVector(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Encode a bag of paired descriptors by the shared latent part Z and the private part G.

    Parameters
    ----------
    mixture : MixturePCCA or None
        The mixture that is learned from the descriptors; None takes a component for every
        thousand pairs, at least one and at most 64, with 8 latent variables each. With fewer pairs
        a component follows each of them.
    latent : bool
        Encode Z: the mean of ``γ̂ ẑ`` for each component.
    gradient : bool
        Encode G: the gradients by the means and noise variances of both views.
    scaling : {"information", "none"}
        "information" brings G to the units of a Fisher vector: times the inverse root of the
        information that one descriptor would carry were nothing shared. "none" leaves it the
        gradient that the paper prints, in which features with little noise drown the others.
    joint : bool
        Bring Z to the same units as G (with ``scaling="information"``) and normalise both as one
        vector, so that each has the weight that its information gives it. False leaves Z as it is
        and gives both parts the same length.
    intra, power, l2 : bool, float, bool
        Unit length of each component's part, then the signed power, then unit length of the whole.
        ``intra`` makes a component that a bag hardly uses as loud as one that explains it all.
    max_descriptors : int
        Most pairs, drawn over all bags, that the mixture is learned from.
    n_jobs : int or None
        Threads that encode; None takes every core, as the matrix products would.
    random_state : int, RandomState or None
        Of the draw.

    Attributes
    ----------
    mixture_ : MixturePCCA
        The fitted mixture.

    See Also
    --------
    MixturePCCA : The mixture whose parts are encoded.
    FisherVector : The encoding of one view.
    BagClassifier : Classes of bags from such a vector.

    Notes
    -----
    ``Z_k = (1/N) Σ γ̂ ẑ`` and ``G_k = (1/N) Σ γ̂ (x̃ − μ)/Ψ`` with its second-order twin, for both
    views; sums run over the bag, so that they are defined for components that no descriptor uses.
    Z is the gradient by the mean of the latent variable, whose information is that of a descriptor
    times the component's weight w, so ``Z_k / √w_k`` is in the units of ``G_k`` and the two can be
    one vector without a free number. How the paper weighs them its text does not say. An empty bag
    is a zero vector.

    References
    ----------
    [Cai2014]_, [Perronnin2010]_ in the :doc:`bibliography </bibliography>`.

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
        "joint": ["boolean"],
        "intra": ["boolean"],
        "power": [POSITIVE_FRACTION],
        "l2": ["boolean"],
        "max_descriptors": [AT_LEAST_TWO],
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
        joint: bool = True,
        intra: bool = False,
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
        self.joint = joint
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
        rng = check_random_state(self.random_state)
        rows = cap_rows(np.arange(len(first.descriptors)), self.max_descriptors, rng)
        seed = rng.randint(2**31 - 1)
        n_components = min(_MOST_COMPONENTS, max(1, len(rows) // _PAIRS_PER_COMPONENT))
        mixture = MixturePCCA(n_components, 8, tol=1e-3, random_state=seed)
        if self.mixture is not None:
            mixture = clone(self.mixture)
        self.mixture_ = mixture.fit(first.descriptors[rows], second.descriptors[rows])
        self.n_features_in_ = first.descriptors.shape[1]
        return self

    def transform(self, X: Any, Y: Any) -> np.ndarray:
        """Encode each pair of bags.

        Parameters
        ----------
        X : list of (n_i, d_x), or (descriptors, offsets)
            Bags of the first view.
        Y : list of (n_i, d_y), or (descriptors, offsets)
            Bags of the second view: descriptor j of bag i is of the same patch in both.

        Returns
        -------
        (n_bags, K q + 2 K (d_x + d_y))
            What the views share, then what each keeps for itself; parts that are switched off are
            left out. Inner products of rows are similarities.
        """
        latent, gradient = self.encode_parts(X, Y)
        if self.scaling == "information":
            gradient = gradient * information_scale(self.mixture_) if self.gradient else gradient
            latent = latent * latent_scale(self.mixture_) if self.joint else latent
        return join_parts(
            [part for part, kept in ((latent, self.latent), (gradient, self.gradient)) if kept],
            self.joint,
            self.intra,
            self.power,
            self.l2,
        )

    @property
    def _n_features_out(self) -> int:
        K, D, q = self.mixture_.loadings_.shape
        return int(K * (q * self.latent + 2 * D * self.gradient))

    def encode_parts(self, X: Any, Y: Any) -> tuple[np.ndarray, np.ndarray]:
        """The two parts of the encoding as printed, before scaling and normalisation.

        Parameters
        ----------
        X, Y : bags
            As in :meth:`transform`.

        Returns
        -------
        Z : (n_bags, K, q)
            Posterior means of the latent variables, averaged over a bag with the responsibilities.
        G : (n_bags, K, 2 D)
            Gradients with respect to means and variances of the noise; (n_bags, K, 0) with
            ``gradient=False``.
        """
        check_is_fitted(self)
        model = self.mixture_
        first, second = check_paired_bags(X, Y, model.n_features_views_)
        dtype = np.result_type(first.descriptors, second.descriptors)
        prepared = posterior(model._parameters()).astype(dtype)
        location = model.location_.astype(dtype)
        K, q, D = prepared.latent_maps.shape
        latent = np.zeros((len(first), K, q))
        gradient = np.zeros((len(first), K, 2 * D if self.gradient else 0))

        def encode(bags: slice) -> None:
            offsets = first.offsets[bags.start : bags.stop + 1]
            rows = slice(offsets[0], offsets[-1])
            V = np.hstack([first.descriptors[rows], second.descriptors[rows]]) - location
            found = _gradients(model, prepared, V, offsets - offsets[0], self.gradient)
            latent[bags] = found.latent
            gradient[bags] = np.concatenate([found.means, found.noise], axis=2)

        for_each_stretch(encode, first.offsets, _ROWS, self.n_jobs)
        return latent, gradient

    def fit_transform(self, X: Any, Y: Any) -> np.ndarray:
        """Learn the mixture, then encode the same bags.

        Parameters
        ----------
        X, Y : bags
            As in :meth:`fit`.

        Returns
        -------
        (n_bags, n_features_out)
            As :meth:`transform` gives.
        """
        return self.fit(X, Y).transform(X, Y)
