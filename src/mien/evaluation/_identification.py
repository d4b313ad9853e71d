"""Identification: at which rank the right person comes, closed set and open set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mien._core.text import finite_or_none
from mien._core.validation import check_labels
from mien.errors import InputError
from mien.evaluation._curves import allowed_errors, check_far, roc
from mien.evaluation._intervals import (
    Interval,
    RandomState,
    bootstrap_mean_interval,
    check_confidence,
    wilson_interval,
)
from mien.evaluation._verification import with_interval

__all__ = [
    "OpenSet",
    "cmc",
    "evaluate_identification",
    "mate_ranks",
    "open_set",
    "rank_k_rate",
]


class OpenSet(NamedTuple):
    """Both errors of open-set identification at every threshold.

    Attributes
    ----------
    fpir : (n_points,)
        False positive identification rate: the share of probes of people who are not in the
        gallery for whom some candidate is at or above the threshold.
    fnir : (n_points,)
        False negative identification rate: the share of probes of enrolled people whose own
        candidate is below the threshold or not within the rank. DIR = 1 − FNIR.
    thresholds : (n_points,)
        Falling; the first is +inf and means "nobody is named".
    """

    fpir: np.ndarray
    fnir: np.ndarray
    thresholds: np.ndarray


def check_score_matrix(scores: Any) -> np.ndarray:
    """Return a matrix of scores (n_probes, n_gallery) without NaN."""
    try:
        array = np.asarray(scores)
        array = array if array.dtype.kind == "f" else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"scores must be numbers; got {scores!r:.80}") from error
    if array.ndim != 2 or array.size == 0:
        raise InputError(f"scores must be a matrix of probes and gallery; got {array.shape}")
    bad = int(np.count_nonzero(np.isnan(array)))
    if bad:
        raise InputError(f"scores have {bad} NaN among {array.size}; give failures -inf")
    return array


def number_labels(probe: Any, gallery: Any, shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """Codes of probes and gallery from one numbering."""
    probe = check_labels("probe_people", probe, shape[0], missing="unknown")
    gallery = check_labels("gallery_people", gallery, shape[1])
    if (probe.dtype.kind == "U") != (gallery.dtype.kind == "U"):
        probe, gallery = probe.astype(str), gallery.astype(str)
    codes = np.unique(np.concatenate([probe, gallery]), return_inverse=True)[1]
    return codes[: shape[0]], codes[shape[0] :]


def _best_scores(
    scores: Any, probe_people: Any, gallery_people: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Score of the mate, rank of the mate, best score of anybody (n_probes,); people enrolled.

    A person's score is that of his best template. Probes without a mate get rank 0 and −inf.
    """
    matrix = check_score_matrix(scores)
    probe, gallery = number_labels(probe_people, gallery_people, matrix.shape)
    order = np.argsort(gallery, kind="stable")
    first = np.flatnonzero(np.concatenate([[True], np.diff(gallery[order]) > 0]))
    enrolled = gallery[order][first]
    if first.size == matrix.shape[1]:
        people_scores = matrix[:, order]
    else:
        people_scores = np.maximum.reduceat(matrix[:, order], first, axis=1)
    column = np.minimum(np.searchsorted(enrolled, probe), enrolled.size - 1)
    mated = enrolled[column] == probe
    mate = people_scores[np.arange(probe.size), column]
    # a tie goes against the mate; he counts himself, so ranks start at 1
    rank = np.count_nonzero(people_scores >= mate[:, None], axis=1)
    best = people_scores.max(axis=1)
    return (
        np.where(mated, mate, -np.inf).astype(np.float64),
        np.where(mated, rank, 0),
        best.astype(np.float64),
        enrolled.size,
    )


