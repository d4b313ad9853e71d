"""Whole faces from their visible part: a completer for pictures and covers."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple, overload

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.utils.validation import check_is_fitted

from mien._core.constraints import NON_NEGATIVE_INTEGER, POSITIVE_INTEGER
from mien.completion._base import Completer, Completion
from mien.completion._covers import make_cover
from mien.completion._names import make_completer
from mien.completion._stream import FaceStream
from mien.errors import InputError, InputTypeError

__all__ = ["CompletedFaces", "FaceCompleter"]


class CompletedFaces(NamedTuple):
    """Completed faces with their codes and a map of confidence.

    Attributes
    ----------
    faces : (n, h, w) or (n, h, w, 3)
        Completed pictures, float32 in [0, 1].
    codes : csr_matrix (n, n_atoms) or None
        Sparse codes, where the method has any and all faces have one cover.
    confidence : (h, w) or (n, h, w)
        1 where a pixel is visible, 0 where the estimate is no better than the mean face. One map
        per face where each has its own cover.
    """

    faces: np.ndarray
    codes: sparse.csr_matrix | None
    confidence: np.ndarray


class FaceCompleter(BaseEstimator):
    """Learn whole faces, and complete faces of which a part is covered.

    Pictures, names of covers and streams around a :class:`Completer`, which works on vectors.

    Parameters
    ----------
    completer : Completer or str
        How to complete: any completer, or a name of :data:`COMPLETERS` for one with its default
        parameters. Its ``cover`` is set to that of the faces.
    cover : str or (h, w) of bool
        What will be covered: a name of :data:`COVERS`, or a picture that is True there.
        Completers that are not bound to it complete other covers as well, a little worse.
    mirror : bool
        Also learn from every face mirrored. Set to False for faces whose sides differ.
    shift : int
        Also learn from every face moved by so many pixels up, down, left and right. 1 pays where
        faces are few and not exactly aligned; learning takes five times as long.
    keep_visible : bool
        Return visible pixels as they are, instead of their estimates.
    batch_size : int
        Number of faces of an array or memory map that are read at a time.

    Attributes
    ----------
    completer_ : Completer
        The fitted completer.
    shape_ : tuple
        Height, width (and channels) of a face.
    cover_ : (h, w) of bool
        The cover of ``fit``.
    error_, mean_error_ : (h, w)
        Mean squared error of each pixel on faces held out: of the estimate, and of the mean face.

    See Also
    --------
    RidgeCompleter, BlendCompleter, AutoCompleter, DictionaryCompleter : what to put in.
    mien.recognition.complete : finds faces and covers in photographs.

    Notes
    -----
    Covered pixels are never read: they may be NaN. A tenth of the people is held out to choose
    penalties and to measure the errors; give ``people`` so that they are people, not pictures.

    References
    ----------
    [JuefeiXu2016]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> from mien.completion import FaceCompleter
    >>> from mien.datasets import make_faces
    >>> faces = make_faces(60, 3, size=32, random_state=0).images
    >>> model = FaceCompleter("ridge", cover="below-eyes").fit(faces[:150])
    >>> model.complete(faces[150:]).shape
    (30, 32, 32)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "completer": [str, Completer],
        "cover": [str, "array-like"],
        "mirror": ["boolean"],
        "shift": [NON_NEGATIVE_INTEGER],
        "keep_visible": ["boolean"],
        "batch_size": [POSITIVE_INTEGER],
    }

    def __init__(
        self,
        completer: Completer | str = "blend",
        *,
        cover: Any = "below-eyes",
        mirror: bool = True,
        shift: int = 0,
        keep_visible: bool = True,
        batch_size: int = 2048,
    ) -> None:
        self.completer = completer
        self.cover = cover
        self.mirror = mirror
        self.shift = shift
        self.keep_visible = keep_visible
        self.batch_size = batch_size

    # ------------------------------------------------------------------ learning

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self, faces: Any, y: Any = None, *, people: Any = None, foreign: FaceCompleter | None = None
    ) -> FaceCompleter:
        """Learn from whole faces.

        Parameters
        ----------
        faces : (n, h, w) or (n, h, w, 3), callable or iterable
            Pictures, ``uint8`` or floats in [0, 1]: an array, a memory map, a record with
            ``images`` and ``people``, or a function that returns an iterator of such batches
            (:func:`mien.datasets.iter_faces` is one).
        y : None
            Not used.
        people : (n,) or None
            Who each face is.
        foreign : FaceCompleter or None
            Fitted on many faces of others, of the same size and framed alike: where your faces are
            few, how those vary counts as much as your held-out people ask for, perhaps not at all.
            For ``"ridge"``, and for ``"blend"`` and ``"auto"``, of which ridge is a part.
        """
        chosen = self.completer
        completer = make_completer(chosen) if isinstance(chosen, str) else clone(chosen)
        stream = FaceStream(faces, people, self.batch_size, self.mirror, self.shift)
        self.shape_ = tuple(int(side) for side in stream.shape)
        if self.shift >= min(self.shape_[:2]):
            raise InputError(
                f"shift is {self.shift}, and the faces are {self.shape_[0]}×{self.shape_[1]}: one "
                "or two pixels are enough"
            )
        self.cover_ = make_cover(self.cover, self.shape_[:2])
        if len(stream.held_out) < 2:
            raise InputError(
                "too few faces: at least twenty are needed, preferably several hundred"
            )
        flat = self._flatten(self.cover_)
        completer.set_params(cover=flat)
        self.completer_ = completer.fit_batches(
            stream, held_out=stream.held_out, foreign=self._foreign_completer(foreign)
        )
        values = self.completer_.estimate(stream.held_out[:, ~flat]).values
        self.error_ = self._map((stream.held_out - np.clip(values, 0, 1)) ** 2)
        self.mean_error_ = self._map((stream.held_out - stream.held_out.mean(axis=0)) ** 2)
        return self

    # ------------------------------------------------------------------ completing

    @overload
    def complete(
        self,
        faces: Any,
        *,
        cover: Any = None,
        details: Literal[False] = False,
        keep_visible: bool | None = None,
    ) -> np.ndarray: ...

    @overload
    def complete(
        self,
        faces: Any,
        *,
        cover: Any = None,
        details: Literal[True],
        keep_visible: bool | None = None,
    ) -> CompletedFaces: ...

    def complete(
        self,
        faces: Any,
        *,
        cover: Any = None,
        details: bool = False,
        keep_visible: bool | None = None,
    ) -> np.ndarray | CompletedFaces:
        """Complete the covered part of faces.

        Parameters
        ----------
        faces : (n, h, w) or (n, h, w, 3)
            Pictures; the values of covered pixels are ignored.
        cover : str, (h, w) or (n, h, w) of bool, or None
            What is covered: for all faces, or for each; None takes the cover of ``fit``.
        details : bool
            Return :class:`CompletedFaces` with the codes and a map of confidence.
        keep_visible : bool or None
            None takes the parameter.
        """
        check_is_fitted(self)
        array = self._read_array(faces)
        covers = self._read_covers(cover, len(array))
        one = covers.ndim == 2
        images = self._read(array, np.broadcast_to(covers, (len(array), *self.shape_[:2])))
        pictures = np.empty(images.shape, np.float32)
        codes = None
        for kind, rows in _group(covers, len(images)):
            values, codes = self._complete(images[rows], kind)
            pictures[rows] = np.clip(values, 0, 1).reshape(len(rows), *self.shape_)
        if self.keep_visible if keep_visible is None else keep_visible:
            shown = np.broadcast_to(~covers, images.shape[:3])
            pictures[shown] = images[shown]
        if not details:
            return pictures
        return CompletedFaces(pictures, codes if one else None, self._confidence(covers))

    def enlarge(self, faces: Any) -> np.ndarray:
        """Faces in full size from small ones whose pixels are means of blocks (super-resolution).

        Parameters
        ----------
        faces : (n, h/f, w/f) or (n, h/f, w/f, 3)
            Pictures smaller by a whole factor f in both directions.
        """
        check_is_fitted(self)
        images = self._read(self._read_array(faces), None)
        height, width = self.shape_[:2]
        factor = height // images.shape[1]
        wanted = (height // max(factor, 1), width // max(factor, 1))
        if factor < 1 or images.shape[1:3] != wanted or wanted[0] * factor != height:
            raise InputError(
                f"small faces must be {height}×{width} divided by a whole number; "
                f"got {images.shape[1]}×{images.shape[2]}"
            )
        view = _block_means(self.shape_, factor)
        values = self.completer_.estimate(images.reshape(len(images), -1), view).values
        return np.clip(values, 0, 1).reshape(len(images), *self.shape_)

    def get_pictures(self) -> np.ndarray | None:
        """Atoms or components (k, h, w) as pictures; None where the completer has none."""
        check_is_fitted(self)
        pictures = self.completer_.get_pictures()
        return None if pictures is None else pictures.reshape(-1, *self.shape_)

    # ------------------------------------------------------------------ parts

    def _foreign_completer(self, foreign: FaceCompleter | None) -> Completer | None:
        if foreign is None:
            return None
        if not isinstance(foreign, FaceCompleter):
            raise InputTypeError(f"foreign must be a FaceCompleter; got {type(foreign).__name__}")
        check_is_fitted(foreign)
        if foreign.shape_ != self.shape_:
            raise InputError(
                f"the foreign model has faces of {foreign.shape_}, and these are {self.shape_}: "
                "bring them to one size"
            )
        return foreign.completer_

    def _read_covers(self, cover: Any, n: int) -> np.ndarray:
        """The cover of all faces (h, w), or of each (n, h, w)."""
        shape = self.shape_[:2]
        if cover is None:
            return self.cover_
        if isinstance(cover, str) or np.ndim(cover) != 3:
            return make_cover(cover, shape)
        covers = np.asarray(cover)
        if covers.dtype != bool or covers.shape != (n, *shape):
            raise InputError(
                f"covers must be booleans of the shape {(n, *shape)}; "
                f"got {covers.dtype} {covers.shape}"
            )
        return covers

    def _read_array(self, faces: Any) -> np.ndarray:
        """Pictures (n, h, w[, 3]) of integers or floats; their values are not looked at."""
        try:
            array = np.asarray(faces)
        except ValueError as error:
            raise InputError("faces must be pictures of one size") from error
        if array.dtype.kind not in "uf" or isinstance(faces, np.ma.MaskedArray):
            raise InputError(f"faces must be uint8, or floats in [0, 1]; got {array.dtype}")
        if array.ndim != len(self.shape_) + 1 or len(array) == 0:
            raise InputError(f"faces must be (n, {self.shape_}); got {array.shape}")
        return array

    def _read(self, array: np.ndarray, covers: np.ndarray | None) -> np.ndarray:
        """Pictures as float32 with covered pixels set to zero unread; visible ones are checked."""
        if covers is not None:
            if array.shape[1:] != self.shape_:
                raise InputError(f"faces must be {self.shape_}, as in fit; got {array.shape[1:]}")
            hidden = covers if array.ndim == 3 else covers[..., None]
            array = np.where(hidden, array.dtype.type(0), array)
        scale = 255 if array.dtype == np.uint8 else 1
        array = array.astype(np.float32) / np.float32(scale)
        if not np.all((array >= -1e-6) & (array <= 1 + 1e-6)):
            raise InputError("visible pixels must be uint8, or floats in [0, 1] without NaN")
        return array

    def _flatten(self, cover: np.ndarray) -> np.ndarray:
        channels = self.shape_[2] if len(self.shape_) == 3 else 1
        return np.repeat(cover.ravel(), channels)

    def _complete(self, images: np.ndarray, cover: np.ndarray) -> Completion:
        visible = ~self._flatten(cover)
        return self.completer_.estimate(images.reshape(len(images), -1)[:, visible], visible)

    def _map(self, squares: np.ndarray) -> np.ndarray:
        """Mean square of each pixel (h, w) of squares (n, d)."""
        mean = squares.mean(axis=0, dtype=np.float64).reshape(*self.shape_[:2], -1)
        return np.asarray(mean.mean(axis=-1), dtype=np.float32)

    def _confidence(self, covers: np.ndarray) -> np.ndarray:
        confidence = np.clip(1 - self.error_ / np.maximum(self.mean_error_, 1e-8), 0, 1)
        # A pixel that was visible in fit and is not now was never estimated there.
        fallback = float(confidence[self.cover_].mean()) if self.cover_.any() else 0.0
        confidence = np.where(self.cover_, confidence, fallback)
        return np.asarray(np.where(covers, confidence, 1.0), dtype=np.float32)


def _group(covers: np.ndarray, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Distinct covers, and the faces that have each."""
    if covers.ndim == 2:
        return [(covers, np.arange(n))]
    packed = np.packbits(covers.reshape(n, -1), axis=1)
    _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    shape = covers.shape[1:]
    return [
        (make_cover(covers[row], shape), np.flatnonzero(which.ravel() == k))
        for k, row in enumerate(first)
    ]


def _block_means(shape: tuple[int, ...], factor: int) -> np.ndarray:
    """Matrix (m, d) that takes a flat picture to the means of its blocks."""
    height, width = shape[:2]
    channels = shape[2] if len(shape) == 3 else 1
    rows = np.repeat(np.eye(height // factor), factor, axis=1) / factor
    columns = np.repeat(np.eye(width // factor), factor, axis=1) / factor
    return np.asarray(np.kron(np.kron(rows, columns), np.eye(channels)), dtype=np.float32)
