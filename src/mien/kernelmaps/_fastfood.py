"""Fastfood: the Gaussian kernel by Hadamard transforms and diagonals, in loglinear time."""

from __future__ import annotations

import numpy as np

from mien._core.jit import load_kernels
from mien.kernelmaps._base import RandomFourierFeatures, _write_features
from mien.kernelmaps._hadamard import hadamard_transform

__all__ = ["Fastfood"]


def _project_numpy(
    X: np.ndarray,
    signs: np.ndarray,
    order: np.ndarray,
    gains: np.ndarray,
    scales: np.ndarray,
    n_frequencies: int,
) -> np.ndarray:
    """``V x`` (n, n_frequencies) of the rows of X: the twin of the compiled kernel."""
    blocks, d = signs.shape
    padded = np.zeros((len(X), d), X.dtype)
    out = np.empty((len(X), blocks * d), X.dtype)
    for b in range(blocks):
        padded[:, : X.shape[1]] = X * signs[b, : X.shape[1]]
        mixed = hadamard_transform(padded)[:, order[b]] * gains[b]
        out[:, b * d : (b + 1) * d] = hadamard_transform(mixed) * scales[b]
    return out[:, :n_frequencies]


class Fastfood(RandomFourierFeatures):
    """Random features of the Gaussian kernel without a matrix: O(d′ log d) per vector.

    Parameters
    ----------
    expansion : float
        Number of frequencies per dimension of the padded input (the next power of two): d′/d of the
        paper. The error of the kernel falls with its square root, and time and memory grow with
        it. Whole numbers waste nothing; a fraction cuts the last block.
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
    signs_, gains_, scales_ : (n_blocks, d_padded)
        The diagonals B, G and S of each block.
    order_ : (n_blocks, d_padded)
        The permutation Π of each block.
    sigma_ : float
        The width in use.
    n_frequencies_ : int
        Rows of V. The pair has twice as many features: all cosines, then all sines.
    n_features_in_ : int
        Number of features of the vectors.

    See Also
    --------
    RandomKitchenSinks : the same features with a dense Gaussian matrix.
    hadamard_transform : the transform inside.
    sklearn.kernel_approximation.RBFSampler : random features with a dense matrix.

    Notes
    -----
    A block is V = S H G Π H B / (σ √d) with the ±1 Hadamard matrix H, signs B, Gaussian gains G
    and S_ii = s_i / ‖G‖_F with s_i from the chi distribution with d degrees, which the paper
    leaves undefined: it gives the rows of V the lengths of Gaussian vectors. The features are
    √(1/m)·[cos(Vy), sin(Vy)]. The paper uses the sine alone, which is no map of the kernel:
    E[sin·sin] = (k(y − y′) − k(y + y′)) / 2; ``functions="sin"`` keeps it for fidelity. The error
    of the kernel falls as 1/√m; the rows of a block depend on each other, so it is up to a third
    above that of as many independent Gaussian rows.

    One block of V is badly conditioned (10³ to 10⁴), two about 10, five about 4: for the
    inverse use an expansion of 2 or more. The condition for exactness is ``|V y| < π`` (≤ π/2 for
    the sine), not the ``|y| ≤ π/2`` of the paper.

    References
    ----------
    [Le2013]_, [JuefeiXu2016]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.kernelmaps import Fastfood
    >>> Y = np.random.default_rng(0).normal(size=(5, 100))
    >>> fastfood = Fastfood(expansion=3, sigma="invertible", random_state=0).fit(Y)
    >>> Z = fastfood.transform(Y)
    >>> Z.shape
    (5, 768)
    >>> np.allclose(fastfood.inverse_transform(Z), Y)
    True
    """

    def _draw(self, rng: np.random.RandomState, width: int) -> int:
        d = 1 << (width - 1).bit_length()
        n_frequencies = max(1, round(self.expansion * d))
        blocks = -(-n_frequencies // d)
        self.signs_ = rng.choice(np.array([-1.0, 1.0]), (blocks, d))
        self.order_ = np.array([rng.permutation(d) for _ in range(blocks)], dtype=np.int32)
        self.gains_ = rng.standard_normal((blocks, d))
        lengths = np.sqrt(rng.chisquare(d, (blocks, d)))
        self.scales_ = lengths / np.sqrt(np.sum(self.gains_**2, axis=1, keepdims=True))
        return n_frequencies

    def _diagonals(self, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        scales = self.scales_ / (self.sigma_ * np.sqrt(self.scales_.shape[1]))
        return (
            self.signs_.astype(dtype),
            self.order_,
            self.gains_.astype(dtype),
            scales.astype(dtype),
        )

    def _project(self, X: np.ndarray) -> np.ndarray:
        kernels = load_kernels("mien.kernelmaps._fourier_numba")
        if kernels is None:
            return _project_numpy(X, *self._diagonals(X.dtype), self.n_frequencies_)
        out = np.empty((len(X), self.n_frequencies_), X.dtype)
        kernels.fastfood_project(np.ascontiguousarray(X), *self._diagonals(X.dtype), out)
        return out

    def _transform_into(self, X: np.ndarray, out: np.ndarray) -> None:
        kernels = load_kernels("mien.kernelmaps._fourier_numba")
        if kernels is None:
            _write_features(self._project(X), self.functions, out)
            return
        amplitude = X.dtype.type(self.n_frequencies_**-0.5)
        kernels.fastfood_features(
            X,
            *self._diagonals(X.dtype),
            self.n_frequencies_,
            amplitude,
            self._places(),
            X.dtype == np.float32,
            out,
        )
