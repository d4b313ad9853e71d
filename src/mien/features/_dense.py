"""Dense local descriptors: two kinds at each point of a grid, as bags for encoders."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import skimage
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mien._core.progress import track
from mien._core.sampling import cap_rows
from mien._core.validation import check_images
from mien.errors import InputError, InputTypeError

__all__ = [
    "PairedDescriptors",
    "colour_statistics",
    "gradient_histograms",
    "lbp_histograms",
    "orientation_channels",
    "root_shares",
    "sum_cells",
]

Bag = tuple[np.ndarray, np.ndarray]

_LBP_CODES = 59


def sum_cells(channels: np.ndarray, corners: np.ndarray, cells: int, cell: int) -> np.ndarray:
    """Sum channels over a square of cells at each corner, by an integral image.

    Parameters
    ----------
    channels : (h, w, c)
        What is summed.
    corners : (n, 2)
        Row and column of the upper left corner of each patch, inside the picture.
    cells, cell : int
        A patch has cells × cells cells of cell × cell pixels.

    Returns
    -------
    (n, cells * cells, c)
    """
    h, w, c = channels.shape
    integral = np.zeros((h + 1, w + 1, c))
    np.cumsum(channels, axis=0, out=integral[1:, 1:])
    np.cumsum(integral[1:, 1:], axis=1, out=integral[1:, 1:])
    steps = np.arange(cells + 1) * cell
    rows = corners[:, 0, None, None] + steps[None, :, None]
    columns = corners[:, 1, None, None] + steps[None, None, :]
    at = integral[rows, columns]
    sums = at[:, 1:, 1:] - at[:, :-1, 1:] - at[:, 1:, :-1] + at[:, :-1, :-1]
    return sums.reshape(len(corners), cells * cells, c)


def orientation_channels(dx: np.ndarray, dy: np.ndarray, n_bins: int) -> np.ndarray:
    """Spread vectors (h, w) over orientation bins (h, w, n_bins), shared by the two nearest."""
    magnitude = np.hypot(dx, dy)
    position = np.arctan2(dy, dx) * (n_bins / (2 * np.pi)) % n_bins
    low = np.floor(position).astype(np.intp)
    share = position - low
    channels = np.zeros((*dx.shape, n_bins))
    rows, columns = np.ogrid[: dx.shape[0], : dx.shape[1]]
    channels[rows, columns, low % n_bins] = magnitude * (1 - share)
    channels[rows, columns, (low + 1) % n_bins] += magnitude * share
    return channels


def gradient_histograms(
    image: np.ndarray, patch: int = 16, step: int = 8, cells: int = 4, n_bins: int = 8
) -> np.ndarray:
    """Histograms of gradient orientations on a dense grid.

    Parameters
    ----------
    image : (h, w)
        Grey.
    patch, step : int
        Side of a patch and distance of neighbouring ones, in pixels.
    cells, n_bins : int
        A patch is divided into cells × cells histograms of n_bins orientations.

    Returns
    -------
    (n_patches, cells * cells * n_bins) float32
        The root of shares that sum to one, so that inner products compare histograms by
        Hellinger's kernel; zero for a patch without gradients.
    """
    grey = np.asarray(image, dtype=np.float64)
    dy, dx = (np.asarray(np.gradient(grey, axis=axis)) for axis in (0, 1))
    channels = orientation_channels(dx, dy, n_bins)
    sums = sum_cells(channels, _corners(image.shape, patch, step), cells, patch // cells)
    return root_shares(sums.reshape(len(sums), -1))


def lbp_histograms(image: np.ndarray, patch: int = 16, step: int = 8, cells: int = 2) -> np.ndarray:
    """Histograms of uniform local binary patterns on a dense grid, as roots of shares.

    Parameters
    ----------
    image : (h, w)
        Grey.
    patch, step, cells : int
        As for :func:`gradient_histograms`.

    Returns
    -------
    (n_patches, cells * cells * 59) float32
    """
    grey = np.round(255 * np.asarray(image, dtype=np.float64)).astype(np.uint8)
    codes = skimage.feature.local_binary_pattern(grey, 8, 1, "nri_uniform").astype(np.intp)
    channels = np.eye(_LBP_CODES)[codes]
    sums = sum_cells(channels, _corners(image.shape, patch, step), cells, patch // cells)
    return root_shares(sums.reshape(len(sums), -1))


def colour_statistics(
    image: np.ndarray, patch: int = 16, step: int = 8, cells: int = 4
) -> np.ndarray:
    """Mean and standard deviation of the Lab colours of each cell on a dense grid.

    Parameters
    ----------
    image : (h, w, 3)
        Colours in [0, 1].
    patch, step, cells : int
        As for :func:`gradient_histograms`.

    Returns
    -------
    (n_patches, cells * cells * 6) float32
        In hundredths of a Lab unit.
    """
    lab = skimage.color.rgb2lab(image) / 100
    corners = _corners(image.shape[:2], patch, step)
    cell = patch // cells
    sums = sum_cells(np.concatenate([lab, np.square(lab)], axis=2), corners, cells, cell)
    means = sums[:, :, :3] / cell**2
    deviations = np.sqrt(np.maximum(sums[:, :, 3:] / cell**2 - np.square(means), 0))
    return np.concatenate([means, deviations], axis=2).reshape(len(sums), -1).astype(np.float32)


def _corners(shape: tuple[int, ...], patch: int, step: int) -> np.ndarray:
    if min(shape) < patch:
        raise InputError(f"a picture of {shape[0]}×{shape[1]} has no patch of {patch} pixels")
    rows = np.arange(0, shape[0] - patch + 1, step)
    columns = np.arange(0, shape[1] - patch + 1, step)
    return np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)


def root_shares(histograms: np.ndarray) -> np.ndarray:
    """Divide rows (n, d) by their sums and take the root; a row of zeros stays zero."""
    totals = histograms.sum(axis=1, keepdims=True)
    shares = np.divide(histograms, totals, out=np.zeros_like(histograms), where=totals > 0)
    # An integral image leaves rounding of either sign where a sum is zero.
    return np.sqrt(np.maximum(shares, 0)).astype(np.float32)


def _reduce_picture(image: np.ndarray, side: int) -> np.ndarray:
    """Bring the shorter side of a picture down to ``side`` pixels, keeping its proportions."""
    short = min(image.shape[:2])
    if short <= side:
        return image
    size = tuple(max(side, round(length * side / short)) for length in image.shape[:2])
    return np.asarray(
        skimage.transform.resize(image, size, order=1, anti_aliasing=True, preserve_range=True)
    )


_KINDS = {"gradients": gradient_histograms, "lbp": lbp_histograms, "colour": colour_statistics}


class PairedDescriptors(TransformerMixin, BaseEstimator):
    """Two kinds of descriptor at each point of a grid over each picture, each reduced by PCA.

    Parameters
    ----------
    first, second : {"gradients", "lbp", "colour"}
        The two views: histograms of gradient orientations, of local binary patterns, or means and
        deviations of colours, for which pictures need three channels.
    patch, step : int
        Side of a patch and distance between neighbouring patches, in pixels. A smaller step gives
        more descriptors per picture, at proportional cost.
    side : int or None
        Pictures with a longer shorter side are reduced to it first, in pixels; None takes them as
        they are.
    n_components : int or None
        Number of PCA components per view; None leaves the descriptors as they are.
    max_descriptors : int
        Maximum number of descriptors, drawn from all pictures, that the PCAs are fitted on.
    random_state : int, RandomState or None
        Seed of that draw.

    Attributes
    ----------
    reductions_ : tuple of two PCA, or None
        The fitted PCA of each view.

    See Also
    --------
    mien.multiview.MultiViewSuperVector : encodes such paired bags.
    gradient_histograms, lbp_histograms, colour_statistics : one kind alone, of one picture.

    References
    ----------
    Two descriptors at one point as two views: [Cai2014]_ in the
    :doc:`bibliography </bibliography>`.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.features import PairedDescriptors
    >>> pictures = np.random.default_rng(0).random((4, 32, 32))
    >>> X, Y = PairedDescriptors(n_components=10, random_state=0).fit_transform(pictures)
    >>> X[0].shape, Y[0].shape, X[1].tolist()
    ((36, 10), (36, 10), [0, 9, 18, 27, 36])
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - scikit-learn's grammar
        "first": [StrOptions(set(_KINDS))],
        "second": [StrOptions(set(_KINDS))],
        "patch": [Interval(Integral, 4, None, closed="left")],
        "step": [Interval(Integral, 1, None, closed="left")],
        "side": [Interval(Integral, 4, None, closed="left"), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "max_descriptors": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        first: str = "gradients",
        second: str = "lbp",
        *,
        patch: int = 16,
        step: int = 8,
        side: int | None = None,
        n_components: int | None = 64,
        max_descriptors: int = 100_000,
        random_state: Any = None,
    ) -> None:
        self.first = first
        self.second = second
        self.patch = patch
        self.step = step
        self.side = side
        self.n_components = n_components
        self.max_descriptors = max_descriptors
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> PairedDescriptors:
        """Learn the PCAs from pictures X: an array (n, h, w[, 3]) or a list of such pictures."""
        self._reduce(self._describe(X))
        return self

    def transform(self, X: Any) -> tuple[Bag, Bag]:
        """Describe pictures: two pairs (descriptors, offsets), which the encoders take as bags."""
        check_is_fitted(self)
        return self._apply(self._describe(X))

    def fit_transform(self, X: Any, y: Any = None) -> tuple[Bag, Bag]:
        """Learn the PCAs and describe the same pictures, which are seen once."""
        self._validate_params()
        described = self._describe(X)
        self._reduce(described)
        return self._apply(described)

    def _describe(self, X: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if hasattr(X, "nnz"):
            raise InputTypeError("X is sparse: pictures are dense arrays; use .toarray()")
        if not hasattr(X, "__len__") or isinstance(X, (str, bytes, dict)):
            raise InputError(f"X must be pictures, an array or a list; got {type(X).__name__}")
        if len(X) == 0:
            raise InputError("no pictures to describe")
        firsts, seconds = [], []
        for i, picture in enumerate(track(X, "describing pictures")):
            try:
                image = np.asarray(picture)
            except ValueError as error:
                raise InputError(f"picture {i} has rows of several lengths") from error
            if image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] != 3):
                raise InputError(f"picture {i} must be (h, w) or (h, w, 3); got {image.shape}")
            image = check_images(f"picture {i}", image[None])[0]
            if min(image.shape[:2]) < self.patch:
                raise InputError(
                    f"picture {i} is {image.shape[0]}×{image.shape[1]}: it has no patch of "
                    f"{self.patch} pixels"
                )
            if self.side is not None:
                image = _reduce_picture(image, self.side)
            firsts.append(self._view(self.first, image, i))
            seconds.append(self._view(self.second, image, i))
        if not firsts:
            raise InputError("no pictures to describe: none could be read")
        offsets = np.concatenate([[0], np.cumsum([len(part) for part in firsts])])
        return np.concatenate(firsts), np.concatenate(seconds), offsets

    def _view(self, kind: str, image: np.ndarray, i: int) -> np.ndarray:
        if kind == "colour":
            if image.ndim != 3:
                raise InputError(f'picture {i} is grey, and the view "colour" needs colours')
            return colour_statistics(image, self.patch, self.step)
        grey = image @ np.array([0.299, 0.587, 0.114]) if image.ndim == 3 else image
        return _KINDS[kind](grey, self.patch, self.step)

    def _reduce(self, described: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        self.reductions_: tuple[PCA, PCA] | None = None
        if self.n_components is None:
            return
        rng = check_random_state(self.random_state)
        rows = cap_rows(np.arange(len(described[0])), self.max_descriptors, rng)
        for name, part in zip(("first", "second"), described[:2], strict=True):
            most = min(len(rows), part.shape[1])
            if self.n_components > most:
                raise InputError(
                    f"n_components is {self.n_components}, and the {name} view allows {most}: "
                    f"{len(rows)} descriptors of {part.shape[1]} features"
                )
            if np.all(part == part[0]):
                raise InputError(
                    f"the {name} view is the same in every patch: there is nothing to learn"
                )
        from sklearn.decomposition import PCA

        first, second = (
            PCA(self.n_components, svd_solver="covariance_eigh").fit(part[rows])
            for part in described[:2]
        )
        self.reductions_ = (first, second)

    def _apply(self, described: tuple[np.ndarray, np.ndarray, np.ndarray]) -> tuple[Bag, Bag]:
        first, second, offsets = described
        if self.reductions_ is not None:
            # An array whatever scikit-learn's global transform_output is.
            first = np.asarray(self.reductions_[0].transform(first), dtype=np.float32)
            second = np.asarray(self.reductions_[1].transform(second), dtype=np.float32)
        return (first, offsets), (second, offsets)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "reductions_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags
