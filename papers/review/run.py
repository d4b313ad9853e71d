"""Somebody who answers truly is asked about pairs of groups, in one order or another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mien.datasets import load_lfw_embeddings
from mien.evaluation import b_cubed
from mien.recognition import OWNER_ODDS, faces_concerned, link_faces, rate_pairs, score_sets
from mien.verification import JointBayesian, Verifier

__all__ = ["ORDERS", "Faces", "answers_to_reach", "draw_faces", "load_source", "review"]

#: Which pair is asked about next; each gives a worth (g, g) from probabilities and sizes.
ORDERS = ("expected gain", "likeliest same", "most uncertain", "random candidate")
_FEWEST, _MOST = 3, 25


class Faces(NamedTuple):
    """Vectors (n, d) of unit length and who they are (n,)."""

    vectors: np.ndarray
    people: np.ndarray


def load_source(home: Any, engine: str, kind: str, random_state: int) -> tuple[Faces, Verifier]:
    """People of LFW whom the verifier has not seen, with at least three pictures each."""
    clean = load_lfw_embeddings(home, engine)
    found = np.asarray(clean.detected, dtype=bool)
    y = np.asarray(clean.people)
    everybody = np.unique(y)
    np.random.default_rng(random_state).shuffle(everybody)
    n = len(everybody)
    model_people, calibration, rest = np.split(everybody, [n // 4, n // 2])
    X = _unit(clean.vectors)
    mine = found & np.isin(y, model_people)
    model = JointBayesian().fit(X[mine], y[mine])
    mine = found & np.isin(y, calibration)
    verifier = Verifier(model, random_state=random_state).fit(X[mine], y[mine])
    if kind != "clean":
        data = load_lfw_embeddings(home, f"{engine}-{kind}")
        X, found = _unit(data.vectors), np.asarray(data.detected, dtype=bool)
    mine = found & np.isin(y, rest)
    return Faces(X[mine], y[mine]), verifier


def _unit(vectors: np.ndarray) -> np.ndarray:
    X = np.asarray(vectors, dtype=np.float64)
    return np.asarray(X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12))


def draw_faces(source: Faces, rng: np.random.Generator, n_people: int) -> Faces:
    """All pictures (at most 25) of so many people with three or more."""
    names, counts = np.unique(source.people, return_counts=True)
    drawn = rng.choice(names[counts >= _FEWEST], n_people, replace=False)
    rows = np.concatenate(
        [rng.permutation(np.flatnonzero(source.people == name))[:_MOST] for name in drawn]
    )
    return Faces(source.vectors[rows], np.unique(source.people[rows], return_inverse=True)[1])


def review(
    faces: Faces, verifier: Verifier, order: str, *, fpir: float, n_answers: int, seed: int
) -> np.ndarray:
    """B-cubed F (n_answers + 1,) after each answer.

    Faces are grouped at a careful rate first, which leaves people in several groups. Each
    question is about two groups; whoever answers goes by the person that most faces of a group
    show. "Same" joins them, "different" keeps them apart for good.
    """
    rng = np.random.default_rng(seed)
    n = len(faces.vectors)
    threshold = verifier.threshold(fpir=fpir, n_people=n - 1, extrapolate=True)
    labels = link_faces(verifier, faces.vectors, threshold).labels.copy()
    g = labels.max() + 1
    counts = np.bincount(labels)
    sums = np.zeros((g, faces.vectors.shape[1]))
    np.add.at(sums, labels, faces.vectors)
    who = np.array([np.bincount(faces.people[labels == k]).argmax() for k in range(g)])
    scores = score_sets(verifier, counts, sums, np.arange(g)).astype(np.float64)
    scores = 0.5 * (scores + scores.T)
    np.fill_diagonal(scores, -np.inf)
    alive = np.ones(g, dtype=bool)
    found = [b_cubed(faces.people, labels).f1]
    for _ in range(n_answers):
        pair = _choose(scores, counts, alive, order, rng)
        if pair is None:
            break
        a, b = pair
        if who[a] != who[b]:
            scores[a, b] = scores[b, a] = -np.inf
            found.append(found[-1])
            continue
        labels[labels == b] = a
        alive[b] = False
        counts[a] += counts[b]
        sums[a] += sums[b]
        never = np.isneginf(scores[a]) | np.isneginf(scores[b])
        row = score_sets(verifier, counts, sums, np.array([a]))[0].astype(np.float64)
        row[never | ~alive] = -np.inf
        scores[a], scores[:, a] = row, row
        scores[b], scores[:, b] = -np.inf, -np.inf
        found.append(b_cubed(faces.people, labels).f1)
    return np.pad(found, (0, n_answers + 1 - len(found)), mode="edge")


def _choose(
    scores: np.ndarray, counts: np.ndarray, alive: np.ndarray, order: str, rng: np.random.Generator
) -> tuple[int, int] | None:
    """The next pair of groups, or None where nothing is left to ask."""
    top = np.maximum(scores.max(axis=1), 0.0)
    n = max(int(alive.sum()) - 1, 1)
    others = np.exp(scores - top[:, None]).sum(axis=1)
    totals = top + np.log(others + counts * n / OWNER_ODDS * np.exp(-top))
    sizes = counts[:, None], counts[None, :]
    chances = rate_pairs(scores, totals[:, None], totals[None, :], *sizes)
    if order == "expected gain":
        worth = chances * faces_concerned(counts[:, None], counts[None, :])
    elif order == "likeliest same":
        worth = chances
    elif order == "most uncertain":
        worth = np.minimum(chances, 1 - chances)
    else:  # any pair that is not practically excluded, as a list of suggestions would show it
        worth = np.where(chances > 0.01, rng.random(scores.shape), 0.0)
        if not worth.any():
            worth = chances
    worth = np.where(np.isneginf(scores), -1.0, worth)
    best = int(worth.argmax())
    a, b = divmod(best, len(scores))
    return None if worth[a, b] < 0 else (min(a, b), max(a, b))


def answers_to_reach(curve: np.ndarray, target: float) -> float:
    """Answers until F reaches the target; infinity where it never does."""
    reached = np.flatnonzero(curve >= target)
    return float(reached[0]) if len(reached) else float("inf")
