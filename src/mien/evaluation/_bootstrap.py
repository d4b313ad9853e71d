"""Verification metrics over bootstrap samples of people, all samples of a chunk at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mien._core.logistic import ratio_costs
from mien._core.progress import report
from mien._core.validation import check_labels
from mien.errors import InputError
from mien.evaluation._calibration import pooled_cllr
from mien.evaluation._curves import check_far, check_two_classes, crossing
from mien.evaluation._intervals import RandomState, draw_people

__all__ = ["bootstrap_verification"]

# numbers in the largest temporary array
_CHUNK = 2**22


def check_people(
    people: Any, n_genuine: int, n_impostor: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Number the people: codes (n_genuine,) and (n_impostor, 2), and how many there are."""
    if not isinstance(people, (tuple, list)) or len(people) != 2:
        raise InputError(
            "people must be two arrays: the person of each genuine score (n_genuine,), and both "
            "people of each impostor score (n_impostor, 2)"
        )
    own = np.asarray(people[0])
    pairs = np.asarray(people[1])
    if pairs.shape != (n_impostor, 2):
        raise InputError(
            f"the people of impostor scores must have the shape ({n_impostor}, 2); "
            f"got {pairs.shape}"
        )
    own = check_labels("people of genuine scores", own, n_genuine)
    flat = check_labels("people of impostor scores", pairs.ravel())
    if (own.dtype.kind == "U") != (flat.dtype.kind == "U"):
        own, flat = own.astype(str), flat.astype(str)
    labels, codes = np.unique(np.concatenate([own, flat]), return_inverse=True)
    both = codes[n_genuine:].reshape(-1, 2)
    same = int(np.count_nonzero(both[:, 0] == both[:, 1]))
    if same:
        raise InputError(f"{same} impostor scores compare a person with the same person")
    return codes[:n_genuine], both, labels.size


