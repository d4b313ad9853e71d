"""Training faces of any number: an array, a memory map or a stream, as batches of vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from mien._core.validation import check_images
from mien.completion._base import HELD_OUT_MAX, HELD_OUT_SHARE, split_held_out
from mien.errors import InputError

__all__ = ["FaceStream"]


class FaceStream:
    """Batches (n_i, d) of float32 vectors, the same at every pass.

    Parameters
    ----------
    faces : array (n, h, w) or (n, h, w, 3), callable or iterable
        Pictures in memory or in a memory map; or a function that returns an iterator of such
        arrays (or of records with ``images``); or a list of them.
    people : (n,) or None
        Who each face of an array is.
    batch_size : int
        Faces of an array in a batch.
    mirror : bool
        Also give each face mirrored, in batches of their own.
    shift : int
        Also give each face moved by so many pixels up, down, left and right, in batches of their
        own; the pixels at the edge are repeated. 0 does not.

    Notes
    -----
    A tenth of the people of an array is held out, at most some five hundred faces: they are in
    ``held_out`` and not in the batches. Where the people are not known, the first faces are held
    out (of each batch, for a stream): faces of one person usually stand together.
    """

    def __init__(
        self, faces: Any, people: Any, batch_size: int, mirror: bool, shift: int = 0
    ) -> None:
        self.batch_size = batch_size
        self.mirror = mirror
        self.shift = shift
        self._rows: np.ndarray | None = None
        self._source = self._as_source(faces, people)
        first = next(iter(self._raw()), None)
        if first is None:
            raise InputError("there are no faces to learn from: the stream is empty")
        self.shape = first.shape[1:]
        held: list[np.ndarray] = []
        for batch, held_rows in self._parts():
            held.append(batch[held_rows])
            if self._rows is None and sum(map(len, held)) >= HELD_OUT_MAX:
                break
        self.held_out = _as_vectors(np.concatenate(held))

    def _as_source(self, faces: Any, people: Any) -> Callable[[], Iterable[Any]]:
        if isinstance(faces, np.ndarray) or hasattr(faces, "images"):
            array = getattr(faces, "images", faces)
            people = getattr(faces, "people", None) if people is None else people
            if people is not None:
                self._rows = split_held_out(len(array), people)
            size = self.batch_size
            return lambda: (array[low : low + size] for low in range(0, len(array), size))
        if people is not None:
            raise InputError("people can be given for an array of faces, not for a stream")
        if callable(faces):
            return faces
        if not hasattr(faces, "__iter__") or isinstance(faces, (str, bytes, dict)):
            raise InputError(f"faces must be pictures or a stream; got {type(faces).__name__}")
        if hasattr(faces, "nnz"):
            raise InputError("faces is a sparse matrix: give pictures (n, h, w)")
        if iter(faces) is faces:
            raise InputError(
                "an iterator is empty after one pass, and training makes several: pass a function "
                "that returns a new one, such as `lambda: iter_faces(...)`"
            )
        if len(faces) and np.ndim(faces[0]) == 2:
            return self._as_source(np.asarray(faces), None)
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
        held = start = 0
        for images in self._raw():
            if self._rows is not None:
                yield images, self._rows[start : start + len(images)]
            else:
                count = min(len(images) // HELD_OUT_SHARE, HELD_OUT_MAX - held)
                held += count
                yield images, np.arange(len(images)) < count
            start += len(images)

    def __call__(self) -> Iterator[np.ndarray]:
        for images, held_rows in self._parts():
            images = images[~held_rows]
            if len(images) == 0:
                continue
            for moved in _move(images, self.shift):
                yield _as_vectors(moved)
                if self.mirror:
                    yield _as_vectors(moved[:, :, ::-1])


def _move(images: np.ndarray, shift: int) -> Iterator[np.ndarray]:
    """Pictures as they are, then moved up, down, left and right by so many pixels."""
    yield images
    if shift == 0:
        return
    height, width = images.shape[1:3]
    room = [(0, 0), (shift, shift), (shift, shift), *[(0, 0)] * (images.ndim - 3)]
    padded = np.pad(images, room, mode="edge")
    for row, column in ((2, 1), (0, 1), (1, 2), (1, 0)):
        top, left = row * shift, column * shift
        yield padded[:, top : top + height, left : left + width]


def _as_vectors(images: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(images.reshape(len(images), int(np.prod(images.shape[1:]))))
