"""Local binary patterns: histograms on grids at several scales, and around landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import skimage
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mien._core.parallel import count_threads, stream_threads
from mien._core.progress import track
from mien._core.validation import check_array, check_images
from mien.errors import InputError

__all__ = ["GridLBP", "LandmarkLBP", "lbp_codes"]

N_CODES = 59
_CHUNK = 64


def lbp_codes(image: np.ndarray, radius: float) -> np.ndarray:
    """Uniform patterns of eight points (h, w), numbers 0…58, of a grey picture in [0, 1].

    Grey values are rounded to 256 steps first: a comparison of equal neighbours must not depend on
    rounding of the interpolation.
    """
    grey = np.round(np.clip(image, 0, 1) * 255).astype(np.uint8)
    codes: np.ndarray = skimage.feature.local_binary_pattern(grey, 8, radius, method="nri_uniform")
    return codes.astype(np.intp)


def _grid_histograms(codes: np.ndarray, grid: int) -> np.ndarray:
    """Root shares (grid, grid, 59) of the patterns in the cells of a grid."""
    h, w = codes.shape
    rows = np.minimum(np.arange(h) * grid // h, grid - 1)
    columns = np.minimum(np.arange(w) * grid // w, grid - 1)
    cell = rows[:, None] * grid + columns
    counts = np.bincount((cell * N_CODES + codes).ravel(), minlength=grid * grid * N_CODES)
    histograms = counts.reshape(grid, grid, N_CODES).astype(np.float32)
    return np.sqrt(histograms / histograms.sum(axis=2, keepdims=True))


def _point_histograms(codes: np.ndarray, centres: np.ndarray, grid: int, cell: int) -> np.ndarray:
    """Root shares (n_points, grid, grid, 59) in a square of cells around each (x, y)."""
    half = grid * cell // 2
    padded = np.pad(codes, half + 1, mode="edge")
    h, w = codes.shape
    histograms = np.zeros((len(centres), grid * grid, N_CODES), dtype=np.float32)
    within = np.repeat(np.arange(grid), cell)
    place = within[:, None] * grid + within
    for k, (x, y) in enumerate(centres):
        top = int(np.clip(np.rint(y), 0, h - 1)) + 1
        left = int(np.clip(np.rint(x), 0, w - 1)) + 1
        patch = padded[top : top + grid * cell, left : left + grid * cell]
        counts = np.bincount((place * N_CODES + patch).ravel(), minlength=grid * grid * N_CODES)
        histograms[k] = counts.reshape(grid * grid, N_CODES)
    return np.sqrt(histograms / (cell * cell)).reshape(len(centres), grid, grid, N_CODES)


def _shrink(image: np.ndarray, scale: float) -> np.ndarray:
    if scale == 1:
        return image
    shape = [max(round(side * scale), 3) for side in image.shape]
    smaller: np.ndarray = skimage.transform.resize(image, shape, anti_aliasing=True, mode="reflect")
    return smaller


class _PictureTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What both kinds share: pictures in, vectors out, many at once."""

    n_jobs: int | None
    n_features_out_: int

    def _map(self, one: Any, items: Sequence[Any], description: str) -> np.ndarray:
        starts = range(0, len(items), _CHUNK)
        # Threads: scikit-image counts patterns without the interpreter lock.
        parts = stream_threads(
            lambda start: np.stack([one(item) for item in items[start : start + _CHUNK]]),
            starts,
            count_threads(self.n_jobs),
        )
        return np.concatenate(list(track(parts, description, total=len(starts))))

    @property
    def _n_features_out(self) -> int:
        return self.n_features_out_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.requires_fit = True
        return tags


