"""How strongly to hold to the source: held-out people decide, and in doubt the default stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mien._core.logistic import balance_classes, fit_logistic, ratio_costs
from mien._core.sampling import assign_folds

__all__ = [
    "HeldOutPairs",
    "choose_strength",
    "hold_out_people",
    "join",
    "pair_people",
    "person_losses",
    "search_strengths",
]

# In a held-out part: pictures of a person that are paired with each other, and impostor pairs.
_MOST_PICTURES = 6
_MOST_IMPOSTORS = 60_000
# Of few people who are all told apart the losses hardly differ, and their spread says nothing: a
# difference that one more person could undo with so many bits is none.
_LEAST_BITS = 0.2
# Candidates between those that are judged first, plus one.
_STRIDE = 3


@dataclass(frozen=True)
class HeldOutPairs:
    """Pairs of rows (n, 2), whether both show one person (n,), and the two people (n, 2)."""

    rows: np.ndarray
    same: np.ndarray
    people: np.ndarray


def hold_out_people(
    people: np.ndarray, n_splits: int, rng: np.random.RandomState
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Train and held-out rows, with disjoint people; ``people`` (n,) are numbers from 0."""
    fold = assign_folds(people, n_splits, rng)
    for part in range(n_splits):
        yield np.flatnonzero(fold != part), np.flatnonzero(fold == part)


def pair_people(rows: np.ndarray, people: np.ndarray, rng: np.random.RandomState) -> HeldOutPairs:
    """Pairs of the given rows: of each person all, or a draw of many; of two people likewise."""
    n = len(rows)
    shuffled = rng.permutation(rows)
    order = shuffled[np.argsort(people[shuffled], kind="stable")]
    _, starts, counts = np.unique(people[order], return_index=True, return_counts=True)
    genuine = []
    for start, count in zip(starts, counts, strict=True):
        first, second = np.triu_indices(min(count, _MOST_PICTURES), k=1)
        mine = order[start : start + count]
        genuine.append(np.column_stack([mine[first], mine[second]]))
    if n * (n - 1) // 2 <= _MOST_IMPOSTORS:
        first, second = np.triu_indices(n, k=1)
    else:
        drawn = np.unique(rng.randint(0, n * n, size=2 * _MOST_IMPOSTORS, dtype=np.int64))
        first, second = np.divmod(rng.permutation(drawn), n)
        keep = first < second
        first, second = first[keep], second[keep]
    impostor = np.column_stack([rows[first], rows[second]])
    impostor = impostor[people[impostor[:, 0]] != people[impostor[:, 1]]]
    pairs = np.concatenate([*genuine, impostor])
    who = people[pairs]
    return HeldOutPairs(pairs, who[:, 0] == who[:, 1], who)


def person_losses(scores: np.ndarray, pairs: HeldOutPairs, *, calibrate: bool) -> np.ndarray:
    """Cllr in bits, person by person (n_people,): its genuine and its impostor pairs.

    With ``calibrate`` the ratios go through the best straight line first: what counts is then how
    well they tell people apart, and not their scale, which a calibration sets later.
    """
    if calibrate:
        weights = balance_classes(pairs.same)
        slope, offset = fit_logistic(scores[:, None], pairs.same, weights, ridge=1e-4)
        scores = scores * slope[0] + offset
    cost = ratio_costs(scores, pairs.same)
    n_people = int(pairs.people.max()) + 1
    genuine = _mean_by(pairs.people[pairs.same, 0], cost[pairs.same], n_people)
    apart = ~pairs.same
    impostor = _mean_by(
        pairs.people[apart].T.ravel(), np.concatenate([cost[apart], cost[apart]]), n_people
    )
    losses = np.nansum([genuine, impostor], axis=0)
    # A person with one picture has no genuine pair: its impostor pairs count alone.
    return np.where(np.isnan(genuine), np.nan, losses / 2)


def _mean_by(groups: np.ndarray, values: np.ndarray, n_groups: int) -> np.ndarray:
    counts = np.bincount(groups, minlength=n_groups)
    sums = np.bincount(groups, weights=values, minlength=n_groups)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def choose_strength(
    losses: np.ndarray, default: int, n_errors: float = 1.64, places: np.ndarray | None = None
) -> tuple[int, np.ndarray, np.ndarray]:
    """The candidate nearest to the default that is not clearly worse than the best.

    Parameters
    ----------
    losses : (n_candidates, n_people)
        Held-out loss of each person, NaN where it has none; candidates in order of strength.
    default : int
        The candidate that is kept in doubt.
    n_errors : float
        "Clearly" is by more than so many standard errors of the paired difference over people,
        to which a fifth of a bit of one person is added.
    places : (n_candidates,) or None
        Places of the candidates on their grid, where some are left out; nearness is by these.

    Returns
    -------
    chosen, mean (n_candidates,), standard error of the difference to the best (n_candidates,)
    """
    losses = losses[:, np.all(np.isfinite(losses), axis=0)]
    mean = losses.mean(axis=1)
    best = int(np.argmin(mean))
    difference = losses - losses[best]
    n_people = losses.shape[1]
    spread = difference.std(axis=1, ddof=1) / np.sqrt(n_people)
    error = np.hypot(spread, _LEAST_BITS / n_people)
    good = np.flatnonzero(mean - mean[best] <= n_errors * error)
    places = np.arange(len(mean)) if places is None else places
    chosen = int(good[np.argmin(np.abs(places[good] - places[default]))])
    return chosen, mean, error


def join(parts: Sequence[HeldOutPairs]) -> HeldOutPairs:
    """The pairs of all parts, one after another."""
    return HeldOutPairs(
        np.concatenate([p.rows for p in parts]),
        np.concatenate([p.same for p in parts]),
        np.concatenate([p.people for p in parts]),
    )


def search_strengths(
    n_candidates: int, default: int, judge: Callable[[int], np.ndarray]
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """What :func:`choose_strength` would choose of all candidates, judging about half of them.

    From the default every third candidate is judged, outwards as long as it gets better; then the
    neighbours of the best and of the chosen one, until both lie between judged neighbours.

    Parameters
    ----------
    n_candidates : int
        In order of strength.
    default : int
        The candidate that is kept in doubt.
    judge : callable
        ``judge(candidate)`` gives the held-out loss of each person (n_people,).

    Returns
    -------
    chosen, judged candidates (k,), mean (k,), standard error (k,)
    """
    losses = {default: judge(default)}
    for stride in (-_STRIDE, _STRIDE):
        last, candidate = default, default + stride
        while 0 <= candidate < n_candidates:
            losses[candidate] = judge(candidate)
            if np.nanmean(losses[candidate]) > np.nanmean(losses[last]):
                break
            last, candidate = candidate, candidate + stride
    wanted: set[int] = set()
    while True:
        for candidate in sorted(wanted):
            losses[candidate] = judge(candidate)
        places = np.array(sorted(losses))
        chosen, mean, error = choose_strength(
            np.stack([losses[place] for place in places]),
            int(np.searchsorted(places, default)),
            places=places,
        )
        ends = places[chosen], places[np.argmin(mean)]
        wanted = {int(end) + side for end in ends for side in (-1, 1)} - set(losses)
        wanted = {candidate for candidate in wanted if 0 <= candidate < n_candidates}
        if not wanted:
            return int(places[chosen]), places, mean, error
