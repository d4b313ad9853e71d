"""Fisher vectors of bags of descriptors under a diagonal Gaussian mixture."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.mixture import GaussianMixture
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from mien._core.constraints import POSITIVE_FRACTION, POSITIVE_INTEGER
from mien._core.passes import Passes, RunningMoments
from mien._core.rows import check_rows
from mien._core.sampling import cap_rows
from mien._core.types import FLOATS
from mien.errors import InputError
from mien.multiview._bags import check_bags, encode_bags
from mien.multiview._gaussian_passes import fit_gaussians
from mien.multiview._mixture import exp_safely
from mien.multiview._normalise import normalise

__all__ = ["FisherVector"]


class _Prepared(NamedTuple):
    """What is computed once for all bags.

    ``maps`` (K, 2 d + 1) gives the log-densities of ``[x, x², 1]`` and has their precision. The
    others bring sums over a bag to the parts of a Fisher vector, and are ``float64``.
    """

    maps: np.ndarray
    weights: np.ndarray
    means: np.ndarray
    by_means: np.ndarray
    by_variances: np.ndarray
    expected: np.ndarray


def _prepare(mixture: GaussianMixture, dtype: np.dtype) -> _Prepared:
    w, mu, var = (
        np.asarray(part, dtype=np.float64)
        for part in (mixture.weights_, mixture.means_, mixture.covariances_)
    )
    w = np.maximum(w, np.finfo(np.float32).tiny)[:, None]
    constants = np.log(w) - 0.5 * (np.log(var) + np.square(mu) / var).sum(axis=1, keepdims=True)
    return _Prepared(
        maps=np.concatenate([mu / var, -0.5 / var, constants], axis=1).astype(dtype),
        weights=w,
        means=mu,
        by_means=1 / np.sqrt(w * var),
        by_variances=1 / (var * np.sqrt(2 * w)),
        expected=(np.square(mu) - var) / (var * np.sqrt(2 * w)),
    )


def _sum_bag(X: np.ndarray, maps: np.ndarray) -> np.ndarray:
    """Sums (K, 2 d + 1) over a bag (n, d) of γ [x, x², 1]: two products for four."""
    n, d = X.shape
    row = np.empty((n, 2 * d + 1), dtype=X.dtype)
    row[:, :d] = X
    np.multiply(X, X, out=row[:, d:-1])
    row[:, -1] = 1
    # Components in rows: sums over them then run along the samples, many at a time.
    gamma = maps @ row.T
    gamma -= gamma.max(axis=0)
    exp_safely(gamma)
    gamma /= gamma.sum(axis=0)
    return gamma @ row


class FisherVector(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Encode a bag of descriptors by how a Gaussian mixture would have to change to fit it.

    Parameters
    ----------
    n_components : int
        Number K of Gaussians.
    weights, means, variances : bool
        Which gradients to encode: K, K d and K d numbers.
    intra : bool
        Bring the part of each Gaussian to unit length first.
    power : float
        Exponent of the signed power; 1 leaves it out.
    l2 : bool
        Bring the whole vector to unit length.
    max_descriptors : int
        Most descriptors, drawn over all bags, that the mixture is learned from.
    max_iter : int
        Most iterations of EM.
    n_jobs : int or None
        Threads that encode; None takes every core, as the matrix products would.
    random_state : int, RandomState or None
        Of the draw and of the mixture's start.

    Attributes
    ----------
    mixture_ : GaussianMixture
        The diagonal mixture.
    n_features_in_ : int
        Length d of a descriptor.
    n_iter_ : int
        Iterations of EM.

    See Also
    --------
    MultiViewSuperVector : For two descriptors of the same places.
    BagClassifier : An encoder and linear support vector machines.

    Notes
    -----
    With posteriors γ and ``u = (x − μ_k)/σ_k``, the parts for a bag of T descriptors are
    ``Σ γ u / (T √w_k)`` for the means, ``Σ γ (u² − 1) / (T √(2 w_k))`` for the variances and
    ``Σ (γ − w_k) / (T √w_k)`` for the weights: the gradient of the mean log-likelihood times the
    inverse root of the Fisher information [Perronnin2010]_. scikit-image
    gives the variance part the opposite sign. An empty bag is a zero vector.

    For the joint vector of two views, encode ``join_views(X, Y)``.

    References
    ----------
    [Perronnin2010]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.multiview import FisherVector
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(n, 3)) for n in (40, 1, 25)]
    >>> FisherVector(4, random_state=0).fit_transform(bags).shape
    (3, 24)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - scikit-learn's grammar
        "n_components": [POSITIVE_INTEGER],
        "weights": ["boolean"],
        "means": ["boolean"],
        "variances": ["boolean"],
        "intra": ["boolean"],
        "power": [POSITIVE_FRACTION],
        "l2": ["boolean"],
        "max_descriptors": [POSITIVE_INTEGER],
        "max_iter": [POSITIVE_INTEGER],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 16,
        *,
        weights: bool = False,
        means: bool = True,
        variances: bool = True,
        intra: bool = False,
        power: float = 0.5,
        l2: bool = True,
        max_descriptors: int = 200_000,
        max_iter: int = 100,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.weights = weights
        self.means = means
        self.variances = variances
        self.intra = intra
        self.power = power
        self.l2 = l2
        self.max_descriptors = max_descriptors
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> FisherVector:
        """Learn the mixture from the descriptors of all bags.

        Parameters
        ----------
        X : list of (n_i, d), or (descriptors, offsets)
            Bags of local descriptors. Reduce and decorrelate them first (principal components): the
            Gaussians have diagonal covariances.
        y : None
            Ignored.

        Returns
        -------
        FisherVector
            Itself.
        """
        if not (self.weights or self.means or self.variances):
            raise InputError("nothing to encode: weights, means and variances are all False")
        descriptors = check_bags(X).descriptors
        rng = check_random_state(self.random_state)
        self._check_number(len(descriptors))
        descriptors = cap_rows(descriptors, self.max_descriptors, rng)
        spread = float(descriptors.var(axis=0, dtype=np.float64).mean())
        if np.all(descriptors == descriptors[0]):
            raise InputError(
                "all descriptors are the same, so there is nothing to model: "
                f"n_samples = {len(descriptors)}"
            )
        mixture = self._mixture(spread, descriptors.dtype, rng)
        # E[x²] − μ² of float32 can fall below zero.
        self.mixture_ = mixture.fit(descriptors.astype(np.float64))
        self.n_iter_ = self.mixture_.n_iter_
        self.n_features_in_ = descriptors.shape[1]
        return self

    def _check_number(self, n: int) -> None:
        if n < self.n_components:
            raise InputError(
                f"{self.n_components} Gaussians need at least as many descriptors; "
                f"got n_samples = {n}"
            )

    def _mixture(self, spread: float, dtype: Any, rng: np.random.RandomState) -> GaussianMixture:
        """What is fitted to descriptors with this mean variance."""
        return GaussianMixture(
            self.n_components,
            covariance_type="diag",
            max_iter=self.max_iter,
            reg_covar=max(1e-6 * spread, np.finfo(dtype).tiny),
            random_state=rng.randint(2**31 - 1),
        )

    def _check_batch(self, X: Any, y: Any = None, reset: bool = False) -> np.ndarray:
        """Descriptors (n, d) as the passes take them; which bag each is of does not matter."""
        batch = check_rows(X, input_name="a batch of descriptors", dtype=FLOATS)
        if reset:
            self.n_features_in_ = batch.shape[1]
        if batch.shape[1] != self.n_features_in_:
            raise InputError(f"batches must be (n, {self.n_features_in_}); got {batch.shape}")
        return np.asarray(batch)

    @_fit_context(prefer_skip_nested_validation=True)
    def _fit_passes(self, passes: Passes, first: tuple[np.ndarray, Any]) -> FisherVector:
        """Learn the mixture from passes that somebody else makes over batches of descriptors.

        All descriptors are learned from; ``max_descriptors`` of them place the Gaussians.
        """
        dtype = self._check_batch(first[0], reset=True).dtype
        moments = passes.total(RunningMoments)
        self._check_number(moments.n)
        rng = check_random_state(self.random_state)
        spread = float((moments.scatter / moments.n).mean())
        if spread == 0:
            raise InputError(
                "all descriptors are the same, so there is nothing to model: "
                f"n_samples = {moments.n}"
            )
        mixture = self._mixture(spread, dtype, rng)
        share = min(1.0, self.max_descriptors / moments.n)
        self.mixture_ = fit_gaussians(mixture, passes, moments.mean, share, mixture.random_state)
        self.n_iter_ = self.mixture_.n_iter_
        return self

    @property
    def _n_features_out(self) -> int:
        per_component = self.weights + (self.means + self.variances) * self.n_features_in_
        return int(self.mixture_.n_components * per_component)

    def transform(self, X: Any) -> np.ndarray:
        """Encode each bag by the gradient of its log-likelihood.

        Parameters
        ----------
        X : list of (n_i, d), or (descriptors, offsets)
            Bags, as in :meth:`fit`. A bag may be of any size.

        Returns
        -------
        (n_bags, K * (weights + d * means + d * variances))
            Those parts of the gradient that are switched on, in this order. Rows have length one
            with ``l2``; their inner product is the Fisher kernel.
        """
        check_is_fitted(self)
        bags = check_bags(X, self.n_features_in_)
        prepared = _prepare(self.mixture_, bags.descriptors.dtype)

        def encode(i: int) -> np.ndarray:
            return self._encode(bags.bag(i), prepared)

        out = encode_bags(encode, len(bags), self._n_features_out, self.n_jobs)
        return normalise(out, self.mixture_.n_components, self.intra, self.power, self.l2)

    def _encode(self, X: np.ndarray, prepared: _Prepared) -> np.ndarray:
        n, d = X.shape
        if n == 0:
            return np.zeros(self._n_features_out)
        sums = _sum_bag(X, prepared.maps).astype(np.float64)
        sums /= n
        first, second, counts = sums[:, :d], sums[:, d:-1], sums[:, -1:]
        parts = []
        if self.weights:
            parts.append((counts - prepared.weights) / np.sqrt(prepared.weights))
        if self.means:
            parts.append((first - counts * prepared.means) * prepared.by_means)
        if self.variances:
            second = (second - 2 * prepared.means * first) * prepared.by_variances
            parts.append(second + counts * prepared.expected)
        return np.concatenate(parts, axis=1).ravel()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags
