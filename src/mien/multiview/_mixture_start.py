"""Where the components of a mixture of probabilistic CCA start and restart."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import linalg

from mien._core.linalg import symmetrize
from mien.multiview._mixture import MixtureStatistics, Parameters, floor_block

__all__ = ["feature_variances", "reseed_component", "start_from_statistics"]


def start_from_statistics(
    statistics: MixtureStatistics,
    n_latent: int,
    sizes: tuple[int, ...],
    floor: np.ndarray,
    full: bool,
) -> Parameters:
    """Parameters of each component in closed form from its covariance.

    Diagonal noise starts from the leading eigenvectors in units of the standard deviations, with
    half of the variance left to the noise. Full noise starts from the canonical directions: the
    eigenvectors of the covariance with every view whitened, whose eigenvalues for two views are
    one plus the canonical correlations (Bach and Jordan's solution).
    """
    K, D = statistics.sums.shape
    counts = np.maximum(statistics.counts, np.finfo(float).tiny)
    means = statistics.sums / counts[:, None]
    loadings = np.zeros((K, D, n_latent))
    residuals = np.empty((K, D, D))
    edges = np.concatenate([[0], np.cumsum(sizes)])
    for k in range(K):
        covariance = statistics.seconds[k] / counts[k] - np.outer(means[k], means[k])
        covariance = symmetrize(covariance) + np.diag(floor)
        roots = []
        for start, stop in pairwise(edges):
            if full:
                roots.append(linalg.sqrtm(covariance[start:stop, start:stop]).real)
            else:
                roots.append(np.diag(np.sqrt(np.diagonal(covariance)[start:stop])))
        root = linalg.block_diag(*roots)
        whitened = linalg.solve(root, linalg.solve(root, covariance).T)
        values, vectors = linalg.eigh(symmetrize(whitened))
        values, vectors = values[::-1][:n_latent], vectors[:, ::-1][:, :n_latent]
        if full and len(sizes) > 1:
            strength = len(sizes) * np.clip((values - 1) / (len(sizes) - 1), 0, 0.98)
        else:
            strength = 0.5 * np.maximum(values, 0)
        loadings[k, :, : values.size] = root @ vectors * np.sqrt(strength)
        residuals[k] = covariance - loadings[k] @ loadings[k].T
    noise: np.ndarray | tuple[np.ndarray, ...]
    if full:
        noise = tuple(floor_block(residuals[:, a:b, a:b], floor[a:b]) for a, b in pairwise(edges))
    else:
        noise = np.maximum(np.diagonal(residuals, axis1=1, axis2=2), floor)
    return Parameters(statistics.counts / statistics.counts.sum(), means, loadings, noise, sizes)


def feature_variances(statistics: MixtureStatistics) -> np.ndarray:
    n = statistics.counts.sum()
    mean = statistics.sums.sum(axis=0) / n
    return np.diagonal(statistics.seconds.sum(axis=0)) / n - np.square(mean)


def reseed_component(
    parameters: Parameters, k: int, sample: np.ndarray, n_samples: int
) -> Parameters:
    """Place component k on a sample, with the average shape of the others and a small share."""
    others = np.delete(np.arange(len(parameters.weights)), k)
    share = parameters.weights[others] / parameters.weights[others].sum()
    means, loadings = parameters.means.copy(), parameters.loadings.copy()
    means[k] = sample
    loadings[k] = loadings[others[share.argmax()]]
    noise: np.ndarray | tuple[np.ndarray, ...]
    if isinstance(parameters.noise, tuple):
        noise = tuple(block.copy() for block in parameters.noise)
        for block in noise:
            block[k] = np.einsum("o,oij->ij", share, block[others])
    else:
        noise = parameters.noise.copy()
        noise[k] = share @ noise[others]
    weights = parameters.weights.copy()
    weights[k] = 1 / n_samples
    return Parameters(weights / weights.sum(), means, loadings, noise, parameters.sizes)
