"""What to ask about the people of a gallery, and which of their faces are in doubt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mien.gallery import Gallery, StoredFace
from mien.recognition._cluster_linkage import own_ratios
from mien.recognition._questions import choose_questions

__all__ = ["PersonQuestion", "ask_gallery", "doubt_faces"]

_MOST_FACES = 2_000


class PersonQuestion(NamedTuple):
    """Are two people of a gallery one? Fields as in :class:`Question`; people by their numbers."""

    a: int
    b: int
    log_ratio: float
    probability: float
    gain: float


def ask_gallery(gallery: Gallery, n_questions: int = 10) -> list[PersonQuestion]:
    """Pairs of people of a gallery that should be asked about, the most useful first.

    Parameters
    ----------
    gallery : Gallery
        Whose people; those whom an answer has settled, and two people on one picture, are left
        out.
    n_questions : int
        Maximum number.
    """
    numbers, counts, sums = gallery.read_sums()
    row = {int(number): k for k, number in enumerate(numbers)}
    apart = [
        (row[a], row[b]) for a, b in gallery.people_apart() if a in row and b in row and a != b
    ]
    found = choose_questions(
        gallery.model.verifier, counts, sums, apart=apart, n_questions=n_questions
    )
    return [
        PersonQuestion(
            int(numbers[one.a]), int(numbers[one.b]), one.log_ratio, one.probability, one.gain
        )
        for one in found
    ]


def doubt_faces(gallery: Gallery, person: str) -> list[tuple[StoredFace, float]]:
    """Faces of a person with the log ratio of each and the others; low ones are worth a look.

    NaN where there is nothing to compare with.
    """
    faces = gallery.faces(person, limit=_MOST_FACES)
    if not faces:
        return []
    X = gallery.read_vectors([face.id for face in faces])
    ratios = own_ratios(gallery.model.verifier, X, np.zeros(len(X), dtype=np.int64))
    return list(zip(faces, ratios.tolist(), strict=True))
