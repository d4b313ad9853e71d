"""Protocols with folds, as Labeled Faces in the Wild: thresholds come from the other folds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mien._core.validation import check_labels, check_scores
from mien.errors import InputError
from mien.evaluation._calibration import check_same
from mien.evaluation._curves import Roc

__all__ = ["FoldAccuracy", "best_threshold", "fold_accuracy", "fold_roc"]


class FoldAccuracy(NamedTuple):
    """Accuracy over folds.

    Attributes
    ----------
    mean : float
        Mean of the accuracies of the folds.
    standard_error : float
        Their standard deviation (n − 1) over √n_folds, as the LFW site asks for.
    accuracies, thresholds : (n_folds,)
        Accuracy on each fold, and the threshold that the other folds gave.
    folds : (n_folds,)
        The labels of the folds, in the same order.
    """

    mean: float
    standard_error: float
    accuracies: np.ndarray
    thresholds: np.ndarray
    folds: np.ndarray


def best_threshold(scores: Any, same: Any) -> float:
    """The threshold with the most right decisions when pairs at or above it are accepted.

    Parameters
    ----------
    scores : array-like (n_pairs,)
        Similarities.
    same : array-like (n_pairs,)
        Which pairs are of the same person.

    Returns
    -------
    float
        Halfway between two neighbouring scores; the middle one where several are equally good.
        −inf accepts everything, +inf nothing.

    Examples
    --------
    >>> best_threshold([0.0, 1.0, 2.0, 4.0], [False, False, True, True])
    1.5
    """
    scores = check_scores("scores", scores)
    order = np.argsort(scores, kind="stable")
    return _best_threshold(scores[order], check_same(same, scores.size)[order])


def _best_threshold(scores: np.ndarray, same: np.ndarray) -> float:
    """As above, for scores in rising order."""
    first = np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1]]))
    values = scores[first]
    # right decisions when everything from a score on is accepted, and when nothing is
    signs = np.where(same, -1, 1)
    gain = np.concatenate([[0], np.cumsum(signs)])
    right = gain[np.append(first, scores.size)] + np.count_nonzero(same)
    with np.errstate(invalid="ignore"):
        between = values[:-1] / 2 + values[1:] / 2
    between = np.where(np.isfinite(between), between, values[1:])
    candidates = np.concatenate([[-np.inf], between, [np.inf]])
    if np.isposinf(values[-1]):
        right = right[:-1]  # +inf is accepted at every threshold
    best = np.flatnonzero(right == right.max())
    return float(candidates[best[best.size // 2]])


def _check_folds(
    scores: Any, same: Any, folds: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    scores = check_scores("scores", scores)
    truth = check_same(same, scores.size)
    labels, codes = np.unique(
        check_labels("folds", folds, scores.size, missing="class"), return_inverse=True
    )
    if labels.size < 2:
        raise InputError(f"at least two folds are needed; got {labels.size}")
    return scores, truth, labels, codes


def fold_accuracy(scores: Any, same: Any, folds: Any) -> FoldAccuracy:
    """Accuracy over folds, each decided with the threshold that is best on the other folds.

    Parameters
    ----------
    scores : array-like (n_pairs,)
        Similarities.
    same : array-like (n_pairs,)
        Which pairs are of the same person.
    folds : array-like (n_pairs,)
        The fold of each pair: integers or strings. People must not be shared between folds.

    Returns
    -------
    FoldAccuracy
        ``mean``, ``standard_error``, and both numbers of each fold.

    Examples
    --------
    >>> result = fold_accuracy([1, 0, 3, 2, 5, 1], [1, 0, 1, 0, 1, 0], [0, 0, 1, 1, 2, 2])
    >>> round(result.mean, 3), round(result.standard_error, 3)
    (0.833, 0.167)
    """
    scores, truth, labels, codes = _check_folds(scores, same, folds)
    order = np.argsort(scores, kind="stable")
    scores, truth, codes = scores[order], truth[order], codes[order]
    accuracies, thresholds = np.empty(labels.size), np.empty(labels.size)
    for k, label in enumerate(labels):
        held_out = codes == k
        rest = truth[~held_out]
        if rest.all() or not rest.any():
            raise InputError(f"the folds other than {label} have pairs of one kind only")
        thresholds[k] = _best_threshold(scores[~held_out], rest)
        accuracies[k] = np.mean((scores[held_out] >= thresholds[k]) == truth[held_out])
    error = accuracies.std(ddof=1) / np.sqrt(labels.size)
    return FoldAccuracy(float(accuracies.mean()), float(error), accuracies, thresholds, labels)


def fold_roc(scores: Any, same: Any, folds: Any) -> Roc:
    """The ROC curve as LFW draws it: both rates are averaged over the folds at every threshold.

    Parameters
    ----------
    scores, same, folds
        As in :func:`fold_accuracy`; every fold needs pairs of both kinds.

    Returns
    -------
    Roc
        Equal to the pooled curve when all folds have the same numbers of pairs.

    Examples
    --------
    >>> fold_roc([1, 0, 3, 2], [1, 0, 1, 0], [0, 0, 1, 1]).vr.tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """
    scores, truth, labels, codes = _check_folds(scores, same, folds)
    n_genuine = np.bincount(codes[truth], minlength=labels.size)
    n_impostor = np.bincount(codes[~truth], minlength=labels.size)
    lacking = labels[(n_genuine == 0) | (n_impostor == 0)]
    if lacking.size:
        raise InputError(f"every fold needs pairs of both kinds; {lacking[0]} lacks one")
    weight = 1 / (labels.size * np.where(truth, n_genuine[codes], n_impostor[codes]))
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    last = np.flatnonzero(np.concatenate([ordered[1:] != ordered[:-1], [True]]))

    def accumulate(kind: np.ndarray) -> np.ndarray:
        rates = np.cumsum(np.where(kind, weight, 0.0)[order])[last]
        return np.concatenate([[0.0], np.minimum(rates / rates[-1], 1)])

    return Roc(accumulate(~truth), accumulate(truth), np.concatenate([[np.inf], ordered[last]]))
