"""ROC, DET and what is read off them: equal error rate, verification rate, thresholds."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from mien._core.pairs import share_in_order
from mien._core.validation import check_scores
from mien.errors import InputError, NotEnoughDataError

__all__ = [
    "Det",
    "Roc",
    "area_under_roc",
    "det",
    "equal_error_rate",
    "roc",
    "threshold_at_far",
    "verification_rate",
]


class Roc(NamedTuple):
    """Points of an ROC curve, from "accept nothing" (0, 0) to "accept everything" (1, 1).

    Attributes
    ----------
    far : (n_points,)
        False accept rate: the share of impostor scores at or above the threshold.
    vr : (n_points,)
        Verification rate: the share of genuine scores at or above the threshold.
    thresholds : (n_points,)
        Falling; the first is +inf and means "accept nothing".
    """

    far: np.ndarray
    vr: np.ndarray
    thresholds: np.ndarray


class Det(NamedTuple):
    """Points of a DET curve: both errors at every threshold.

    Attributes
    ----------
    fmr : (n_points,)
        False match rate: the share of impostor scores at or above the threshold.
    fnmr : (n_points,)
        False non-match rate: the share of genuine scores below the threshold.
    thresholds : (n_points,)
        Falling; the first is +inf and means "accept nothing".
    """

    fmr: np.ndarray
    fnmr: np.ndarray
    thresholds: np.ndarray


def check_two_classes(genuine: Any, impostor: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return both kinds of score, or say that one of them is missing or unusable."""
    sizes = np.size(genuine), np.size(impostor)
    if 0 in sizes and sum(sizes) > 0:
        missing, other = ("genuine", "impostor") if sizes[0] == 0 else ("impostor", "genuine")
        raise InputError(
            f"there are no {missing} scores, only {max(sizes)} {other} ones: "
            "error rates need pairs of the same person and pairs of different people"
        )
    first, second = check_scores("genuine", genuine), check_scores("impostor", impostor)
    _refuse_labels(genuine, first, second)
    return first, second


def _refuse_labels(given: Any, genuine: np.ndarray, impostor: np.ndarray) -> None:
    """Truth and scores of all pairs are another convention: it must not give a number silently."""
    labels = np.asarray(given).dtype.kind == "b" or (
        genuine.size == impostor.size
        and np.array_equal(np.unique(genuine), [0, 1])
        and not np.all(np.isin(impostor, [0, 1]))
    )
    if labels:
        raise InputError(
            "genuine looks like labels: give the scores of genuine pairs and those of impostor "
            "pairs, f(scores[same], scores[~same]), and not (y_true, y_score)"
        )


def check_far(far: Any) -> np.ndarray:
    """Return false accept rates as an array, or say which one is not a rate."""
    array = np.asarray(far, dtype=np.float64)
    if not np.all((array >= 0) & (array <= 1)):
        raise InputError(f"far must be between 0 and 1; got {far!r}")
    return array


