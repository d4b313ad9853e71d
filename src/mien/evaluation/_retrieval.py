"""Retrieval: how many of the first K are right, and mean average precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mien.errors import InputError
from mien.evaluation._identification import check_score_matrix, number_labels
from mien.evaluation._intervals import RandomState, bootstrap_mean_interval, check_confidence
from mien.evaluation._verification import with_interval

__all__ = ["average_precision", "correct_in_top", "evaluate_retrieval"]

_CHUNK = 2**22


def _check_square(shape: tuple[int, ...], exclude_self: bool) -> None:
    if exclude_self and shape[0] != shape[1]:
        raise InputError(f"exclude_self needs a square matrix of scores; got {shape}")
    if exclude_self and shape[1] < 2:
        raise InputError("with exclude_self, at least two samples are needed")


def _ranked(
    scores: np.ndarray, query: np.ndarray, item: np.ndarray, exclude_self: bool
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield for chunks of queries which items are right, best first (n_queries, n_items).

    Among tied scores the wrong items come first, so that ties never flatter.
    """
    step = max(1, _CHUNK // scores.shape[1])
    for start in range(0, scores.shape[0], step):
        chunk = slice(start, min(start + step, scores.shape[0]))
        right = query[chunk, None] == item
        key = -scores[chunk]
        if exclude_self:
            kept = np.arange(scores.shape[1]) != np.arange(chunk.start, chunk.stop)[:, None]
            shape = right.shape[0], scores.shape[1] - 1
            right, key = right[kept].reshape(shape), key[kept].reshape(shape)
        order = np.lexsort((right, key), axis=1)
        yield chunk, np.take_along_axis(right, order, axis=1)


def _prepare(
    scores: Any, query_labels: Any, item_labels: Any, exclude_self: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    matrix = check_score_matrix(scores)
    _check_square(matrix.shape, exclude_self)
    query, item = number_labels(query_labels, item_labels, matrix.shape)
    return matrix, query, item


def correct_in_top(
    scores: Any, query_labels: Any, item_labels: Any, k: int, *, exclude_self: bool = False
) -> np.ndarray:
    """How many of the k items most alike to each query are of its class.

    Parameters
    ----------
    scores : array-like (n_queries, n_items)
        Similarities.
    query_labels, item_labels : array-like (n_queries,), (n_items,)
        Classes or people.
    k : int
        Number of items to consider, at most as many as there are.
    exclude_self : bool
        Queries and items are the same samples: leave out the diagonal.

    Returns
    -------
    (n_queries,) int
        Divided by k, precision at k. Ties count against.

    Examples
    --------
    >>> correct_in_top([[0.9, 0.5, 0.1]], ["a"], ["a", "b", "a"], k=2)
    array([1])
    """
    matrix, query, item = _prepare(scores, query_labels, item_labels, exclude_self)
    n_items = matrix.shape[1] - exclude_self
    if not 1 <= k <= n_items:
        raise InputError(f"k must be between 1 and the {n_items} items; got {k}")
    result = np.empty(query.size, dtype=np.int64)
    for chunk, right in _ranked(matrix, query, item, exclude_self):
        result[chunk] = right[:, :k].sum(axis=1)
    return result


def average_precision(
    scores: Any, query_labels: Any, item_labels: Any, *, exclude_self: bool = False
) -> np.ndarray:
    """Average precision of each query; the mean over queries is mAP.

    Parameters
    ----------
    scores, query_labels, item_labels, exclude_self
        As in :func:`correct_in_top`.

    Returns
    -------
    (n_queries,)
        The mean, over the right items, of the precision among all items down to it. NaN for a
        query with no right item. Ties count against.

    Examples
    --------
    >>> average_precision([[0.9, 0.5, 0.1]], ["a"], ["a", "b", "a"]).round(4)
    array([0.8333])
    """
    matrix, query, item = _prepare(scores, query_labels, item_labels, exclude_self)
    result = np.full(query.size, np.nan)
    for chunk, right in _ranked(matrix, query, item, exclude_self):
        total = right.sum(axis=1)
        precision = np.cumsum(right, axis=1) / np.arange(1, right.shape[1] + 1)
        summed = np.where(right, precision, 0).sum(axis=1)
        result[chunk] = np.where(total > 0, summed / np.maximum(total, 1), np.nan)
    return result


def evaluate_retrieval(
    scores: Any,
    query_labels: Any,
    item_labels: Any,
    *,
    top: Sequence[int] = (1, 5, 10, 20),
    exclude_self: bool = False,
    failures: int = 0,
    confidence: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: RandomState = 0,
) -> dict[str, Any]:
    """Everything about retrieval, as plain numbers and lists.

    Parameters
    ----------
    scores, query_labels, item_labels, exclude_self
        As in :func:`correct_in_top`.
    top : sequence of int
        Values of K; those above the number of items are left out.
    failures : int
        Queries that gave no description: nothing right is found for them.
    confidence, n_bootstrap, random_state
        Intervals come from a bootstrap over the classes of the queries.

    Returns
    -------
    dict
        ``n_queries`` (failures included), ``n_items``, ``failures``, ``n_without_match``; ``top``,
        a list of ``{k, correct, value, low, high}`` with the mean number of right items and the
        precision; ``mean_average_precision`` over queries that have a right item.

    Examples
    --------
    >>> result = evaluate_retrieval([[0.9, 0.5, 0.1]], ["a"], ["a", "b", "a"], top=[1])
    >>> result["top"][0]["value"]
    1.0
    """
    confidence = check_confidence(confidence)
    if failures < 0:
        raise InputError(f"failures cannot be negative; got {failures}")
    matrix, query, item = _prepare(scores, query_labels, item_labels, exclude_self)
    n_items = matrix.shape[1] - exclude_self
    sizes = [int(k) for k in top if 1 <= k <= n_items]
    correct = np.empty((query.size, len(sizes)))
    average = np.full(query.size, np.nan)
    for chunk, right in _ranked(matrix, query, item, exclude_self):
        found = np.cumsum(right, axis=1)
        correct[chunk] = found[:, [k - 1 for k in sizes]]
        total = found[:, -1]
        precision = np.where(right, found / np.arange(1, right.shape[1] + 1), 0).sum(axis=1)
        average[chunk] = np.where(total > 0, precision / np.maximum(total, 1), np.nan)

    def mean(values: np.ndarray, labels: np.ndarray) -> dict[str, float | None]:
        share = values.size / (values.size + failures)
        interval = None
        if np.unique(labels).size > 1:
            ends = bootstrap_mean_interval(
                values,
                labels,
                confidence=confidence,
                n_bootstrap=n_bootstrap,
                random_state=random_state,
            )
            interval = type(ends)(ends.low * share, ends.high * share)
        return with_interval(values.mean() * share, interval)

    matched = ~np.isnan(average)
    if not matched.any():
        raise InputError("no query has a right item: the labels of queries and items never agree")
    rows = []
    for k, column in zip(sizes, correct.T, strict=True):
        row = mean(column / k, query)
        rows.append({"k": k, "correct": (row["value"] or 0.0) * k, **row})
    return {
        "n_queries": int(query.size) + failures,
        "n_items": int(n_items),
        "failures": failures,
        "n_without_match": int(np.count_nonzero(~matched)),
        "confidence": confidence,
        "top": rows,
        "mean_average_precision": mean(average[matched], query[matched]),
    }
