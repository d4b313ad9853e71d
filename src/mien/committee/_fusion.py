"""Rules that make one posterior, or one decision, out of several."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mien._core.validation import check_choice
from mien.errors import InputError

__all__ = ["FUSION_RULES", "RunningFusion", "agreement", "decide", "fuse", "fuse_members"]

FUSION_RULES = ("sum", "product", "min", "max", "vote", "agree")

_WEIGHTED = ("sum", "product", "vote")
_STARTS = {"product": 0.0, "min": np.inf, "max": 0.0}
_ROW_SUM_TOLERANCE = 1e-3


class RunningFusion:
    """Fuse posteriors one member at a time, so that all of them are never held at once.

    Parameters
    ----------
    rule : {"sum", "product", "min", "max", "vote", "agree"}
        See :func:`fuse`.
    min_votes : int or None
        For ``"agree"``: how many members must have the same first choice.
    floor : float
        For ``"product"`` and ``"min"``: no probability counts as less than this.

    Examples
    --------
    >>> import numpy as np
    >>> fusion = RunningFusion("product")
    >>> fusion.add(np.array([[0.5, 0.5]])).add(np.array([[0.9, 0.1]])).result()
    array([[0.9, 0.1]])
    """

    def __init__(
        self, rule: str = "sum", *, min_votes: int | None = None, floor: float = 1e-12
    ) -> None:
        check_choice("rule", rule, FUSION_RULES)
        if not 0 < floor < 1:
            raise InputError(f"floor must be above 0 and below 1; got {floor}")
        if rule == "agree" and (min_votes is None or min_votes < 1):
            raise InputError(
                "rule='agree' needs min_votes, the number of members that must agree; got "
                f"{min_votes}"
            )
        self.rule = rule
        self.min_votes = min_votes or 0
        self.floor = floor
        self.n_members = 0
        nothing = np.zeros((0, 0))
        self._sum = nothing  # also what breaks ties and replaces what is undefined
        self._votes = nothing
        self._state = nothing

    def add(self, probabilities: np.ndarray, weight: float = 1.0) -> RunningFusion:
        """Add the posteriors (n, c) of one member; returns itself."""
        p = probabilities
        if self.n_members == 0:
            self._sum = np.zeros(p.shape)
            if self.rule in ("vote", "agree"):
                self._votes = np.zeros(p.shape)
            elif self.rule in _STARTS:
                self._state = np.full(p.shape, _STARTS[self.rule])
        if p.shape != self._sum.shape:
            raise InputError(
                f"every member must give the same shape; got {p.shape} after {self._sum.shape}"
            )
        self.n_members += 1
        if self.rule != "product":
            self._sum += weight * p
        if self.rule == "product":
            self._state += weight * np.log(np.maximum(p, self.floor))
        elif self.rule == "min":
            np.minimum(self._state, p, out=self._state)
        elif self.rule == "max":
            np.maximum(self._state, p, out=self._state)
        elif self.rule in ("vote", "agree"):
            first = p == p.max(axis=1, keepdims=True)
            self._votes += weight * first / first.sum(axis=1, keepdims=True)
        return self

    def result(self) -> np.ndarray:
        """Posterior (n, c) of the members so far; rows sum to one, or to less under "agree"."""
        if self.n_members == 0:
            raise InputError("there is nothing to fuse: no member was added")
        if self.rule == "product":
            shifted = self._state - self._state.max(axis=1, keepdims=True)
            return _normalise(np.exp(shifted))
        average = _normalise(self._sum)
        if self.rule == "sum":
            return average
        if self.rule == "max":
            return _normalise(self._state)
        if self.rule == "min":
            lowest = np.maximum(self._state, self.floor)
            # Members that contradict each other with certainty leave no class: ask the sum.
            nothing_left = np.all(self._state <= self.floor, axis=1, keepdims=True)
            return np.where(nothing_left, average, _normalise(lowest))
        if self.rule == "vote":
            return _break_ties(_normalise(self._votes), average)
        # Votes for classes with too few of them are votes for nobody: the row sums to less than 1.
        enough = self._votes >= self.min_votes - 1e-9
        shares = np.where(enough, self._votes / self.n_members, 0.0)
        # No class gets more than its votes: of those that tie, the sum's choice keeps its share.
        leading = (shares >= shares.max(axis=1, keepdims=True) - 1e-12) & enough
        among = np.where(leading, average, 0.0)
        largest = among.max(axis=1, keepdims=True)
        factor = np.divide(among, largest, out=np.ones_like(among), where=leading & (largest > 0))
        return shares * factor


def _normalise(values: np.ndarray) -> np.ndarray:
    """Divide rows by their sums; a row of zeros stays zero."""
    totals = values.sum(axis=1, keepdims=True)
    return np.divide(values, totals, out=np.zeros_like(values), where=totals > 0)


def _break_ties(shares: np.ndarray, average: np.ndarray) -> np.ndarray:
    """Split what the leading classes of a row share in proportion to their averages.

    The largest part of a split is never below an equal part, so the leader stays ahead of every
    class that had fewer votes.
    """
    best = shares.max(axis=1, keepdims=True)
    leading = (shares >= best - 1e-12) & (best > 0)
    tied = leading.sum(axis=1) > 1
    if not tied.any():
        return shares
    shares = shares.copy()
    rows = leading[tied]
    split = _normalise(np.where(rows, average[tied], 0.0))
    total = (shares[tied] * rows).sum(axis=1, keepdims=True)
    shares[tied] = np.where(rows, split * total, shares[tied])
    return shares


def fuse(
    probabilities: Any,
    rule: str = "sum",
    *,
    weights: Any = None,
    min_votes: int | None = None,
    floor: float = 1e-12,
) -> np.ndarray:
    """Make one posterior out of those of several members, systems or engines.

    Parameters
    ----------
    probabilities : array-like (n_members, n, c), or an iterable of (n, c)
        Posteriors over the same c classes; every row sums to one.
    rule : {"sum", "product", "min", "max", "vote", "agree"}
        ``"sum"``: the average. ``"product"``: the normalised product. ``"min"``, ``"max"``: the
        normalised least or largest posterior of each class. ``"vote"``: the share of the members
        whose first choice is the class. ``"agree"``: as vote, but only classes with at
        least ``min_votes`` votes keep their share of the votes, and the rest goes to nobody: a row
        of zeros means "no decision".
    weights : array-like (n_members,) or None
        For sum, product (as exponents) and vote; only their proportions matter.
    min_votes : int or None
        For ``"agree"``: how many members must have the same first choice.
    floor : float
        For product and min: no probability counts as less than this.

    Returns
    -------
    (n, c) float64
        Rows sum to one; under ``"agree"`` they sum to the share of votes that were counted.

    See Also
    --------
    agreement : the same rule for decisions instead of posteriors.
    decide : labels out of posteriors, with "unknown".

    Notes
    -----
    The product is a sum of logarithms, so a thousand members do not underflow; the floor keeps a
    single member's zero from vetoing a class forever. Where min leaves nothing above the floor the
    row is the sum's. A member with several equal first choices splits its vote. Classes that tie
    for the lead of a vote split their common share in proportion to the sum rule, so the argmax is
    the sum's choice among them.

    Examples
    --------
    >>> from mien.committee import fuse
    >>> two_engines = [[[0.6, 0.4]], [[0.1, 0.9]]]
    >>> fuse(two_engines, "sum")
    array([[0.35, 0.65]])
    >>> fuse(two_engines, "agree", min_votes=2)
    array([[0., 0.]])
    """
    members = _check_members(probabilities)
    fusion = RunningFusion(rule, min_votes=min_votes, floor=floor)
    if rule == "agree" and min_votes is not None and min_votes > len(members):
        raise InputError(f"min_votes = {min_votes} cannot be reached by {len(members)} members")
    for member, weight in zip(members, _check_weights(weights, rule, len(members)), strict=True):
        fusion.add(member, float(weight))
    return fusion.result()


def _check_members(probabilities: Any) -> list[np.ndarray]:
    if not isinstance(probabilities, np.ndarray | Iterable):
        raise InputError("probabilities must be an array (n_members, n, c) or a list of (n, c)")
    try:
        members = [np.asarray(member, dtype=np.float64) for member in probabilities]
    except (TypeError, ValueError) as error:
        raise InputError("probabilities must be numbers of shape (n_members, n, c)") from error
    if not members:
        raise InputError("there is nothing to fuse: no member was given")
    for number, member in enumerate(members):
        if member.ndim != 2 or member.shape != members[0].shape or member.shape[1] == 0:
            raise InputError(
                f"every member must be (n, c) with the same n and c; member {number} is "
                f"{member.shape}, the first {members[0].shape}"
            )
        if not np.all(np.isfinite(member)) or np.any(member < 0):
            raise InputError(f"member {number} has probabilities that are negative or not finite")
        off = np.abs(member.sum(axis=1) - 1)
        if off.size and off.max() > _ROW_SUM_TOLERANCE:
            worst = int(np.argmax(off))
            raise InputError(
                f"row {worst} of member {number} sums to {member[worst].sum():.4g}, not to one; "
                "give posteriors (softmax scores or calibrate them first)"
            )
    return members


def _check_weights(weights: Any, rule: str, n_members: int) -> np.ndarray:
    if weights is None:
        return np.ones(n_members)
    if rule not in _WEIGHTED:
        raise InputError(f"rule={rule!r} takes no weights; {', '.join(_WEIGHTED)} do")
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n_members,):
        raise InputError(f"weights must have the shape ({n_members},); got {array.shape}")
    if not np.all(np.isfinite(array)) or np.any(array < 0) or array.sum() == 0:
        raise InputError("weights must be finite, not negative, and not all zero")
    return array * (n_members / array.sum())


def agreement(decisions: Any, min_votes: int, *, unknown: Any = None) -> np.ndarray:
    """Keep the decisions on which at least ``min_votes`` of the systems agree.

    Parameters
    ----------
    decisions : array-like (n_systems, n)
        What each system decided: labels (integers or strings), or booleans that say "the same
        person".
    min_votes : int
        How many must agree, 1 … n_systems.
    unknown : label or None
        What to return where no label has ``min_votes`` votes. None: -1 for integers,
        ``"unknown"`` for strings.

    Returns
    -------
    (n,)
        Labels: the one with the most votes if it has enough of them and no other has as many, else
        ``unknown``. Booleans: True where at least ``min_votes`` systems say True.

    Examples
    --------
    >>> from mien.committee import agreement
    >>> agreement([["ann", "bob"], ["ann", "eve"], ["cat", "joe"]], min_votes=2).tolist()
    ['ann', 'unknown']
    >>> agreement([[True, True], [True, False]], min_votes=2).tolist()
    [True, False]
    """
    array = np.asarray(decisions)
    if array.ndim != 2 or array.dtype.kind not in "biuU":
        raise InputError(
            "decisions must be labels or booleans of shape (n_systems, n); got "
            f"{array.shape} of {array.dtype}"
        )
    if not 1 <= min_votes <= len(array):
        raise InputError(
            f"min_votes must be 1 … {len(array)}, the number of systems; got {min_votes}"
        )
    if array.dtype.kind == "b":
        return np.asarray(array.sum(axis=0) >= min_votes)
    labels, codes = np.unique(array, return_inverse=True)
    codes = codes.reshape(array.shape)
    # One vote a system and a column: counting by rows of ``same`` needs no table of all labels.
    same = (codes[:, None, :] == codes[None, :, :]).sum(axis=1)
    leader = same.argmax(axis=0)
    columns = np.arange(array.shape[1])
    votes, winner = same[leader, columns], codes[leader, columns]
    rivals = ((same == votes) & (codes != winner)).any(axis=0)
    return _label_or_unknown(labels[winner], (votes >= min_votes) & ~rivals, unknown)


def decide(
    probabilities: Any, classes: Any, *, threshold: float = 0.0, unknown: Any = None
) -> np.ndarray:
    """Name the likeliest class of each row, or say that it is unknown.

    Parameters
    ----------
    probabilities : array-like (n, c)
        Posteriors; a row of zeros is an abstention and always unknown.
    classes : array-like (c,)
        Their labels.
    threshold : float
        The largest posterior must be at least this.
    unknown : label or None
        None: -1 for integers, ``"unknown"`` for strings.

    Examples
    --------
    >>> from mien.committee import decide
    >>> decide([[0.9, 0.1], [0.55, 0.45]], ["ann", "bob"], threshold=0.6).tolist()
    ['ann', 'unknown']
    """
    posteriors, labels = np.asarray(probabilities, dtype=np.float64), np.asarray(classes)
    if posteriors.ndim != 2 or posteriors.shape[1] != len(labels):
        raise InputError(
            f"probabilities must be (n, {len(labels)}), one column per class; "
            f"got {posteriors.shape}"
        )
    best = posteriors.argmax(axis=1)
    value = posteriors[np.arange(len(posteriors)), best]
    return _label_or_unknown(labels[best], (value >= threshold) & (value > 0), unknown)


def _label_or_unknown(labels: np.ndarray, known: np.ndarray, unknown: Any) -> np.ndarray:
    if unknown is None:
        unknown = "unknown" if labels.dtype.kind == "U" else -1
    if labels.dtype.kind in "iu":
        labels = labels.astype(np.int64)
    return np.where(known, labels, unknown)


def fuse_members(members: Iterable[np.ndarray], rule: str) -> np.ndarray:
    """Fuse the posteriors (n, c) of members as they come, by the rule of :func:`fuse`."""
    fusion = RunningFusion(rule)
    for member in members:
        fusion.add(member)
    return fusion.result()
