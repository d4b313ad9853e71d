"""Which question about faces is worth an answer: the one that most faces should gain from.

Two sets of faces, "one person?". The calibrated ratio gives the probability of either answer; how
many faces would then stand better is counted from the sizes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from mien._core.validation import check_integer
from mien.verification import Verifier

__all__ = [
    "OWNER_ODDS",
    "Question",
    "choose_questions",
    "faces_concerned",
    "rate_pairs",
    "score_sets",
]

#: Odds that a single face which was left alone belongs to one of the other sets: three in four do.
OWNER_ODDS = 3.0
_PARTNERS = 8
_BLOCK = 2**22


class Question(NamedTuple):
    """Are sets ``a`` and ``b`` one person?

    Attributes
    ----------
    a, b : int
        Rows of the sets.
    log_ratio : float
        Calibrated natural-log ratio of the two.
    probability : float
        That the answer is "the same".
    gain : float
        Faces that are expected to stand better after the answer.
    """

    a: int
    b: int
    log_ratio: float
    probability: float
    gain: float


def score_sets(
    verifier: Verifier, counts: np.ndarray, sums: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Log ratios (len(rows), g) of some sets with all of them; of two the smaller is the probe."""
    here, there = counts[rows], sums[rows]
    scores = verifier.score_sums(here, there, counts, sums)
    larger = here[:, None] > counts[None, :]
    if larger.any():
        turned = verifier.score_sums(counts, sums, here, there).T
        scores = np.where(larger, turned, scores)
    return scores


