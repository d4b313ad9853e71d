"""Expectation and maximisation of Joint Bayesian in the basis that diagonalises both covariances.

Everything happens in *working coordinates* (r of them) in which the total covariance is the
identity, and there in the basis V with ``Vᵀ Te V = I`` and ``Vᵀ Tm V = diag(psi)``. Posterior
means and covariances are then elementwise; an iteration is two or three products and one
eigenproblem, and never sees a picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from mien._core.linalg import symmetrize
from mien._core.parallel import one_blas_thread
from mien._core.statistics import GroupStatistics
from mien.errors import InputError

__all__ = [
    "EMState",
    "Prior",
    "WorkingStatistics",
    "floor_covariance",
    "keep_threads",
    "make_state",
    "make_step",
]

_FEW_DIRECTIONS = 256

_TOO_FAR_APART = (
    "the covariances cannot be told from singular ones in double precision: the scales of the "
    "features, or of the vectors and the source, are too far apart; standardise them first, and "
    "fit the source again if they have changed"
)


@dataclass(frozen=True)
class EMState:
    """Both covariances by the basis V (r, r) that diagonalises them.

    ``Te = V⁻ᵀ V⁻¹`` and ``Tm = V⁻ᵀ diag(psi) V⁻¹``; ``log_det`` is ``log|det V|``.
    """

    V: np.ndarray
    psi: np.ndarray
    log_det: float
    n_floored: int = 0


@dataclass(frozen=True)
class Prior:
    """Covariances of the source in working coordinates, and lambda."""

    identity: np.ndarray
    variation: np.ndarray
    strength: float


@dataclass(frozen=True)
class WorkingStatistics:
    """The statistics in working coordinates, people grouped by their number of pictures.

    ``sizes`` (k,) are the distinct numbers of pictures and ``people`` (k,) how many have each. The
    people of ``gram_sizes`` (g,) are in ``grams`` (g, r, r), the sums of ``s sᵀ``, where that is
    cheaper than going through them again; the others have ``sums`` (n, r) with ``counts`` (n,).
    """

    scatter: np.ndarray
    sums: np.ndarray
    counts: np.ndarray
    sizes: np.ndarray
    people: np.ndarray
    gram_sizes: np.ndarray
    grams: np.ndarray

    @classmethod
    def from_moments(
        cls, moments: GroupStatistics, centre: np.ndarray, whitener: np.ndarray
    ) -> WorkingStatistics:
        """Project statistics about ``centre`` (d,) with ``whitener`` (d, r)."""
        scatter = symmetrize(whitener.T @ moments.scatter(centre) @ whitener)
        sums, counts = moments.loose_groups(centre)
        condensed = {
            size: (number, whitener.T @ gram @ whitener)
            for size, number, gram in moments.size_products(centre)
        }
        return cls._choose(scatter, sums @ whitener, counts, condensed)

    @classmethod
    def _choose(
        cls,
        scatter: np.ndarray,
        sums: np.ndarray,
        counts: np.ndarray,
        grams: dict[int, tuple[int, np.ndarray]],
    ) -> WorkingStatistics:
        """Make products of the people of a size where that saves work in every iteration."""
        r = len(scatter)
        numbers = {size: number for size, (number, _) in grams.items()}
        apart = np.ones(len(sums), dtype=bool)
        for size, number in zip(*np.unique(counts, return_counts=True), strict=True):
            size, number = int(size), int(number)
            # A size costs two products r×r×r, its people together five halves of n×r×r.
            if 2 * r < 2.5 * number or size in grams:
                mine = counts == size
                held = grams.get(size, (0, np.zeros((r, r))))[1]
                members = sums[mine]
                grams[size] = (0, held + members.T @ members)
                apart &= ~mine
            numbers[size] = numbers.get(size, 0) + number
        sizes = sorted(numbers)
        return cls(
            scatter,
            sums if apart.all() else sums[apart],
            counts[apart].astype(float),
            np.asarray(sizes, dtype=float),
            np.asarray([numbers[size] for size in sizes]),
            np.asarray(sorted(grams), dtype=float),
            np.asarray([grams[size][1] for size in sorted(grams)]).reshape(-1, r, r),
        )

    @property
    def n_people(self) -> int:
        return int(self.people.sum())

    @property
    def n_samples(self) -> float:
        return float(self.people @ self.sizes)

    def between(self) -> np.ndarray:
        """``Σ s sᵀ / m`` (r, r) over people of m pictures each."""
        scaled = self.sums / np.sqrt(self.counts)[:, None]
        total: np.ndarray = scaled.T @ scaled
        return total + np.einsum("k,kij->ij", 1 / self.gram_sizes, self.grams)


def floor_covariance(covariance: np.ndarray, floor: float) -> tuple[np.ndarray, int]:
    """Lift the eigenvalues of a symmetric matrix to ``floor``; how many were lifted."""
    values, vectors = linalg.eigh(symmetrize(covariance), check_finite=False)
    low = int(np.count_nonzero(values < floor))
    if low == 0:
        return covariance, 0
    lifted = (vectors * np.maximum(values, floor)) @ vectors.T
    return symmetrize(lifted), low


def make_state(identity: np.ndarray, variation: np.ndarray, floor: float) -> EMState:
    """Diagonalise two covariances (r, r) given in working coordinates, after flooring them."""
    r = len(identity)
    return _diagonalise(identity, variation, np.eye(r), 0.0, floor)


def keep_threads(r: int) -> AbstractContextManager[Any]:
    """One BLAS thread for r directions that are few: more would wait for each other, not work."""
    return one_blas_thread() if r <= _FEW_DIRECTIONS else nullcontext()


def make_step(
    statistics: WorkingStatistics, prior: Prior | None, *, exact: bool, floor: float
) -> Callable[[EMState], tuple[EMState, float]]:
    """One iteration as a function of the state, for ``run_em``.

    Returns
    -------
    callable
        ``step(state) -> (next state, objective of the state)``. The objective is the penalised
        marginal log-likelihood for the exact E-step (it never falls) and eq. 11 of the paper for
        the approximate one (it never rises).
    """

    source_log_dets = (0.0, 0.0)
    if prior is not None:
        source_log_dets = (
            float(np.linalg.slogdet(prior.identity)[1]),
            float(np.linalg.slogdet(prior.variation)[1]),
        )

    def step(state: EMState) -> tuple[EMState, float]:
        identity, variation, explained, total = _expect(statistics, state, exact=exact)
        if prior is None:
            source = None
        else:
            source = (
                state.V.T @ prior.identity @ state.V,
                state.V.T @ prior.variation @ state.V,
            )
            identity = _mix(identity, source[0], prior.strength)
            variation = _mix(variation, source[1], prior.strength)
        following = _diagonalise(identity, variation, state.V, state.log_det, floor)
        if prior is not None and floor > 0 and not np.all(following.psi > 0):
            # Above a floor, only rounding makes a ratio zero.
            raise InputError(_TOO_FAR_APART)
        if exact:
            value = _log_likelihood(statistics, state, explained, total)
            if prior is not None and source is not None:
                value -= _penalty(statistics, state, prior.strength, source, source_log_dets)
        else:
            value = _approximate_cost(statistics, state, following, prior, identity, variation)
        return following, value

    return step


def _mix(estimate: np.ndarray, source: np.ndarray, strength: float) -> np.ndarray:
    w = strength / (1 + strength)
    return w * source + (1 - w) * estimate


def _expect(
    statistics: WorkingStatistics, state: EMState, *, exact: bool
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Both M-step averages in the basis V, and the two sums that the likelihood needs.

    With p = Vᵀ s and a = psi/(1 + m psi) the posterior mean of an identity is u = a p, and
    ``Σ_j ε_j ε_jᵀ = Σ_j x_j x_jᵀ − p uᵀ − u pᵀ + m u uᵀ``.
    """
    V, psi = state.V, state.psi
    scatter = V.T @ statistics.scatter @ V
    sizes, people = statistics.sizes, statistics.people
    identity, removed, explained = np.zeros_like(scatter), np.zeros_like(scatter), 0.0
    for m, gram in zip(statistics.gram_sizes, statistics.grams, strict=True):
        gram = V.T @ gram @ V
        a = psi / (1 + m * psi)
        cross = gram * a
        identity += cross * a[:, None]
        removed += cross + cross.T - m * (cross * a[:, None])
        explained += float(np.trace(cross))
    if len(statistics.sums):
        projected = statistics.sums @ V
        shrink = 1 / (1 + statistics.counts[:, None] * psi)
        means = projected * shrink
        means *= psi
        explained += float(np.einsum("ij,ij->", projected, means))
        shrink += 1
        projected *= shrink
        identity += means.T @ means
        removed += symmetrize(projected.T @ means)
    variation = scatter - removed
    if exact:
        posterior = psi / (1 + sizes[:, None] * psi)
        diagonal = np.einsum("ii->i", identity)
        diagonal += people @ posterior
        diagonal = np.einsum("ii->i", variation)
        diagonal += (people * sizes) @ posterior
    total = float(np.trace(scatter))
    return identity / statistics.n_people, variation / statistics.n_samples, explained, total


