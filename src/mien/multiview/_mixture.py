"""The arithmetic of a mixture of probabilistic CCA, on any number of concatenated views.

A sample ``v = [x; y; …]`` of component ``k`` is ``v = W_k z + μ_k + ε`` with ``z ~ N(0, I)``
and ``ε ~ N(0, Ψ_k)``. Ψ is diagonal, or has one full block for each view. Nothing here builds a
covariance of all views together: with ``M = I + WᵀΨ⁻¹W`` the density needs only Ψ and M.

Two ways lead to what an M-step needs of the samples. Sums of γ v vᵀ cost D² for each pair of a
sample and a component that owns a part of it, and can be used with any later parameters. Sums of
γ v ẑᵀ cost D K q for each sample however many components own it. :func:`many_owners` says which is
cheaper.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from mien._core.linalg import symmetrize

__all__ = [
    "LatentStatistics",
    "MixtureStatistics",
    "Parameters",
    "Posterior",
    "accumulate",
    "accumulate_latent",
    "exp_safely",
    "expectation",
    "floor_block",
    "gate",
    "latent_means",
    "many_owners",
    "maximise",
    "posterior",
]

# Numbers of a product that are worked on before the next rows: as many as a core's cache holds.
_BLOCK = 2**19


class Parameters(NamedTuple):
    """A mixture of K components over D = sum(sizes) features with q latent variables.

    ``noise`` is (K, D) for a diagonal Ψ; for a full one it is a tuple with an array
    (K, d_v, d_v) for each view.
    """

    weights: np.ndarray
    means: np.ndarray
    loadings: np.ndarray
    noise: np.ndarray | tuple[np.ndarray, ...]
    sizes: tuple[int, ...]

    @property
    def n_latent(self) -> int:
        return int(self.loadings.shape[2])


def _add_sums(sums: Iterable[np.ndarray], more: Iterable[np.ndarray]) -> None:
    for mine, theirs in zip(sums, more, strict=True):
        mine += theirs


class MixtureStatistics(NamedTuple):
    """What an M-step needs of the data: sums of γ, γ v and γ v vᵀ; additive over batches."""

    counts: np.ndarray
    sums: np.ndarray
    seconds: np.ndarray

    @classmethod
    def zeros(cls, n_components: int, n_features: int) -> MixtureStatistics:
        """Of no samples at all."""
        K, D = n_components, n_features
        return cls(np.zeros(K), np.zeros((K, D)), np.zeros((K, D, D)))

    def collect(self, X: np.ndarray, y: np.ndarray) -> MixtureStatistics:
        """Add samples X (n, D) with their responsibilities y (n, K), in place."""
        return accumulate(X, y, self)

    def merge(self, other: MixtureStatistics) -> MixtureStatistics:
        """Add the sums of other samples, in place."""
        _add_sums(self, other)
        return self

    def __add__(self, other: object) -> MixtureStatistics:
        if not isinstance(other, MixtureStatistics):
            return NotImplemented
        return MixtureStatistics(*(part.copy() for part in self)).merge(other)


class LatentStatistics(NamedTuple):
    """The same for diagonal noise: sums of γ, γ v, γ v² (K, D) and γ v ẑᵀ (K, D, q).

    ẑ is the posterior mean under the parameters that the sums were made with, so an M-step is
    right with those parameters only.
    """

    counts: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    cross: np.ndarray

    @classmethod
    def zeros(cls, n_components: int, n_features: int, n_latent: int) -> LatentStatistics:
        """Of no samples at all."""
        K, D, q = n_components, n_features, n_latent
        return cls(np.zeros(K), np.zeros((K, D)), np.zeros((K, D)), np.zeros((K, D, q)))

    def merge(self, other: LatentStatistics) -> LatentStatistics:
        """Add the sums of other samples under the same parameters, in place."""
        _add_sums(self, other)
        return self


class Posterior(NamedTuple):
    """What is prepared once for a set of observed views, for any number of samples.

    For component k, ``latent_maps[k] @ (v − μ)`` is the posterior mean of z, ``roots[k]`` its
    part in the quadratic form, ``latent_covariances[k]`` the posterior covariance.
    """

    columns: np.ndarray
    means: np.ndarray
    whiteners: np.ndarray | tuple[np.ndarray, ...]
    roots: np.ndarray
    latent_maps: np.ndarray
    latent_covariances: np.ndarray
    constants: np.ndarray
    sizes: tuple[int, ...]

    def astype(self, dtype: np.dtype) -> Posterior:
        """The same in the precision of the samples that it is used with."""
        whiteners = self.whiteners
        return self._replace(
            means=self.means.astype(dtype, copy=False),
            whiteners=tuple(h.astype(dtype, copy=False) for h in whiteners)
            if isinstance(whiteners, tuple)
            else whiteners.astype(dtype, copy=False),
            roots=self.roots.astype(dtype, copy=False),
            latent_maps=self.latent_maps.astype(dtype, copy=False),
            latent_covariances=self.latent_covariances.astype(dtype, copy=False),
            constants=self.constants.astype(dtype, copy=False),
        )


def posterior(parameters: Parameters, observed: tuple[bool, ...] | None = None) -> Posterior:
    """Prepare densities and latent posteriors given some of the views.

    Parameters
    ----------
    parameters : Parameters
        The mixture.
    observed : tuple of bool, or None
        Which views are given; None means all.
    """
    sizes = parameters.sizes
    observed = (True,) * len(sizes) if observed is None else observed
    columns = np.repeat(observed, sizes)
    q = parameters.n_latent
    W = parameters.loadings[:, columns]
    means = parameters.means[:, columns]
    whiteners: np.ndarray | tuple[np.ndarray, ...]
    if isinstance(parameters.noise, tuple):
        blocks = [b for b, seen in zip(parameters.noise, observed, strict=True) if seen]
        factors = [np.linalg.cholesky(block) for block in blocks]
        eyes = [np.broadcast_to(np.eye(f.shape[1], dtype=f.dtype), f.shape) for f in factors]
        whiteners = tuple(np.linalg.solve(f, eye) for f, eye in zip(factors, eyes, strict=True))
        log_noise = sum(2 * np.log(np.diagonal(f, axis1=1, axis2=2)).sum(axis=1) for f in factors)
        weighted = np.concatenate(
            [
                h.transpose(0, 2, 1) @ (h @ w)
                for h, w in zip(whiteners, _split(W, whiteners), strict=True)
            ],
            axis=1,
        )
    else:
        psi = parameters.noise[:, columns]
        whiteners = 1 / psi
        log_noise = np.log(psi).sum(axis=1)
        weighted = W / psi[:, :, None]
    M = np.eye(q, dtype=W.dtype) + W.transpose(0, 2, 1) @ weighted
    L = np.linalg.cholesky(M)
    roots = np.linalg.solve(L, weighted.transpose(0, 2, 1))
    inverse = np.linalg.inv(M)
    log_det = log_noise + 2 * np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
    constants = -0.5 * (columns.sum() * np.log(2 * np.pi) + log_det)
    return Posterior(
        columns=columns,
        means=means,
        whiteners=whiteners,
        roots=roots,
        latent_maps=inverse @ weighted.transpose(0, 2, 1),
        latent_covariances=inverse,
        constants=constants + np.log(np.maximum(parameters.weights, np.finfo(float).tiny)),
        sizes=tuple(size for size, seen in zip(sizes, observed, strict=True) if seen),
    )


def _split(W: np.ndarray, whiteners: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    edges = np.cumsum([h.shape[1] for h in whiteners])[:-1]
    return np.split(W, edges, axis=1)


def _add_squares(
    out: np.ndarray, V: np.ndarray, maps: np.ndarray, means: np.ndarray, factor: float
) -> None:
    """Add ``factor * ‖maps_k (v − μ_k)‖²`` to out (n, K): one product for all components."""
    K, rows, d = maps.shape
    offsets = np.einsum("krd,kd->kr", maps, means).reshape(-1)
    flat = np.ascontiguousarray(maps.reshape(K * rows, d).T)
    step = max(64, _BLOCK // (K * rows))
    buffer = np.empty((min(step, len(V)), K * rows), dtype=V.dtype)
    for start in range(0, len(V), step):
        block = V[start : start + step]
        part = np.matmul(block, flat, out=buffer[: len(block)])
        part -= offsets
        cube = part.reshape(len(block), K, rows)
        out[start : start + step] += factor * np.einsum("nkr,nkr->nk", cube, cube)


def _log_joint(V: np.ndarray, prepared: Posterior) -> np.ndarray:
    """``log w_k + log p(v | k)`` (n, K) of samples V (n, observed features)."""
    means = prepared.means
    if isinstance(prepared.whiteners, tuple):
        joint = np.tile(prepared.constants, (len(V), 1))
        start = 0
        for whitener in prepared.whiteners:
            part = slice(start, start + whitener.shape[1])
            _add_squares(joint, V[:, part], whitener, means[:, part], -0.5)
            start = part.stop
    else:
        precision = prepared.whiteners
        scaled = means * precision
        joint = np.square(V) @ (-0.5 * precision).T
        joint += V @ scaled.T
        joint += prepared.constants - 0.5 * np.einsum("kd,kd->k", scaled, means)
    # The latent part of all components in one product: the floor of an E-step.
    _add_squares(joint, V, prepared.roots, means, 0.5)
    return joint


def exp_safely(logs: np.ndarray) -> None:
    """Exponentials in place, none below 1e-26: denormal numbers slow a product down tenfold."""
    np.maximum(logs, -60, out=logs)
    np.exp(logs, out=logs)


def expectation(V: np.ndarray, prepared: Posterior) -> tuple[np.ndarray, np.ndarray]:
    """Log-likelihood (n,) and responsibilities (n, K), in the log domain until the end."""
    gamma = _log_joint(V, prepared)
    highest = gamma.max(axis=1, keepdims=True)
    gamma -= highest
    exp_safely(gamma)
    total = gamma.sum(axis=1, keepdims=True)
    gamma /= total
    return (highest + np.log(total))[:, 0], gamma


def latent_means(V: np.ndarray, prepared: Posterior) -> np.ndarray:
    """Posterior means (n, K, q) of z for samples V (n, observed features)."""
    K, q, d = prepared.latent_maps.shape
    offsets = np.einsum("kqd,kd->kq", prepared.latent_maps, prepared.means).reshape(-1)
    z = V @ prepared.latent_maps.reshape(K * q, d).T
    z -= offsets
    return z.reshape(len(V), K, q)


def gate(dtype: np.dtype) -> float:
    """A responsibility below this changes no sum in the precision of the samples."""
    return 1e-8 if dtype == np.float32 else 1e-13


def many_owners(owners: float, n_components: int, n_features: int, n_latent: int) -> bool:
    """Whether sums of γ v ẑᵀ cost less than sums of γ v vᵀ over those who own a sample.

    By measurement they cost the same where the components that own a sample, times D, are about
    2.5 K q: the former needs two products of all samples with K q columns.
    """
    return owners * n_features > 2.5 * n_components * n_latent


def accumulate(
    V: np.ndarray, responsibilities: np.ndarray, total: MixtureStatistics | None = None
) -> MixtureStatistics:
    """Sum γ, γ v and γ v vᵀ over a batch; rows that a component does not own are skipped.

    A total that is given is added to in place and returned.
    """
    n, D = V.shape
    K = responsibilities.shape[1]
    if total is None:
        total = MixtureStatistics.zeros(K, D)
    # One component after another: its column lies together in the transpose.
    columns = np.ascontiguousarray(responsibilities.T, dtype=V.dtype)
    least = gate(V.dtype)
    for k, gamma in enumerate(columns):
        owned = np.flatnonzero(gamma > least)
        if owned.size == 0:
            continue
        if 2 * owned.size < n:
            rows, gamma = V[owned], gamma[owned]
            rows *= np.sqrt(gamma)[:, None]
        else:
            rows = V * np.sqrt(gamma)[:, None]
        total.seconds[k] += rows.T @ rows
    total.counts[:] += columns.sum(axis=1, dtype=np.float64)
    total.sums[:] += columns @ V
    return total


def accumulate_latent(
    V: np.ndarray,
    responsibilities: np.ndarray,
    prepared: Posterior,
    total: LatentStatistics,
) -> LatentStatistics:
    """Sum γ, γ v, γ v² and γ v ẑᵀ over a batch, into a total that is changed in place."""
    K, q, D = prepared.latent_maps.shape
    step = max(64, _BLOCK // (K * q))
    cross = np.zeros((K * q, D), dtype=V.dtype)
    for start in range(0, len(V), step):
        rows = V[start : start + step]
        z = latent_means(rows, prepared)
        z *= responsibilities[start : start + step, :, None]
        cross += z.reshape(len(rows), K * q).T @ rows
    total.counts[:] += responsibilities.sum(axis=0, dtype=np.float64)
    total.sums[:] += responsibilities.T @ V
    total.squares[:] += responsibilities.T @ np.square(V)
    total.cross[:] += cross.reshape(K, q, D).transpose(0, 2, 1)
    return total


def maximise(
    parameters: Parameters,
    statistics: MixtureStatistics | LatentStatistics,
    floor: np.ndarray,
) -> Parameters:
    """One M-step: [W μ] solved jointly, then Ψ, then the floor.

    Parameters
    ----------
    parameters : Parameters
        Those that the responsibilities were computed with.
    statistics : MixtureStatistics or LatentStatistics
        Sums over all data; the latter for diagonal noise only.
    floor : (D,)
        Least variance of each feature. Cutting the diagonal of Ψ (or the eigenvalues of Ψ in
        units of the floor) is the constrained maximum, so that the likelihood still never falls.

    Notes
    -----
    With ``ẑ = B (v − μ)`` all expected sums follow from γ, γ v and γ v vᵀ (or γ v ẑᵀ); the samples
    are not seen again. A component without data keeps its parameters.
    """
    prepared = posterior(parameters)
    K, D, q = parameters.loadings.shape
    means, loadings = parameters.means.copy(), parameters.loadings.copy()
    full = isinstance(parameters.noise, tuple)
    residuals = np.empty((K, D, D)) if full else np.empty((K, D))
    alive = statistics.counts > 0
    for k in np.flatnonzero(alive):
        n, s = statistics.counts[k], statistics.sums[k]
        mu, B = parameters.means[k].astype(float), prepared.latent_maps[k].astype(float)
        if isinstance(statistics, MixtureStatistics):
            vz = (statistics.seconds[k] - np.outer(s, mu)) @ B.T
            squares = np.diagonal(statistics.seconds[k])
        else:
            vz, squares = statistics.cross[k], statistics.squares[k]
        z = B @ (s - n * mu)
        G = np.empty((q + 1, q + 1))
        # Σ γ ẑ ẑᵀ = B Σ γ (v − μ) ẑᵀ
        G[:q, :q] = n * prepared.latent_covariances[k] + B @ (vz - np.outer(mu, z))
        G[:q, q] = G[q, :q] = z
        G[q, q] = n
        H = np.column_stack([vz, s])
        solution = linalg.solve(symmetrize(G), H.T, assume_a="pos").T
        loadings[k], means[k] = solution[:, :q], solution[:, q]
        if isinstance(statistics, MixtureStatistics) and full:
            residuals[k] = symmetrize(statistics.seconds[k] - solution @ H.T) / n
        else:
            residuals[k] = (squares - np.einsum("dj,dj->d", solution, H)) / n
    noise: np.ndarray | tuple[np.ndarray, ...]
    if isinstance(parameters.noise, tuple):
        blocks, start = [], 0
        for old in parameters.noise:
            stop = start + old.shape[1]
            new = old.copy()
            new[alive] = floor_block(residuals[alive][:, start:stop, start:stop], floor[start:stop])
            blocks.append(new)
            start = stop
        noise = tuple(blocks)
    else:
        noise = parameters.noise.copy()
        noise[alive] = np.maximum(residuals[alive], floor)
    weights = statistics.counts / statistics.counts.sum()
    return Parameters(weights, means, loadings, noise, parameters.sizes)


def floor_block(blocks: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """Raise eigenvalues of blocks (K, d, d), in units of the floor (d,), to one."""
    scale = np.sqrt(floor)
    values, vectors = np.linalg.eigh(blocks / np.outer(scale, scale))
    raised = (vectors * np.maximum(values, 1)[:, None]) @ vectors.transpose(0, 2, 1)
    return (raised + raised.transpose(0, 2, 1)) / 2 * np.outer(scale, scale)
