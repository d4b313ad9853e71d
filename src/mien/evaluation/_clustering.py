"""How well clusters agree with people: pairwise purity and accuracy, majority purity, B-cubed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mien._core.validation import check_labels, find_unknown
from mien.errors import InputError
from mien.evaluation._intervals import (
    RandomState,
    check_confidence,
    draw_people,
    percentile_interval,
)
from mien.evaluation._verification import with_interval

__all__ = [
    "BCubed",
    "PurityAccuracy",
    "b_cubed",
    "evaluate_clustering",
    "majority_purity",
    "pairwise_purity_accuracy",
]


class PurityAccuracy(NamedTuple):
    """Pairwise purity and accuracy, each in [0, 1]."""

    purity: float
    accuracy: float


class BCubed(NamedTuple):
    """B-cubed precision, recall and their harmonic mean, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


def _contingency(people: Any, clusters: Any) -> sparse.csr_matrix:
    """Counts (n_people, n_clusters); a point in no cluster (-1) is its own cluster."""
    truth = check_labels("people", people)
    if truth.size == 0:
        raise InputError("people is empty: at least one sample is needed")
    found = check_labels("clusters", clusters, truth.size, missing="unknown")
    rows = np.unique(truth, return_inverse=True)[1]
    columns = np.unique(found, return_inverse=True)[1].astype(np.int64)
    alone = np.flatnonzero(find_unknown(found))
    columns[alone] = columns.max() + 1 + np.arange(alone.size)
    columns = np.unique(columns, return_inverse=True)[1]
    ones = np.ones(truth.size, dtype=np.int64)
    table = sparse.csr_matrix((ones, (rows, columns)), shape=(rows.max() + 1, columns.max() + 1))
    table.sum_duplicates()
    return table


