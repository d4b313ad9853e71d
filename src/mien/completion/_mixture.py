"""Completion by a mixture of probabilistic CCA: the visible and the covered part as two views."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state

from mien._core.constraints import POSITIVE_INTEGER
from mien._core.linalg import fix_signs, numerical_rank
from mien.completion._base import BatchStream, Completer, Completion, Moments, gather
from mien.errors import NumericsWarning
from mien.multiview import MixturePCCA

__all__ = ["MixtureCompleter"]

# Numbers of components and of latent variables that are tried, on how many vectors.
_COMPONENTS = (1, 2, 4, 8)
_LATENT = (5, 10, 20, 40, 80)
_TRIAL_ROWS = 4000
_TRIAL_ITERATIONS = 10
_ITERATIONS = 30
_FLOOR = 1e-3


class MixtureCompleter(Completer):
    """Expect the covered features from the visible ones under a mixture of probabilistic CCA.

    Worth a trial on hundreds of faces, beside a ridge whose penalty is well chosen.

    Parameters
    ----------
    n_components : int or None
        Number K of components of the mixture. None chooses among 1, 2, 4 and 8 by the likelihood
        of the vectors held out.
    n_latent : int or None
        Number q of latent variables that the two parts share in a component. None chooses among
        5, 10, 20, 40 and 80 in the same way.
    n_directions : int
        Number of principal components to which each part is reduced first; at most an eighth of
        the number of vectors. The fit takes time with its square.
    n_starts : int
        Number of mixtures with different starts whose estimates are averaged.
    cover : (n_features,) of bool or None
        True for the features that will be covered; None takes the second half. No other cover
        can be completed.
    random_state : int, RandomState or None
        Seed of the starts.

    Attributes
    ----------
    n_components_, n_latent_ : int
        The numbers in use.
    mixtures_ : list of mien.multiview.MixturePCCA
        One per start.
    bases_ : tuple of (k, n_visible) and (k, n_covered)
        Principal components of each part.
    mean_ : (n_features,)
        Mean of the vectors.
    likelihoods_ : dict of (int, int) to float
        Mean log-likelihood of the vectors held out for each (K, q) that was tried.
    cover_ : (n_features,) of bool
        The cover of ``fit``.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    mien.multiview.MixturePCCA : the model.
    RidgeCompleter : one Gaussian, for any cover.

    Notes
    -----
    The noise is full: what is private to the visible part must not be spent on the shared
    variables. With one component and as many latent variables as directions, this is linear
    regression on principal components.

    References
    ----------
    [Cai2014]_, [Bach2005]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.completion import MixtureCompleter
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 8)) + 0.1 * rng.normal(size=(400, 8))
    >>> model = MixtureCompleter(1, n_latent=3, random_state=0).fit(X)
    >>> bool(model.score(X) > -0.2 * X.var())
    True
    """

    any_cover = False

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [POSITIVE_INTEGER, None],
        "n_latent": [POSITIVE_INTEGER, None],
        "n_directions": [POSITIVE_INTEGER],
        "n_starts": [POSITIVE_INTEGER],
        "cover": ["array-like", None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_latent: int | None = None,
        n_directions: int = 100,
        n_starts: int = 1,
        cover: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_latent = n_latent
        self.n_directions = n_directions
        self.n_starts = n_starts
        self.cover = cover
        self.random_state = random_state

    def _learn(self, stream: BatchStream, held_out: np.ndarray) -> None:
        moments = Moments.of(stream)
        self.mean_ = moments.mean
        self.bases_ = tuple(
            _find_basis(moments, part, self.n_directions) for part in (~self.cover_, self.cover_)
        )
        X = gather(lambda: (self._reduce(batch) for batch in stream()))
        rng = check_random_state(self.random_state)
        seeds = [int(rng.randint(2**31 - 1)) for _ in range(self.n_starts)]
        self._choose(stream, X, self._reduce(held_out), moments.n_samples, seeds[0])
        width = len(self.bases_[0])
        self.mixtures_ = []
        for seed in seeds:
            model = self._build(self.n_components_, self.n_latent_, _ITERATIONS, seed)
            if X is None:
                model.fit_batches(
                    lambda: ((b[:, :width], b[:, width:]) for b in map(self._reduce, stream()))
                )
            else:
                model.fit(X[:, :width], X[:, width:])
            self.mixtures_.append(model)

    def _choose(
        self, stream: BatchStream, X: np.ndarray | None, held_out: np.ndarray, n: int, seed: int
    ) -> None:
        """Set K and q: as given, or by the likelihood of the vectors held out."""
        sizes = [len(basis) for basis in self.bases_]
        latent = (self.n_latent,) if self.n_latent else _LATENT
        latents = sorted({min(q, *sizes) for q in latent})
        # A component with full noise needs as many vectors as it has directions.
        most = max(1, n // sum(sizes))
        components = (self.n_components,) if self.n_components else _COMPONENTS
        counts = sorted({min(k, most) for k in components})
        self.likelihoods_: dict[tuple[int, int], float] = {}
        pairs = [(k, q) for k in counts for q in latents]
        if len(pairs) > 1:
            sample = next(map(self._reduce, stream())) if X is None else X
            step = -(-len(sample) // _TRIAL_ROWS)
            first, second = (part[::step] for part in np.split(sample, [sizes[0]], axis=1))
            split = np.split(held_out, [sizes[0]], axis=1)
            for k, q in pairs:
                with warnings.catch_warnings():
                    # A trial with too many components shows it by its likelihood.
                    warnings.simplefilter("ignore", NumericsWarning)
                    model = self._build(k, q, _TRIAL_ITERATIONS, seed).fit(first, second)
                self.likelihoods_[k, q] = float(model.score(*split))
        best = max(self.likelihoods_, key=self.likelihoods_.__getitem__, default=pairs[0])
        self.n_components_, self.n_latent_ = best

    def _build(self, k: int, q: int, max_iter: int, seed: int) -> MixturePCCA:
        return MixturePCCA(
            k, q, noise="full", max_iter=max_iter, tol=0, floor=_FLOOR, random_state=seed
        )

    def _reduce(self, batch: np.ndarray) -> np.ndarray:
        """Coordinates (n, k_visible + k_covered) of both parts in float64."""
        centred = batch - self.mean_
        parts = (~self.cover_, self.cover_)
        return np.concatenate(
            [centred[:, part] @ basis.T for part, basis in zip(parts, self.bases_, strict=True)],
            axis=1,
        )

    def _estimate(self, seen: np.ndarray, view: np.ndarray) -> Completion:
        visible = ~self.cover_
        first = (seen - self.mean_[visible]) @ self.bases_[0].T
        expected = np.mean([model.predict_view(first) for model in self.mixtures_], axis=0)
        values = np.empty((len(seen), len(self.mean_)), dtype=np.result_type(seen, np.float32))
        values[:, visible] = seen
        values[:, self.cover_] = expected @ self.bases_[1] + self.mean_[self.cover_]
        return Completion(values)


def _find_basis(moments: Moments, part: np.ndarray, n_directions: int) -> np.ndarray:
    """Leading principal components (k, features of the part) of a part."""
    covariance = moments.covariance[np.ix_(part, part)]
    d = len(covariance)
    k = max(1, min(n_directions, d, moments.n_samples // 8))
    values, vectors = linalg.eigh(covariance, subset_by_index=[d - k, d - 1], check_finite=False)
    # A direction without variance has no noise to be explained, and no density.
    rank = max(1, numerical_rank(np.maximum(values, 0), 1e-8))
    return np.ascontiguousarray(fix_signs(vectors[:, ::-1][:, :rank].T))
