"""What was answered about faces, as groups, pairs and names that the verbs must respect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mien._core.validation import NO_GROUP
from mien.gallery import Constraint, FaceKey, Gallery

__all__ = ["Constrained", "constrain", "read_answers", "relabel", "sample_people"]


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
        SHA-256 of the picture and number of each face; copies of a picture have the same.
    groups : (n,)
        Faces that stay together; -1 for none.
    apart : (n_pairs, 2)
        Faces that never meet.

    Notes
    -----
    An answer that contradicts the others is left out: of "same" and "different" about two groups,
    directly or through others, "different" holds. It also holds against a burst or a track.
    """
    row = _number_rows(keys)
    keep = np.ones(len(keys), dtype=bool)
    said: dict[tuple[int, int], str] = {}
    for one in constraints:
        rows = row.get((one.face.digest, one.face.face), [])
        if one.kind == "not-a-face":
            keep[rows] = False
        elif one.other is not None:
            for first in rows:
                for second in row.get((one.other.digest, one.other.face), []):
                    if first != second:
                        said[(min(first, second), max(first, second))] = one.kind
    pairs = [pair for pair, kind in said.items() if kind == "different-people"]
    told = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    never = np.concatenate([apart.reshape(-1, 2), told])
    labels = groups.astype(np.int64, copy=True)
    # A burst or a track of which somebody said that it is two people is no group.
    wrong = labels[told[:, 0]][labels[told[:, 0]] == labels[told[:, 1]]]
    labels[np.isin(labels, wrong[wrong != NO_GROUP])] = NO_GROUP
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


def _number_rows(keys: Sequence[tuple[str, int]]) -> dict[tuple[str, int], list[int]]:
    """Rows of each face: several where a picture was copied."""
    found: dict[tuple[str, int], list[int]] = {}
    for k, (digest, face) in enumerate(keys):
        if digest:
            found.setdefault((digest, int(face)), []).append(k)
    return found


def read_answers(gallery: Gallery) -> list[Constraint]:
    """What was said in a gallery, about faces alone.

    A face that is not a person is a face of somebody else than all faces of that person.
    """
    answers: list[Constraint] = []
    faces: dict[str, list[FaceKey]] = {}
    for one in gallery.constraints():
        if one.kind != "not-this-person" or one.person is None:
            answers.append(one)
            continue
        if one.person not in faces:
            stored = gallery.faces(one.person)
            faces[one.person] = [FaceKey(face.digest, face.face) for face in stored]
        answers += [
            replace(one, kind="different-people", other=other, person=None)
            for other in faces[one.person]
            if other != one.face
        ]
    return answers


def relabel(
    constraints: Sequence[Constraint], keys: Sequence[tuple[str, int]], people: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Correct the names of faces by what was answered about them.

    Parameters
    ----------
    constraints : list of Constraint
        Of a gallery.
    keys : list of (str, int)
        SHA-256 of the picture and number of each face.
    people : (n,)
        Who each face is said to be.

    Returns
    -------
    keep : (n,)
        False for what is not a face or not this person, and for two faces of one name that were
        said to be two people: one of them is wrong, and nobody knows which.
    people : (n,)
        Two names whose faces were said to be one person are one, the first of both.
    """
    row = _number_rows(keys)
    keep = np.ones(len(keys), dtype=bool)
    names = people.copy()
    for one in constraints:
        rows = row.get((one.face.digest, one.face.face), [])
        if one.kind == "not-a-face":
            keep[rows] = False
        elif one.kind == "not-this-person":
            keep[[k for k in rows if str(people[k]) == one.person]] = False
        elif one.kind == "same-person" and one.other is not None:
            both = [*rows, *row.get((one.other.digest, one.other.face), [])]
            if both:
                found = sorted(set(names[both].tolist()))
                names[np.isin(names, found)] = found[0]
    for one in constraints:
        if one.kind == "different-people" and one.other is not None:
            rows = row.get((one.face.digest, one.face.face), [])
            others = row.get((one.other.digest, one.other.face), [])
            for first in rows:
                for second in others:
                    if names[first] == names[second]:
                        keep[[first, second]] = False
    return keep, names


def sample_people(gallery: Gallery) -> tuple[np.ndarray, np.ndarray]:
    """Templates (n, d) of people of a gallery and who they are (n,), to adapt to.

    At most 200 people and ten templates of each. People with faces that were said to be one person
    count as one.
    """
    X, people = gallery.sample_vectors(200, 10)
    joined = people.copy()
    for one in gallery.constraints():
        if one.kind != "same-person" or one.other is None:
            continue
        faces = [gallery.find_face(key.digest, key.face) for key in (one.face, one.other)]
        owners = {face.person for face in faces if face is not None}
        known = [gallery.find_person(name) for name in owners]
        numbers = [person.number for person in known if person is not None]
        if len(numbers) == 2:
            mine = joined[np.isin(people, numbers)]
            if len(mine):
                joined[np.isin(joined, mine)] = mine.min()
    return X, joined
