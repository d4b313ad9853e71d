"""What the people of a gallery say about its error rates, made when needed and kept in it."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mien import verification
from mien._core.validation import check_choice
from mien.errors import GalleryDamagedError, GalleryError, InputError
from mien.gallery._protocol import GalleryStore

if TYPE_CHECKING:
    from mien.gallery._face_model import FaceModel
    from mien.verification import OwnCalibration, UnnamedFaces

__all__ = ["OwnRates"]

_MOST_PEOPLE, _MOST_PICTURES = 300, 4


class OwnRates:
    """Calibrations of one model by one gallery.

    Parameters
    ----------
    store : GalleryStore
        Whose people are impostors of each other.
    mark : str
        Digest of the model.
    """

    def __init__(self, store: GalleryStore, mark: str) -> None:
        self._store = store
        self._mark = mark
        self._held: dict[str, tuple[str, OwnCalibration]] = {}

    def get(self, model: FaceModel, impostors: str) -> OwnCalibration:
        """By the people who are enrolled now, and by unnamed faces where some were observed."""
        check_choice("impostors", impostors, verification.IMPOSTORS)
        state = f"{self._mark} {self._store.fingerprint()}"
        held = self._held.get(impostors)
        if held is None or held[0] != state:
            own = self._read_own(state, impostors)
            if own is None:
                own = self._make(model, impostors)
            held = self._held[impostors] = state, own
        return held[1]

    def _make(self, model: FaceModel, impostors: str) -> OwnCalibration:
        """By the people of the gallery, or by those of the model where they are more."""
        told = model.calibrate(impostors)
        seen = self.unnamed()
        unnamed = () if seen is None else seen.evidence(told.prior)
        X, people = self._store.sample(_MOST_PEOPLE, _MOST_PICTURES)
        if len(np.unique(people)) < max((e.n_people for e in told.evidence), default=0):
            return replace(told, evidence=(*unnamed, *told.evidence))
        return verification.calibrate_own(
            model.scorer, X, people, impostors=impostors, prior=model.prior(impostors),
            camera=model.camera, unnamed=unnamed,
        )  # fmt: skip

    def _read(self) -> dict[str, Any]:
        """What the store holds."""
        text = self._store.calibration()
        try:
            held = json.loads(text) if text else {}
        except ValueError as error:
            raise self._damaged() from error
        if not isinstance(held, dict):
            raise self._damaged()
        return held

    def _damaged(self) -> GalleryDamagedError:
        return GalleryDamagedError(
            f"{self._store.where} is corrupted: its calibration is not readable"
        )

    def _read_own(self, state: str, impostors: str) -> OwnCalibration | None:
        """The calibration that is stored, if it is of these people, this model and this kind."""
        held = self._read()
        try:
            if held.get("state") == state and held["own"]["impostors"] == impostors:
                return verification.OwnCalibration.from_dict(held["own"])
        except (ValueError, KeyError, TypeError, InputError) as error:
            raise self._damaged() from error
        return None

    def unnamed(self) -> UnnamedFaces | None:
        """What was observed of unnamed faces with this model, and with people who are there."""
        held = self._read().get("unnamed")
        if held is None:
            return None
        try:
            if held["model"] != self._mark:
                return None
            seen = verification.UnnamedFaces.from_dict(held["seen"])
        except (KeyError, TypeError, InputError) as error:
            raise self._damaged() from error
        return seen.without(set(seen.counts) - set(self._store.names_of(seen.counts)))

    def observe(
        self, model: FaceModel, vectors: np.ndarray, sets: np.ndarray, pictures: np.ndarray
    ) -> UnnamedFaces:
        """Compare unnamed faces with the people of the gallery, and keep the counts."""
        X, people = self._store.sample(_MOST_PEOPLE, _MOST_PICTURES)
        numbers, owner, counts = np.unique(people, return_inverse=True, return_counts=True)
        sums = np.zeros((len(numbers), vectors.shape[1]))
        np.add.at(sums, owner, X)
        enrolled = {
            int(number): (int(count), total)
            for number, count, total in zip(numbers, counts, sums, strict=True)
        }
        seen = verification.observe_faces(model.scorer, vectors, sets, pictures, enrolled)
        self._write_unnamed(seen)
        return seen

    def _write_unnamed(self, seen: UnnamedFaces | None) -> None:
        """Store what was seen; a calibration that knew something else is forgotten."""
        self._held = {}
        held = {} if seen is None else {"unnamed": {"model": self._mark, "seen": seen.to_dict()}}
        self._store.set_calibration(json.dumps(held))

    def forget(self, *, unnamed: bool = False) -> None:
        """Take everything that deleted people said out of the store, and unnamed faces if asked.

        It is called after a deletion and before the store is purged. What cannot be read is
        forgotten as well: it must not stand in the way of a deletion.
        """
        if not self._store.calibration():
            return
        seen = None
        with suppress(GalleryDamagedError):
            seen = None if unnamed else self.unnamed()
        self._write_unnamed(seen)

    def keep(self) -> None:
        """Write the calibration that was used last, where the store holds another one."""
        held = self._held.get("lookalikes")
        if held is None or self._store.read_only:
            return
        state, own = held
        # What cannot be written is made again next time.
        with suppress(GalleryError):
            if (
                state == f"{self._store.model_mark()} {self._store.fingerprint()}"
                and self._read_own(state, "lookalikes") is None
            ):
                seen = self._read().get("unnamed")
                kept = {} if seen is None else {"unnamed": seen}
                self._store.set_calibration(
                    json.dumps({"state": state, "own": own.to_dict(), **kept})
                )
