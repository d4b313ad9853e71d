"""Trials of sets of pictures against each other: who meets whom, and what each candidate says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from mien._core.logistic import mean_ratio_cost

__all__ = ["ScoreSets", "Trials", "draw_trials", "join_trials"]

_MAX_TRIALS = 24_000_000
_MAX_PROBES_PER_PERSON = 3

#: ``score(probe sets, gallery sets)`` gives one matrix (n_probes, n_galleries) per candidate.
ScoreSets = Callable[[list[np.ndarray], list[np.ndarray]], list[np.ndarray]]


@dataclass(frozen=True)
class Trials:
    """Scores (n, n_candidates) of set trials, and whether both sides are one person (n,)."""

    scores: np.ndarray
    same: np.ndarray

    def thin(self, maximum: int, rng: np.random.RandomState) -> Trials:
        """All genuine trials, and some of the impostor trials.

        Parameters
        ----------
        maximum : int
            Above this number of impostor trials, this many are drawn; duplicates of the draw are
            dropped.
        rng : RandomState
            Draws them.
        """
        impostors = np.flatnonzero(~self.same)
        if len(impostors) > maximum:
            impostors = np.unique(impostors[rng.randint(0, len(impostors), maximum)])
        rows = np.concatenate([np.flatnonzero(self.same), impostors])
        return Trials(self.scores[rows], self.same[rows])

    def thin_low(
        self, fused: np.ndarray, maximum: int, prior: float, rng: np.random.RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows of genuine trials, the highest impostors, and a draw of the rest; their weights.

        Weights make genuine trials ``prior`` of the whole, and the draw stand for the rest.
        """
        genuine, impostors = np.flatnonzero(self.same), np.flatnonzero(~self.same)
        half = maximum // 2
        each = (1 - prior) / max(len(impostors), 1)
        high, drawn, share = impostors, impostors[:0], 1.0
        if len(impostors) > maximum:
            order = np.argpartition(fused[impostors], -half)
            high, low = impostors[order[-half:]], impostors[order[:-half]]
            drawn = low[rng.randint(0, len(low), half)]
            share = len(low) / half
        rows = np.concatenate([genuine, high, drawn])
        weights = np.concatenate(
            [
                np.full(len(genuine), prior / max(len(genuine), 1)),
                np.full(len(high), each),
                np.full(len(drawn), each * share),
            ]
        )
        return rows, weights

    def fuse(self, cell: np.ndarray) -> np.ndarray:
        """Weighted sum (n,) of the candidates and the offset, which is the last of the cell."""
        fused: np.ndarray = self.scores @ cell[:-1].astype(self.scores.dtype)
        fused += np.float32(cell[-1])
        return fused

    def cllr(self, cell: np.ndarray) -> float:
        """Cost of the fused ratio in bits."""
        return mean_ratio_cost(self.fuse(cell), self.same)


def _deal_sets(
    people: np.ndarray, rows: np.ndarray, k: int, m: int, rng: np.random.RandomState
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Rows of probe sets (k each) and of gallery sets (m each), disjoint wherever possible."""
    probes, galleries = [], []
    shuffled = rng.permutation(rows)
    order = shuffled[np.argsort(people[shuffled], kind="stable")]
    for mine in np.split(order, np.flatnonzero(np.diff(people[order])) + 1):
        if len(mine) >= m:
            galleries.append(mine[:m])
        rest = mine[m:] if len(mine) >= m + k else mine
        for probe in range(min(_MAX_PROBES_PER_PERSON, len(rest) // k)):
            probes.append(rest[probe * k : (probe + 1) * k])
    return probes, galleries


def draw_trials(
    score: ScoreSets,
    X: np.ndarray,
    people: np.ndarray,
    rows: np.ndarray,
    k: int,
    m: int,
    rng: np.random.RandomState,
) -> Trials | None:
    """Every probe set of k pictures against every gallery set of m pictures of the given rows."""
    probes, galleries = _deal_sets(people, rows, k, m, rng)
    if not probes or not galleries:
        return None
    if len(probes) * len(galleries) > _MAX_TRIALS:
        # Those with a genuine partner stay; the rest is drawn.
        keep = max(1, _MAX_TRIALS // len(probes))
        galleries = _keep_partners(people, probes, galleries, keep, rng)
    owner = people[[mine[0] for mine in probes]][:, None]
    same = owner == people[[mine[0] for mine in galleries]][None, :]
    usable = np.ones_like(same)
    # A person with too few pictures for both sides is on both, and never against itself.
    first = {int(people[mine[0]]): set(mine.tolist()) for mine in galleries}
    for i, j in np.argwhere(same):
        usable[i, j] = not first[int(people[galleries[j][0]])] & set(probes[i].tolist())
    matrices = score([X[mine] for mine in probes], [X[mine] for mine in galleries])
    scores = np.empty((int(usable.sum()), len(matrices)), dtype=np.float32)
    for column, matrix in enumerate(matrices):
        scores[:, column] = matrix[usable]
    return Trials(scores, same[usable])


def _keep_partners(
    people: np.ndarray,
    probes: list[np.ndarray],
    galleries: list[np.ndarray],
    keep: int,
    rng: np.random.RandomState,
) -> list[np.ndarray]:
    known = {int(people[mine[0]]) for mine in probes}
    order = rng.permutation(len(galleries))
    partnered = [galleries[i] for i in order if int(people[galleries[i][0]]) in known]
    others = [galleries[i] for i in order if int(people[galleries[i][0]]) not in known]
    return (partnered + others)[:keep]


def join_trials(parts: Iterable[Trials | None]) -> Trials:
    """The trials of all parts, one after another."""
    held = [part for part in parts if part is not None]
    return Trials(
        np.concatenate([part.scores for part in held]), np.concatenate([part.same for part in held])
    )
