"""Strangers who come again: a number each, which stays the same as long as they are remembered."""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from pathlib import Path
from typing import Self

import numpy as np

from mien.gallery import FaceModel, Gallery, remove_gallery

__all__ = ["Strangers"]

_MOST_FACES = 20
_PER_VISIT = 5
_DAY = 86_400.0


class Strangers:
    """People without a name, remembered by their faces so that they have a number.

    Parameters
    ----------
    model : FaceModel
        Of the gallery that does not know them.
    path : path or None
        A gallery file of their own, so that numbers survive a restart. None remembers them until
        :meth:`close`, in a temporary file that is then overwritten.
    key : bytes, str or None
        With which that gallery is sealed.
    fpir : float
        Maximum share of new strangers who may wrongly get the number of another.
    days : float
        How long somebody is remembered who does not come again; 0 is for ever.

    Notes
    -----
    These are biometric data of people who were not asked. The default keeps nothing beyond the
    run; with a path they are forgotten after 30 days.
    """

    def __init__(
        self,
        model: FaceModel,
        path: str | os.PathLike[str] | None = None,
        *,
        key: bytes | str | None = None,
        fpir: float = 0.01,
        days: float = 30.0,
    ) -> None:
        self._fpir = fpir
        self._days = days
        self._looked = 0.0
        self._temporary = None if path is not None else tempfile.TemporaryDirectory(prefix="mien-")
        if self._temporary is not None:
            path = Path(self._temporary.name) / "strangers.gallery"
        place = Path(os.fspath(path or ""))
        self._key = key
        if place.exists():
            self._gallery = Gallery.open(place, key=key)
        else:
            self._gallery = Gallery.create(place, model, key=key)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._gallery)

    def number(self, vectors: np.ndarray, *, apart: frozenset[int] = frozenset()) -> int:
        """The number of the stranger that these faces (m, d) show, a new one if need be.

        Parameters
        ----------
        vectors : (m, d)
            Faces of one visit.
        apart : frozenset of int
            Strangers who were seen in the same frame, and are therefore somebody else.
        """
        self._forget_old()
        found = self._gallery.identify([vectors], fpir=self._fpir, top=1)[0]
        person = None if found.person is None else self._gallery.find_person(found.person)
        if person is None or person.number in apart:
            name = f"stranger-{secrets.token_hex(8)}"
            room = _MOST_FACES
        else:
            name, room = person.name, _MOST_FACES - person.templates
        some = vectors[_spread(len(vectors), min(_PER_VISIT, room))]
        if len(some):
            self._gallery.enrol(name, some)
        kept = self._gallery.find_person(name)
        return -1 if kept is None else kept.number

    def forget(self, number: int) -> bool:
        """Forget a stranger for good; False where nobody has this number."""
        person = self._gallery.get_person(number)
        if person is not None:
            self._gallery.delete(person.name)
        return person is not None

    def _forget_old(self) -> None:
        now = time.time()
        if not self._days or now - self._looked < min(_DAY / 24, self._days * _DAY):
            return
        self._looked = now
        for person in self._gallery.people():
            last = max((face.added for face in self._gallery.faces(person.name)), default=0.0)
            if last < now - self._days * _DAY:
                self._gallery.delete(person.name)

    def close(self) -> None:
        """Let the file go; a temporary one is overwritten and removed."""
        place = self._gallery.path
        self._gallery.close()
        if self._temporary is not None:
            remove_gallery(place, key=self._key)
            self._temporary.cleanup()
            self._temporary = None


def _spread(n: int, wanted: int) -> np.ndarray:
    """Rows (at most ``wanted``) from the first to the last."""
    if wanted <= 0:
        return np.zeros(0, dtype=np.intp)
    return np.unique(np.linspace(0, n - 1, min(n, wanted)).round().astype(np.intp))
