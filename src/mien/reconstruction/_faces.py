"""Training faces of any size: an array, a memory map or a stream, as batches of vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from mien._core.validation import check_images
from mien.errors import InputError

__all__ = ["FaceStream"]

# The share of faces that is held out of the training, and the most of them.
_HOLD_SHARE = 10
_HOLD_MOST = 500


class FaceStream:
    """Batches (n_i, d) of float32 vectors, the same at every pass.

    Parameters
    ----------
    faces : array (n, h, w) or (n, h, w, 3), callable or iterable
        Pictures in memory or in a memory map; or a function that returns an iterator of such
        arrays (or of records with ``images``); or a list of them.
    batch_size : int
        Faces of an array in a batch.
    mirror : bool
        Also give each face mirrored, in batches of their own.

    Notes
    -----
    The first tenth of each batch, until there are five hundred, is held out: it is in ``held_out``
    and not in the batches. Pictures of one person mostly stand together, so these are mostly other
    people than those learned from.
    """

    def __init__(self, faces: Any, batch_size: int, mirror: bool) -> None:
        self.batch_size = batch_size
        self.mirror = mirror
        self._source = self._as_source(faces)
        first = next(iter(self._raw()), None)
        if first is None:
            raise InputError("there are no faces to learn from: the stream is empty")
        self.shape = first.shape[1:]
        held: list[np.ndarray] = []
        for batch, held_rows in self._parts():
            held.append(batch[held_rows])
            if sum(map(len, held)) >= _HOLD_MOST:
                break
        self.held_out = _as_vectors(np.concatenate(held))

    def _as_source(self, faces: Any) -> Callable[[], Iterable[Any]]:
        if callable(faces):
            return faces
        if isinstance(faces, np.ndarray) or hasattr(faces, "images"):
            array = getattr(faces, "images", faces)
            size = self.batch_size
            return lambda: (array[low : low + size] for low in range(0, len(array), size))
        if iter(faces) is faces:
            raise InputError(
                "an iterator is empty after one pass, and training makes several: give a function "
                "that returns a new one, such as `lambda: iter_faces(...)`"
            )
        if len(faces) and np.ndim(faces[0]) == 2:
            return self._as_source(np.asarray(faces))
        return lambda: faces

    def _raw(self) -> Iterator[np.ndarray]:
        shape = getattr(self, "shape", None)
        for batch in self._source():
            images = check_images("faces", getattr(batch, "images", batch))
            if shape is not None and images.shape[1:] != shape:
                raise InputError(f"faces must all be {shape}; got {images.shape[1:]}")
            yield images

    def _parts(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Batches, and which of their rows are held out."""
        held = 0
        for images in self._raw():
            count = min(len(images) // _HOLD_SHARE, _HOLD_MOST - held)
            held += count
            yield images, np.arange(len(images)) < count

    @property
    def n_features(self) -> int:
        return int(np.prod(self.shape))

    def __call__(self) -> Iterator[np.ndarray]:
        for images, held_rows in self._parts():
            images = images[~held_rows]
            if len(images) == 0:
                continue
            yield _as_vectors(images)
            if self.mirror:
                yield _as_vectors(images[:, :, ::-1])


def _as_vectors(images: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(images.reshape(len(images), int(np.prod(images.shape[1:]))))