class GridLBP(_PictureTransformer):
    """Histograms of uniform local binary patterns in the cells of several grids.

    Parameters
    ----------
    radii : tuple of float, default=(1.0, 2.0)
        Radii of the circle of eight points, in pixels. Each radius adds a set of histograms; larger
        ones see coarser texture, for larger or blurred faces.
    grids : tuple of int, default=(8,)
        Number of cells along each side of a grid over the picture; each grid adds a set of
        histograms. More cells keep more of the place and need better aligned faces.
    n_jobs : int or None, default=None
        Number of threads; None takes one, -1 one per core.

    Attributes
    ----------
    image_shape_ : tuple of int
        Height and width of the pictures.
    n_features_out_ : int
        ``len(radii) · Σ grid² · 59``.

    Notes
    -----
    59 patterns (58 uniform ones and the rest, not invariant to rotation) by scikit-image; shares
    of a cell, and their square roots, so that the inner product of two cells is the Hellinger
    affinity of their histograms.

    See Also
    --------
    LandmarkLBP : patches around landmarks instead of a fixed grid.
    PixelFeatures : pixels, locally normalised.

    References
    ----------
    Uniform patterns [Ojala2002]_ in cells of a face [Ahonen2006]_; keys are those of the
    :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> faces = np.random.default_rng(0).random((3, 32, 32))
    >>> GridLBP(radii=(1.0,), grids=(2, 4)).fit_transform(faces).shape
    (3, 1180)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "radii": [tuple, list],
        "grids": [tuple, list],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        radii: Sequence[float] = (1.0, 2.0),
        grids: Sequence[int] = (8,),
        *,
        n_jobs: int | None = None,
    ) -> None:
        self.radii = radii
        self.grids = grids
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Look at the shape of pictures X (n, h, w)."""
        X = check_images("X", X, colour=False)
        if not self.radii or min(self.radii) <= 0 or not self.grids or min(self.grids) < 1:
            raise InputError(f"radii and grids must be positive; got {self.radii} and {self.grids}")
        if max(self.grids) > min(X.shape[1:]):
            raise InputError(f"a grid of {max(self.grids)} cells has empty ones on {X.shape[1:]}")
        self.image_shape_ = X.shape[1:]
        self.n_features_out_ = N_CODES * len(self.radii) * sum(grid**2 for grid in self.grids)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Histograms (n, n_features_out) of pictures X (n, h, w)."""
        check_is_fitted(self, "image_shape_")
        X = check_images("X", X, colour=False)
        if X.shape[1:] != self.image_shape_:
            raise InputError(f"pictures must be {self.image_shape_}; got {X.shape[1:]}")
        return self._map(self._describe, X, "local binary patterns")

    def _describe(self, image: np.ndarray) -> np.ndarray:
        parts = []
        for radius in self.radii:
            codes = lbp_codes(image, radius)
            parts += [_grid_histograms(codes, grid).ravel() for grid in self.grids]
        return np.concatenate(parts)


class LandmarkLBP(_PictureTransformer):
    """High-dimensional LBP: patterns in patches around landmarks at several scales.

    Parameters
    ----------
    scales : tuple of float, default=(1.0, 0.7, 0.5, 0.35)
        Factors by which a picture is made smaller. A smaller factor shows more of the face in a
        patch; each factor adds a set of histograms.
    grid, cell : int, default=4, 6
        A patch has grid × grid cells of cell × cell pixels. Increase ``cell`` for larger faces.
    radius : float, default=1.0
        Radius of the circle of eight points, in pixels.
    n_jobs : int or None, default=None
        Number of threads; None takes one, -1 one per core.

    Attributes
    ----------
    n_landmarks_ : int
        Number of landmarks per face.
    n_features_out_ : int
        ``len(scales) · n_landmarks_ · grid² · 59``.

    Notes
    -----
    A sample is a pair ``(picture, landmarks)``: `fit` and `transform` take the pictures (n, h, w)
    and the keyword `landmarks` (n, k, 2), x before y, in pixels. Landmarks outside of the picture
    are moved to its edge; patches that reach beyond repeat the edge.

    See Also
    --------
    GridLBP : a fixed grid, for faces without landmarks.

    References
    ----------
    [Chen2013]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> faces = np.random.default_rng(0).random((2, 48, 48))
    >>> points = np.full((2, 5, 2), 24.0)
    >>> LandmarkLBP(scales=(1.0, 0.5)).fit(faces, landmarks=points).transform(
    ...     faces, landmarks=points
    ... ).shape
    (2, 9440)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "scales": [tuple, list],
        "grid": [Interval(Integral, 1, None, closed="left")],
        "cell": [Interval(Integral, 1, None, closed="left")],
        "radius": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        scales: Sequence[float] = (1.0, 0.7, 0.5, 0.35),
        *,
        grid: int = 4,
        cell: int = 6,
        radius: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.scales = scales
        self.grid = grid
        self.cell = cell
        self.radius = radius
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, landmarks: Any) -> Self:
        """Look at the number of landmarks (n, k, 2) of pictures X (n, h, w)."""
        X, landmarks = self._check(X, landmarks)
        if not self.scales or min(self.scales) <= 0 or max(self.scales) > 1:
            raise InputError(f"scales must be in (0, 1]; got {self.scales}")
        self.n_landmarks_ = landmarks.shape[1]
        self.n_features_out_ = len(self.scales) * self.n_landmarks_ * self.grid**2 * N_CODES
        return self

    def transform(self, X: Any, *, landmarks: Any) -> np.ndarray:
        """Histograms (n, n_features_out) of pictures X (n, h, w) with landmarks (n, k, 2)."""
        check_is_fitted(self, "n_landmarks_")
        X, landmarks = self._check(X, landmarks)
        if landmarks.shape[1] != self.n_landmarks_:
            raise InputError(f"{self.n_landmarks_} landmarks are needed; got {landmarks.shape[1]}")
        faces = list(zip(X, landmarks, strict=True))
        return self._map(self._describe, faces, "local binary patterns at landmarks")

    def fit_transform(self, X: Any, y: Any = None, *, landmarks: Any) -> np.ndarray:
        """Both in one call."""
        return self.fit(X, y, landmarks=landmarks).transform(X, landmarks=landmarks)

    def _describe(self, face: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        image, points = face
        parts = []
        for scale in self.scales:
            codes = lbp_codes(_shrink(image, scale), self.radius)
            parts.append(_point_histograms(codes, points * scale, self.grid, self.cell).ravel())
        return np.concatenate(parts)

    @staticmethod
    def _check(X: Any, landmarks: Any) -> tuple[np.ndarray, np.ndarray]:
        X = check_images("X", X, colour=False)
        landmarks = check_array("landmarks", landmarks, largest=1e9).astype(np.float64)
        if landmarks.ndim != 3 or landmarks.shape[2] != 2 or len(landmarks) != len(X):
            raise InputError(
                f"landmarks must be ({len(X)}, k, 2), x before y; got {landmarks.shape}"
            )
        return X, landmarks