def faces_concerned(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How many faces stand better when sets of ``a`` and ``b`` faces are rightly joined or parted.

    It is the change of the sum over faces of B-cubed recall (precision, when they are parted): a
    face of the first set rises from a / (a + b) to 1, and so on: 2 a b / (a + b) in all.
    """
    return 2.0 * a * b / (a + b)


def rate_pairs(
    scores: np.ndarray,
    totals: np.ndarray,
    other_totals: np.ndarray,
    counts: np.ndarray,
    other_counts: np.ndarray,
) -> np.ndarray:
    """Probability of "the same" from log ratios, given what the smaller set's candidates say.

    Parameters
    ----------
    scores : (...)
        Log ratios of pairs.
    totals, other_totals : (...)
        log(c (g - 1) / 3 + sum of e^s over all candidates) of the first and of the second set of
        each pair, with c faces in it, of g sets.
    counts, other_counts : (...)
        Faces of both.

    Notes
    -----
    A set of c faces has an owner among the others with prior odds 3 : c, each being as likely, so
    a pair has e^s / (c (g - 1) / 3 + sum of e^s). Only the smaller set is asked: it belongs to at
    most one other, while many small ones may belong to a large one, whose candidates then do not
    exclude each other. Of two equal ones it is the mean. With the same odds for every set, and the
    mean of both sides, single faces with a low probability were often one person after all, and
    larger sets hardly ever: large groups were asked about in vain before the last single faces.
    """
    first, second = np.exp(scores - totals), np.exp(scores - other_totals)
    mean = 0.5 * (first + second)
    chosen = np.where(counts > other_counts, second, mean)
    return np.asarray(np.where(counts < other_counts, first, chosen))


def choose_questions(
    verifier: Verifier,
    counts: np.ndarray,
    sums: np.ndarray,
    *,
    apart: Iterable[tuple[int, int]] = (),
    n_questions: int = 10,
) -> list[Question]:
    """Pairs of sets that should be asked about, the most useful first.

    Parameters
    ----------
    verifier : Verifier
        Scores two sets of vectors.
    counts : (g,) int
        Faces of each set, such as the people of a gallery.
    sums : (g, d)
        Sum of the vectors of each.
    apart : iterable of (int, int)
        Pairs that need no question: they were asked about, or are two people for certain.
    n_questions : int
        Maximum number.

    Returns
    -------
    list of Question
        By falling ``gain`` = probability that the answer joins the two × faces that then stand
        better; see :func:`faces_concerned`.

    Notes
    -----
    Sets that no question joins stay apart, so the probability of a change is that of "the same".
    Each set brings its best eight partners. Time is that of two products of all sets with all,
    memory O(g · d + block).

    Examples
    --------
    >>> import numpy as np
    >>> from mien.recognition import choose_questions
    >>> from mien.verification import JointBayesian, Verifier
    >>> rng = np.random.default_rng(0)
    >>> people = np.repeat(np.arange(300), 6)
    >>> X = 3 * rng.standard_normal((300, 16))[people] + rng.standard_normal((1800, 16))
    >>> X /= np.linalg.norm(X, axis=1, keepdims=True)
    >>> model = JointBayesian().fit(X[:900], people[:900])
    >>> verifier = Verifier(model, random_state=0).fit(X[900:1500], people[900:1500])
    >>> sets = np.repeat(np.arange(100), 3)  # fifty people, each in two sets of three faces
    >>> sums = np.add.reduceat(X[1500:], np.arange(0, 300, 3))
    >>> first = choose_questions(verifier, np.bincount(sets), sums, n_questions=1)[0]
    >>> first.a // 2 == first.b // 2
    True
    """
    n_questions = check_integer("n_questions", n_questions, 1)
    g = len(counts)
    if g < 2:
        return []
    counts = np.asarray(counts, dtype=np.int64)
    banned: dict[int, set[int]] = {}
    for a, b in apart:
        banned.setdefault(int(a), set()).add(int(b))
        banned.setdefault(int(b), set()).add(int(a))
    k = min(_PARTNERS, g - 1)
    totals = np.empty(g)
    partners = np.empty((g, k), dtype=np.int64)
    ratios = np.empty((g, k))
    step = max(1, _BLOCK // g)
    for start in range(0, g, step):
        rows = np.arange(start, min(start + step, g))
        scores = score_sets(verifier, counts, sums, rows).astype(np.float64)
        scores[rows - start, rows] = -np.inf
        for row in rows.tolist():
            for other in banned.get(row, ()):
                scores[row - start, other] = -np.inf
        totals[rows] = _log_total(scores, counts[rows], g)
        # The most useful partner is not always the likeliest: a few faces more may count more.
        worth = scores + np.log(faces_concerned(counts[rows, None], counts[None, :]))
        best = np.argpartition(-worth, k - 1, axis=1)[:, :k]
        partners[rows] = best
        ratios[rows] = np.take_along_axis(scores, best, axis=1)
    first = np.repeat(np.arange(g), k)
    second, scores = partners.ravel(), ratios.ravel()
    keep = np.isfinite(scores) & ((first < second) | ~_listed(first, second, partners))
    first, second, scores = first[keep], second[keep], scores[keep]
    chances = rate_pairs(scores, totals[first], totals[second], counts[first], counts[second])
    gains = chances * faces_concerned(counts[first], counts[second])
    order = np.argsort(-gains, kind="stable")[:n_questions]
    first, second = np.minimum(first, second), np.maximum(first, second)
    return [
        Question(
            int(first[i]), int(second[i]), float(scores[i]), float(chances[i]), float(gains[i])
        )
        for i in order
    ]


def _log_total(scores: np.ndarray, counts: np.ndarray, g: int) -> np.ndarray:
    """log(c (g - 1) / 3 + sum of e^s) of each row, a set of c faces."""
    top = np.maximum(scores.max(axis=1), 0.0)
    total = np.exp(scores - top[:, None]).sum(axis=1) + counts * (g - 1) / OWNER_ODDS * np.exp(-top)
    return np.asarray(top + np.log(total))


def _listed(first: np.ndarray, second: np.ndarray, partners: np.ndarray) -> np.ndarray:
    """Whether the second set of each pair has the first among its own partners."""
    return np.asarray((partners[second] == first[:, None]).any(axis=1))
