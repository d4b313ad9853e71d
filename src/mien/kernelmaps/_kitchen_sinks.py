"""Random Kitchen Sinks: the Gaussian kernel by a Gaussian matrix, then sines and cosines."""

from __future__ import annotations

import numpy as np

from mien.kernelmaps._base import RandomFourierFeatures

__all__ = ["RandomKitchenSinks"]


class RandomKitchenSinks(RandomFourierFeatures):
    """Random Fourier features of the Gaussian kernel with a dense Gaussian matrix.

    The reference for :class:`Fastfood`, which needs neither the matrix nor its product.

    Parameters
    ----------
    expansion : float
        Number of frequencies per input dimension; ``round(expansion · d)`` are drawn. The error of
        the kernel falls with its square root, and time and memory grow with it.
    sigma : float, "median" or "invertible"
        Width of the kernel exp(−‖y − y′‖² / (2σ²)), in units of the vectors. "median" is the median
        distance of two training vectors, which suits regression and classification; "invertible"
        is 2 (pair) or 3 (sine) times the longest of them, so that ``inverse_transform`` is exact,
        and the features are nearly linear.
    functions : {"sincos", "sin", "cos"}
        The pair approximates the kernel; one of them alone does not (Notes).
    random_state : int, RandomState or None
        Seed of the frequencies.

    Attributes
    ----------
    frequencies_ : (n_frequencies, d)
        Drawn from N(0, 1); V is this divided by ``sigma_``.
    sigma_ : float
        The width in use.
    n_frequencies_ : int
        Rows of V. The pair has twice as many features: all cosines, then all sines.
    n_features_in_ : int
        Number of features of the vectors.

    See Also
    --------
    Fastfood : the same in loglinear time.
    sklearn.kernel_approximation.RBFSampler : cosines with random phases.

    Notes
    -----
    With features √(1/m)·[cos(Vy), sin(Vy)] the inner product is an unbiased estimate of the
    kernel, with an error that falls as 1/√m. The paper uses the sine alone; that is not a map of
    the kernel: E[sin·sin] = (k(y − y′) − k(y + y′)) / 2. It is kept for fidelity.

    References
    ----------
    [Rahimi2007]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.kernelmaps import RandomKitchenSinks
    >>> Y = np.random.default_rng(0).normal(size=(5, 16))
    >>> Z = RandomKitchenSinks(expansion=500, sigma=8.0, random_state=0).fit_transform(Y)
    >>> exact = np.exp(-((Y[0] - Y[1]) ** 2).sum() / (2 * 8.0**2))
    >>> bool(abs(Z[0] @ Z[1] - exact) < 0.02)
    True
    """

    def _draw(self, rng: np.random.RandomState, width: int) -> int:
        n_frequencies = max(1, round(self.expansion * width))
        self.frequencies_ = rng.standard_normal((n_frequencies, width))
        return n_frequencies

    def _project(self, X: np.ndarray) -> np.ndarray:
        V = (self.frequencies_ / self.sigma_).astype(X.dtype, copy=False)
        return np.asarray(X @ V.T)
