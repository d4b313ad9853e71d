"""What faces without names say about one's camera: counts of deviates, nobody's vector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mien._core.validation import NO_GROUP
from mien.errors import InputError
from mien.verification._impostors import ImpostorEvidence, ImpostorPrior, measure_unnamed
from mien.verification._scorer import ComparesSets

__all__ = ["UnnamedFaces", "observe_faces", "observe_sets"]

#: Edges of the counts, in deviates; what lies beyond is counted at the ends.
_EDGES = np.round(np.linspace(-6.0, 12.0, 361), 2)
_CENTRES = (_EDGES[:-1] + _EDGES[1:]) / 2
#: Sets of faces that are compared; more say hardly more.
_MOST_SETS = 200
_MOST_PAIRS = 5000
#: As often as people are enrolled: all comparisons of one person go together.
_PER_PERSON = 3
#: Fewer sets are too few pairs to tell impostors from parts of one person; more are needed where
#: most faces are one person's, whose odd pictures may be sets of their own.
_FEWEST_SETS, _FEWEST_BESIDE_ONE = 5, 12


@dataclass(frozen=True, eq=False)
class UnnamedFaces:
    """Where faces without names lie, as counts of deviates.

    Attributes
    ----------
    counts : dict of int to (360,) int
        For every enrolled person, by number: deviates of the faces with that person. Most are of
        two people, a few of the person himself.
    apart : (360,) int
        Deviates of two faces of one picture or frame, which are never one person.
    n_people, n_apart : int
        About how many people the faces are of, and the pairs in ``apart``.
    n_faces : int
        Faces that were seen.

    Notes
    -----
    Counts can be added and taken back: without a person's row it is as if the person had never
    been there. There is no vector in it, nor anything that a face could be made of.
    """

    counts: Mapping[int, np.ndarray]
    apart: np.ndarray
    n_people: int
    n_apart: int
    n_faces: int

    def without(self, people: Iterable[int]) -> UnnamedFaces:
        """The same counts without the rows of some people."""
        gone = set(people)
        return replace(self, counts={k: v for k, v in self.counts.items() if k not in gone})

    def evidence(self, prior: ImpostorPrior) -> tuple[ImpostorEvidence, ...]:
        """What they say about impostors beside a prior; nothing where they are too few.

        Faces with enrolled people may be genuine: each comparison counts by the probability that it
        is of two people. Two faces of one picture are two people, and all of them count.
        """
        found = []
        if len(self.counts) > 0:
            total = np.sum(list(self.counts.values()), axis=0)
            n = min(self.n_people, _PER_PERSON * len(self.counts))
            found.append(measure_unnamed(_CENTRES, n, weights=total, scale=prior))
        # As many pairs as n people have with each other.
        pairs = float(self.apart.sum())
        n_paired = min(self.n_apart, (1 + np.sqrt(1 + 8 * pairs)) / 2)
        found.append(
            measure_unnamed(_CENTRES, n_paired, weights=self.apart, apart=True, scale=prior)
        )
        return tuple(one for one in found if one is not None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; counts as pairs of place and number."""
        return {
            "counts": {str(person): _pack(row) for person, row in self.counts.items()},
            "apart": _pack(self.apart),
            "people": self.n_people,
            "people apart": self.n_apart,
            "faces": self.n_faces,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> UnnamedFaces:
        """The inverse of `to_dict`."""
        try:
            return cls(
                {int(person): _unpack(row) for person, row in values["counts"].items()},
                _unpack(values["apart"]),
                *(_count(values[name]) for name in ("people", "people apart", "faces")),
            )
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise InputError(f"these are not counts of unnamed faces: {error}") from error


def _pack(counts: np.ndarray) -> list[list[int]]:
    return [[int(k), int(counts[k])] for k in np.flatnonzero(counts)]


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**40:
        raise ValueError(f"expected a count, got {value!r:.40}")
    return value


def _unpack(pairs: Any) -> np.ndarray:
    counts = np.zeros(len(_CENTRES), dtype=np.int64)
    for place, number in pairs:
        counts[_count(place)] = _count(number)
    return counts


def _tally(z: np.ndarray) -> np.ndarray:
    inside = np.clip(z, _CENTRES[0], _CENTRES[-1])
    return np.histogram(inside, _EDGES)[0].astype(np.int64)


def _choose_faces(sets: np.ndarray) -> np.ndarray:
    """One face of every set, the first; a part of them where they are many."""
    _, first = np.unique(sets, return_index=True)
    rows = np.sort(first)
    return rows[np.linspace(0, len(rows) - 1, min(len(rows), _MOST_SETS)).round().astype(int)]


def observe_faces(
    verifier: ComparesSets,
    X: np.ndarray,
    sets: np.ndarray,
    pictures: np.ndarray,
    people: Mapping[int, tuple[int, np.ndarray]],
) -> UnnamedFaces:
    """Count where faces without names lie.

    Parameters
    ----------
    verifier : Verifier
        Scores sets of pictures, and knows where its impostors lie.
    X : (n, d)
        Vectors of unit length.
    sets : (n,)
        Faces that are one person, as far as is known: of a track, a burst, a group that was found.
        A set counts once, by its first face.
    pictures : (n,)
        Picture or frame of each face; two of one are two people, unless they are of one set. -1
        where that does not hold, as in collages.
    people : mapping of int to (int, (d,))
        Enrolled people by number: how many pictures, and the sum of their vectors.
    """
    X, sets, pictures = np.asarray(X, dtype=np.float64), np.asarray(sets), np.asarray(pictures)
    table = verifier.thresholds_
    rows = _choose_faces(sets)
    counts: dict[int, np.ndarray] = {}
    if people and len(rows):
        numbers = list(people)
        sizes = np.asarray([people[number][0] for number in numbers])
        sums = np.stack([np.asarray(people[number][1]) for number in numbers])
        ones = np.ones(len(rows), dtype=np.int64)
        scores = verifier.score_sums(ones, X[rows], sizes, sums)
        for size in np.unique(sizes):
            curve = table.curve(int(size))
            for column in np.flatnonzero(sizes == size):
                counts[numbers[column]] = _tally(curve.to_deviates(scores[:, column]))
    first, second = _pairs_apart(sets, pictures)
    apart = np.zeros(len(_CENTRES), dtype=np.int64)
    if len(first):
        apart = _tally(table.curve(1).to_deviates(verifier.score_pairs(X[first], X[second])))
    paired = np.unique(sets[np.concatenate([first, second])])
    return UnnamedFaces(counts, apart, len(np.unique(sets)), len(paired), len(X))


def observe_sets(
    verifier: ComparesSets, X: np.ndarray, sets: np.ndarray, prior: ImpostorPrior
) -> ImpostorEvidence | None:
    """What faces without names say about impostors when compared with each other.

    Parameters
    ----------
    verifier : Verifier
        Scores pairs of pictures, and knows where its impostors lie.
    X : (n, d)
        Vectors of unit length.
    sets : (n,)
        Faces that were found to be one person. At most 200 sets are compared, by one face each.
    prior : ImpostorPrior
        Beside which the evidence is to count.

    Returns
    -------
    ImpostorEvidence or None
        None with fewer than five sets, or twelve where one set has more than half of the faces.

    Notes
    -----
    Two sets may still be parts of one person: each comparison counts by the probability that it is
    of two people. A collection in which one person was found says nothing, so that pictures of one
    person only are never taken for impostors who look alike.
    """
    sets = np.asarray(sets)
    rows = _choose_faces(sets)
    largest = int(np.unique(sets, return_counts=True)[1].max(initial=0))
    if len(rows) < (_FEWEST_BESIDE_ONE if 2 * largest > len(sets) else _FEWEST_SETS):
        return None
    faces = np.asarray(X, dtype=np.float64)[rows]
    first, second = np.triu_indices(len(rows), 1)
    scores = verifier.score_pairs(faces[first], faces[second])
    z = verifier.thresholds_.curve(1).to_deviates(scores)
    return measure_unnamed(z, len(rows), scale=prior)


def _pairs_apart(sets: np.ndarray, pictures: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One pair of faces (p,), (p,) for every two sets that were seen in one picture."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    order = np.argsort(pictures, kind="stable")
    cuts = np.flatnonzero(np.diff(pictures[order])) + 1
    for rows in np.split(order, cuts):
        if len(rows) == 0 or pictures[rows[0]] == NO_GROUP:
            continue
        for at, i in enumerate(rows.tolist()):
            for j in rows[:at].tolist():
                low, high = sorted((int(sets[i]), int(sets[j])))
                if low != high:
                    found.setdefault((low, high), (i, j))
        if len(found) >= _MOST_PAIRS:
            break
    pairs = np.asarray(list(found.values()), dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
