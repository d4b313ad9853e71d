"""The model of a gallery, and what the gallery's own people say about its rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mien.errors import GalleryDamagedError, InputError, ModelDamagedError, ModelFileError
from mien.gallery._checks import scale_vectors
from mien.gallery._face_model import FaceModel
from mien.gallery._gallery_reading import GalleryReading
from mien.gallery._own_rates import OwnRates
from mien.gallery._search import Search

if TYPE_CHECKING:
    from mien.gallery._protocol import GalleryStore
    from mien.verification import OwnCalibration, UnnamedFaces, Verifier

__all__ = ["GalleryModel", "read_model"]


class GalleryModel(GalleryReading):
    """The part of a gallery that compares: its model, and the error rates measured on its
    people."""

    def _adopt(self, model: FaceModel | None) -> None:
        self._model = model
        self._mark = self._store.model_mark()
        self._search = Search(self._store, lambda: self.model.scorer, self._mark)
        self._rates = OwnRates(self._store, self._mark)

    @property
    def model(self) -> FaceModel:
        """What names faces; read when it is first used if the gallery was opened to read only."""
        if self._model is None:
            self._model = read_model(self._store)
        return self._model

    def _follow_model(self) -> None:
        """Take over a model that another process has set."""
        if self._store.model_mark() != self._mark:
            self._adopt(read_model(self._store))

    def set_model(self, model: FaceModel | Verifier) -> None:
        """Replace the model, as after an adaptation; its features must be the same."""
        model = FaceModel.of(model)
        if (model.features, model.n_features) != (self.features, self._store.dimension):
            raise InputError(
                f"the gallery holds {self._store.dimension} numbers of {self.features!r}; the "
                f"model is for {model.n_features} of {model.features!r}: vectors of two engines "
                "are never compared, so enrol the pictures again with the other engine"
            )
        from mien.files import save_bytes

        self._store.set_model(save_bytes(model))
        self._search.forget()
        self._adopt(model)

    def revert_model(self) -> FaceModel:
        """Go back to the model that was replaced last; once more returns to the present one."""
        before = self._store.model_before()
        if before is None:
            raise InputError(
                f"the model of {self.path} was never replaced: there is nothing to revert to"
            )
        self._store.set_model(before)
        self._search.forget()
        self._adopt(read_model(self._store))
        return self.model

    def score_face(self, identifier: str, vectors: Any) -> np.ndarray:
        """Log ratios (n,) of one stored face and each of ``vectors`` (n, d)."""
        X = scale_vectors(vectors, self._store.dimension).astype(np.float64)
        stored = self._store.read_vector(identifier).astype(np.float64)
        return self.model.scorer.score_pairs(np.repeat(stored, len(X), axis=0), X)

    # What the gallery's own people say about the rates.

    @property
    def calibration(self) -> OwnCalibration:
        """What the people of this gallery say about its impostors; see :meth:`calibrate`."""
        return self.calibrate()

    def calibrate(self, impostors: str = "lookalikes") -> OwnCalibration:
        """Calibrate on the enrolled people, who are impostors of each other.

        It is recomputed whenever faces are added, moved or deleted, so a deleted person leaves no
        trace in it. It is stored in the file, as a few numbers.

        Parameters
        ----------
        impostors : {"lookalikes", "strangers"}
            Who is expected to be mistaken for whom.
        """
        self._follow_model()
        return self._rates.get(self.model, impostors)

    def observe(
        self, vectors: Any, sets: Sequence[int] | None = None, pictures: Sequence[int] | None = None
    ) -> UnnamedFaces:
        """Learn from faces without names where impostors lie in pictures of this camera.

        Only counts are kept, no vector; they take the place of those of an earlier call. What was
        counted with a person is taken back when the person is deleted.

        Parameters
        ----------
        vectors : (n, d)
            Faces of anybody; people of the gallery may be among them.
        sets : (n,) int, optional
            Faces that are one person, as far as is known, such as a track of a video or a group
            of :func:`mien.recognition.cluster`; each counts once. None: every face is its own.
        pictures : (n,) int, optional
            Picture or frame of each face; two of one are never one person. -1 for none.

        Returns
        -------
        UnnamedFaces
        """
        X = scale_vectors(vectors, self.dimension)
        numbers = [np.arange(len(X)) if sets is None else np.asarray(sets, dtype=np.int64)]
        numbers.append(
            np.full(len(X), -1) if pictures is None else np.asarray(pictures, dtype=np.int64)
        )
        for name, given in zip(("sets", "pictures"), numbers, strict=True):
            if given.shape != (len(X),):
                raise InputError(f"{name} must have one number per face; got {given.shape}")
        self._follow_model()
        return self._rates.observe(self.model, X, *numbers)

    def unnamed(self) -> UnnamedFaces | None:
        """What :meth:`observe` has counted, with the people who are still there."""
        self._follow_model()
        return self._rates.unnamed()

    def forget_unnamed(self) -> None:
        """Forget what :meth:`observe` has counted."""
        self._rates.forget(unnamed=True)


def read_model(store: GalleryStore) -> FaceModel:
    """The model that a store holds, or an error that says what is wrong with it."""
    from mien.files import load_bytes

    try:
        held = load_bytes(store.model(), "its model")
        if not FaceModel.takes(held):
            raise ModelDamagedError(f"a {type(held).__name__} cannot compare faces")
        model = FaceModel.of(held)
    except (ModelFileError, InputError) as error:
        raise GalleryDamagedError(f"{store.where} is corrupted: {error}") from error
    if model.features != store.features or model.n_features != store.dimension:
        raise GalleryDamagedError(f"{store.where} is corrupted: its model is for other vectors")
    return model