def bootstrap_verification(
    genuine: Any,
    impostor: Any,
    people: Any,
    *,
    fars: Sequence[float] = (0.1, 0.01, 0.001),
    llr: bool = False,
    failures: tuple[int, int] = (0, 0),
    n_bootstrap: int = 1000,
    random_state: RandomState = None,
) -> dict[str, np.ndarray]:
    """Metrics of bootstrap samples in which people are drawn, not scores.

    Parameters
    ----------
    genuine, impostor : array-like (n_genuine,), (n_impostor,)
        Similarity scores.
    people : (array-like (n_genuine,), array-like (n_impostor, 2))
        The person of each genuine score, and both people of each impostor score.
    fars : sequence of float
        False accept rates at which the verification rate is wanted.
    llr : bool
        The scores are natural-log likelihood ratios: Cllr as well.
    failures : (int, int)
        Genuine and impostor comparisons that gave no score; their number stays fixed.
    n_bootstrap : int
        Bootstrap samples.
    random_state : int, RandomState, Generator or None
        Seed of the draws.

    Returns
    -------
    dict
        ``eer``, ``auc``, ``min_cllr`` and, where asked for, ``cllr`` (n_bootstrap,); ``vr``
        (n_bootstrap, n_fars). NaN where a sample has no score of a kind.

    Notes
    -----
    All scores of one person stand and fall together, so drawing scores would give intervals that
    are too narrow. Each sample draws as many people as there are, with replacement. A person drawn
    m times weighs his genuine scores by m; an impostor score of two people weighs m₁ · m₂, which
    counts every pair of drawn people once (a person and a copy of the same person are not
    impostors and are left out). The threshold of VR at FAR is found again in each sample. The work
    is n_bootstrap · (n_genuine + n_impostor); the minimum Cllr takes most of it.

    Examples
    --------
    >>> replicates = bootstrap_verification(
    ...     [2.0, 3.0, 1.0], [0.0, 1.5, 0.5], (list("abc"), [("a", "b"), ("a", "c"), ("b", "c")]),
    ...     fars=[0.5], n_bootstrap=20, random_state=0)
    >>> replicates["eer"].shape, replicates["vr"].shape
    ((20,), (20, 1))
    """
    genuine, impostor = check_two_classes(genuine, impostor)
    own, both, n_people = check_people(people, genuine.size, impostor.size)
    draws = draw_people(n_people, n_bootstrap, random_state)
    rates = check_far(list(fars))
    distinct, index = np.unique(-np.concatenate([genuine, impostor]), return_inverse=True)
    g_index, i_index = index[: genuine.size], index[genuine.size :]
    g_order, i_order = np.argsort(g_index, kind="stable"), np.argsort(i_index, kind="stable")
    costs = (ratio_costs(genuine, True), ratio_costs(impostor, False))
    result = {name: np.full(n_bootstrap, np.nan) for name in ("eer", "auc", "min_cllr", "cllr")}
    result["vr"] = np.full((n_bootstrap, rates.size), np.nan)
    step = max(1, _CHUNK // (distinct.size + impostor.size))
    for start in range(0, n_bootstrap, step):
        m = draws[start : start + step]
        wg, wi = m[:, own], m[:, both[:, 0]] * m[:, both[:, 1]]
        chunk = slice(start, start + step)
        usable = (wg.sum(axis=1) > 0) & (wi.sum(axis=1) > 0)
        at_g = _sum_at(wg[:, g_order], g_index[g_order], distinct.size)
        at_i = _sum_at(wi[:, i_order], i_index[i_order], distinct.size)
        _fill(result, chunk, usable, at_g, at_i, rates, failures)
        if llr:
            value = _mean_cost(wg, costs[0], failures[0]) + _mean_cost(wi, costs[1], failures[1])
            result["cllr"][chunk] = np.where(usable, value / 2, np.nan)
        report("bootstrap by person", min(start + step, n_bootstrap), n_bootstrap)
    if not llr:
        del result["cllr"]
    return result


def _sum_at(weights: np.ndarray, index: np.ndarray, n_distinct: int) -> np.ndarray:
    """Sum columns (n_draws, n) of equal, sorted index (n,) into (n_draws, n_distinct)."""
    sums = np.zeros((weights.shape[0], n_distinct))
    first = np.flatnonzero(np.concatenate([[True], index[1:] != index[:-1]]))
    sums[:, index[first]] = np.add.reduceat(weights, first, axis=1)
    return sums


def _mean_cost(weights: np.ndarray, cost: np.ndarray, failed: int) -> np.ndarray:
    """Weighted mean cost (n_draws,) of scores (n,), each failure at one bit; NaN without weight."""
    with np.errstate(invalid="ignore", divide="ignore"):
        bits = np.where(weights > 0, weights * cost, 0.0).sum(axis=1)
        return (bits + failed) / (weights.sum(axis=1) + failed)


def _fill(
    result: dict[str, np.ndarray],
    chunk: slice,
    usable: np.ndarray,
    at_g: np.ndarray,
    at_i: np.ndarray,
    rates: np.ndarray,
    failures: tuple[int, int],
) -> None:
    """Write the ordinal metrics of a chunk from weights at falling scores (n_draws, n_distinct)."""
    rows = np.flatnonzero(usable)
    at_g, at_i = at_g[rows], at_i[rows]
    n_g = at_g.sum(axis=1, keepdims=True) + failures[0]
    n_i = at_i.sum(axis=1, keepdims=True) + failures[1]
    ends = np.zeros((rows.size, 1)), np.ones((rows.size, 1))
    far = np.concatenate([ends[0], np.cumsum(at_i, axis=1) / n_i, ends[1]], axis=1)
    vr = np.concatenate([ends[0], np.cumsum(at_g, axis=1) / n_g, ends[1]], axis=1)
    rows += chunk.start
    result["eer"][rows] = crossing(far, vr)[0]
    result["auc"][rows] = (np.diff(far, axis=1) * (vr[:, 1:] + vr[:, :-1])).sum(axis=1) / 2
    for k, rate in enumerate(rates):
        last = np.count_nonzero(far <= rate, axis=1) - 1
        result["vr"][rows, k] = vr[np.arange(rows.size), last]
    for k, row in enumerate(rows):
        result["min_cllr"][row] = pooled_cllr(
            at_g[k, ::-1], at_i[k, ::-1], float(n_g[k, 0]), float(n_i[k, 0])
        )
