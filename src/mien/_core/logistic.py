"""Log-likelihood ratios: what they cost, and logistic regression that makes them of scores."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

__all__ = ["balance_classes", "fit_logistic", "mean_ratio_cost", "newton_logistic", "ratio_costs"]


def ratio_costs(ratios: np.ndarray, same: np.ndarray | bool) -> np.ndarray:
    """Cost in bits of each natural-log likelihood ratio, log2(1 + e^∓ratio); shaped as the ratios.

    A ratio of zero, which says nothing, costs one bit. ``same`` is True where both are one person.
    """
    return np.asarray(np.logaddexp(0, np.where(same, -ratios, ratios)) / np.log(2))


def mean_ratio_cost(ratios: np.ndarray, same: np.ndarray) -> float:
    """Cllr: the mean cost of genuine pairs and that of impostor pairs, in equal parts."""
    costs = ratio_costs(ratios, same)
    return float((costs[same].mean() + costs[~same].mean()) / 2)


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

    Returns
    -------
    coefficients (k,), intercept
        ``scores @ coefficients + intercept`` is a natural-log ratio. No coefficient is negative:
        a larger score is never evidence against.
    """
    scores = np.asarray(scores, dtype=np.float64)
    centre = weights @ scores / weights.sum()
    scale = np.sqrt(weights @ (scores - centre) ** 2 / weights.sum())
    # A constant score has a spread of rounding errors, which must not be blown up.
    scale = np.where(scale > 1e-12 * np.abs(centre), scale, 1.0)
    standard = (scores - centre) / scale
    design = np.column_stack([standard, np.ones(len(standard))])
    truth = np.asarray(same, dtype=bool)
    theta, _ = newton_logistic(design, truth, weights, 0.0, ridge, nonnegative=True)
    coefficients = theta[:-1] / scale
    return coefficients, float(theta[-1] - coefficients @ centre)


def newton_logistic(
    Z: np.ndarray,
    same: np.ndarray,
    weight: np.ndarray,
    offset: float,
    ridge: float,
    max_iter: int = 100,
    *,
    nonnegative: bool = False,
) -> tuple[np.ndarray, int]:
    """Newton's method for weighted logistic regression with a ridge on all but the last column.

    Parameters
    ----------
    Z : (n, k + 1)
        Few columns of about unit scale, the last of ones.
    same : (n,) bool
        True for the first class.
    weight : (n,)
        Of the samples.
    offset : float
        Added to every log ratio.
    ridge : float
        Penalty on all coefficients but the last.
    max_iter : int
        Most steps.
    nonnegative : bool
        Whether all coefficients but the last are kept at zero or above.

    Returns
    -------
    theta (k + 1,), number of steps

    Notes
    -----
    Minimises Σ w log(1 + e^{∓(Zθ + offset)}) + ½ ridge ‖θ without its last‖². Strictly convex, and
    each step is halved until the objective falls, so it arrives. A coefficient that is at its bound
    and would be pushed below stays there and takes no part in the step (Bertsekas, 1982).
    """
    sign = np.where(same, 1.0, -1.0)
    penalty = np.full(Z.shape[1], ridge)
    penalty[-1] = 0
    low = np.full(Z.shape[1], 0.0 if nonnegative else -np.inf)
    low[-1] = -np.inf

    def objective(theta: np.ndarray) -> float:
        loss = np.logaddexp(0, -sign * (Z @ theta + offset))
        return float(weight @ loss + 0.5 * penalty @ theta**2)

    theta = np.zeros(Z.shape[1])
    value = objective(theta)
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        p = expit(Z @ theta + offset)
        gradient = Z.T @ (weight * (p - same)) + penalty * theta
        curvature = np.maximum(weight * p * (1 - p), 1e-300)
        hessian = (Z.T * curvature) @ Z + np.diag(penalty + 1e-12)
        free = (theta > low) | (gradient < 0)
        step = np.zeros_like(theta)
        step[free] = np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
        length = 1.0
        while length > 1e-10 and objective(np.maximum(theta - length * step, low)) > value:
            length /= 2
        before, theta = theta, np.maximum(theta - length * step, low)
        new = objective(theta)
        moved = np.abs(theta - before).max()
        if value - new <= 1e-14 and moved <= 1e-9 * (1 + np.abs(theta).max()):
            break
        value = min(new, value)
    return theta, n_iter
