"""The open set on LFW: is the promised rate kept, what does fusing gain (needs ``MIEN_DATA``).

Half of the people are the model's, a quarter the calibration's, a quarter are judged; nobody is
in two of them. Rates are over draws of galleries from the people judged, with 95 % intervals that
take probes as independent.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import logit
from scipy.stats import beta

from benchmarks.measure import Row
from mien.datasets import load_lfw_embeddings
from mien.errors import NumericsWarning
from mien.verification import JointBayesian, Verifier

FPIR = 0.01
N_DRAWS = 5


@dataclass(frozen=True)
class _Parts:
    """Unit vectors, people as numbers, and the part (0 to 3) of each vector."""

    X: np.ndarray
    people: np.ndarray
    part: np.ndarray

    def rows(self, part: int) -> list[np.ndarray]:
        rows = np.flatnonzero(self.part == part)
        return np.split(rows, np.flatnonzero(np.diff(self.people[rows])) + 1)


def _load(name: str) -> _Parts:
    held = load_lfw_embeddings(None, name=name)
    X = held.vectors[held.detected]
    _, people = np.unique(held.people[held.detected], return_inverse=True)
    order = np.argsort(people, kind="stable")
    fold = np.random.RandomState(0).permutation(people.max() + 1) % 4
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return _Parts(X[order], people[order], fold[people[order]])


def _interval(hits: int, n: int) -> str:
    low = beta.ppf(0.025, hits, n - hits + 1) if hits else 0.0
    high = beta.ppf(0.975, hits + 1, n - hits) if hits < n else 1.0
    return f"{hits / n:.4f} [{low:.4f}, {high:.4f}]"


def _judge(
    verifier: Verifier, parts: _Parts, n_people: int, size: int
) -> tuple[int, int, int, int]:
    """Strangers named, strangers; known probes named rightly, known probes."""
    rng = np.random.RandomState(1)
    by_person = parts.rows(3)
    able = [i for i, rows in enumerate(by_person) if len(rows) >= size]
    named = strangers = right = known = 0
    for _ in range(N_DRAWS):
        chosen = rng.choice(able, min(n_people, len(able)), replace=False)
        inside = set(chosen.tolist())
        mine = [rng.permutation(by_person[i]) for i in chosen]
        galleries = [parts.X[rows[:size]] for rows in mine]
        outside = [
            parts.X[rng.permutation(rows)[:1]]
            for i, rows in enumerate(by_person)
            if i not in inside
        ]
        others = [
            (i, parts.X[rows[size : size + 1]]) for i, rows in enumerate(mine) if len(rows) > size
        ]
        limit = verifier.threshold(fpir=FPIR, n_people=len(chosen), size=size, extrapolate=True)
        named += int(np.sum(verifier.score_sets(outside, galleries).max(axis=1) >= limit))
        strangers += len(outside)
        scores = verifier.score_sets([probe for _, probe in others], galleries)
        best = scores.argmax(axis=1) == np.asarray([i for i, _ in others])
        right += int(np.sum(best & (scores.max(axis=1) >= limit)))
        known += len(others)
    return named, strangers, right, known


def _costs(verifier: Verifier, parts: _Parts, size: int) -> str:
    """Calibration loss at three shares of genuine trials, of the loss without looking."""
    rows = parts.rows(3)
    probes = [mine[size] for mine in rows if len(mine) > size]
    galleries = [mine[:size] for mine in rows if len(mine) >= size]
    scores = verifier.score_sets(
        [parts.X[[row]] for row in probes], [parts.X[mine] for mine in galleries]
    )
    same = parts.people[probes][:, None] == parts.people[[mine[0] for mine in galleries]][None]
    costs = []
    for prior in (0.5, 0.01, 0.001):
        genuine = np.logaddexp(0, -(scores[same] + logit(prior))).mean()
        impostor = np.logaddexp(0, scores[~same] + logit(prior)).mean()
        nothing = -(prior * np.log(prior) + (1 - prior) * np.log(1 - prior))
        costs.append(f"{(prior * genuine + (1 - prior) * impostor) / nothing:.4f}")
    return f"loss at priors .5, .01, .001: {', '.join(costs)}"


def rows() -> Iterator[Row]:
    """One row a setting."""
    for name in ("sface", "dlib"):
        parts = _load(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NumericsWarning)
            model = JointBayesian().fit(parts.X[parts.part < 2], parts.people[parts.part < 2])
        held = parts.part == 2
        settings = {
            "fused, prior .01": {},
            "fused, prior .5": {"prior": 0.5},
            "ratio alone": {"candidates": ("ratio",)},
            "cosine alone": {"candidates": ("cosine",)},
        }
        for label, setting in settings.items():
            start = time.perf_counter()
            verifier = Verifier(model, random_state=0, **setting)
            verifier.fit(parts.X[held], parts.people[held])
            took = time.perf_counter() - start
            note = f"lowest rate promised {verifier.thresholds_.lowest_far:.2g}"
            yield Row(f"{name}: calibrate", label, took, note=note)
            for n_people, size in ((100, 1), (1000, 1), (100, 3)):
                start = time.perf_counter()
                named, n, right, known = _judge(verifier, parts, n_people, size)
                note = (
                    f"strangers named {_interval(named, n)} of {n:,} for {FPIR:g}; "
                    f"known named {right / known:.4f} of {known:,}"
                )
                job = f"{name}: {n_people:,} people, {size} picture{'s' if size > 1 else ''}"
                yield Row(job, label, time.perf_counter() - start, note=note)
            for size in (1, 3):
                yield Row(
                    f"{name}: {size} picture(s)", label, 0.0, note=_costs(verifier, parts, size)
                )