def _pairs(counts: np.ndarray) -> int:
    counts = np.asarray(counts, dtype=np.int64)
    return int((counts * (counts - 1) // 2).sum())


def _ratio(part: float, whole: float) -> float:
    """Without a single pair to judge, nothing is wrong: 1."""
    return float(part / whole) if whole > 0 else 1.0


def pairwise_purity_accuracy(people: Any, clusters: Any) -> PurityAccuracy:
    """Purity and accuracy over pairs of samples.

    Parameters
    ----------
    people : array-like (n_samples,)
        Who each sample is: integers or strings.
    clusters : array-like (n_samples,)
        Its cluster, under any name; -1 means "in no cluster": such a sample is its own cluster.

    Returns
    -------
    PurityAccuracy
        ``purity`` is the share of pairs in one cluster that are of one person; ``accuracy`` the
        share of pairs of one person that are in one cluster. 1 where there are no such pairs.

    Notes
    -----
    With n_pk the samples of person p in cluster k, and C(n) = n(n−1)/2: purity = Σ_pk C(n_pk) /
    Σ_k C(n_k) and accuracy = Σ_pk C(n_pk) / Σ_p C(n_p). This is pairwise precision and recall, as
    Shental, Hertz, Weinshall and Pavel judge clusters with equivalence constraints; their summary
    is the harmonic mean. "Accuracy" is not the share of right decisions: pairs of different
    people in different clusters, which are most pairs, do not count.

    Examples
    --------
    >>> pairwise_purity_accuracy(["a", "a", "a", "b"], [0, 0, 1, 1])
    PurityAccuracy(purity=0.5, accuracy=0.333...)
    """
    table = _contingency(people, clusters)
    both = _pairs(table.data)
    return PurityAccuracy(
        _ratio(both, _pairs(np.asarray(table.sum(axis=0)).ravel())),
        _ratio(both, _pairs(np.asarray(table.sum(axis=1)).ravel())),
    )


def majority_purity(people: Any, clusters: Any) -> float:
    """The share of samples that belong to the most frequent person of their cluster.

    Parameters
    ----------
    people, clusters : array-like (n_samples,)
        As in :func:`pairwise_purity_accuracy`.

    Returns
    -------
    float
        Also 1 when every sample is its own cluster: read it together with a recall.

    Examples
    --------
    >>> majority_purity(["a", "a", "a", "b"], [0, 0, 1, 1])
    0.75
    """
    table = _contingency(people, clusters)
    return float(table.max(axis=0).toarray().sum() / table.sum())


def b_cubed(people: Any, clusters: Any) -> BCubed:
    """B-cubed precision and recall: means over samples, not over pairs (Bagga and Baldwin, 1998).

    Parameters
    ----------
    people, clusters : array-like (n_samples,)
        As in :func:`pairwise_purity_accuracy`.

    Returns
    -------
    BCubed
        A sample's precision is the share of its cluster that is of its person, its recall the
        share of its person's samples that are in its cluster, itself included.

    Examples
    --------
    >>> result = b_cubed(["a", "a", "a", "b"], [0, 0, 1, 1])
    >>> round(result.precision, 4), round(result.recall, 4)
    (0.75, 0.6667)
    """
    table = _contingency(people, clusters).tocoo()
    of_person = np.bincount(table.row, weights=table.data)
    of_cluster = np.bincount(table.col, weights=table.data)
    square = table.data.astype(float) ** 2
    n = table.data.sum()
    precision = float((square / of_cluster[table.col]).sum() / n)
    recall = float((square / of_person[table.row]).sum() / n)
    return BCubed(precision, recall, 2 * precision * recall / (precision + recall))


def _bootstrap(table: sparse.csr_matrix, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairwise purity and accuracy (n_draws,) when person p counts draws[:, p] times.

    A pair of one person weighs m_p, a pair of two people m_p · m_q, as in the bootstrap of scores.
    """
    counts = table.astype(float)
    inside = counts.multiply(counts - (counts > 0).astype(float)).sum(axis=1)
    both = draws @ np.asarray(inside).ravel() / 2
    totals = np.asarray(table.sum(axis=1)).ravel().astype(float)
    whole = draws @ (totals * (totals - 1)) / 2
    weighted = (counts.T @ draws.T).T
    squares = (counts.multiply(counts).T @ (draws**2).T).T
    mixed = (weighted**2 - squares).sum(axis=1) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return both / (both + mixed), both / whole


def evaluate_clustering(
    people: Any,
    clusters: Any,
    *,
    failures: int = 0,
    confidence: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: RandomState = 0,
) -> dict[str, Any]:
    """Everything about clusters of people, as plain numbers.

    Parameters
    ----------
    people, clusters : array-like (n_samples,)
        As in :func:`pairwise_purity_accuracy`.
    failures : int
        Samples that could not be described and are in neither; they are only counted.
    confidence, n_bootstrap, random_state
        Intervals of purity and accuracy come from a bootstrap over people.

    Returns
    -------
    dict
        ``n_samples``, ``n_people``, ``n_clusters``, ``failures``; ``purity`` and ``accuracy``
        (pairwise) with intervals, their harmonic mean ``f1``, ``majority_purity``, ``b_cubed``.

    Examples
    --------
    >>> evaluate_clustering(["a", "a", "b", "b"], [7, 7, 3, 3])["purity"]["value"]
    1.0
    """
    confidence = check_confidence(confidence)
    table = _contingency(people, clusters)
    purity, accuracy = pairwise_purity_accuracy(people, clusters)
    intervals: list[Any] = [None, None]
    if table.shape[0] > 1:
        draws = draw_people(table.shape[0], n_bootstrap, random_state)
        samples = _bootstrap(table, draws)
        intervals = [percentile_interval(r, confidence, table.shape[0]) for r in samples]
    cubed = b_cubed(people, clusters)
    return {
        "n_samples": int(table.sum()),
        "n_people": int(table.shape[0]),
        "n_clusters": int(table.shape[1]),
        "failures": int(failures),
        "confidence": confidence,
        "purity": with_interval(purity, intervals[0]),
        "accuracy": with_interval(accuracy, intervals[1]),
        "f1": 2 * purity * accuracy / (purity + accuracy) if purity + accuracy > 0 else 0.0,
        "majority_purity": majority_purity(people, clusters),
        "b_cubed": cubed._asdict(),
    }
