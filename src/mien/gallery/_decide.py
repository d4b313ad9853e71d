"""From the best people of a probe to an answer at a stated rate."""

from __future__ import annotations

import numpy as np

from mien.gallery._exact import Shortlist
from mien.gallery._records import Identification
from mien.gallery._store import Store
from mien.verification import OpenSetVerifier

__all__ = ["decide"]

_NOBODY = Identification(None, float("-inf"), 0.0)


def decide(
    store: Store,
    verifier: OpenSetVerifier,
    short: Shortlist,
    counts: np.ndarray,
    n_people: int,
    fpir: float,
    top: int,
    extrapolate: bool,
) -> list[Identification]:
    """Name the best person of each probe of ``counts`` (n,) pictures, or nobody."""
    rate = verifier.rate_per_person(fpir, n_people)
    names = store.names_of(set(short.ids[:, :top].ravel().tolist()) - {-1})
    thresholds: dict[tuple[int, int], float] = {}
    # Half of the probes are strangers; the others are anybody with equal probability.
    odds = np.exp(np.minimum(short.scores, 500.0).astype(np.float64)) / n_people
    probabilities = odds / (1 + odds.sum(axis=1, keepdims=True))
    answers = []
    for i, count in enumerate(counts):
        candidates = [
            (names[int(number)], float(score))
            for number, score in zip(short.ids[i, :top], short.scores[i, :top], strict=True)
            if int(number) in names
        ]
        if not candidates:
            answers.append(_NOBODY)
            continue
        sides = int(count), int(short.sizes[i, 0])
        if sides not in thresholds:
            needed = verifier.threshold(
                rate, probe_size=sides[0], size=sides[1], extrapolate=extrapolate
            )
            # Few people and a generous rate may allow less than even odds: nobody is named then.
            thresholds[sides] = max(needed, 0.0)
        best, score = candidates[0]
        answers.append(
            Identification(
                best if score >= thresholds[sides] else None,
                score,
                float(probabilities[i, 0]),
                candidates,
                thresholds[sides],
                rate >= verifier.lowest_far_,
            )
        )
    return answers
