"""Kernels by name, callable or precomputed, and finite features that stand for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.metrics.pairwise import euclidean_distances, pairwise_kernels
from sklearn.utils import check_random_state

from mien._core.linalg import numerical_rank
from mien.errors import InputError
from mien.kernelmaps import Fastfood

__all__ = ["KERNELS", "compute_kernel", "map_features"]

KERNELS = ("rbf", "cosine", "laplacian", "linear", "polynomial", "precomputed", "sigmoid")


def compute_kernel(
    X: np.ndarray,
    Y: np.ndarray,
    kernel: str | Callable[..., Any],
    sigma: float | None,
    params: dict[str, Any] | None = None,
) -> np.ndarray:
    """Kernel (n, m) of the rows of X and Y; ``"rbf"`` is ``exp(-|x - y|² / sigma²)``.

    A callable takes two arrays (n, d) and (m, d) and gives (n, m).
    """
    if kernel == "precomputed":
        return X
    if callable(kernel):
        values = np.asarray(kernel(X, Y, **(params or {})))
        if values.shape != (len(X), len(Y)):
            raise InputError(
                f"the kernel must give the shape {(len(X), len(Y))}; got {values.shape}: it is "
                "called with two arrays, not with two samples"
            )
        return values
    if kernel == "rbf":
        return gaussian(euclidean_distances(X, Y, squared=True), sigma)
    return pairwise_kernels(X, Y, metric=kernel, **(params or {}))


def gaussian(squared_distances: np.ndarray, sigma: float | None) -> np.ndarray:
    """``exp(-squared_distances / sigma²)``, in place."""
    if sigma is None or not sigma > 0:
        raise InputError(f"sigma must be greater than 0; got {sigma!r}")
    squared_distances /= -(squared_distances.dtype.type(sigma) ** 2)
    return np.exp(squared_distances, out=squared_distances)


def nystroem_map(
    X: np.ndarray,
    kernel: str | Callable[..., Any],
    sigma: float | None,
    params: dict[str, Any] | None,
    n_features: int,
    random_state: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Landmarks (k, d) and whitener (k, r) with ``k(x, landmarks) @ whitener`` as features.

    As scikit-learn's ``Nystroem``, except that the kernel of the landmarks is inverted on its
    numerical range only, so that nearly equal landmarks add no noise.
    """
    if kernel == "precomputed":
        raise InputError('approximation="nystroem" needs points, not a precomputed kernel')
    rows = check_random_state(random_state).permutation(len(X))[: min(n_features, len(X))]
    landmarks = np.array(X[np.sort(rows)], dtype=np.float64)
    K = compute_kernel(landmarks, landmarks, kernel, sigma, params)
    values, vectors = linalg.eigh(K, check_finite=False)
    rank = numerical_rank(np.maximum(values, 0), 4 * len(K) * np.finfo(float).eps)
    return landmarks, vectors[:, ::-1][:, :rank] / np.sqrt(values[::-1][:rank])


def fastfood_map(X: np.ndarray, kernel: Any, sigma: float, n_features: int, seed: int) -> Fastfood:
    """A :class:`mien.kernelmaps.Fastfood` of about ``n_features`` features for this kernel."""
    if kernel != "rbf":
        raise InputError(f'approximation="fastfood" is for kernel="rbf"; got {kernel!r}')
    padded = 1 << max(0, X.shape[1] - 1).bit_length()
    # Fastfood's width is that of exp(-|x - y|² / (2 s²)).
    model = Fastfood(
        expansion=n_features / (2 * padded), sigma=float(sigma / np.sqrt(2)), random_state=seed
    )
    return model.fit(np.asarray(X[: min(len(X), 1000)], dtype=np.float64))


def map_features(
    X: np.ndarray,
    approximation: Fastfood | tuple[np.ndarray, np.ndarray],
    kernel: str | Callable[..., Any],
    sigma: float | None,
    params: dict[str, Any] | None,
) -> np.ndarray:
    """Features (n, k) of the rows of X."""
    if isinstance(approximation, Fastfood):
        return approximation.transform(X)
    landmarks, whitener = approximation
    return compute_kernel(X, landmarks.astype(X.dtype, copy=False), kernel, sigma, params) @ (
        whitener.astype(X.dtype, copy=False)
    )
