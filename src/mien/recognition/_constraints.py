"""What was answered about faces, as groups and pairs that a grouping must respect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mien._core.validation import NO_GROUP
from mien.gallery import Constraint

__all__ = ["Constrained", "constrain"]


class Constrained(NamedTuple):
    """Which faces are faces (n,), what stays together (n,), and what is apart (n_pairs, 2)."""

    keep: np.ndarray
    groups: np.ndarray
    apart: np.ndarray


def constrain(
    constraints: Sequence[Constraint],
    keys: Sequence[tuple[str, int]],
    groups: np.ndarray,
    apart: np.ndarray,
) -> Constrained:
    """Add what was answered to what is known from the pictures.

    Parameters
    ----------
    constraints : list of Constraint
        Of a gallery; the later of two about the same faces holds.
    keys : list of (str, int)
        SHA-256 of the picture and number of each face.
    groups : (n,)
        Faces that stay together; -1 for none.
    apart : (n_pairs, 2)
        Faces that never meet.

    Notes
    -----
    An answer that contradicts the others is left out: of "same" and "different" about two groups,
    directly or through others, "different" holds.
    """
    row = {(digest, int(face)): k for k, (digest, face) in enumerate(keys)}
    keep = np.ones(len(keys), dtype=bool)
    said: dict[tuple[int, int], str] = {}
    for one in constraints:
        first = row.get((one.face.digest, one.face.face))
        if first is None:
            continue
        if one.kind == "not-a-face":
            keep[first] = False
        elif one.other is not None:
            second = row.get((one.other.digest, one.other.face))
            if second is not None and first != second:
                said[(min(first, second), max(first, second))] = one.kind
    pairs = [pair for pair, kind in said.items() if kind == "different-people"]
    never = np.concatenate([apart.reshape(-1, 2), np.asarray(pairs, dtype=np.int64).reshape(-1, 2)])
    labels = groups.astype(np.int64, copy=True)
    fresh = int(labels.max(initial=NO_GROUP)) + 1
    for (a, b), kind in said.items():
        if kind != "same-person":
            continue
        joined = labels.copy()
        mine = [k for k in (a, b) if labels[k] != NO_GROUP]
        members = (
            np.isin(labels, [labels[k] for k in mine]) if mine else np.zeros(len(labels), bool)
        )
        members[[a, b]] = True
        joined[members] = fresh
        inside = joined[never[:, 0]] != NO_GROUP
        if not np.any(inside & (joined[never[:, 0]] == joined[never[:, 1]])):
            labels, fresh = joined, fresh + 1
    known = labels[never[:, 0]] != NO_GROUP
    clash = known & (labels[never[:, 0]] == labels[never[:, 1]])
    return Constrained(keep, labels, never[~clash])
