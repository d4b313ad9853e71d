"""Joint Bayesian straight from the paper's matrices of (m+1)d rows, for comparison only."""

from __future__ import annotations

import numpy as np


def hidden_moments(pictures, Tm, Te, *, exact):
    """E[h hᵀ] of one person: identity, and variation summed over pictures (eq. 3 and 18)."""
    m, d = pictures.shape
    omega = np.zeros(((m + 1) * d, (m + 1) * d))
    omega[:d, :d] = Tm
    P = np.zeros((m * d, (m + 1) * d))
    for j in range(m):
        block = slice((j + 1) * d, (j + 2) * d)
        omega[block, block] = Te
        P[j * d : (j + 1) * d, :d] = np.eye(d)
        P[j * d : (j + 1) * d, block] = np.eye(d)
    gain = omega @ P.T @ np.linalg.inv(P @ omega @ P.T)
    h = gain @ pictures.ravel()
    second = np.outer(h, h)
    if exact:
        second = second + omega - gain @ P @ omega
    blocks = [slice(j * d, (j + 1) * d) for j in range(m + 1)]
    return h[:d], second[blocks[0], blocks[0]], sum(second[b, b] for b in blocks[1:])


def em_step(X, y, Tm, Te, source=None, strengths=(0.0, 0.0), *, exact=True):
    """Eq. 5 after eq. 3: the next two covariances."""
    people = np.unique(y)
    moments = [hidden_moments(X[y == p], Tm, Te, exact=exact) for p in people]
    identity = sum(m[1] for m in moments) / len(people)
    variation = sum(m[2] for m in moments) / len(X)
    if source is not None:
        wm, we = (s / (1 + s) for s in strengths)
        identity = wm * source[0] + (1 - wm) * identity
        variation = we * source[1] + (1 - we) * variation
    return identity, variation


def log_likelihood(X, y, Tm, Te):
    total = 0.0
    d = X.shape[1]
    for p in np.unique(y):
        pictures = X[y == p]
        m = len(pictures)
        covariance = np.kron(np.ones((m, m)), Tm) + np.kron(np.eye(m), Te)
        x = pictures.ravel()
        total -= 0.5 * (
            m * d * np.log(2 * np.pi)
            + np.linalg.slogdet(covariance)[1]
            + x @ np.linalg.solve(covariance, x)
        )
    return total


def kl(source, target):
    """KL of two centred Gaussians, the first from the second."""
    d = len(source)
    return 0.5 * (
        np.trace(np.linalg.solve(target, source))
        - d
        + np.linalg.slogdet(target)[1]
        - np.linalg.slogdet(source)[1]
    )


def eq_11(X, y, Tm, Te, source, strength):
    """``n log|M Mᵀ/n + λ Sm| + k log|E Eᵀ/k + λ Se|`` with M and E from eq. 10."""
    people = np.unique(y)
    moments = [hidden_moments(X[y == p], Tm, Te, exact=False) for p in people]
    identity = sum(m[1] for m in moments) / len(people)
    variation = sum(m[2] for m in moments) / len(X)
    if source is not None:
        identity = identity + strength * source[0]
        variation = variation + strength * source[1]
    return len(people) * np.linalg.slogdet(identity)[1] + len(X) * np.linalg.slogdet(variation)[1]


def llr_sets(first, second, Tm, Te):
    """Log ratio of two sets of centred pictures, from the definition."""
    everything = np.concatenate([first, second])
    one = np.zeros(len(everything))
    two = np.r_[np.zeros(len(first)), np.ones(len(second))]
    return log_likelihood(everything, one, Tm, Te) - log_likelihood(everything, two, Tm, Te)