def count_accepted(
    genuine: np.ndarray, impostor: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count who is accepted at every distinct score, from the largest down.

    Returns
    -------
    thresholds (n_distinct,), impostors accepted (n_distinct,), genuine accepted (n_distinct,)
    """
    scores, is_genuine = _merge(np.sort(genuine), np.sort(impostor))
    first = np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1]]))
    thresholds = scores[first][::-1]
    del scores
    below = np.cumsum(is_genuine)[first - 1]
    below[0] = 0
    true_accepts = genuine.size - below
    false_accepts = (is_genuine.size - first) - true_accepts
    return thresholds, false_accepts[::-1], true_accepts[::-1]


def _merge(genuine: np.ndarray, impostor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merge two rising arrays; returns all scores, and which of them are genuine."""
    few, many = sorted((genuine, impostor), key=len)
    is_few = np.zeros(few.size + many.size, dtype=bool)
    is_few[np.searchsorted(many, few) + np.arange(few.size)] = True
    scores = np.empty(is_few.size)
    scores[is_few], scores[~is_few] = few, many
    return scores, is_few if few is genuine else ~is_few


def _corners(far: np.ndarray, vr: np.ndarray) -> np.ndarray:
    """Indices of the ends of every horizontal or vertical run of points."""
    keep = np.ones(far.size, dtype=bool)
    flat = (far[2:] == far[1:-1]) & (far[1:-1] == far[:-2])
    steep = (vr[2:] == vr[1:-1]) & (vr[1:-1] == vr[:-2])
    keep[1:-1] = ~(flat | steep)
    return np.flatnonzero(keep)


def roc(genuine: Any, impostor: Any, *, drop_intermediate: bool = False) -> Roc:
    """The ROC curve of similarity scores, with a point at every distinct score.

    Parameters
    ----------
    genuine : array-like (n_genuine,)
        Scores of pairs of the same person; larger means more alike. Infinities are allowed.
    impostor : array-like (n_impostor,)
        Scores of pairs of different people.
    drop_intermediate : bool
        Leave out points inside horizontal and vertical runs: the same curve in fewer points.

    Returns
    -------
    Roc
        ``far``, ``vr`` and ``thresholds``. A pair is accepted when its score is at or above the
        threshold, so tied scores are accepted together: genuine and impostor scores that tie give
        one slanted segment.

    Examples
    --------
    >>> far, vr, thresholds = roc([0.9, 0.6, 0.6], [0.6, 0.1])
    >>> far.tolist()
    [0.0, 0.0, 0.5, 1.0]
    >>> thresholds.tolist()
    [inf, 0.9, 0.6, 0.1]
    """
    genuine, impostor = check_two_classes(genuine, impostor)
    thresholds, false_accepts, true_accepts = count_accepted(genuine, impostor)
    far = np.concatenate([[0.0], false_accepts / impostor.size])
    vr = np.concatenate([[0.0], true_accepts / genuine.size])
    thresholds = np.concatenate([[np.inf], thresholds])
    if drop_intermediate:
        keep = _corners(far, vr)
        far, vr, thresholds = far[keep], vr[keep], thresholds[keep]
    return Roc(far, vr, thresholds)


def det(genuine: Any, impostor: Any, *, drop_intermediate: bool = False) -> Det:
    """The DET curve: false match and false non-match rate at every distinct score.

    Parameters
    ----------
    genuine, impostor, drop_intermediate
        As in :func:`roc`.

    Returns
    -------
    Det
        ``fmr``, ``fnmr`` and ``thresholds``.

    Examples
    --------
    >>> det([2.0, 3.0], [0.0, 2.0]).fnmr.tolist()
    [1.0, 0.5, 0.0, 0.0]
    """
    far, vr, thresholds = roc(genuine, impostor, drop_intermediate=drop_intermediate)
    return Det(far, 1 - vr, thresholds)


def crossing(far: np.ndarray, vr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where far = 1 − vr on lines between points (..., n_points): the rate, the index after it."""
    gap = far - (1 - vr)
    after = np.argmax(gap >= 0, axis=-1)
    before = np.maximum(after - 1, 0)

    def at(array: np.ndarray, index: np.ndarray) -> np.ndarray:
        return np.take_along_axis(array, np.asarray(index)[..., None], axis=-1)[..., 0]

    low, high = at(gap, before), at(gap, after)
    share = np.where(high > low, -low / np.where(high > low, high - low, 1), 1.0)
    start = at(far, before)
    return start + share * (at(far, after) - start), after


def equal_error_rate(genuine: Any, impostor: Any) -> float:
    """The rate at which false accepts and false rejects are equally frequent.

    Parameters
    ----------
    genuine, impostor : array-like (n_genuine,), (n_impostor,)
        Similarity scores; infinities are allowed.

    Returns
    -------
    float
        Exactly 0 when a threshold separates all scores, 0.5 when all scores are equal.

    Notes
    -----
    The points of the ROC curve are joined by straight lines; the rate is where FAR = 1 − VR. Each
    step down the scores raises FAR − FNMR, so there is exactly one such point. A slanted line
    stands for a coin thrown among tied scores.

    Examples
    --------
    >>> equal_error_rate([1.0, 2.0, 3.0, 4.0], [-1.0, 0.0, 1.5, 0.5])
    0.25
    """
    curve = roc(genuine, impostor)
    return float(crossing(curve.far, curve.vr)[0])


def allowed_errors(far: np.ndarray, n_impostor: int) -> np.ndarray:
    """The largest count k with k / n_impostor ≤ far, free of rounding."""
    count = np.floor(far * n_impostor).astype(np.int64)
    count += (count + 1) / n_impostor <= far
    return np.minimum(count, n_impostor)


def verification_rate(genuine: Any, impostor: Any, far: Any = 0.01) -> Any:
    """The largest share of genuine pairs accepted while the measured FAR is at most ``far``.

    Parameters
    ----------
    genuine, impostor : array-like (n_genuine,), (n_impostor,)
        Similarity scores; infinities are allowed.
    far : float or array-like
        False accept rate, between 0 and 1.

    Returns
    -------
    float or array
        One minus this is FNMR at FMR = ``far``. Nothing is interpolated: below 1 / n_impostor it
        is the rate without a single false accept, which says little about the FAR asked for (see
        :func:`threshold_at_far`).

    Examples
    --------
    >>> verification_rate([1.0, 2.0, 3.0, 4.0], [0.0, 0.5, 1.5, 2.5], far=0.25)
    0.75
    """
    genuine, impostor = check_two_classes(genuine, impostor)
    rates = check_far(far)
    allowed = allowed_errors(rates, impostor.size)
    # accept what is above the largest impostor score that must be refused
    position = impostor.size - 1 - np.minimum(allowed, impostor.size - 1)
    refused = np.partition(impostor, np.unique(position))[position]
    above = genuine.size - np.searchsorted(np.sort(genuine), refused, side="right")
    result = np.where(allowed >= impostor.size, 1.0, above / genuine.size)
    return float(result) if rates.ndim == 0 else result


def impostors_needed(far: float, n_errors: float = 3) -> int:
    """Impostor scores that are needed to measure ``far``: n_errors / far."""
    return math.ceil(n_errors / far * (1 - 1e-12)) if far > 0 else 0


def threshold_at_far(impostor: Any, far: float, *, n_errors: float = 3) -> float:
    """The threshold that holds the false accept rate at ``far``, if the data can measure it.

    Parameters
    ----------
    impostor : array-like (n_impostor,)
        Scores of pairs of different people: people who are not among those it will be used on.
    far : float
        Wanted false accept rate, above 0.
    n_errors : float
        How many false accepts must be expected at ``far``: n_impostor · far ≥ n_errors. The
        default is the rule of three: even without one error among n independent trials, a rate
        of 3/n cannot be ruled out at 95 % confidence. Doddington's rule of 30 gives a rate within
        ±30 % at 90 % confidence.

    Returns
    -------
    float
        The smallest impostor score t with a share of scores ≥ t that is at most ``far``. Accept a
        pair when its score is at or above it. Where ties at the top leave no such score, the next
        number above them.

    Raises
    ------
    NotEnoughDataError
        When there are too few scores for ``far``; the message says how many are needed.

    Examples
    --------
    >>> import numpy as np
    >>> threshold_at_far(np.arange(1000), far=0.01)
    990.0
    >>> threshold_at_far(np.arange(1000), far=1e-6)
    Traceback (most recent call last):
    mien.errors.NotEnoughDataError: a FAR of 1e-06 needs at least 3000000 impostor scores ...
    """
    given = np.asarray(impostor)
    scores = check_scores("impostor", impostor)
    if not 0 < far <= 1:
        raise InputError(f"far must be above 0 and at most 1; got {far!r}")
    if not n_errors > 0:
        raise InputError(f"n_errors must be positive; got {n_errors!r}")
    needed = impostors_needed(far, n_errors)
    if scores.size < needed:
        raise NotEnoughDataError(
            f"a FAR of {far:g} needs at least {needed} impostor scores ({n_errors:g} expected "
            f"false accepts); got {scores.size}, which can measure {n_errors / scores.size:.2g} "
            "at best: collect more people, or ask for a higher FAR"
        )
    values, counts = np.unique(scores, return_counts=True)
    accepted = np.cumsum(counts[::-1])[::-1]
    held = np.flatnonzero(accepted <= allowed_errors(np.asarray(far), scores.size))
    if held.size:
        return float(values[held[0]])
    if np.isposinf(values[-1]):
        raise InputError(
            f"{counts[-1]} of {scores.size} impostor scores are +inf: no threshold refuses them"
        )
    # of the scores' own precision, so that comparing in that precision still refuses the tie
    dtype = given.dtype if given.dtype.kind == "f" else np.dtype(np.float64)
    return float(np.nextafter(values[-1].astype(dtype), dtype.type(np.inf)))


def area_under_roc(genuine: Any, impostor: Any) -> float:
    """Probability that a genuine score is above an impostor score, ties counting one half.

    Parameters
    ----------
    genuine, impostor : array-like (n_genuine,), (n_impostor,)
        Similarity scores; infinities are allowed.

    Examples
    --------
    >>> area_under_roc([1.0, 2.0], [0.0, 1.0])
    0.875
    """
    genuine, impostor = check_two_classes(genuine, impostor)
    return share_in_order(genuine, impostor)
