"""Kernel K-SVD by the kernel trick alone (eqs. 1 to 3 of the paper), at small N: the reference."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from mien.kernelmaps import Fastfood
from mien.sparse import KSVD
from tests.near import assert_near

_ATOMS, _NONZERO, _ROUNDS = 12, 3, 3
_SIGMA = 2.0


def _pursue(K: np.ndarray, A: np.ndarray, n_nonzero: int) -> np.ndarray:
    """Codes (m, n) of every Φ(x_i) in the atoms Φ(X) A, A (n, m), from the kernel K alone."""
    gram, links = A.T @ K @ A, A.T @ K
    codes = np.zeros((A.shape[1], len(K)))
    for i in range(len(K)):
        chosen: list[int] = []
        found = np.zeros(0)
        for _ in range(n_nonzero):
            rest = links[:, i] - gram[:, chosen] @ found
            rest[chosen] = 0
            if np.abs(rest).max() < 1e-9:
                break  # explained
            chosen.append(int(np.argmax(np.abs(rest))))
            found = linalg.solve(gram[np.ix_(chosen, chosen)], links[chosen, i], assume_a="pos")
        codes[chosen, i] = found
    return codes


def _kernel_ksvd(K: np.ndarray, A: np.ndarray, n_nonzero: int, rounds: int) -> list[float]:
    """Mean squared residual ‖Φ(X) − Φ(X) A Γ‖² / n after each round; no feature is ever made."""
    A, objective = A.copy(), []
    for _ in range(rounds):
        codes = _pursue(K, A, n_nonzero)
        for k in range(A.shape[1]):
            users = np.flatnonzero(codes[k])
            if users.size == 0:
                continue
            # Φ(X) E is the error without atom k, of the samples that use it.
            E = (np.eye(len(K)) - A @ codes + np.outer(A[:, k], codes[k]))[:, users]
            values, vectors = linalg.eigh(E.T @ K @ E)
            scale, v = np.sqrt(values[-1]), vectors[:, -1]
            A[:, k], codes[k, users] = E @ v / scale, scale * v
        left = np.eye(len(K)) - A @ codes
        objective.append(float(np.trace(left.T @ K @ left)) / len(K))
    return objective


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples (n, d), their Gaussian kernel, and a start Φ(X) A of some of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    K = np.exp(-(linalg.norm(X[:, None] - X, axis=2) ** 2) / (2 * _SIGMA**2))
    A = rng.normal(size=(60, _ATOMS))
    return X, K, A / np.sqrt(np.einsum("nm,nk,km->m", A, K, A))


def _learn(F: np.ndarray, A: np.ndarray) -> np.ndarray:
    model = KSVD(
        _ATOMS, n_nonzero_coefs=_NONZERO, fit_intercept=False, max_iter=_ROUNDS, update="exact",
        max_coherence=1.0, init=A.T @ F,
    )  # fmt: skip
    return np.asarray(model.fit(F).objective_)


def test_k_svd_of_kernel_coordinates_is_kernel_k_svd(
    problem: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    _, K, A = problem
    values, vectors = linalg.eigh(K)
    F = vectors * np.sqrt(np.maximum(values, 0))  # K = F Fᵀ: an isometry of the feature space
    exact = _kernel_ksvd(K, A, _NONZERO, _ROUNDS)
    assert_near(_learn(F, A), exact, digits=4)
    assert exact[-1] < exact[0]


def test_fastfood_features_come_near_the_exact_kernel(
    problem: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    X, K, A = problem
    exact = _kernel_ksvd(K, A, _NONZERO, _ROUNDS)[-1]
    near = [
        _learn(Fastfood(200, sigma=_SIGMA, random_state=seed).fit_transform(X), A)[-1]
        for seed in range(5)
    ]
    # What the dictionary leaves of features of length one, and what chance leaves of the map.
    assert abs(np.mean(near) - exact) < 0.3 * exact