def _diagonalise(
    identity: np.ndarray, variation: np.ndarray, V: np.ndarray, log_det: float, floor: float
) -> EMState:
    """The basis of two covariances that are given in the basis V, floored in working ones."""
    n_floored = 0
    metric = floor * (V.T @ V)
    if floor > 0 and not (_is_above(variation, metric) and _is_above(identity, metric)):
        # Rare: back to working coordinates, where the floor is a multiple of the identity.
        with _scales_together():
            back = linalg.inv(V, check_finite=False)
        variation, n_floored = floor_covariance(back.T @ variation @ back, floor)
        identity, _ = floor_covariance(back.T @ identity @ back, floor)
        V, log_det = np.eye(len(V)), 0.0
    with _scales_together():
        L = linalg.cholesky(variation, lower=True, check_finite=False)
    half = linalg.solve_triangular(L, identity, lower=True, check_finite=False)
    whitened = linalg.solve_triangular(L, half.T, lower=True, check_finite=False)
    psi, rotation = linalg.eigh(
        symmetrize(whitened), driver="evd", overwrite_a=True, check_finite=False
    )
    turned = linalg.solve_triangular(
        L, np.asfortranarray(rotation[:, ::-1]), lower=True, trans="T", check_finite=False
    )
    return EMState(
        V @ turned,
        np.maximum(psi[::-1], 0.0),
        log_det - float(np.log(np.diag(L)).sum()),
        n_floored,
    )


