"""Who is it, or nobody we know: from the best people of each probe to names at a stated rate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from mien.errors import InputError, NotEnoughDataError
from mien.verification._own_calibration import OwnCalibration, Promise
from mien.verification._thresholds import ThresholdTable, rate_per_person

__all__ = ["Decision", "decide_people"]

#: Entry of ``people`` where a probe has fewer candidates.
NOBODY = -1


@dataclass(frozen=True)
class Decision:
    """Who a probe is.

    Attributes
    ----------
    person : int or None
        Number of the person that the probe is named as; None is "unknown".
    log_ratio : float
        Calibrated natural-log ratio of that person, or of the best candidate if unknown; minus
        infinity without any.
    probability : float
        That the probe is the best candidate, if half of all probes are of somebody in the gallery.
    threshold : float
        What the ratio had to reach for the stated rate; never below 0, so that nobody is named
        against the evidence.
    promised : True, "shipped" or False
        True: one's own people support the rate (without an own calibration: the trials of the
        table do). "shipped": it rests on the model's card alone. False: nothing supports it.
    bound : float
        Upper end of the 95 % interval of the realised share of unknown probes that are named; NaN
        without an own calibration.
    n_comparisons : int
        Own comparisons that it rests on.
    candidates : list of (int, float)
        The best people and their ratios, from the best.
    """

    person: int | None
    log_ratio: float
    probability: float = 0.0
    threshold: float = float("nan")
    promised: bool | str = True
    candidates: list[tuple[int, float]] = field(default_factory=list)
    bound: float = float("nan")
    n_comparisons: int = 0


def decide_people(
    table: ThresholdTable,
    people: np.ndarray,
    scores: np.ndarray,
    sizes: np.ndarray,
    counts: np.ndarray,
    *,
    n_people: int,
    fpir: float,
    top: int = 5,
    extrapolate: bool = True,
    apart: str | Iterable[tuple[int, int]] | None = None,
    own: OwnCalibration | None = None,
) -> list[Decision]:
    """Name each probe, or say that it is nobody in the gallery.

    Parameters
    ----------
    table : ThresholdTable
        Thresholds of the verifier whose ratios the scores are.
    people : (n, c) int
        The best candidates of each probe, from the best; -1 where there are fewer.
    scores : (n, c)
        Their calibrated log ratios.
    sizes : (n, c) int
        Pictures of each candidate.
    counts : (n,) int
        Pictures of each probe.
    n_people : int
        People in the gallery.
    fpir : float
        Maximum share of unknown probes that may wrongly get a name.
    top : int
        Number of candidates to show per probe.
    extrapolate : bool
        Whether a rate that nothing supports is decided nevertheless (then ``promised`` is False),
        or is an error.
    apart : None, "all", or iterable of (int, int)
        Probes that are different people: none are known to be, all of them are (the faces of one
        picture), or these pairs (tracks that share a frame). Of all allowed ways to name the faces
        of one picture the one with the largest sum of ratios above their thresholds is taken;
        with pairs, probes are named in the order of their ratios. A probe whose candidates are
        all taken is unknown.
    own : OwnCalibration or None
        Where one's own impostors lie: moves thresholds and probabilities.

    Returns
    -------
    list of Decision

    Notes
    -----
    With half of all probes strangers and the others anybody with equal probability, candidate i
    has the probability :math:`e^{\\ell_i} / (n + \\sum_j e^{\\ell_j})`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.verification import JointBayesian, Verifier, decide_people
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(300), 4)
    >>> X = 9 * rng.standard_normal((300, 6))[y] + rng.standard_normal((1200, 6))
    >>> model = JointBayesian().fit(X[:600], y[:600])
    >>> verifier = Verifier(model, (1,), probe_sizes=(1,), random_state=0).fit(X[600:], y[600:])
    >>> scores = verifier.score_matrix(X[[0, 8]], X[[1, 5]])  # the second probe is a stranger
    >>> best = np.argsort(-scores, axis=1)
    >>> ones = np.ones((2, 2), dtype=int)
    >>> sorted_scores = np.take_along_axis(scores, best, axis=1)
    >>> found = decide_people(verifier.thresholds_, best, sorted_scores, ones, ones[:, 0],
    ...                       n_people=2, fpir=0.01)
    >>> [one.person for one in found]
    [0, None]
    """
    rate = rate_per_person(fpir, n_people)
    known = people != NOBODY
    counts = np.asarray(counts)
    promise = _make_promise(table, rate, own)
    if promise.promised is False and not extrapolate:
        raise NotEnoughDataError(_why_not(table, promise))
    # From one comparison to a probe, which has as many chances as there are people.
    bound = float(-np.expm1(n_people * np.log1p(-promise.bound)))
    thresholds = np.full(sizes.shape, np.inf)
    ratios = np.array(scores, dtype=np.float64)
    for count, size, here in _each_size(counts, sizes, known):
        if own is None:
            needed = table.threshold(rate, probe_size=count, size=size, extrapolate=True)
        else:
            needed = own.threshold(table, rate, probe_size=count, size=size)
            ratios[here] = own.log_ratios(table.curve(size, count), ratios[here])
        # Few people and a generous rate may allow less than even odds: nobody is named then.
        thresholds[here] = max(needed, 0.0)
    named = _assign(people, scores, thresholds, apart)
    odds = np.where(known, np.exp(np.minimum(ratios, 500.0)), 0.0) / n_people
    probabilities = odds / (1 + odds.sum(axis=1, keepdims=True))
    decisions = []
    for i, chosen in enumerate(named):
        if not known[i].any():
            decisions.append(Decision(None, float("-inf")))
            continue
        shown = 0 if chosen is None else chosen
        decisions.append(
            Decision(
                None if chosen is None else int(people[i, chosen]),
                float(scores[i, shown]),
                float(probabilities[i, 0]),
                float(thresholds[i, shown]),
                promise.promised,
                [
                    (int(people[i, j]), float(scores[i, j]))
                    for j in np.flatnonzero(known[i])[:top].tolist()
                ],
                bound,
                promise.n_comparisons,
            )
        )
    return decisions


def _make_promise(table: ThresholdTable, rate: float, own: OwnCalibration | None) -> Promise:
    """What a rate rests on: own people, the card, or nothing."""
    if own is None:
        return Promise(table.supports(rate), rate, float("nan"), 0, 0)
    promise = own.promise(rate)
    if promise.promised == "shipped" and not table.supports(rate):
        return replace(promise, promised=False)
    return promise


def _why_not(table: ThresholdTable, promise: Promise) -> str:
    own = (
        f", and {promise.n_comparisons:,} comparisons of {promise.n_people} own people bound it "
        f"by {promise.bound:.2g} only"
        if promise.n_comparisons
        else ""
    )
    return (
        f"not enough data to promise a false accept rate of {promise.rate:.2g} per person: the "
        f"lowest that the trials of the model support is {table.lowest_far:.2g}{own}; enrol more "
        "people, ask for a higher rate, or let the tail be extrapolated, which makes no promise"
    )


def _each_size(
    counts: np.ndarray, sizes: np.ndarray, known: np.ndarray
) -> Iterator[tuple[int, int, np.ndarray]]:
    """Pictures of the probe, pictures of the candidate, and where both are so many (n, c)."""
    for count in np.unique(counts).tolist():
        for size in np.unique(sizes[counts == count]).tolist():
            here = known & (sizes == size) & (counts == count)[:, None]
            if here.any():
                yield count, size, here


def _assign(
    people: np.ndarray,
    scores: np.ndarray,
    thresholds: np.ndarray,
    apart: str | Iterable[tuple[int, int]] | None,
) -> list[int | None]:
    """The candidate that each probe is named as, None for unknown."""
    gains = scores - thresholds
    if apart is None:
        return [0 if gain.size and gain[0] >= 0 else None for gain in gains]
    if isinstance(apart, str):
        if apart != "all":
            raise InputError(f'apart must be None, "all" or pairs of probes; got {apart!r}')
        return _assign_all(people, gains)
    return _assign_in_order(people, scores, gains, apart)


def _assign_all(people: np.ndarray, gains: np.ndarray) -> list[int | None]:
    """Everybody at most once, with the largest sum of what naming gains over "unknown"."""
    named: list[int | None] = [None] * len(gains)
    allowed = gains >= 0
    if not allowed.any():
        return named
    names, place = np.unique(people, return_inverse=True)
    place = place.reshape(people.shape)
    # Zero where naming is not allowed: then "unknown" is as good.
    value = np.zeros((len(gains), len(names)))
    rows, columns = np.nonzero(allowed)
    value[rows, place[rows, columns]] = gains[rows, columns] + 1e-9
    from scipy.optimize import linear_sum_assignment  # heavy, and only here

    for i, j in zip(*linear_sum_assignment(value, maximize=True), strict=True):
        if value[i, j] > 0:
            named[i] = int(np.flatnonzero(place[i] == j)[0])
    return named


def _assign_in_order(
    people: np.ndarray, scores: np.ndarray, gains: np.ndarray, apart: Iterable[tuple[int, int]]
) -> list[int | None]:
    """The best ratios first; nobody is given to two probes that are different people."""
    others: dict[int, set[int]] = {}
    for a, b in apart:
        others.setdefault(a, set()).add(b)
        others.setdefault(b, set()).add(a)
    named: list[int | None] = [None] * len(gains)
    owner: dict[int, int] = {}
    rows, columns = np.nonzero(gains >= 0)
    for at in np.argsort(-scores[rows, columns], kind="stable").tolist():
        i, j = int(rows[at]), int(columns[at])
        person = int(people[i, j])
        if named[i] is None and all(owner.get(other) != person for other in others.get(i, ())):
            named[i], owner[i] = j, person
    return named
