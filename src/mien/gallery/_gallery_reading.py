"""What is read of a gallery: people, faces, what was said about them, and what was done."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mien._core.validation import check_integer
from mien.errors import InputError
from mien.gallery._checks import check_digest, check_name
from mien.gallery._records import (
    AuditEntry,
    Change,
    Constraint,
    FaceKey,
    GalleryPolicy,
    Person,
    StoredFace,
)

if TYPE_CHECKING:
    from mien.gallery._protocol import GalleryStore

__all__ = ["GalleryReading"]

_APART = ("different-people", "not-sure", "not-this-person")


class GalleryReading:
    """The part of a gallery that only reads; vectors stay inside the process."""

    def __init__(self, store: GalleryStore) -> None:
        self._store = store
        self._count: tuple[int, int] = (-1, 0)
        self._names: tuple[int, list[tuple[str, int]]] = (-1, [])

    @property
    def path(self) -> Path:
        """Where the file is; of a gallery in a database its address, without a password."""
        return self._store.path

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return self._store.dimension

    @property
    def features(self) -> str:
        """What the vectors are; a verifier or an engine of other features is refused."""
        return self._store.features

    @property
    def sealed(self) -> bool:
        """Whether templates are encrypted."""
        return self._store.sealed

    @property
    def read_only(self) -> bool:
        """Whether it was opened to be read only."""
        return self._store.read_only

    @property
    def rotated(self) -> bool:
        """Whether templates are turned by a secret rotation before they are sealed."""
        return self._store.rotated

    @property
    def policy(self) -> GalleryPolicy:
        """What the gallery keeps and demands."""
        text = self._store.policy()
        return GalleryPolicy() if text is None else GalleryPolicy(**json.loads(text))

    def __len__(self) -> int:
        revision = self._store.revision()
        if self._count[0] != revision:
            self._count = revision, self._store.count_people()
        return self._count[1]

    # People.

    def people(self) -> list[Person]:
        """Everybody, by name."""
        found = self._store.people()
        return sorted(found, key=lambda person: (person.name.casefold(), person.number))

    def list_people(
        self,
        *,
        containing: str = "",
        after: tuple[str, int] | None = None,
        limit: int | None = None,
    ) -> list[Person]:
        """A page of people, by name; only those of the page are read from the file.

        Parameters
        ----------
        containing : str
            Part of the name, whatever the case.
        after : (str, int) or None
            Only those who come after this name in lower case (``str.casefold``) and number.
        limit : int or None
            At most this many.
        """
        revision = self._store.revision()
        if self._names[0] != revision:
            names = self._store.all_names()
            self._names = revision, sorted((n.casefold(), number) for number, n in names.items())
        ordered = self._names[1]
        wanted: list[int] = []
        part = containing.casefold()
        for k in range(0 if after is None else bisect_right(ordered, after), len(ordered)):
            if limit is not None and len(wanted) >= limit:
                break
            folded, number = ordered[k]
            if part in folded:
                wanted.append(number)
        found = {person.number: person for person in self._store.get_people(wanted)}
        return [found[number] for number in wanted if number in found]

    def get_person(self, number: int) -> Person | None:
        """The person with this number, or None."""
        if not 0 <= check_integer("number", number) < 2**63:
            return None
        found = self._store.get_people([number])
        return found[0] if found else None

    def find_person(self, name: str) -> Person | None:
        """The person with this name, or None."""
        number = self._store.find_person(check_name(name))
        return None if number is None else self.get_person(number)

    def _require_person(self, name: str) -> Person:
        held = self.find_person(name)
        if held is None:
            raise InputError(f"nobody in {self._store.where} is called {check_name(name)!r}")
        return held

    def due(self, now: float | None = None, *, days: float | None = None) -> list[Person]:
        """People who are due for deletion: retention or consent has ended, or no use for ``days``
        days.

        Parameters
        ----------
        now : float or None
            Seconds since 1970; None is the present.
        days : float or None
            Days since the last use; None is what the policy says.
        """
        moment = time.time() if now is None else float(now)
        policy = self.policy
        days = policy.retain_days if days is None else days
        found = []
        for person in self._store.people():
            ends = [person.retain_until]
            if policy.consent:
                ends.append(moment if person.consent is None else person.consent.until)
            if days is not None:
                ends.append(max(person.added, person.used or 0) + 86_400 * days)
            if any(end is not None and end <= moment for end in ends):
                found.append(person)
        return sorted(found, key=lambda person: person.number)

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

    def export_person(self, person: str) -> dict[str, Any]:
        """Everything that the gallery holds about a person, as plain values for JSON."""
        held = self._require_person(person)
        faces = []
        for face in self.faces(held.name):
            picture = self.thumbnail(face.id)
            faces.append(
                {
                    **asdict(face),
                    "vector": self._store.read_vector(face.id)[0].tolist(),
                    "thumbnail": None if picture is None else b64encode(picture).decode("ascii"),
                }
            )
        digests = {face["digest"] for face in faces}
        return {
            **asdict(held),
            "features": self.features,
            "faces": faces,
            "constraints": [
                asdict(one)
                for one in self.constraints()
                if one.person == held.name or one.face.digest in digests
            ],
            "history": [asdict(one) for one in self.history() if held.name in one.names],
            "audit": [asdict(one) for one in self.audit() if one.person == held.number],
        }

    # Faces.

    def faces(
        self, person: str | None = None, *, after: str | None = None, limit: int | None = None
    ) -> list[StoredFace]:
        """Faces of everybody or of one person, in a fixed order.

        Parameters
        ----------
        person : str or None
            Whose faces; None is everybody's.
        after : str or None
            Only those that come after the face with this id: for reading in pages.
        limit : int or None
            At most this many.
        """
        name = None if person is None else check_name(person)
        return self._store.list_faces(name, after, limit)

    def get_face(self, identifier: str) -> StoredFace | None:
        """The face with this id, or None."""
        return self._store.get_face(identifier)

    def find_face(self, digest: str, face: int = 0) -> StoredFace | None:
        """A face of the picture with this SHA-256, or None."""
        return self._store.find_face(check_digest(digest), check_integer("face", face, 0))

    def contains(self, digest: str) -> bool:
        """Whether a face of the picture with this SHA-256 is enrolled."""
        return self._store.contains(check_digest(digest))

    def thumbnail(self, identifier: str) -> bytes | None:
        """The small picture of a face, or None where none is kept."""
        return self._store.thumbnail(identifier)

    def _face_key(self, face: Any) -> FaceKey:
        if isinstance(face, str):
            found = self._store.find_key(face)
            if found is None:
                raise InputError(f"no face in {self._store.where} has the id {face!r}")
            return found
        try:
            digest, number = face
        except (TypeError, ValueError) as error:
            raise InputError(
                "a face is the id of an enrolled one, or SHA-256 of a picture and a number; "
                f"got {face!r:.60}"
            ) from error
        return FaceKey(check_digest(digest).hex(), check_integer("face", number, 0))

    def constraints(self) -> list[Constraint]:
        """Everything that was said about faces, from the first."""
        return self._store.links()

    # Vectors.

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

    def sample_vectors(
        self, n_people: int = 300, n_pictures: int = 4
    ) -> tuple[np.ndarray, np.ndarray]:
        """Templates (n, d) of the first people, and the numbers (n,) of those people."""
        return self._store.sample(n_people, n_pictures)

    # What was done.

    def history(self, limit: int | None = None) -> list[Change]:
        """Changes that can be undone, and those that were, from the last; at most 1,000."""
        return self._store.history(None if limit is None else check_integer("limit", limit, 1))

    def audit(self) -> list[AuditEntry]:
        """What was done, from the first; without biometric data and without names."""
        return self._store.trail()


def _names_of(store: GalleryStore, one: Constraint) -> list[str]:
    """Whom a constraint is about, as they are called now."""
    faces: list[StoredFace | None] = [
        store.find_face(bytes.fromhex(key.digest), key.face)
        for key in (one.face, one.other)
        if key is not None
    ]
    names = [face.person for face in faces if face is not None]
    return [*names, one.person] if one.person is not None else names