@contextmanager
def _scales_together() -> Iterator[None]:
    """Say what a covariance that is singular after rounding comes from."""
    try:
        yield
    except linalg.LinAlgError as error:
        raise InputError(_TOO_FAR_APART) from error


def _is_above(matrix: np.ndarray, bound: np.ndarray) -> bool:
    """Whether ``matrix − bound`` is positive definite."""
    try:
        linalg.cholesky(matrix - bound, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return False
    return True


def _log_likelihood(
    statistics: WorkingStatistics, state: EMState, explained: float, total: float
) -> float:
    """Marginal log-likelihood of all vectors in working coordinates."""
    n_samples, r = statistics.n_samples, len(state.psi)
    ratios = statistics.people @ np.log1p(statistics.sizes[:, None] * state.psi)
    log_dets = -2 * n_samples * state.log_det + float(ratios.sum())
    return -0.5 * (n_samples * r * np.log(2 * np.pi) + log_dets + total - explained)


def _penalty(
    statistics: WorkingStatistics,
    state: EMState,
    strength: float,
    source: tuple[np.ndarray, np.ndarray],
    log_dets: tuple[float, float],
) -> float:
    """``lambda Σ_i KL(source‖target)`` of the hidden variables of every person."""
    r = len(state.psi)
    identity = (
        float(np.sum(np.diag(source[0]) / state.psi))
        + float(np.log(state.psi).sum())
        - 2 * state.log_det
        - log_dets[0]
        - r
    )
    variation = float(np.trace(source[1])) - 2 * state.log_det - log_dets[1] - r
    people, pictures = statistics.n_people, statistics.n_samples
    return 0.5 * float(strength * (people * identity + pictures * variation))


def _approximate_cost(
    statistics: WorkingStatistics,
    state: EMState,
    following: EMState,
    prior: Prior | None,
    identity: np.ndarray,
    variation: np.ndarray,
) -> float:
    """Eq. 11 of the paper: ``n log|M Mᵀ/n + lambda Sm| + k log|E Eᵀ/k + lambda Se|``.

    Where a floor was applied the covariances are not the optimum of eq. 6 for these M and E, and
    its trace terms do not cancel: what is returned is eq. 6 less its constant, which is eq. 11
    where no floor was needed.
    """
    r = len(state.psi)
    n, k = statistics.n_people, statistics.n_samples
    growth = 0.0 if prior is None else r * np.log1p(prior.strength)
    log_det_te = -2 * following.log_det
    log_det_tm = log_det_te + float(np.log(following.psi).sum())
    change = linalg.solve(state.V, following.V, check_finite=False)
    trace_tm = float(np.einsum("ij,ij,j->", identity @ change, change, 1 / following.psi))
    trace_te = float(np.einsum("ij,ij->", variation @ change, change))
    return float(
        n * (log_det_tm + growth + trace_tm - r) + k * (log_det_te + growth + trace_te - r)
    )
