"""Weighted logistic regression on a few scores, with weights that may not be negative."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

__all__ = ["balance_classes", "fit_logistic"]


def balance_classes(same: np.ndarray) -> np.ndarray:
    """Weights (n,) that sum to one half for each of the two classes: Cllr's own weighting."""
    same = np.asarray(same, dtype=bool)
    n_same = int(np.count_nonzero(same))
    return np.where(same, 0.5 / max(n_same, 1), 0.5 / max(len(same) - n_same, 1))


def fit_logistic(
    scores: np.ndarray,
    same: np.ndarray,
    weights: np.ndarray,
    *,
    ridge: float = 1e-4,
    nonnegative: bool = True,
) -> tuple[np.ndarray, float]:
    """Coefficients and intercept of the log ratio of two classes.

    Parameters
    ----------
    scores : (n, k)
        Few columns.
    same : (n,)
        True for the first class.
    weights : (n,)
        Of the samples; with :func:`balance_classes` the loss is Cllr (in nats), and the fitted
        function is a log-likelihood ratio whatever the share of the classes.
    ridge : float
        Penalty on the coefficients of scores scaled to variance one. It keeps them finite where
        the classes are separable.
    nonnegative : bool
        Whether coefficients below zero are forbidden: a larger score never speaks against.

    Returns
    -------
    coefficients (k,), intercept
        ``scores @ coefficients + intercept`` is a natural-log ratio.
    """
    scores = np.asarray(scores, dtype=np.float64)
    centre = weights @ scores / weights.sum()
    scale = np.sqrt(weights @ (scores - centre) ** 2 / weights.sum())
    scale = np.where(scale > 0, scale, 1.0)
    standard = (scores - centre) / scale
    sign = np.where(np.asarray(same, dtype=bool), 1.0, -1.0)

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        margin = sign * (standard @ theta[:-1] + theta[-1])
        pull = -sign * weights * expit(-margin)
        value = weights @ np.logaddexp(0, -margin) + 0.5 * ridge * theta[:-1] @ theta[:-1]
        gradient = np.append(standard.T @ pull + ridge * theta[:-1], pull.sum())
        return float(value), gradient

    k = scores.shape[1]
    low = 0.0 if nonnegative else None
    found = minimize(
        loss,
        np.append(np.ones(k), 0.0),
        jac=True,
        method="L-BFGS-B",
        bounds=[(low, None)] * k + [(None, None)],
        options={"maxiter": 500, "ftol": 1e-13, "gtol": 1e-9},
    )
    coefficients = found.x[:-1] / scale
    return coefficients, float(found.x[-1] - coefficients @ centre)
