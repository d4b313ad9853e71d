"""What every map of random Fourier features shares: bandwidth, features, the inverse."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from mien._core.constraints import POSITIVE
from mien._core.jit import load_kernels
from mien._core.linalg import median_distance
from mien._core.rows import check_rows, validate_rows
from mien.errors import InputError, NumericsWarning

__all__ = ["RandomFourierFeatures"]

# Rows that are inverted at a time.
_BATCH = 2048


def _write_features(angles: np.ndarray, functions: str, out: np.ndarray) -> None:
    """Features of angles (n, m) into out; the twin of the compiled kernel."""
    m = angles.shape[1]
    if functions != "sin":
        np.cos(angles, out=out[:, :m])
    if functions != "cos":
        np.sin(angles, out=out[:, out.shape[1] - m :])
    out *= out.dtype.type(m**-0.5)


class RandomFourierFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Base of the random features of the Gaussian kernel exp(−‖y − y′‖² / (2σ²)).

    A subclass draws the frequencies V (m, d) and multiplies with them; everything else, features,
    widths and the way back, is here.

    Parameters
    ----------
    expansion : float
        Frequencies per feature of the input: m is about ``expansion`` times d. More frequencies
        approximate the kernel better (the error falls with the root of m) and cost time and memory
        in proportion. At least 2 if features are to be turned back into vectors.
    sigma : float, "median" or "invertible"
        Width of the kernel, in the units of the vectors. "median" is the median distance of two
        rows, which suits classification. "invertible" is wide enough that
        :meth:`inverse_transform` is exact on the vectors of ``fit``.
    functions : {"sincos", "sin", "cos"}
        "sincos" gives both per frequency: the better approximation, and safe to invert. "sin" alone
        halves the number of features, as the dictionary paper does. "cos" cannot be inverted.
    random_state : int, RandomState or None
        Draws the frequencies, and the rows from which the median is taken.

    Attributes
    ----------
    n_frequencies_ : int
        m.
    sigma_ : float
        The width in use.
    n_features_in_ : int
        d.

    See Also
    --------
    Fastfood : frequencies by Hadamard transforms; O(m log d) time per row, O(m) memory.
    RandomKitchenSinks : frequencies drawn independently; O(m d) for both.

    Notes
    -----
    Inner products of features approximate the kernel without bias for "sincos": features are
    m^(−1/2) (cos Vy, sin Vy), and frequencies are Gaussian with standard deviation 1/σ.

    References
    ----------
    [Rahimi2007]_, [Le2013]_ in the :doc:`bibliography </bibliography>`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "expansion": [POSITIVE],
        "sigma": [POSITIVE, StrOptions({"median", "invertible"})],
        "functions": [StrOptions({"sincos", "sin", "cos"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        expansion: float = 2,
        *,
        sigma: float | str = "median",
        functions: str = "sincos",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.expansion = expansion
        self.sigma = sigma
        self.functions = functions
        self.random_state = random_state

    # ------------------------------------------------------------------ what a subclass offers

    @abstractmethod
    def _draw(self, rng: np.random.RandomState, width: int) -> int:
        """Draw the frequencies for vectors of this width; return how many there are."""

    @abstractmethod
    def _project(self, X: np.ndarray) -> np.ndarray:
        """``V x`` (n, m) of each row, sigma included."""

    # ------------------------------------------------------------------ the estimator

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> RandomFourierFeatures:
        """Draw the frequencies, and choose sigma from the rows.

        Parameters
        ----------
        X : (n_samples, n_features)
            Only its width and, for a sigma by name, the distances or lengths of its rows are used.
        y : None
            Ignored.

        Returns
        -------
        RandomFourierFeatures
            Itself.
        """
        X = validate_rows(self, X, dtype=[np.float32, np.float64])
        rng = check_random_state(self.random_state)
        self.n_frequencies_ = self._draw(rng, X.shape[1])
        self.sigma_ = self._resolve_sigma(X, rng)
        doubled = self.functions == "sincos"
        self._n_features_out = self.n_frequencies_ * (2 if doubled else 1)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> RandomFourierFeatures:
        """Fit on the first batch of a stream; later batches are checked and change nothing.

        Parameters
        ----------
        X : (n_samples, n_features)
            A batch. With a sigma by name, the first one should be typical of the stream.
        y : None
            Ignored.
        """
        if not hasattr(self, "n_frequencies_"):
            return self.fit(X)
        validate_rows(self, X, dtype=[np.float32, np.float64], reset=False)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Features of vectors.

        Parameters
        ----------
        X : (n_samples, n_features)
            float32 or float64; features have the precision of X.

        Returns
        -------
        (n_samples, n_features_out)
            For "sincos" all cosines, then all sines; every row has length one.
        """
        check_is_fitted(self)
        X = validate_rows(self, X, dtype=[np.float32, np.float64], order="C", reset=False)
        out = np.empty((len(X), self._n_features_out), X.dtype)
        self._transform_into(X, out)
        return out

    def iter_transform(self, batches: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        """Features of one batch after another, for data larger than memory.

        Parameters
        ----------
        batches : iterable of (n_i, n_features)
            Vectors.

        Yields
        ------
        (n_i, n_features_out)
            Features of each batch, when it is asked for.
        """
        for batch in batches:
            yield self.transform(batch)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Vectors (n, d) whose features X (n, n_features_out) are: de-kernelisation.

        The angles come back by atan2 ("sincos") or arcsin ("sin"), and the vector by least
        squares on V. Exact where every angle V y lies in the domain: (−π, π) for the pair,
        [−π/2, π/2] for the sine. ``sigma="invertible"`` ensures it for the vectors of ``fit``.

        Warns
        -----
        NumericsWarning
            With the share of entries outside the domain: sines beyond ±1 (they are cut), or
            angles that contradict the vector found (they have wrapped around).
        """
        check_is_fitted(self)
        X = check_rows(X, dtype=[np.float32, np.float64])
        if X.shape[1] != self._n_features_out:
            raise InputError(
                f"features of {self._n_features_out} columns are needed; got {X.shape[1]}"
            )
        if self.functions == "cos":
            raise InputError("cosines alone do not determine the sign of an angle; use 'sincos'")
        V, factor = self._factorise()
        result = np.empty((len(X), self.n_features_in_), X.dtype)
        outside = 0
        for low in range(0, len(X), _BATCH):
            angles, wrong = self._angles(X[low : low + _BATCH])
            found = np.ascontiguousarray(
                linalg.cho_solve(factor, V.T @ angles.T, check_finite=False).T
            )
            # A wrapped angle is wrong by a full turn, most of which V cannot explain.
            wrong |= np.abs(self._project(found) - angles) > np.pi / 2
            outside += int(np.count_nonzero(wrong))
            result[low : low + _BATCH] = found
        if outside:
            share = outside / (len(X) * self.n_frequencies_)
            warnings.warn(
                f"{share:.3%} of the entries lie outside the domain in which features can be "
                "turned back exactly; raise sigma, or use sigma='invertible'",
                NumericsWarning,
                stacklevel=2,
            )
        return result

    # ------------------------------------------------------------------ parts

    def _transform_into(self, X: np.ndarray, out: np.ndarray) -> None:
        angles = self._project(X)
        kernels = load_kernels("mien.kernelmaps._fourier_numba")
        if kernels is None:
            _write_features(angles, self.functions, out)
            return
        amplitude = X.dtype.type(self.n_frequencies_**-0.5)
        kernels.angle_features(
            np.ascontiguousarray(angles), amplitude, self._places(), X.dtype == np.float32, out
        )

    def _places(self) -> tuple[int, int]:
        """First column of the cosines and of the sines, -1 for none."""
        return {"sincos": (0, self.n_frequencies_), "sin": (-1, 0), "cos": (0, -1)}[self.functions]

    def _resolve_sigma(self, X: np.ndarray, rng: np.random.RandomState) -> float:
        if self.sigma == "median":
            return median_distance(X, rng)
        if self.sigma == "invertible":
            longest = float(np.sqrt(np.max(np.einsum("ij,ij->i", X, X, dtype=np.float64))))
            return (longest or 1.0) * (2 if self.functions == "sincos" else 3)
        return float(self.sigma)

    def _angles(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Angles (n, m) of features, and which of them were cut, in float64."""
        m = self.n_frequencies_
        if self.functions == "sincos":
            angles = np.arctan2(features[:, m:], features[:, :m]).astype(np.float64)
            return angles, np.zeros(angles.shape, dtype=bool)
        sines = features.astype(np.float64) * np.sqrt(m)
        # Rounding may carry a sine of one slightly over it.
        wrong = np.abs(sines) > 1 + 1e-5
        return np.arcsin(np.clip(sines, -1, 1)), wrong

    def _factorise(self) -> tuple[np.ndarray, tuple[np.ndarray, bool]]:
        """V (m, d) of the columns without padding, and the Cholesky factor of VᵀV."""
        m, d = self.n_frequencies_, self.n_features_in_
        if m < d:
            raise InputError(
                f"{m} frequencies cannot determine {d} numbers; raise expansion to 2 or more"
            )
        V = np.ascontiguousarray(self._project(np.eye(d)).T)
        if m < 2 * d:
            warnings.warn(
                f"{m} frequencies for {d} numbers are badly conditioned; expansion=2 or more is "
                "safe",
                NumericsWarning,
                stacklevel=3,
            )
        try:
            return V, linalg.cho_factor(V.T @ V, check_finite=False)
        except linalg.LinAlgError as error:
            raise InputError(
                "the frequencies do not determine the vectors, so features cannot be inverted; "
                "raise expansion to 2 or more"
            ) from error