def mate_ranks(scores: Any, probe_people: Any, gallery_people: Any) -> np.ndarray:
    """The rank at which each probe's own person comes; 0 where he is not in the gallery.

    Parameters
    ----------
    scores : array-like (n_probes, n_gallery)
        Similarities.
    probe_people, gallery_people : array-like (n_probes,), (n_gallery,)
        Who they are. People may have several templates: the best one counts.

    Returns
    -------
    (n_probes,) int
        Ranks are among people, from 1. Ties count against the mate: all scores equal gives the
        last rank.

    Examples
    --------
    >>> mate_ranks([[0.9, 0.1], [0.8, 0.7]], ["ann", "bob"], ["ann", "bob"])
    array([1, 2])
    """
    return _best_scores(scores, probe_people, gallery_people)[1]


def cmc(scores: Any, probe_people: Any, gallery_people: Any) -> np.ndarray:
    """Cumulative match characteristic: the share of probes whose person is within each rank.

    Parameters
    ----------
    scores, probe_people, gallery_people
        As in :func:`mate_ranks`; everybody must be in the gallery.

    Returns
    -------
    (n_people,)
        Entry k − 1 is the rate at rank k; the last is 1.

    Examples
    --------
    >>> cmc([[0.9, 0.1], [0.8, 0.7]], ["ann", "bob"], ["ann", "bob"])
    array([0.5, 1. ])
    """
    _, ranks, _, n_people = _best_scores(scores, probe_people, gallery_people)
    return _cumulate(_closed(ranks), n_people)


def _closed(ranks: np.ndarray) -> np.ndarray:
    strangers = int(np.count_nonzero(ranks == 0))
    if strangers:
        raise InputError(
            f"{strangers} of {ranks.size} probes are of people who are not in the gallery: "
            "use open_set, or leave them out"
        )
    return ranks


def _cumulate(ranks: np.ndarray, n_people: int) -> np.ndarray:
    return np.cumsum(np.bincount(ranks, minlength=n_people + 1)[1:]) / ranks.size


def rank_k_rate(scores: Any, probe_people: Any, gallery_people: Any, k: int = 1) -> float:
    """The share of probes whose person is among the first k people.

    Parameters
    ----------
    scores, probe_people, gallery_people
        As in :func:`mate_ranks`; everybody must be in the gallery.
    k : int
        Rank, from 1.

    Examples
    --------
    >>> rank_k_rate([[0.9, 0.1], [0.8, 0.7]], ["ann", "bob"], ["ann", "bob"])
    0.5
    """
    if k < 1:
        raise InputError(f"ranks start at 1; got {k}")
    return float(np.mean(_closed(mate_ranks(scores, probe_people, gallery_people)) <= k))


def open_set(scores: Any, probe_people: Any, gallery_people: Any, *, rank: int = 1) -> OpenSet:
    """Open-set identification: some probes are of people who are not in the gallery.

    Parameters
    ----------
    scores, probe_people, gallery_people
        As in :func:`mate_ranks`; probes of enrolled people and of strangers are both needed.
    rank : int
        Within which rank the mate must be.

    Returns
    -------
    OpenSet
        ``fpir``, ``fnir`` and ``thresholds``.

    Examples
    --------
    >>> curve = open_set([[0.9, 0.1], [0.4, 0.3]], ["ann", "eve"], ["ann", "bob"])
    >>> curve.fpir.tolist(), curve.fnir.tolist()
    ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    """
    if rank < 1:
        raise InputError(f"ranks start at 1; got {rank}")
    mate, ranks, best, _ = _best_scores(scores, probe_people, gallery_people)
    mated, strange = ranks > 0, ranks == 0
    if not (mated.any() and strange.any()):
        missing = "strangers" if mated.any() else "enrolled people"
        raise InputError(
            f"open-set rates need probes of enrolled people and of strangers; "
            f"there are none of {missing}"
        )
    # a mate beyond the rank is missed at every threshold
    found = np.where(ranks <= rank, mate, -np.inf)[mated]
    curve = roc(found, best[strange])
    fnir = 1 - curve.vr
    if np.any(ranks[mated] > rank):
        least = curve.thresholds == -np.inf
        fnir = np.where(least, np.mean(ranks[mated] > rank), fnir)
    return OpenSet(curve.far, fnir, curve.thresholds)


