"""Bags of descriptors: a sample that is a set of vectors, not one vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mien._core.parallel import count_threads, map_threads
from mien._core.rows import check_rows
from mien.errors import InputError, InputTypeError

__all__ = [
    "Bags",
    "check_bags",
    "check_paired_bags",
    "encode_bags",
    "for_each_stretch",
    "join_views",
]

# Pieces into which the bags are cut, so that threads end at about the same time.
_PARTS = 16


class Bags(NamedTuple):
    """All descriptors (m, d) in one array; bag i is rows offsets[i] to offsets[i + 1]."""

    descriptors: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def bag(self, i: int) -> np.ndarray:
        """Descriptors (n_i, d) of bag i."""
        return self.descriptors[self.offsets[i] : self.offsets[i + 1]]


def check_bags(bags: Any, n_features: int | None = None, name: str = "X") -> Bags:
    """Bring bags into one array with offsets, or say what is wrong with them.

    Parameters
    ----------
    bags : list of (n_i, d), or (descriptors, offsets), or array (n, d) or (n, m, d)
        An array (n, d) is n bags of one descriptor, an array (n, m, d) is n bags of m.
    n_features : int or None
        Length d that a descriptor must have.
    name : str
        What to call them in an error.

    Examples
    --------
    >>> import numpy as np
    >>> bags = check_bags([np.ones((3, 2)), np.zeros((0, 2)), np.ones((1, 2))])
    >>> len(bags), bags.offsets.tolist()
    (3, [0, 3, 3, 4])
    """
    if isinstance(bags, (list, tuple)):
        if any(sparse.issparse(bag) for bag in bags):
            raise InputTypeError(f"{name} has a sparse bag: give a dense one, with .toarray()")
        try:
            axes = [np.ndim(bag) for bag in bags]
        except ValueError as error:
            raise InputError(f"{name} has a bag with rows of several lengths") from error
        if axes and max(axes) < 2 and len({np.size(bag) for bag in bags}) > 1:
            raise InputError(f"{name} must be bags (n_i, d), or rows of one length")
    if isinstance(bags, Bags):
        found = bags
    elif isinstance(bags, tuple) and len(bags) == 2 and np.ndim(bags[1]) == 1:
        found = _from_offsets(bags[0], np.asarray(bags[1]), name)
    elif isinstance(bags, (list, tuple)) and any(np.ndim(bag) == 2 for bag in bags):
        found = _from_list(bags, name)
    elif np.asarray(bags).ndim == 3:
        array = np.asarray(bags)
        n, m, width = array.shape
        rows = check_rows(array.reshape(n * m, width), input_name=name, dtype=_FLOATS)
        found = Bags(rows, np.arange(n + 1) * m)
    else:
        rows = check_rows(bags, input_name=name, dtype=_FLOATS)
        found = Bags(rows, np.arange(len(rows) + 1))
    d = found.descriptors.shape[1]
    if n_features is not None and d != n_features:
        raise InputError(
            f"{name} has {d} features, but it is expecting {n_features} features as input: "
            "descriptors must be those that the encoder was fitted with"
        )
    return found


_FLOATS = [np.float64, np.float32]


def _from_list(bags: Sequence[Any], name: str) -> Bags:
    if any(np.asarray(bag).dtype.kind not in "biufO" for bag in bags):
        raise InputTypeError(f"{name} must be bags of real numbers")
    widths = {np.shape(bag)[1] for bag in bags if np.ndim(bag) == 2}
    if len(widths) != 1:
        raise InputError(f"the bags of {name} have descriptors of {sorted(widths)} features")
    width = widths.pop()
    for i, bag in enumerate(bags):
        if np.ndim(bag) != 2 and np.size(bag) != 0:
            raise InputError(f"bag {i} of {name} must be (n, {width}); got {np.shape(bag)}")
    offsets = np.concatenate([[0], np.cumsum([len(bag) for bag in bags])])
    rows = np.concatenate([np.reshape(bag, (len(bag), width)) for bag in bags])
    if len(rows) == 0:
        return Bags(rows.astype(np.float64), offsets)
    return Bags(check_rows(rows, input_name=name, dtype=_FLOATS), offsets)


def _from_offsets(descriptors: Any, offsets: np.ndarray, name: str) -> Bags:
    rows = check_rows(descriptors, input_name=name, dtype=_FLOATS)
    if offsets.dtype.kind not in "iu" or offsets.size < 2:
        raise InputError(f"the offsets of {name} must be integers, one more than there are bags")
    if offsets[0] != 0 or offsets[-1] != len(rows) or np.any(np.diff(offsets) < 0):
        raise InputError(
            f"the offsets of {name} must rise from 0 to {len(rows)}, the number of descriptors; "
            f"got {offsets[0]} to {offsets[-1]}"
        )
    return Bags(rows, offsets.astype(np.int64))


def check_paired_bags(
    X: Any, Y: Any, n_features: tuple[int, int] | None = None
) -> tuple[Bags, Bags]:
    """Check two views of the same bags, whose descriptors are paired.

    Parameters
    ----------
    X, Y : bags
        The views, in any form that :func:`check_bags` takes: as many bags in both, and as many
        descriptors in each bag.
    n_features : (int, int) or None
        Features that a descriptor of either view must have; None accepts any number.

    Returns
    -------
    (Bags, Bags)
        Both views, with equal offsets.

    Raises
    ------
    InputError
        The views differ in their number of bags, or a bag in its number of descriptors.
    """
    first = check_bags(X, None if n_features is None else n_features[0], "X")
    second = check_bags(Y, None if n_features is None else n_features[1], "Y")
    if len(first) != len(second):
        raise InputError(f"X has {len(first)} bags and Y has {len(second)}: views are paired")
    if not np.array_equal(first.offsets, second.offsets):
        i = int(np.flatnonzero(np.diff(first.offsets) != np.diff(second.offsets))[0])
        raise InputError(
            f"bag {i} has {len(first.bag(i))} descriptors in X and {len(second.bag(i))} in Y: "
            "views are paired"
        )
    return first, second


def join_views(X: Any, Y: Any) -> Bags:
    """Concatenate two views descriptor by descriptor: early fusion.

    Parameters
    ----------
    X, Y : bags
        Paired views, as :func:`check_paired_bags` takes them.

    Returns
    -------
    Bags
        Descriptors with the features of X followed by those of Y.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.multiview import join_views
    >>> views = [np.zeros((2, 3))], [np.ones((2, 4))]  # one bag of two descriptors
    >>> join_views(*views).descriptors.shape
    (2, 7)
    """
    first, second = check_paired_bags(X, Y)
    return Bags(np.hstack([first.descriptors, second.descriptors]), first.offsets)


def encode_bags(
    encode: Callable[[int], np.ndarray], n_bags: int, n_features_out: int, n_jobs: int | None
) -> np.ndarray:
    """Encode each bag into a row; bags are independent, so any n_jobs gives the same rows."""
    out = np.zeros((n_bags, n_features_out))

    def run(rows: np.ndarray) -> None:
        for i in rows:
            out[i] = encode(int(i))

    _share_out(run, np.array_split(np.arange(n_bags), max(1, min(n_bags, _PARTS))), n_jobs)
    return out


def for_each_stretch(
    work: Callable[[slice], None], offsets: np.ndarray, n_rows: int, n_jobs: int | None
) -> None:
    """Work on consecutive bags that have about so many descriptors together, each once."""
    edges = [0]
    while edges[-1] < len(offsets) - 1:
        stop = int(np.searchsorted(offsets, offsets[edges[-1]] + n_rows, side="right")) - 1
        edges.append(min(max(stop, edges[-1] + 1), len(offsets) - 1))
    stretches = [slice(a, b) for a, b in pairwise(edges)]
    _share_out(work, stretches, n_jobs)


def _share_out(work: Callable[[Any], None], parts: Sequence[Any], n_jobs: int | None) -> None:
    """Work on the parts in so many threads, or in as many as there are cores, as BLAS would."""
    map_threads(work, parts, None if n_jobs is None else count_threads(n_jobs))
