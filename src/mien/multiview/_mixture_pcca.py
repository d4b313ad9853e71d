"""A mixture of probabilistic canonical correlation analysers, by EM."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.cluster import KMeans
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import StrOptions

from mien._core.constraints import NON_NEGATIVE, POSITIVE, POSITIVE_INTEGER
from mien._core.em import EMResult, run_em
from mien._core.passes import BatchPasses, Passes, split_rows
from mien._core.rows import validate_rows
from mien.errors import InputError, NumericsWarning
from mien.multiview._batches import first_pair, read_maps
from mien.multiview._mixture import (
    MixtureStatistics,
    Parameters,
    accumulate,
    expectation,
    many_owners,
    maximise,
    posterior,
)
from mien.multiview._mixture_passes import (
    Expected,
    Statistics,
    assign_rows,
    expect_rows,
    pool_moments,
    sample_rows,
    sum_seconds,
)
from mien.multiview._mixture_start import (
    feature_variances,
    reseed_component,
    start_from_statistics,
)
from mien.multiview._mixture_use import MixtureUse

__all__ = ["MixturePCCA"]

PairBatches = Callable[[], Iterable[tuple[np.ndarray, np.ndarray]]]

# Enough points to place the centres of a mixture; all of the data then decide on its shape.
_KMEANS_SAMPLES = 20_000


class MixturePCCA(MixtureUse, BaseEstimator):
    """Mixture of probabilistic CCA: two views of a sample share a latent variable.

    In component k, ``x = W_x z + μ_x + ε_x`` and ``y = W_y z + μ_y + ε_y`` with ``z ~ N(0, I)``
    and noise that is independent between the views.

    Parameters
    ----------
    n_components : int
        Number K of components.
    n_latent : int
        Number q of latent variables of a component.
    noise : {"diagonal", "full"}
        "full" leaves all that is private to a view to its noise, so that z holds only what the
        views share: probabilistic CCA proper. "diagonal" is a mixture of factor analysers of
        [x; y], where z also explains what the features of one view share among themselves; it
        has far fewer parameters.
    max_iter : int, default=200
        Maximum number of iterations of EM.
    tol : float, default=1e-4
        In nats: stop when the mean log-likelihood of a sample changes by less.
    n_init : int, default=1
        Number of starts, of which the most likely is kept.
    floor : float, default=1e-6
        Minimum variance of the noise, relative to the variance of each feature. Raise it where
        features are combinations of others, or samples few: it keeps covariances regular. It is
        never below the resolution of the samples' precision.
    batch_size : int, default=8192
        Samples that are worked on at once; memory grows with it, not with the data.
    random_state : int, RandomState or None
        Of the k-means starts.

    Attributes
    ----------
    weights_ : (K,)
        Shares of the components.
    means_ : (K, D)
        Means of the concatenated views.
    loadings_ : (K, D, q)
        W of the concatenated views.
    noise_ : (K, D), or a tuple of (K, d_v, d_v) for each view
        Variances, or covariances, of the noise.
    bound_ : (n_iter,)
        Mean log-likelihood of a sample at each iteration; it never falls.
    n_iter_ : int
        Iterations of the start that was kept.
    converged_ : bool
        Whether the change fell below tol.
    n_features_views_ : tuple of int
        Features of each view.

    See Also
    --------
    choose_mixture : Chooses the numbers of components and latent variables.
    MultiViewSuperVector : Encodes bags of paired descriptors by such a mixture.
    sklearn.cross_decomposition.CCA : One component, without a likelihood.

    Notes
    -----
    An iteration makes one pass over the data: the responsibilities, by one product of all
    samples with all loadings, then sums of γ, γ v and γ v vᵀ, from which the M-step follows
    without seeing the samples again. These sums add over batches. Where many components share
    each sample, sums of γ v ẑᵀ take the place of γ v vᵀ (diagonal noise). The posterior of z uses
    ``(I + W_xᵀΨ_x⁻¹W_x + W_yᵀΨ_y⁻¹W_y)⁻¹``, of size q; no covariance of both views together is
    inverted. W and μ are solved jointly (the paper's eqs. 31 to 34 each hold the other fixed).

    A component that loses all its samples is restarted at a sample that the others explain
    badly, and that is undone if the likelihood falls.

    Arrays of ``float32`` are worked on in ``float32``; sums over the data are kept in ``float64``.
    A memory map is read a batch at a time, and what was read is let go of. Two views are what
    ``fit`` takes; the arithmetic below it (``_mixture.py``) takes any number of them, as the
    sizes of consecutive stretches of the concatenated features.

    References
    ----------
    [Cai2014]_ (supplement), [Bach2005]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.multiview import MixturePCCA
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(500, 1))
    >>> X = z @ [[1.0, -1.0, 0.5]] + 0.1 * rng.normal(size=(500, 3))
    >>> Y = z @ [[2.0, 1.0]] + 0.1 * rng.normal(size=(500, 2))
    >>> model = MixturePCCA(n_latent=1, tol=1e-3, random_state=0).fit(X, Y)
    >>> guess = model.predict_view(X)
    >>> bool(np.abs(guess - Y).mean() < 0.15)
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - scikit-learn's grammar
        "n_components": [POSITIVE_INTEGER],
        "n_latent": [POSITIVE_INTEGER],
        "noise": [StrOptions({"diagonal", "full"})],
        "max_iter": [POSITIVE_INTEGER],
        "tol": [NON_NEGATIVE],
        "n_init": [POSITIVE_INTEGER],
        "floor": [POSITIVE],
        "batch_size": [POSITIVE_INTEGER],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 1,
        n_latent: int = 2,
        *,
        noise: str = "diagonal",
        max_iter: int = 200,
        tol: float = 1e-4,
        n_init: int = 1,
        floor: float = 1e-6,
        batch_size: int = 8192,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_latent = n_latent
        self.noise = noise
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.floor = floor
        self.batch_size = batch_size
        self.random_state = random_state

    # ------------------------------------------------------------------ learning

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, Y: Any) -> MixturePCCA:
        """Learn from paired samples by EM, from ``n_init`` starts.

        Parameters
        ----------
        X : (n_samples, d_x)
            First view; a memory map is read in batches.
        Y : (n_samples, d_y)
            Second view of the same samples, row by row. Views may have different units: what
            matters is that the features of each view are of comparable scale.

        Returns
        -------
        MixturePCCA
            Itself, with the best start's parameters.
        """
        if isinstance(X, np.memmap) or isinstance(Y, np.memmap):
            return self.fit_batches(lambda: read_maps(X, Y, self.batch_size))
        X, Y = self._check_pair(X, Y, reset=True)
        return self._fit(BatchPasses(lambda: split_rows((X, Y), self.batch_size)), X.dtype)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_batches(self, batches: PairBatches) -> MixturePCCA:
        """Learn from data larger than memory.

        Parameters
        ----------
        batches : callable
            Called once for each pass over the data; gives an iterable of pairs (X, Y). Every
            pass must give the same samples.
        """
        dtype = self._check_pair(*first_pair(batches()), reset=True)[0].dtype
        return self._fit(BatchPasses(lambda: (self._check_pair(x, y) for x, y in batches())), dtype)

    def _check_batch(self, X: Any, y: Any, reset: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """A batch as the passes take it."""
        return self._check_pair(X, y, reset=reset)

    @_fit_context(prefer_skip_nested_validation=True)
    def _fit_passes(self, passes: Passes, first: tuple[np.ndarray, np.ndarray]) -> MixturePCCA:
        """Learn from passes that somebody else makes over batches of :meth:`_check_batch`."""
        return self._fit(passes, self._check_batch(*first, reset=True)[0].dtype)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, Y: Any) -> MixturePCCA:
        """Add samples: their statistics join those seen before, then one M-step follows.

        Parameters
        ----------
        X : (n_samples, d_x)
            First view of a batch. The first call places the components, so it needs a batch that is
            typical of the data and has many more samples than components.
        Y : (n_samples, d_y)
            Second view of the same samples.
        """
        first = not hasattr(self, "statistics_")
        X, Y = self._check_pair(X, Y, reset=first)
        if first:
            self._fit(BatchPasses(lambda: [(X, Y)]), X.dtype)
            return self
        V = np.hstack([X, Y]) - self.location_
        parameters = self._parameters()
        likelihood, gamma = expectation(V, posterior(parameters))
        # Sums of earlier samples keep the responsibilities that they were given then.
        total = self._statistics() + accumulate(V, gamma)
        floor = np.maximum(self.floor * feature_variances(total), np.finfo(float).tiny)
        self._keep(maximise(parameters, total, floor), total)
        self.bound_: np.ndarray = np.append(self.bound_, likelihood.mean())
        self.n_iter_: int = self.n_iter_ + 1
        return self

    def _fit(self, passes: Passes, dtype: np.dtype) -> MixturePCCA:
        moments = passes.total(pool_moments)
        n_samples = moments.n
        self.location_: np.ndarray = moments.mean
        variances = moments.scatter / n_samples
        if n_samples < 2:
            raise InputError("two samples or more are needed; got n_samples = 1")
        if n_samples < self.n_components:
            raise InputError(
                f"{self.n_components} components need at least as many samples; got {n_samples}"
            )
        # The mean of equal numbers is not always that number.
        rounding = np.square(8 * np.finfo(np.float64).eps * np.abs(self.location_))
        variances = np.where(variances > rounding, variances, 0.0)
        if not np.any(variances > 0):
            raise InputError("every feature is constant: there is nothing to model")
        # A constant feature gets the floor of the others, so that its density is finite.
        typical = np.where(variances > 0, variances, np.median(variances[variances > 0]))
        # Below the resolution of the samples a floor would keep nothing from being singular.
        resolution = float(np.finfo(dtype).eps) * (40 if self.noise == "full" else 4)
        floor = max(self.floor, resolution) * typical
        rng = check_random_state(self.random_state)
        try:
            best, total = max(
                (
                    self._run(passes, floor, variances, n_samples, dtype, rng)
                    for _ in range(self.n_init)
                ),
                key=lambda found: float(found[0].objective[-1]),
            )
        except np.linalg.LinAlgError as error:
            raise InputError(
                f"a covariance became singular in {np.dtype(dtype).name}: some features are "
                f"combinations of others, or {n_samples} samples are too few for "
                f"{self.n_components} component(s) of {len(floor)} features: raise floor (now "
                f'{self.floor:g}), use noise="diagonal", float64, fewer components, or principal '
                "components of each view"
            ) from error
        if not isinstance(total, MixtureStatistics):
            # Only sums of γ v vᵀ are good for later parameters, and so for partial_fit.
            prepared = posterior(best.state).astype(dtype)
            total = passes.total(sum_seconds, self.location_.astype(dtype), prepared)
        noise = best.state.noise
        least = min(
            float(part.min())
            for part in (
                [np.diagonal(block, axis1=1, axis2=2) for block in noise]
                if isinstance(noise, tuple)
                else [noise]
            )
        )
        if not float(np.square(best.state.loadings).sum(axis=(1, 2)).max()) <= 1e14 * least:
            raise InputError(
                "the scales of the features differ so much that the model is lost in rounding: "
                "standardise each view first"
            )
        self.bound_ = best.objective
        self.n_iter_ = best.n_iter
        self.converged_ = best.converged
        self._keep(best.state, total)
        return self

    def _run(
        self,
        passes: Passes,
        floor: np.ndarray,
        variances: np.ndarray,
        n_samples: int,
        dtype: np.dtype,
        rng: np.random.RandomState,
    ) -> tuple[EMResult[Parameters], Statistics]:
        start = self._start(passes, floor, variances, n_samples, dtype, rng)
        last: list[Expected] = []
        reseeding: dict[str, Any] = {"before": None, "bound": -np.inf, "left": self.n_components}

        def step(parameters: Parameters) -> tuple[Parameters, float]:
            found = self._expect(passes, parameters, dtype, *last)
            bound = found.likelihood / found.n
            if reseeding["before"] is not None and bound < reseeding["bound"]:
                parameters = reseeding["before"]
                reseeding["left"] = 0
                found = self._expect(passes, parameters, dtype, *last)
                bound = found.likelihood / found.n
            reseeding["before"], reseeding["bound"] = None, bound
            last[:] = [found]
            new = maximise(parameters, found.statistics, floor)
            empty = np.flatnonzero(found.statistics.counts < 1)
            if empty.size and reseeding["left"] > 0:
                reseeding["before"] = new
                reseeding["left"] -= 1
                new = reseed_component(new, int(empty[0]), found.worst, n_samples)
            return new, bound

        result = run_em(step, start, max_iter=self.max_iter, tol=self.tol, description="EM")
        if reseeding["before"] is not None:
            # Placed anew in the last step, so nobody has seen whether that was for the better.
            result = replace(result, state=reseeding["before"])
        return result, last[0].statistics

    def _start(
        self,
        passes: Passes,
        floor: np.ndarray,
        variances: np.ndarray,
        n_samples: int,
        dtype: np.dtype,
        rng: np.random.RandomState,
    ) -> Parameters:
        """K-means on both views, each brought to the same total variance."""
        scale: np.ndarray = np.concatenate(
            [
                np.full(d, 1 / np.sqrt(part.sum()) if part.sum() > 0 else 0.0)
                for d, part in zip(
                    self.n_features_views_,
                    np.split(variances, np.cumsum(self.n_features_views_)[:-1]),
                    strict=True,
                )
            ]
        ).astype(dtype)
        share = min(1.0, _KMEANS_SAMPLES / n_samples)
        seed = rng.randint(2**31 - 1)
        location = self.location_.astype(dtype)
        points = passes.total(sample_rows, location, scale, share, seed).values
        if len(points) < self.n_components:
            raise InputError(f"{len(points)} samples cannot start {self.n_components} components")
        with warnings.catch_warnings():
            # Duplicate samples leave clusters empty; the components that they start are re-seeded.
            warnings.simplefilter("ignore", category=UserWarning)
            kmeans = KMeans(self.n_components, n_init=1, random_state=seed).fit(points)
        total = passes.total(assign_rows, location, scale, kmeans)
        if np.any(total.counts < 2):
            small = int(np.count_nonzero(total.counts < 2))
            warnings.warn(
                f"{small} of {self.n_components} components start with fewer than two samples: "
                "their noise is at its floor; use fewer components",
                NumericsWarning,
                stacklevel=5,
            )
        return start_from_statistics(
            total, self.n_latent, self.n_features_views_, floor, self.noise == "full"
        )

    def _expect(
        self,
        passes: Passes,
        parameters: Parameters,
        dtype: np.dtype,
        before: Expected | None = None,
    ) -> Expected:
        """An E-step over all samples; the one before it says how many components own each."""
        K, D, q = parameters.loadings.shape
        owners = 1.0 if before is None else before.owners / before.n
        dense = self.noise == "diagonal" and many_owners(owners, K, D, q)
        prepared = posterior(parameters).astype(dtype)
        return passes.total(expect_rows, self.location_.astype(dtype), prepared, dense)

    def _keep(self, parameters: Parameters, statistics: MixtureStatistics) -> None:
        self.weights_ = parameters.weights
        self.means_ = parameters.means + self.location_
        self.loadings_ = parameters.loadings
        self.noise_ = parameters.noise
        self.statistics_ = tuple(statistics)

    def _statistics(self) -> MixtureStatistics:
        return MixtureStatistics(*self.statistics_)

    # ------------------------------------------------------------------ checking

    def _check_pair(self, X: Any, Y: Any, reset: bool = False) -> tuple[np.ndarray, np.ndarray]:
        if Y is None:
            raise InputError(
                "MixturePCCA requires y to be passed, but the target y is None: it is the second "
                "view of the samples"
            )
        X = validate_rows(self, X, reset=reset, dtype=[np.float64, np.float32])
        Y = self._check_second(Y, reset)
        if len(X) != len(Y):
            raise InputError(f"X has {len(X)} samples and Y has {len(Y)}: views are paired")
        if reset:
            self.n_features_views_ = (X.shape[1], Y.shape[1])
        return X, Y

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components * self.n_latent)
