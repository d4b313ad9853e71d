"""Pixels as vectors, with the light of every neighbourhood taken out."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.ndimage import gaussian_filter, uniform_filter
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mien._core.validation import check_images
from mien.errors import InputError

__all__ = ["PixelFeatures", "local_vectors", "normalise_locally"]


def normalise_locally(images: Any, window: int = 5, floor: float = 0.01) -> np.ndarray:
    """Make every pixel's neighbourhood zero in mean and one in variance.

    Parameters
    ----------
    images : (n, h, w)
        Grey pictures, uint8 or floats in [0, 1].
    window : int
        Side of the square neighbourhood, odd; beyond the edge the picture is mirrored.
    floor : float
        Minimum standard deviation to divide by, so that even areas are not amplified.

    Returns
    -------
    (n, h, w) float32
        ``(x − local mean) / max(local deviation, floor)``.

    Examples
    --------
    >>> import numpy as np
    >>> normalise_locally(np.full((1, 8, 8), 0.5)).max()
    np.float32(0.0)
    """
    images = check_images("images", images, colour=False)
    if window < 3 or window % 2 == 0:
        raise InputError(f"window must be odd and at least 3; got {window}")
    return _take_light_out(images, window, floor)


def _take_light_out(images: np.ndarray, window: int, floor: float) -> np.ndarray:
    """The same for pictures (n, h, w) of any range."""
    # float64: variance as a difference of means of squares
    pictures = images.astype(np.float64)
    size = (1, window, window)
    mean = uniform_filter(pictures, size=size, mode="mirror")
    squares = uniform_filter(pictures**2, size=size, mode="mirror")
    deviation = np.sqrt(np.maximum(squares - mean**2, 0))
    normalised: np.ndarray = (pictures - mean) / np.maximum(deviation, floor)
    return normalised.astype(np.float32)


def local_vectors(images: np.ndarray, smooth: float = 0.0) -> np.ndarray:
    """Pictures (n, h, w) normalised in 5×5 windows, as vectors (n, h·w) in float64.

    ``smooth`` is the width of a Gaussian afterwards, in pixels: what alignment does not reach,
    blurring forgives.
    """
    # Half a grey value: below it a window holds nothing but rounding.
    out = normalise_locally(images, floor=0.5 / 255).astype(np.float64)
    if smooth:
        out = gaussian_filter(out, (0, smooth, smooth))
    return out.reshape(len(out), -1)


class PixelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Pictures as vectors of pixels, locally normalised or as they are.

    Parameters
    ----------
    window : int or None, default=5
        Side of the neighbourhood that each pixel is normalised in, in pixels; None leaves pixels
        in [0, 1]. Increase it for larger pictures or coarser light.
    floor : float, default=0.01
        Minimum local standard deviation to divide by, on the scale of pixels in [0, 1]. Increase
        it for noisy pictures.

    Attributes
    ----------
    image_shape_ : tuple of int
        Height and width of the pictures.
    n_features_out_ : int
        ``height · width``.

    See Also
    --------
    normalise_locally : the same on pictures, without a vector.
    GridLBP : texture instead of pixels.

    References
    ----------
    Normalised in windows as in [Kumar2007]_; see the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> faces = np.random.default_rng(0).random((20, 16, 16))
    >>> make_pipeline(PixelFeatures(), PCA(4)).fit_transform(faces).shape
    (20, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "window": [Interval(Integral, 3, None, closed="left"), None],
        "floor": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, window: int | None = 5, *, floor: float = 0.01) -> None:
        self.window = window
        self.floor = floor

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Look at the shape of pictures X (n, h, w)."""
        X = check_images("X", X, colour=False)
        self.image_shape_ = X.shape[1:]
        self.n_features_out_ = int(np.prod(self.image_shape_))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Vectors (n, h · w) of pictures X (n, h, w)."""
        check_is_fitted(self, "image_shape_")
        X = check_images("X", X, colour=False)
        if X.shape[1:] != self.image_shape_:
            raise InputError(f"pictures must be {self.image_shape_}; got {X.shape[1:]}")
        if self.window is not None:
            X = normalise_locally(X, self.window, self.floor)
        return X.reshape(len(X), -1)

    @property
    def _n_features_out(self) -> int:
        return self.n_features_out_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags
