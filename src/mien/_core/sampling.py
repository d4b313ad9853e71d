"""Draws that several packages need: folds of people, and a cap on how many rows are used."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["assign_folds", "cap_rows"]


def assign_folds(
    people: np.ndarray, n_splits: int, rng: np.random.RandomState | np.random.Generator
) -> np.ndarray:
    """Fold (n,) of each row, from 0: all rows of a person are in one fold.

    Parameters
    ----------
    people : (n,)
        Who each row belongs to; any labels.
    n_splits : int
        Number of folds.
    rng : RandomState or Generator
        Decides among people with equally many rows.

    Notes
    -----
    People are assigned to the folds in the order of their number of rows, so that folds have nearly
    equally many rows as well as people. scikit-learn's ``GroupKFold`` balances one or the other.

    Examples
    --------
    >>> import numpy as np
    >>> assign_folds(np.array(list("aaabbc")), 2, np.random.RandomState(0)).tolist()
    [0, 0, 0, 1, 1, 0]
    """
    _, codes, counts = np.unique(people, return_inverse=True, return_counts=True)
    order = rng.permutation(len(counts))
    order = order[np.argsort(-counts[order], kind="stable")]
    fold = np.empty(len(counts), dtype=np.int64)
    fold[order] = np.arange(len(counts)) % n_splits
    return fold[codes]


def cap_rows(rows: Any, maximum: int, rng: np.random.RandomState | np.random.Generator) -> Any:
    """The rows as they are, or ``maximum`` of them drawn without replacement, in their order.

    Examples
    --------
    >>> import numpy as np
    >>> cap_rows(np.array([3, 5, 8]), 5, np.random.RandomState(0)).tolist()
    [3, 5, 8]
    >>> len(cap_rows(np.arange(100), 5, np.random.RandomState(0)))
    5
    """
    if len(rows) <= maximum:
        return rows
    return rows[np.sort(rng.choice(len(rows), maximum, replace=False))]
