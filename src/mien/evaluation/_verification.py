"""One dict with everything about a set of verification scores, with intervals beside rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

from mien._core.logistic import ratio_costs
from mien._core.text import finite_or_none
from mien.errors import InputError
from mien.evaluation._bootstrap import bootstrap_verification, check_people
from mien.evaluation._calibration import pooled_cllr
from mien.evaluation._curves import (
    allowed_errors,
    check_far,
    check_two_classes,
    count_accepted,
    crossing,
    impostors_needed,
)
from mien.evaluation._intervals import (
    Interval,
    RandomState,
    check_confidence,
    percentile_interval,
    wilson_interval,
)

__all__ = ["evaluate_verification"]


def with_interval(value: Any, interval: Interval | None) -> dict[str, float | None]:
    """A rate and both ends of its interval, None where there is none."""
    low, high = interval if interval is not None else (np.nan, np.nan)
    return {
        "value": finite_or_none(value),
        "low": finite_or_none(low),
        "high": finite_or_none(high),
    }


def check_failures(failures: Any) -> tuple[int, int]:
    """Counts of genuine and impostor comparisons that failed."""
    try:
        counts = tuple(int(count) for count in failures)
    except (TypeError, ValueError) as error:
        raise InputError(f"failures must be two counts; got {failures!r}") from error
    if len(counts) != 2 or min(counts) < 0 or tuple(failures) != counts:
        raise InputError(f"failures must be two counts, (genuine, impostor); got {failures!r}")
    return counts[0], counts[1]


def thin_curve(far: np.ndarray, vr: np.ndarray, n_points: int = 200) -> np.ndarray:
    """Indices of at most about three times n_points that show the curve on every usual axis."""
    if far.size <= 3 * n_points:
        return np.arange(far.size)
    least = max(min(far[far > 0].min(initial=1), (1 - vr)[vr < 1].min(initial=1)), 1e-12)
    grid = np.geomspace(least, 1, n_points)
    even = np.linspace(0, 1, n_points)
    by_far = np.searchsorted(far, np.concatenate([grid, even]), side="right") - 1
    by_vr = np.searchsorted(vr, np.concatenate([1 - grid, even]), side="left")
    ends = [0, far.size - 1]
    return np.unique(np.clip(np.concatenate([by_far, by_vr, ends]), 0, far.size - 1))


def summarise_counts(
    thresholds: np.ndarray,
    false_accepts: np.ndarray,
    true_accepts: np.ndarray,
    fars: Sequence[float],
    failures: tuple[int, int],
    confidence: float,
) -> dict[str, Any]:
    """What follows from counts at falling thresholds (n_distinct,): EER, VR at FAR, AUC, curve.

    Intervals are those of independent scores.
    """
    n_g = int(true_accepts[-1]) + failures[0]
    n_i = int(false_accepts[-1]) + failures[1]
    far = np.concatenate([[0.0], false_accepts / n_i, [1.0]])
    vr = np.concatenate([[0.0], true_accepts / n_g, [1.0]])
    at = np.concatenate([[np.inf], thresholds, [-np.inf]])
    eer, after = crossing(far, vr)
    effective = 4 * n_g * n_i / (n_g + n_i)
    eer_interval = wilson_interval(eer * effective, effective, confidence)
    auc = float((np.diff(far) * (vr[1:] + vr[:-1])).sum() / 2)
    rates = []
    for rate in check_far(list(fars)):
        last = int(np.searchsorted(false_accepts, allowed_errors(rate, n_i), side="right"))
        accepted = int(true_accepts[last - 1]) if last else 0
        value = 1.0 if rate == 1 else accepted / n_g
        needed = impostors_needed(rate)
        rates.append(
            {
                "far": float(rate),
                **with_interval(value, wilson_interval(value * n_g, n_g, confidence)),
                "fnmr": 1 - value,
                "threshold": finite_or_none(at[last]),
                "false_accepts": int(false_accepts[last - 1]) if last else 0,
                "measurable": bool(rate > 0 and n_i >= needed),
                "impostors_needed": needed,
            }
        )
    keep = thin_curve(far, vr)
    return {
        "eer": {**with_interval(eer, eer_interval), "threshold": finite_or_none(at[after])},
        "verification_rates": rates,
        "auc": with_interval(auc, _hanley_mcneil(auc, n_g, n_i, confidence)),
        "roc": {
            "far": far[keep].tolist(),
            "vr": vr[keep].tolist(),
            "threshold": [finite_or_none(t) for t in at[keep]],
        },
    }


def _hanley_mcneil(auc: float, n_g: int, n_i: int, confidence: float) -> Interval:
    """Normal interval of an area under the ROC curve (Hanley and McNeil, 1982), in [0, 1]."""
    q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = auc * (1 - auc) + (n_g - 1) * (q1 - auc**2) + (n_i - 1) * (q2 - auc**2)
    half = ndtri(0.5 + confidence / 2) * np.sqrt(max(variance, 0) / (n_g * n_i))
    return Interval(max(auc - half, 0.0), min(auc + half, 1.0))


def _cllr_with_interval(
    genuine: np.ndarray, impostor: np.ndarray, failures: tuple[int, int], confidence: float
) -> dict[str, float | None]:
    """Cllr and its normal interval for independent scores; a failure costs one bit."""
    value, variance = 0.0, 0.0
    costs = (ratio_costs(genuine, True), ratio_costs(impostor, False))
    for cost, failed in zip(costs, failures, strict=True):
        n = cost.size + failed
        mean = (cost.sum() + failed) / n
        value += mean / 2
        if np.isfinite(mean):
            square = (((cost - mean) ** 2).sum() + failed * (1 - mean) ** 2) / n
            variance += square / (4 * n)
    half = ndtri(0.5 + confidence / 2) * np.sqrt(variance)
    if not np.isfinite(value):
        return with_interval(value, None)
    return with_interval(value, Interval(max(value - half, 0.0), value + half))


def evaluate_verification(
    genuine: Any,
    impostor: Any,
    *,
    fars: Sequence[float] = (0.1, 0.01, 0.001),
    llr: bool = False,
    people: Any = None,
    failures: tuple[int, int] = (0, 0),
    confidence: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: RandomState = 0,
) -> dict[str, Any]:
    """Everything about verification scores, as plain numbers and lists.

    Parameters
    ----------
    genuine, impostor : array-like (n_genuine,), (n_impostor,)
        Similarity scores of pairs of the same person and of different people.
    fars : sequence of float
        False accept rates at which the verification rate is wanted.
    llr : bool
        The scores are natural-log likelihood ratios: Cllr is given as well.
    people : (array-like (n_genuine,), array-like (n_impostor, 2)) or None
        The person of each genuine score and both people of each impostor score. With them,
        intervals come from a bootstrap by person; without, scores are taken as independent, which
        makes intervals too narrow when people come more than once.
    failures : (int, int)
        Genuine and impostor comparisons that gave no score (no face found, no template). They
        count as refused: a genuine one is a false reject. In Cllr they cost one bit.
    confidence : float
        Of all intervals.
    n_bootstrap : int
        Bootstrap samples of people.
    random_state : int, RandomState, Generator or None
        Seed of the bootstrap.

    Returns
    -------
    dict
        Fit for ``json.dumps``. ``n_genuine``, ``n_impostor`` (failures included), ``failures``,
        ``n_people``, ``confidence``, ``intervals`` ("person" or "score"); ``eer``, ``auc``,
        ``min_cllr`` and ``cllr`` (None unless ``llr``) as ``{value, low, high}``;
        ``verification_rates``, a list of ``{far, value, low, high, fnmr, threshold, false_accepts,
        measurable, impostors_needed}``; ``roc``, some hundred points ``{far, vr, threshold}``.
        None means not finite or not known.

    Notes
    -----
    Score-level intervals: Wilson for rates (for the EER with 4 n_g n_i/(n_g + n_i) trials, as for
    the half total error rate), Hanley and McNeil for the area, normal for Cllr, none for
    minimum Cllr. They hold the threshold fixed; the bootstrap does not. A rate that is 0 or 1 in
    every bootstrap sample gets Wilson's interval with people as trials.
    ``measurable`` is False where fewer than three false accepts are expected.

    Examples
    --------
    >>> result = evaluate_verification([2.0, 3.0, 0.0], [0.0, 1.0, 0.5, 0.2], fars=[0.25])
    >>> round(result["eer"]["value"], 4), round(result["verification_rates"][0]["value"], 4)
    (0.3333, 0.6667)
    """
    genuine, impostor = check_two_classes(genuine, impostor)
    confidence = check_confidence(confidence)
    failures = check_failures(failures)
    thresholds, false_accepts, true_accepts = count_accepted(genuine, impostor)
    result = {
        "n_genuine": genuine.size + failures[0],
        "n_impostor": impostor.size + failures[1],
        "failures": {"genuine": failures[0], "impostor": failures[1]},
        "n_people": None,
        "confidence": confidence,
        "intervals": "score",
        **summarise_counts(thresholds, false_accepts, true_accepts, fars, failures, confidence),
    }
    g = np.diff(true_accepts, prepend=0)[::-1].astype(float)
    i = np.diff(false_accepts, prepend=0)[::-1].astype(float)
    least = pooled_cllr(g, i, result["n_genuine"], result["n_impostor"])
    result["min_cllr"] = with_interval(least, None)
    result["cllr"] = _cllr_with_interval(genuine, impostor, failures, confidence) if llr else None
    if people is not None:
        own, _, n_people = check_people(people, genuine.size, impostor.size)
        result["n_people"] = n_people
        result["intervals"] = "person"
        replicates = bootstrap_verification(
            genuine,
            impostor,
            people,
            fars=fars,
            llr=llr,
            failures=failures,
            n_bootstrap=n_bootstrap,
            random_state=random_state,
        )
        for name in ("eer", "auc", "min_cllr", "cllr"):
            if name in replicates:
                n = n_people if name in ("eer", "auc") else None
                _replace_interval(result[name], replicates[name], confidence, n)
        n_owners = np.unique(own).size
        for row, column in zip(result["verification_rates"], replicates["vr"].T, strict=True):
            _replace_interval(row, column, confidence, n_owners)
    return result


def _replace_interval(
    row: dict[str, Any], replicates: np.ndarray, confidence: float, n_people: int | None
) -> None:
    low, high = percentile_interval(replicates, confidence, n_people)
    row["low"], row["high"] = finite_or_none(low), finite_or_none(high)
