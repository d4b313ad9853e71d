"""The protocol of pairs: who can score pairs of vectors, alone or behind other steps.

A model takes part if it has ``score_pairs(X1, X2)`` and ``score_matrix(X, Y=None)``, both
similarities. A pipeline takes part if its last step does: the earlier ones transform both sides.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mien._core.sampling import cap_rows
from mien._core.validation import check_labels
from mien.errors import InputError

__all__ = ["MAX_ROWS", "score_all_pairs", "score_matrix", "score_pairs", "share_in_order"]

#: All pairs of more vectors than this are not formed: that many are drawn.
MAX_ROWS = 4000


def _reach(model: Any, method: str, *sides: Any) -> tuple[Any, list[Any]]:
    """The model that scores, and both sides as it sees them."""
    if hasattr(model, method):
        return model, list(sides)
    if hasattr(model, "steps"):
        held = list(sides)
        if len(model) > 1:
            held = [side if side is None else model[:-1].transform(side) for side in sides]
        return _reach(model[-1], method, *held)
    raise InputError(
        f"a {type(model).__name__} does not score pairs: that takes {method}, as JointBayesian, "
        "TransferJointBayesian and Verifier have it, or a pipeline that ends in one of them"
    )


def score_pairs(model: Any, X1: Any, X2: Any) -> np.ndarray:
    """Similarities (n,) of the pairs ``X1[i], X2[i]``, by a model or by a pipeline.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted; the last step of a pipeline has ``score_pairs``.
    X1, X2 : (n, d)
        Vectors, as the first step takes them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from mien.verification import JointBayesian, score_pairs
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(100), 4)
    >>> X = 3 * rng.standard_normal((100, 6))[y] + rng.standard_normal((400, 6))
    >>> model = make_pipeline(PCA(4), JointBayesian()).fit(X, y)
    >>> same, other = score_pairs(model, X[[0, 0]], X[[1, 4]])
    >>> bool(same > other)
    True
    """
    last, (one, two) = _reach(model, "score_pairs", X1, X2)
    scores: np.ndarray = last.score_pairs(one, two)
    return scores


def score_matrix(model: Any, X: Any, Y: Any = None) -> np.ndarray:
    """Similarities of every x with every y, by a model or by a pipeline.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted; the last step of a pipeline has ``score_matrix``.
    X : (n, d)
        Vectors, as the first step takes them.
    Y : (m, d) or None
        Vectors to compare them with; None compares every two of X.

    Returns
    -------
    (n, m)
        Larger means more alike.
    """
    last, (one, two) = _reach(model, "score_matrix", X, Y)
    scores: np.ndarray = last.score_matrix(one, two)
    return scores


def score_all_pairs(model: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Scores of all genuine pairs of X (n, d) with people y (n,), and of all impostor pairs."""
    people = np.unique(check_labels("y", y), return_inverse=True)[1]
    rows = cap_rows(np.arange(len(people)), MAX_ROWS, np.random.RandomState(0))
    if len(rows) < len(people):
        X, people = np.asarray(X)[rows], people[rows]
    matrix = score_matrix(model, X)
    if len(matrix) != len(people):
        raise InputError(f"y has {len(people)} entries for {len(matrix)} samples")
    first, second = np.triu_indices(len(people), 1)
    same = people[first] == people[second]
    if not same.any() or same.all():
        raise InputError(
            "scoring needs pairs of one person and pairs of two people; got "
            f"{len(np.unique(people))} people with {len(people)} vectors"
        )
    scores = matrix[first, second]
    return scores[same], scores[~same]


def share_in_order(genuine: np.ndarray, impostor: np.ndarray) -> float:
    """Share of (genuine, impostor) pairs of scores that are in order; ties count one half."""
    falling = np.sort(impostor)
    below = np.searchsorted(falling, genuine, side="left")
    not_above = np.searchsorted(falling, genuine, side="right")
    return float((below + not_above).mean() / 2 / len(impostor))
