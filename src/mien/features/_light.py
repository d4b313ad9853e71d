"""Rows of pixels with the light of every neighbourhood taken out, for learners that take rows."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, _fit_context
from sklearn.utils.validation import check_is_fitted

from mien._core.constraints import NON_NEGATIVE, POSITIVE_INTEGER
from mien._core.rows import validate_rows
from mien.errors import InputError
from mien.features._pixels import _take_light_out

__all__ = ["LightNormalizer"]


class LightNormalizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Bring the neighbourhood of every pixel to zero mean and unit variance, then each row to one.

    Parameters
    ----------
    image_shape : tuple of two int or None, default=None
        Height and width of the pictures whose pixels the rows hold; None takes a square.
    window : int, default=7
        Side of the neighbourhood in pixels, odd. Smaller removes more of the light, and more of
        the face; it should cover a detail such as an eye's corner, not a whole feature.
    smooth : float, default=0.0
        Width of a Gaussian afterwards, in pixels. Raise it to about one where faces are aligned
        only roughly: it tolerates shifts of that size.
    unit_length : bool, default=True
        Whether each row is scaled to unit length in the end.

    Attributes
    ----------
    n_features_in_ : int
        Number of pixels.
    floor_ : float
        Least deviation that is divided by: a thousandth of that of all pixels.

    See Also
    --------
    normalise_locally : The same for pictures.
    mien.committee.RandomSamplingLDA : Chooses it, or not, by out-of-bag error.

    Notes
    -----
    Local contrast normalisation: a slowly changing factor and offset of the brightness, as one
    lamp makes them, drop out. It helps where light differs between pictures of one person, as in
    [Belhumeur1997]_, and costs a little where it does not.

    References
    ----------
    [Belhumeur1997]_ in the :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.features import LightNormalizer
    >>> X = np.random.default_rng(0).random((3, 64))
    >>> bright, dark = X, 0.5 * X
    >>> model = LightNormalizer().fit(X)
    >>> bool(np.allclose(model.transform(bright), model.transform(dark), atol=1e-5))
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "image_shape": [tuple, list, None],
        "window": [POSITIVE_INTEGER],
        "smooth": [NON_NEGATIVE],
        "unit_length": ["boolean"],
    }

    def __init__(
        self,
        image_shape: tuple[int, int] | None = None,
        *,
        window: int = 7,
        smooth: float = 0.0,
        unit_length: bool = True,
    ) -> None:
        self.image_shape = image_shape
        self.window = window
        self.smooth = smooth
        self.unit_length = unit_length

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Check that rows X (n, height · width) fit the shape, and learn their scale."""
        X = validate_rows(self, X, dtype=[np.float64, np.float32])
        self._shape(X.shape[1])
        if self.window < 3 or self.window % 2 == 0:
            raise InputError(f"window must be odd and at least 3; got {self.window}")
        # Neighbourhoods that vary by less hold nothing but rounding.
        self.floor_ = 1e-3 * float(X.std()) or 1.0
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Rows (n, height · width) of pictures without their light."""
        from scipy.ndimage import gaussian_filter

        check_is_fitted(self)
        X = validate_rows(self, X, dtype=[np.float64, np.float32], reset=False)
        pictures = X.reshape(len(X), *self._shape(X.shape[1]))
        out = _take_light_out(pictures, self.window, self.floor_)
        if self.smooth:
            out = gaussian_filter(out, (0, self.smooth, self.smooth))
        rows = out.reshape(len(X), -1).astype(X.dtype)
        if self.unit_length:
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            rows /= np.where(lengths > 0, lengths, 1)
        return rows

    def _shape(self, n_pixels: int) -> tuple[int, int]:
        if self.image_shape is None:
            side = round(n_pixels**0.5)
            shape = (side, side)
        else:
            shape = (int(self.image_shape[0]), int(self.image_shape[1]))
        if shape[0] * shape[1] != n_pixels:
            raise InputError(
                f"rows of {n_pixels} pixels are not pictures of {shape[0]} × {shape[1]}: give "
                "image_shape=(height, width)"
            )
        return shape
