"""Random grouped problems of every shape, and constructions straight from the definitions."""

from __future__ import annotations

import numpy as np


def make_problem(
    n_groups: int,
    group_size: int,
    d: int,
    *,
    rank: int | None = None,
    alone: int = 0,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Points about group centres, optionally of low rank, with points in no group mixed in."""
    rng = np.random.default_rng(seed)
    n = n_groups * group_size + alone
    inner = d if rank is None else rank
    groups = np.concatenate([np.repeat(np.arange(n_groups), group_size), np.full(alone, -1)])
    centres = 3 * rng.normal(size=(n_groups + 1, inner))
    X = centres[groups] + rng.normal(size=(n, inner))
    if rank is not None:
        X = X @ rng.normal(size=(rank, d))
    order = rng.permutation(n)
    # Labels have gaps and no order: they are names.
    return X[order] + 10, np.where(groups < 0, -1, groups * 7 + 3)[order]


def naive_scatters(X: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S_t of all points and S_g of the grouped ones, by loops."""
    d = X.shape[1]
    total, within = np.zeros((d, d)), np.zeros((d, d))
    mean = X.mean(axis=0)
    for x in X:
        total += np.outer(x - mean, x - mean)
    for group in set(groups.tolist()) - {-1}:
        members = X[groups == group]
        for x in members:
            within += np.outer(x - members.mean(axis=0), x - members.mean(axis=0))
    return total, within


def naive_null_space(X: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The paper's P_t Q_g (d, m): range of S_t, then the null space of S_g inside it."""
    total, within = naive_scatters(X, groups)
    values, vectors = np.linalg.eigh(total)
    P = vectors[:, values > 1e-10 * values.max()]
    inner_values, inner = np.linalg.eigh(P.T @ within @ P)
    return P @ inner[:, inner_values < 1e-10 * values.max()]


def subspace_gap(A: np.ndarray, B: np.ndarray) -> float:
    """Largest difference of the projectors on two column spaces (d, m)."""
    Qa, Qb = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    return float(np.abs(Qa @ Qa.T - Qb @ Qb.T).max())
