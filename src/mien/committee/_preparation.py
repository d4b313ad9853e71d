"""What is done to the vectors before a committee sees them, chosen by out-of-bag error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from mien.committee._sampling import draw_pictures, member_generators
from mien.errors import InputError

__all__ = ["Prepared", "choose_preparation", "prepare"]

#: Rounds of the choice; in each, every person's pictures are divided anew.
_ROUNDS = 5
#: Share of a person's pictures that is learned from, as many as a bootstrap holds.
_SHARE = 0.632


def prepare(preparation: Any, X: np.ndarray) -> np.ndarray:
    """Vectors (n, m) after a fitted preparation, in the precision of X; None changes nothing."""
    return X if preparation is None else np.asarray(preparation.transform(X), dtype=X.dtype)


def choose_preparation(
    candidates: Sequence[Any],
    X: np.ndarray,
    y: np.ndarray,
    build: Callable[[], Any],
    rng: np.random.Generator,
) -> tuple[Any, list[dict[str, Any]]]:
    """The candidate with which small committees err least on pictures they did not learn from.

    Parameters
    ----------
    candidates : sequence of transformers or None
        Each is cloned and fitted; None leaves the vectors as they are.
    X, y : (n, d), (n,)
        Vectors and people.
    build : callable
        Makes an unfitted small committee.
    rng : numpy.random.Generator
        Draws what is left out.

    Returns
    -------
    fitted candidate or None, table
        The table has a row per candidate: its name, its out-of-bag error, whether it was chosen.
    """
    if not candidates:
        raise InputError("preparation is an empty list: give at least one, or None")
    codes, counts = np.unique(y, return_inverse=True, return_counts=True)[1:]
    if counts.max() < 3:
        raise InputError(
            "choosing a preparation leaves pictures out and needs a person with three or more; "
            f"the most that anybody has is {counts.max()}: give one preparation"
        )
    bags = [draw_pictures(codes, counts, _SHARE, rng) > 0 for _ in range(_ROUNDS)]
    table: list[dict[str, Any]] = []
    fitted = []
    for candidate in candidates:
        model = None if candidate is None else clone(candidate).fit(X)
        Z = prepare(model, X)
        wrong = []
        for bag in bags:
            # Everybody has pictures in the bag, so everybody can be named.
            committee = build().fit(Z[bag], y[bag])
            wrong.append(committee.predict(Z[~bag]) != y[~bag])
        error = float(np.mean(np.concatenate(wrong)))
        table.append({"preparation": _name(candidate), "out_of_bag_error": error})
        fitted.append(model)
    best = int(np.argmin([row["out_of_bag_error"] for row in table]))
    for number, row in enumerate(table):
        row["chosen"] = number == best
    return fitted[best], table


def _name(candidate: Any) -> str:
    return "as they are" if candidate is None else str(candidate)


class Prepared:
    """A committee with a ``preparation``: one transformer, or several to choose from."""

    n_members: int
    preparation: Any
    random_state: Any
    _sizes_of_all: tuple[str, ...] = ()

    def _prepare(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Fit the preparation, or choose it, and apply it."""
        self.choice_: list[dict[str, Any]] = []
        if isinstance(self.preparation, list | tuple):
            small = {"n_members": min(self.n_members, 5), "preparation": None, "random_state": 0}
            small |= dict.fromkeys(self._sizes_of_all)
            self.preparation_, self.choice_ = choose_preparation(
                self.preparation,
                X,
                y,
                lambda: clone(self).set_params(**small),
                member_generators(1, self.random_state)[0],
            )
        else:
            self.preparation_ = None if self.preparation is None else clone(self.preparation).fit(X)
        return prepare(self.preparation_, X)