def evaluate_identification(
    scores: Any,
    probe_people: Any,
    gallery_people: Any,
    *,
    ranks: Sequence[int] = (1, 5, 10),
    fpirs: Sequence[float] = (0.1, 0.01),
    failures: int = 0,
    confidence: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: RandomState = 0,
) -> dict[str, Any]:
    """Everything about identification, as plain numbers and lists.

    Parameters
    ----------
    scores : array-like (n_probes, n_gallery)
        Similarities.
    probe_people, gallery_people : array-like (n_probes,), (n_gallery,)
        Who they are. Probes of people who are not in the gallery make it open set.
    ranks : sequence of int
        Ranks whose rate is wanted.
    fpirs : sequence of float
        False positive identification rates at which FNIR is wanted.
    failures : int
        Probes of enrolled people that gave no template: missed at every rank.
    confidence, n_bootstrap, random_state
        Intervals come from a bootstrap over the people of the probes; with fewer than two,
        Wilson's.

    Returns
    -------
    dict
        ``n_probes`` (failures included), ``n_mated``, ``n_strangers``, ``n_gallery_people``,
        ``failures``; ``rank_rates``, a list of ``{rank, value, low, high}``; ``cmc``, the first
        rates; ``open_set``, None or a list of ``{fpir, fnir, dir, threshold, measurable}`` with
        intervals.

    Examples
    --------
    >>> result = evaluate_identification(
    ...     [[0.9, 0.1], [0.8, 0.7]], ["ann", "bob"], ["ann", "bob"], ranks=[1])
    >>> result["rank_rates"][0]["value"]
    0.5
    """
    confidence = check_confidence(confidence)
    check_far(list(fpirs))
    if failures < 0:
        raise InputError(f"failures cannot be negative; got {failures}")
    mate, rank, best, n_people = _best_scores(scores, probe_people, gallery_people)
    probe = check_labels("probe_people", probe_people, missing="unknown")
    mated = rank > 0
    n_mated = int(mated.sum()) + failures
    if n_mated == failures:
        raise InputError("no probe is of a person in the gallery")

    def rate(hits: np.ndarray, chosen: np.ndarray) -> dict[str, float | None]:
        failed = failures if chosen is mated else 0
        total = hits.size + failed
        value = float(hits.sum() / total)
        interval: Interval
        if np.unique(probe[chosen]).size > 1:
            scale = hits.size / total
            low, high = bootstrap_mean_interval(
                hits,
                probe[chosen],
                confidence=confidence,
                n_bootstrap=n_bootstrap,
                random_state=random_state,
            )
            interval = Interval(low * scale, high * scale)
        else:
            interval = wilson_interval(hits.sum(), total, confidence)
        return with_interval(value, interval)

    result: dict[str, Any] = {
        "n_probes": int(rank.size) + failures,
        "n_mated": n_mated,
        "n_strangers": int(np.count_nonzero(~mated)),
        "n_gallery_people": n_people,
        "failures": failures,
        "confidence": confidence,
        "rank_rates": [{"rank": int(k), **rate(rank[mated] <= k, mated)} for k in ranks],
        "cmc": (_cumulate(rank[mated], n_people)[:100] * mated.sum() / n_mated).tolist(),
        "open_set": None,
    }
    if not mated.all():
        strange = best[~mated]
        order = np.sort(strange)[::-1]
        rows = []
        for fpir in check_far(list(fpirs)):
            allowed = int(allowed_errors(fpir, strange.size))
            refused = order[allowed] if allowed < order.size else -np.inf
            found = (mate[mated] > refused) & (rank[mated] == 1)
            named = rate(found, mated)
            rows.append(
                {
                    "fpir": float(fpir),
                    "measured_fpir": with_interval(
                        np.mean(strange > refused),
                        wilson_interval(np.sum(strange > refused), strange.size, confidence),
                    ),
                    "fnir": {
                        "value": 1 - (named["value"] or 0.0),
                        "low": 1 - (named["high"] or 0.0),
                        "high": 1 - (named["low"] or 0.0),
                    },
                    "dir": named,
                    "accept_above": finite_or_none(refused),
                    "measurable": bool(fpir * strange.size >= 3),
                }
            )
        result["open_set"] = rows
    return result
