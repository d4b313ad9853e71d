"""What a fitted mixture of probabilistic CCA says of samples, whole or with one view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mien._core.rows import check_rows, validate_rows
from mien.errors import InputError
from mien.multiview._mixture import Parameters, Posterior, expectation, latent_means, posterior

__all__ = ["MixtureUse"]


class MixtureUse(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Likelihoods, posteriors, the other view and samples of a model with fitted attributes."""

    n_latent: int
    noise: str
    batch_size: int
    weights_: np.ndarray
    means_: np.ndarray
    loadings_: np.ndarray
    noise_: np.ndarray | tuple[np.ndarray, ...]
    location_: np.ndarray
    n_features_views_: tuple[int, ...]

    def score_samples(self, X: Any, Y: Any = None) -> np.ndarray:
        """Log-likelihood of each sample.

        Parameters
        ----------
        X : (n_samples, d_x) or None
            First view.
        Y : (n_samples, d_y) or None
            Second view. Where one view is None, the likelihood is that of the other alone.

        Returns
        -------
        (n_samples,)
            Natural logarithm of the density; compare only values of the same views.
        """
        return np.concatenate([likelihood for likelihood, _, _, _ in self._blocks(X, Y)])

    def score(self, X: Any, Y: Any = None) -> float:
        """Mean log-likelihood of the samples.

        Parameters
        ----------
        X, Y : (n_samples, d_x), (n_samples, d_y), or None
            As in :meth:`score_samples`.

        Returns
        -------
        float
            Compare it on held-out samples to choose the numbers of components and latent variables;
            on training samples it only grows with both.
        """
        return float(self.score_samples(X, Y).mean())

    def predict_proba(self, X: Any, Y: Any = None) -> np.ndarray:
        """Responsibilities of the components.

        Parameters
        ----------
        X, Y : (n_samples, d_x), (n_samples, d_y), or None
            As in :meth:`score_samples`.

        Returns
        -------
        (n_samples, K)
            Posterior probability of each component; rows sum to one.
        """
        return np.concatenate([gamma for _, gamma, _, _ in self._blocks(X, Y)])

    def predict(self, X: Any, Y: Any = None) -> np.ndarray:
        """The most responsible component of each sample.

        Parameters
        ----------
        X, Y : (n_samples, d_x), (n_samples, d_y), or None
            As in :meth:`score_samples`.

        Returns
        -------
        (n_samples,) int
            From 0 to K − 1; the order of components has no meaning.
        """
        return self.predict_proba(X, Y).argmax(axis=1)

    def transform(self, X: Any, Y: Any = None) -> np.ndarray:
        """Posterior mean of the latent variables, from both views or from one.

        Returns
        -------
        (n, K * q)
            ``γ_k ẑ_k`` of each component in turn: the latent axes of two components are not the
            same axes, so they are not added up. With K = 1 it is the posterior mean ẑ.
        """
        check_is_fitted(self)
        parts = []
        for _, gamma, V, prepared in self._blocks(X, Y):
            parts.append((latent_means(V, prepared) * gamma[:, :, None]).reshape(len(V), -1))
        return np.concatenate(parts)

    def predict_view(
        self, X: Any = None, Y: Any = None, *, return_variance: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Expect the view that is not given from the one that is.

        Parameters
        ----------
        X, Y : array-like
            Exactly one of the views.
        return_variance : bool
            Also return the variance of each expected feature under the model.
        """
        if (X is None) == (Y is None):
            raise InputError("give exactly one of the views X and Y; the other is predicted")
        check_is_fitted(self)
        d = self.n_features_views_[0]
        missing = slice(d, None) if Y is None else slice(0, d)
        W, mu = self.loadings_[:, missing], self.means_[:, missing]
        means, variances = [], []
        flat = W.transpose(0, 2, 1).reshape(-1, W.shape[1])
        for _, gamma, V, prepared in self._blocks(X, Y):
            z = latent_means(V, prepared)
            mean = (z * gamma[:, :, None]).reshape(len(V), -1) @ flat + gamma @ mu
            means.append(mean)
            if return_variance:
                own = np.einsum("kdq,kqr,kdr->kd", W, prepared.latent_covariances, W)
                spread = gamma @ (own + self._noise_variances()[:, missing])
                for k in range(gamma.shape[1]):
                    expected = z[:, k] @ W[k].T + mu[k]
                    spread += gamma[:, k, None] * np.square(expected - mean)
                variances.append(spread)
        if return_variance:
            return np.concatenate(means), np.concatenate(variances)
        return np.concatenate(means)

    def sample(
        self, n_samples: int = 1, random_state: Any = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw from the model.

        Parameters
        ----------
        n_samples : int
            How many.
        random_state : int, RandomState or None
            Seed of the draw; None draws differently every time.

        Returns
        -------
        X : (n_samples, d_x)
        Y : (n_samples, d_y)
        components : (n_samples,) int
            Which component each sample came from.
        """
        check_is_fitted(self)
        rng = check_random_state(random_state)
        components = rng.choice(len(self.weights_), size=n_samples, p=self.weights_)
        z = rng.standard_normal((n_samples, self.n_latent))
        V = self.means_[components] + np.einsum("ndq,nq->nd", self.loadings_[components], z)
        if isinstance(self.noise_, tuple):
            start = 0
            for block in self.noise_:
                size = block.shape[1]
                draws = rng.standard_normal((n_samples, size))
                factors = np.linalg.cholesky(block)[components]
                V[:, start : start + size] += np.einsum("nij,nj->ni", factors, draws)
                start += size
        else:
            V += np.sqrt(self.noise_[components]) * rng.standard_normal(V.shape)
        d = self.n_features_views_[0]
        return V[:, :d], V[:, d:], components

    def bic(self, X: Any, Y: Any) -> float:
        """Bayesian information criterion.

        Parameters
        ----------
        X, Y : (n_samples, d_x), (n_samples, d_y)
            The samples of ``fit``: the criterion corrects the likelihood of training samples for
            the number of free parameters.

        Returns
        -------
        float
            Lower is better. :func:`choose_mixture` compares it over a grid.
        """
        likelihoods = self.score_samples(X, Y)
        n = len(likelihoods)
        return float(-2 * likelihoods.sum() + self._n_free_parameters() * np.log(n))

    def _n_free_parameters(self) -> int:
        K, D, q = self.loadings_.shape
        if self.noise == "full":
            noise = sum(d * (d + 1) // 2 for d in self.n_features_views_)
        else:
            noise = D
        # Rotations of z change nothing, so they are not free.
        return K - 1 + K * (D + D * q - q * (q - 1) // 2 + noise)

    def _noise_variances(self) -> np.ndarray:
        if isinstance(self.noise_, tuple):
            return np.concatenate([np.diagonal(b, axis1=1, axis2=2) for b in self.noise_], axis=1)
        return self.noise_

    def _blocks(
        self, X: Any, Y: Any
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, Posterior]]:
        """Likelihoods, responsibilities and centred samples, a batch at a time."""
        check_is_fitted(self)
        if X is None and Y is None:
            raise InputError("give at least one of the views X and Y")
        views, observed = [], (X is not None, Y is not None)
        if X is not None:
            views.append(validate_rows(self, X, reset=False, dtype=[np.float64, np.float32]))
        if Y is not None:
            views.append(self._check_second(Y))
        if len(views) == 2 and len(views[0]) != len(views[1]):
            raise InputError(f"X has {len(views[0])} samples and Y has {len(views[1])}")
        dtype = np.result_type(*views)
        prepared = posterior(self._parameters(), observed).astype(dtype)
        location = self.location_[prepared.columns].astype(dtype)
        for start in range(0, len(views[0]), self.batch_size):
            rows = slice(start, start + self.batch_size)
            V = np.hstack([view[rows] for view in views]).astype(dtype, copy=False)
            V -= location
            likelihood, gamma = expectation(V, prepared)
            yield likelihood, gamma, V, prepared

    def _parameters(self) -> Parameters:
        return Parameters(
            self.weights_,
            self.means_ - self.location_,
            self.loadings_,
            self.noise_,
            self.n_features_views_,
        )

    def _check_second(self, Y: Any, reset: bool = False) -> np.ndarray:
        Y = check_rows(
            Y, dtype=[np.float64, np.float32], ensure_2d=False, input_name="Y", estimator=self
        )
        Y = Y[:, None] if Y.ndim == 1 else Y
        if not reset and Y.shape[1] != self.n_features_views_[1]:
            raise InputError(
                f"Y has {Y.shape[1]} features, and the model was fitted with "
                f"{self.n_features_views_[1]}"
            )
        return Y
