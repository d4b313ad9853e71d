"""What learners and reviewers read of a gallery: vectors stay inside the process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mien.gallery._protocol import GalleryStore
    from mien.gallery._records import Constraint, StoredFace

__all__ = ["GalleryReading"]

_APART = ("different-people", "not-sure", "not-this-person")


class GalleryReading:
    """Sums and vectors of people, and who was said to be somebody else."""

    _store: GalleryStore

    @property
    def fingerprint(self) -> str:
        """A text that changes whenever a face is added, moved or deleted."""
        return self._store.fingerprint()

    def read_sums(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Numbers (g,) of everybody with faces, how many each has, and the sums (g, d) of those."""
        parts = list(self._store.people_batches())
        if not parts:
            empty = np.zeros(0, dtype=np.int64)
            return empty, empty, np.zeros((0, self._store.dimension))
        ids, counts, sums = (np.concatenate(one) for one in zip(*parts, strict=True))
        return ids, counts, sums

    def read_vectors(self, identifiers: Sequence[str]) -> np.ndarray:
        """Templates (n, d) of faces by their ids."""
        rows = [self._store.read_vector(one) for one in identifiers]
        return np.concatenate(rows) if rows else np.zeros((0, self._store.dimension))

    def people_apart(self) -> set[tuple[int, int]]:
        """Pairs of numbers of people about whom was said that they are two, or that it is unsure.

        The smaller number first. A face of one that is not the other person counts as well.
        """
        pairs = set()
        numbers: dict[str, int] = {}
        for one in self._store.links():
            if one.kind not in _APART:
                continue
            if not numbers:
                numbers = {person.name: person.number for person in self._store.people()}
            names = _names_of(self._store, one)
            found = sorted({numbers[name] for name in names if name in numbers})
            if len(found) == 2:
                pairs.add((found[0], found[1]))
        return pairs


def _names_of(store: GalleryStore, one: Constraint) -> list[str]:
    """Whom a constraint is about, as they are called now."""
    faces: list[StoredFace | None] = [
        store.find_face(bytes.fromhex(key.digest), key.face)
        for key in (one.face, one.other)
        if key is not None
    ]
    names = [face.person for face in faces if face is not None]
    return [*names, one.person] if one.person is not None else names
