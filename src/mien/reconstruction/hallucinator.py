"""Whole faces from a part: hallucination, inpainting and super-resolution."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, overload

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mien._core.validation import check_choice
from mien.errors import InputError
from mien.reconstruction._completer import Completion
from mien.reconstruction._faces import FaceStream
from mien.reconstruction.masks import make_mask
from mien.reconstruction.methods import METHODS

__all__ = ["FaceHallucinator", "Reconstruction"]


class Reconstruction(NamedTuple):
    """What a completion gives beside the pictures.

    Attributes
    ----------
    faces : (n, h, w) or (n, h, w, 3)
        Completed pictures, float32 in [0, 1].
    codes : csr_matrix (n, n_atoms) or None
        The sparse codes, where the method has any.
    confidence : (h, w)
        1 where a pixel is seen, 0 where the estimate is no better than the mean face.
    """

    faces: np.ndarray
    codes: sparse.csr_matrix | None
    confidence: np.ndarray


class FaceHallucinator(BaseEstimator):
    """Learn whole faces, and complete faces of which only a part is seen.

    Parameters
    ----------
    method : str
        ``"pca"``, ``"ksvd"``, ``"dw-ksvd"`` and ``"fastfood"`` are those of the paper;
        ``"ridge"`` is linear regression, ``"low-rank"`` the same from ``n_components`` directions,
        ``"feature-ridge"`` the same on Fastfood features, and ``"blend"`` the weighted mean of
        ridge and that; ``"mixture-pcca"`` takes the visible and the hidden
        part as two views of a mixture of probabilistic CCA. Others can be registered.
    n_components : int
        Of ``"pca"`` and ``"low-rank"``.
    n_atoms, n_nonzero, max_iter : int
        Of the dictionaries: size, atoms a face may use, rounds of K-SVD.
    beta : float
        How much more what is seen counts in a dictionary (``"dw-ksvd"``, ``"fastfood"``).
    expansion : float
        Fastfood frequencies for each (padded) dimension.
    features : {"sincos", "sin"}
        Of Fastfood.
    sigma : float or "invertible"
        Width of the kernel in median distances between faces. "invertible" is wide enough for an
        exact way back; the regressions then take 2.
    dekernelize : {"reconstruction", "dictionary"}
        Whether ``"fastfood"`` turns back the completed features, or the atoms once for all.
    alpha : float or None
        Penalty of the regressions; None chooses it on faces held out.
    mirror : bool
        Also learn from every face mirrored.
    keep_visible : bool
        Put the pixels that are seen into the result, instead of their reconstruction.
    batch_size : int
        Faces at a time.
    checkpoint : path or None
        File from which an interrupted training of a dictionary goes on.
    random_state : int, RandomState or None
        Seed of all that is drawn.

    Attributes
    ----------
    shape_ : tuple
        Height, width (and channels) of a face.
    mask_ : (h, w) bool
        What was said to be visible.
    completer_ : Completer
        The method with what it learned.
    error_, prior_ : (h, w)
        Mean squared error of held-out faces at each pixel, of the completion and of the mean face.

    Notes
    -----
    Hidden pixels are never read: they may be NaN. ``"pca"``, ``"ksvd"``, ``"dw-ksvd"``,
    ``"ridge"``, ``"low-rank"`` and ``"fastfood"`` with a de-kernelised dictionary complete any
    mask with one model; the others are bound to the mask of ``fit``. The codes on the visible
    part are found with its atoms scaled to length one, which the paper leaves out.

    References
    ----------
    F. Juefei-Xu and M. Savvides, "Fastfood dictionary learning for periocular-based full face
    hallucination", 2016.

    Examples
    --------
    >>> from mien.datasets import make_faces
    >>> from mien.reconstruction import FaceHallucinator
    >>> faces = make_faces(60, 3, size=32, random_state=0).images
    >>> model = FaceHallucinator("ridge").fit(faces[:150], mask="periocular")
    >>> model.reconstruct(faces[150:]).shape
    (30, 32, 32)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [str],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_atoms": [Interval(Integral, 1, None, closed="left")],
        "n_nonzero": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "expansion": [Interval(Real, 0, None, closed="neither")],
        "features": [StrOptions({"sincos", "sin"})],
        "sigma": [Interval(Real, 0, None, closed="neither"), StrOptions({"invertible"})],
        "dekernelize": [StrOptions({"reconstruction", "dictionary"})],
        "alpha": [Interval(Real, 0, None, closed="neither"), None],
        "mirror": ["boolean"],
        "keep_visible": ["boolean"],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "checkpoint": [str, os.PathLike, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        method: str = "blend",
        *,
        n_components: int = 100,
        n_atoms: int = 1000,
        n_nonzero: int = 10,
        max_iter: int = 10,
        beta: float = 100.0,
        expansion: float = 5,
        features: str = "sincos",
        sigma: float | str = "invertible",
        dekernelize: str = "reconstruction",
        alpha: float | None = None,
        mirror: bool = True,
        keep_visible: bool = True,
        batch_size: int = 2048,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.method = method
        self.n_components = n_components
        self.n_atoms = n_atoms
        self.n_nonzero = n_nonzero
        self.max_iter = max_iter
        self.beta = beta
        self.expansion = expansion
        self.features = features
        self.sigma = sigma
        self.dekernelize = dekernelize
        self.alpha = alpha
        self.mirror = mirror
        self.keep_visible = keep_visible
        self.batch_size = batch_size
        self.checkpoint = checkpoint
        self.random_state = random_state

    # ------------------------------------------------------------------ learning

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, faces: Any, y: Any = None, *, mask: Any = "periocular") -> FaceHallucinator:
        """Learn from whole faces.

        Parameters
        ----------
        faces : (n, h, w) or (n, h, w, 3), callable or iterable
            Pictures, ``uint8`` or floats in [0, 1]: an array, a memory map, or a function that
            returns an iterator of such batches (:func:`mien.datasets.iter_faces` is one).
        y : None
            Not used.
        mask : str or (h, w) of bool
            What will be visible: see :func:`make_mask`.
        """
        check_choice("method", self.method, tuple(METHODS))
        stream = FaceStream(faces, self.batch_size, self.mirror)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.shape_ = tuple(int(side) for side in stream.shape)
        self.mask_ = make_mask(mask, self.shape_[:2])
        if len(stream.held_out) < 2:
            raise InputError("too few faces: at least twenty are needed, better some hundreds")
        visible = self._flatten_mask(self.mask_)
        self.completer_ = METHODS[self.method](self, seed)
        self.completer_.fit(stream, visible, stream.held_out)
        result = self.completer_.complete(stream.held_out[:, visible], visible).values
        self.error_ = self._map((stream.held_out - np.clip(result, 0, 1)) ** 2)
        self.prior_ = self._map((stream.held_out - stream.held_out.mean(axis=0)) ** 2)
        return self

    # ------------------------------------------------------------------ completing

    @overload
    def reconstruct(
        self,
        faces: Any,
        *,
        mask: Any = None,
        details: Literal[False] = False,
        keep_visible: bool | None = None,
    ) -> np.ndarray: ...

    @overload
    def reconstruct(
        self,
        faces: Any,
        *,
        mask: Any = None,
        details: Literal[True],
        keep_visible: bool | None = None,
    ) -> Reconstruction: ...

    def reconstruct(
        self,
        faces: Any,
        *,
        mask: Any = None,
        details: bool = False,
        keep_visible: bool | None = None,
    ) -> np.ndarray | Reconstruction:
        """Complete faces of which the mask is visible.

        Parameters
        ----------
        faces : (n, h, w) or (n, h, w, 3)
            Pictures; what stands in hidden pixels does not matter.
        mask : str or (h, w) of bool or None
            What is visible; None takes the mask of ``fit``.
        details : bool
            Return a :class:`Reconstruction` with the codes and a map of confidence.
        keep_visible : bool or None
            None takes the parameter.
        """
        check_is_fitted(self)
        visible = self.mask_ if mask is None else make_mask(mask, self.shape_[:2])
        images = self._read(faces, np.broadcast_to(visible, (len(faces), *visible.shape)))
        values, codes = self._complete(images, visible)
        pictures = self._finish(values, images, visible, keep_visible)
        if not details:
            return pictures
        return Reconstruction(pictures, codes, self._confidence(visible))

    def inpaint(self, faces: Any, masks: Any) -> np.ndarray:
        """Complete faces of which each has its own mask (n, h, w), True where visible."""
        check_is_fitted(self)
        masks = np.asarray(masks)
        if masks.dtype != bool or masks.shape != (len(faces), *self.shape_[:2]):
            raise InputError(
                f"masks must be booleans of the shape {(len(faces), *self.shape_[:2])}; "
                f"got {masks.dtype} {masks.shape}"
            )
        images = self._read(faces, masks)
        result = np.empty((len(images), *self.shape_), np.float32)
        kinds, which = np.unique(masks.reshape(len(masks), -1), axis=0, return_inverse=True)
        for k, kind in enumerate(kinds):
            visible = make_mask(kind.reshape(self.shape_[:2]), self.shape_[:2])
            rows = np.flatnonzero(which.ravel() == k)
            values, _ = self._complete(images[rows], visible)
            result[rows] = self._finish(values, images[rows], visible)
        return result

    def super_resolve(self, faces: Any) -> np.ndarray:
        """Faces in full size from small ones whose pixels are means of blocks.

        Parameters
        ----------
        faces : (n, h/f, w/f) or (n, h/f, w/f, 3)
            Pictures smaller by a whole factor f in both directions.
        """
        check_is_fitted(self)
        images = self._read(faces, None)
        height, width = self.shape_[:2]
        factor = height // images.shape[1]
        wanted = (height // max(factor, 1), width // max(factor, 1))
        if factor < 1 or images.shape[1:3] != wanted or wanted[0] * factor != height:
            raise InputError(
                f"small faces must be {height}×{width} divided by a whole number; "
                f"got {images.shape[1]}×{images.shape[2]}"
            )
        self._require_any_view("super-resolution")
        view = _block_means(self.shape_, factor)
        values = self.completer_.complete(images.reshape(len(images), -1), view).values
        return np.clip(values, 0, 1).reshape(len(images), *self.shape_)

    def atoms(self) -> np.ndarray | None:
        """Atoms or components (k, h, w) as pictures, None where the method has none."""
        check_is_fitted(self)
        pictures = self.completer_.pictures()
        return None if pictures is None else pictures.reshape(-1, *self.shape_)

    # ------------------------------------------------------------------ parts

    def _read(self, faces: Any, masks: np.ndarray | None) -> np.ndarray:
        """Pictures as float32 with hidden pixels set to zero unread; visible ones are checked."""
        array = np.asarray(faces)
        if array.ndim != len(self.shape_) + 1 or len(array) == 0:
            raise InputError(f"faces must be (n, {self.shape_}); got {array.shape}")
        if masks is not None:
            if array.shape[1:] != self.shape_:
                raise InputError(f"faces must be {self.shape_}, as in fit; got {array.shape[1:]}")
            shown = masks if array.ndim == 3 else masks[..., None]
            array = np.where(shown, array, array.dtype.type(0))
        scale = 255 if array.dtype == np.uint8 else 1
        array = array.astype(np.float32) / np.float32(scale)
        if not np.all((array >= -1e-6) & (array <= 1 + 1e-6)):
            raise InputError("visible pixels must be uint8, or floats in [0, 1] without NaN")
        return array

    def _flatten_mask(self, mask: np.ndarray) -> np.ndarray:
        channels = self.shape_[2] if len(self.shape_) == 3 else 1
        return np.repeat(mask.ravel(), channels)

    def _complete(self, images: np.ndarray, visible: np.ndarray) -> Completion:
        if not np.array_equal(visible, self.mask_):
            self._require_any_view("another mask than that of fit")
        flat = self._flatten_mask(visible)
        return self.completer_.complete(images.reshape(len(images), -1)[:, flat], flat)

    def _require_any_view(self, what: str) -> None:
        if not self.completer_.any_view:
            raise InputError(
                f"the method {self.method!r} is bound to the mask it learned with, so {what} is "
                "not possible; 'ridge', 'dw-ksvd', 'ksvd' and 'pca' can do it"
            )

    def _finish(
        self,
        values: np.ndarray,
        images: np.ndarray,
        visible: np.ndarray,
        keep_visible: bool | None = None,
    ) -> np.ndarray:
        pictures = np.clip(values, 0, 1).astype(np.float32).reshape(images.shape)
        if self.keep_visible if keep_visible is None else keep_visible:
            pictures[:, visible] = images[:, visible]
        return pictures

    def _map(self, squares: np.ndarray) -> np.ndarray:
        """Mean square at each pixel (h, w) of squares (n, d)."""
        mean = squares.mean(axis=0, dtype=np.float64).reshape(*self.shape_[:2], -1)
        return np.asarray(mean.mean(axis=-1), dtype=np.float32)

    def _confidence(self, visible: np.ndarray) -> np.ndarray:
        confidence = np.clip(1 - self.error_ / np.maximum(self.prior_, 1e-8), 0, 1)
        # A pixel that was visible in fit and is not now was never guessed there.
        guessed = ~self.mask_
        fallback = float(confidence[guessed].mean()) if guessed.any() else 0.0
        confidence = np.where(guessed, confidence, fallback)
        return np.asarray(np.where(visible, 1.0, confidence), dtype=np.float32)


def _block_means(shape: tuple[int, ...], factor: int) -> np.ndarray:
    """Matrix (m, d) that takes a flat picture to the means of its blocks."""
    height, width = shape[:2]
    channels = shape[2] if len(shape) == 3 else 1
    rows = np.repeat(np.eye(height // factor), factor, axis=1) / factor
    columns = np.repeat(np.eye(width // factor), factor, axis=1) / factor
    return np.asarray(np.kron(np.kron(rows, columns), np.eye(channels)), dtype=np.float32)
