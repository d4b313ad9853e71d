"""Confidence intervals: of a proportion, and of a mean when people, not samples, were drawn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtri
from sklearn.utils import check_random_state

from mien._core.validation import check_labels, check_scores
from mien.errors import InputError, NotEnoughDataError

__all__ = [
    "Interval",
    "bootstrap_mean_interval",
    "clopper_pearson_interval",
    "draw_people",
    "wilson_interval",
]

RandomState = int | np.random.RandomState | np.random.Generator | None


class Interval(NamedTuple):
    """Both ends of a confidence interval: floats, or arrays of one shape."""

    low: Any
    high: Any


def check_confidence(confidence: float) -> float:
    """Refuse a confidence outside (0, 1)."""
    if not 0 < confidence < 1:
        raise InputError(f"confidence must be between 0 and 1; got {confidence!r}")
    return float(confidence)


def _check_proportion(successes: Any, trials: Any) -> tuple[np.ndarray, np.ndarray]:
    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    if np.any(n <= 0) or not np.all(np.isfinite(n)):
        raise InputError("trials must be positive")
    if not np.all((k >= 0) & (k <= n)):
        raise InputError("successes must be between 0 and trials")
    return k, n


def _interval(low: np.ndarray, high: np.ndarray) -> Interval:
    return Interval(float(low), float(high)) if np.ndim(low) == 0 else Interval(low, high)


def wilson_interval(successes: Any, trials: Any, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a proportion.

    Parameters
    ----------
    successes, trials : array-like
        Counts that broadcast; ``trials`` may be an effective number with a fraction.
    confidence : float
        Probability with which such intervals hold the truth, for independent trials.

    Returns
    -------
    Interval
        ``low`` and ``high``, never outside [0, 1] and never of zero width.

    Notes
    -----
    With z the normal quantile and p = k/n: (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n).

    Examples
    --------
    >>> low, high = wilson_interval(0, 100)
    >>> round(low, 4), round(high, 4)
    (0.0, 0.037)
    """
    k, n = _check_proportion(successes, trials)
    z = ndtri(0.5 + check_confidence(confidence) / 2)
    p = k / n
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    low = np.where(k == 0, 0.0, np.maximum(centre - half, 0))
    high = np.where(k == n, 1.0, np.minimum(centre + half, 1))
    return _interval(low, high)


def clopper_pearson_interval(successes: Any, trials: Any, confidence: float = 0.95) -> Interval:
    """Exact interval of a proportion: it holds the truth at least as often as it says.

    Parameters
    ----------
    successes, trials : array-like
        Counts that broadcast.
    confidence : float
        Probability with which such intervals hold the truth, for independent trials.

    Returns
    -------
    Interval
        ``low`` and ``high``: quantiles of the beta distributions B(k, n−k+1) and B(k+1, n−k).

    Examples
    --------
    No error in 300 trials: the rate may still be above one per cent.

    >>> round(clopper_pearson_interval(0, 300).high, 4)
    0.0122
    """
    k, n = _check_proportion(successes, trials)
    tail = (1 - check_confidence(confidence)) / 2
    # betaincinv wants positive parameters; the ends that would not be are 0 and 1
    low = np.where(k == 0, 0.0, betaincinv(np.maximum(k, 1), n - k + 1, tail))
    high = np.where(k == n, 1.0, betaincinv(k + 1, np.maximum(n - k, 1), 1 - tail))
    return _interval(low, high)


def draw_people(n_people: int, n_draws: int, random_state: RandomState = None) -> np.ndarray:
    """How often each person comes in each of ``n_draws`` samples with replacement.

    Parameters
    ----------
    n_people : int
        People to draw from; each draw takes as many.
    n_draws : int
        Number of bootstrap samples.
    random_state : int, RandomState, Generator or None
        Seed of the draws.

    Returns
    -------
    (n_draws, n_people) float64
        Multinomial counts; every row sums to ``n_people``.
    """
    if n_people < 2:
        raise NotEnoughDataError(f"a bootstrap by person needs at least two people; got {n_people}")
    if n_draws < 1:
        raise InputError(f"at least one bootstrap sample must be drawn; got {n_draws}")
    # who is drawn, then how often: much quicker than multinomial counts, and the same law
    if isinstance(random_state, np.random.Generator):
        drawn = random_state.integers(n_people, size=(n_draws, n_people))
    else:
        drawn = check_random_state(random_state).randint(n_people, size=(n_draws, n_people))
    drawn += np.arange(n_draws)[:, None] * n_people
    counts = np.bincount(drawn.ravel(), minlength=n_draws * n_people)
    return counts.reshape(n_draws, n_people).astype(float)


def percentile_interval(
    replicates: np.ndarray, confidence: float, n_people: int | None = None
) -> Interval:
    """Percentiles of bootstrap replicates (n_draws,); those that are NaN are left out.

    ``n_people`` is given for a rate, 0 to 1. If it is 0 or 1 in every sample, drawing the same
    people again cannot show what none of them did: the interval is Wilson's of so many trials.
    """
    usable = replicates[~np.isnan(replicates)]
    if usable.size < max(2, replicates.size // 2):
        return Interval(float("nan"), float("nan"))
    if n_people is not None and usable[0] in (0, 1) and (usable == usable[0]).all():
        return wilson_interval(usable[0] * n_people, n_people, confidence)
    tail = (1 - confidence) / 2
    # "nearest" ranks: infinite replicates must not be interpolated
    low, high = np.quantile(usable, [tail, 1 - tail], method="inverted_cdf")
    return Interval(float(low), float(high))


def bootstrap_mean_interval(
    values: Any,
    people: Any,
    *,
    confidence: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: RandomState = None,
) -> Interval:
    """Interval of a mean over samples that belong to people: people are resampled, not samples.

    Parameters
    ----------
    values : array-like (n_samples,)
        Finite numbers; a rate is the mean of zeros and ones.
    people : array-like (n_samples,)
        To whom each sample belongs.
    confidence : float
        Probability that the interval aims for.
    n_bootstrap : int
        Bootstrap samples.
    random_state : int, RandomState, Generator or None
        Seed of the draws.

    Returns
    -------
    Interval
        Percentiles of the mean over the bootstrap samples. For a rate of 0 or 1, Wilson's interval
        with people as trials: that nobody erred does not show that nobody will.

    Examples
    --------
    >>> interval = bootstrap_mean_interval([1, 1, 0, 0], list("aabb"), random_state=0)
    >>> interval.low, interval.high
    (0.0, 1.0)
    >>> round(bootstrap_mean_interval(np.zeros(40), np.arange(40), random_state=0).high, 3)
    0.088
    """
    array = check_scores("values", values)
    codes = np.unique(
        check_labels("people", people, array.size, missing="unknown"), return_inverse=True
    )[1]
    confidence = check_confidence(confidence)
    counts = np.bincount(codes).astype(float)
    sums = np.bincount(codes, weights=array)
    draws = draw_people(counts.size, n_bootstrap, random_state)
    is_rate = bool(np.isin(array, (0, 1)).all())
    return percentile_interval(
        (draws @ sums) / (draws @ counts), confidence, counts.size if is_rate else None
    )
