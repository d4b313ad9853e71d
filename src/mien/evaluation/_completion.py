"""How alike two pictures are: PSNR and SSIM."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import stdtrit

from mien._core.validation import check_images
from mien.errors import InputError
from mien.evaluation._intervals import (
    Interval,
    RandomState,
    bootstrap_mean_interval,
    check_confidence,
)
from mien.evaluation._verification import with_interval

__all__ = ["evaluate_completion", "psnr", "ssim"]


def _check_pictures(truth: Any, completed: Any) -> tuple[np.ndarray, np.ndarray]:
    original, result = check_images("truth", truth), check_images("completed", completed)
    if original.shape != result.shape:
        raise InputError(
            f"truth and completed must have one shape; got {original.shape} and {result.shape}"
        )
    return original, result


def psnr(truth: Any, completed: Any, *, cover: Any = None) -> np.ndarray:
    """Peak signal-to-noise ratio of each picture, in decibels.

    Parameters
    ----------
    truth, completed : array-like (n, h, w) or (n, h, w, 3)
        Pictures: ``uint8``, or floats in [0, 1]. The peak is 1.
    cover : array-like (h, w) of bool or None
        Pixels on which the error is measured; None takes all.

    Returns
    -------
    (n,)
        −10 log10 of the mean squared error; +inf for equal pictures.

    Examples
    --------
    >>> import numpy as np
    >>> psnr(np.zeros((1, 4, 4)), np.full((1, 4, 4), 0.1)).round(3)
    array([20.])
    """
    original, result = _check_pictures(truth, completed)
    square = (original.astype(np.float64) - result) ** 2
    if cover is not None:
        chosen = np.asarray(cover)
        if chosen.dtype != bool or chosen.shape != original.shape[1:3] or not chosen.any():
            raise InputError(
                f"cover must be booleans of the shape {original.shape[1:3]} with one pixel at "
                f"least; got {chosen.dtype} {chosen.shape}"
            )
        square = square[:, chosen]
    error = square.reshape(square.shape[0], -1).mean(axis=1)
    with np.errstate(divide="ignore"):
        return -10 * np.log10(error)


def ssim(truth: Any, completed: Any) -> np.ndarray:
    """Structural similarity of each picture, by scikit-image.

    Parameters
    ----------
    truth, completed : array-like (n, h, w) or (n, h, w, 3)
        Pictures: ``uint8``, or floats in [0, 1], at least 11 pixels high and wide.

    Returns
    -------
    (n,)
        1 for equal pictures.

    Notes
    -----
    With the weights of Wang et al. (2004): a Gaussian window of sigma 1.5, population covariance,
    range 1; colour is the mean over channels.

    Examples
    --------
    >>> import numpy as np
    >>> ssim(np.ones((2, 16, 16)), np.ones((2, 16, 16)))
    array([1., 1.])
    """
    from skimage.metrics import structural_similarity

    original, result = _check_pictures(truth, completed)
    if min(original.shape[1:3]) < 11:
        raise InputError(
            f"SSIM needs pictures of at least 11 × 11 pixels; got {original.shape[1:3]}"
        )
    axis = -1 if original.ndim == 4 else None
    return np.array(
        [
            structural_similarity(
                a,
                b,
                data_range=1.0,
                gaussian_weights=True,
                sigma=1.5,
                use_sample_covariance=False,
                channel_axis=axis,
            )
            for a, b in zip(original, result, strict=True)
        ],
        dtype=np.float64,
    )


def evaluate_completion(
    truth: Any,
    completed: Any,
    *,
    cover: Any = None,
    people: Any = None,
    failures: int = 0,
    confidence: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: RandomState = 0,
) -> dict[str, Any]:
    """Everything about completed pictures, as plain numbers.

    Parameters
    ----------
    truth, completed : array-like (n, h, w) or (n, h, w, 3)
        Pictures: ``uint8``, or floats in [0, 1].
    cover : array-like (h, w) of bool or None
        True for the pixels that were covered: PSNR of these alone is given as well.
    people : array-like (n,) or None
        Whose picture it is: the intervals then resample people.
    failures : int
        Pictures that could not be completed; there is no PSNR of nothing, so they are only counted.
    confidence, n_bootstrap, random_state
        Of the intervals; without people, Student's interval of the mean.

    Returns
    -------
    dict
        ``n``, ``failures``, ``n_identical``; ``psnr``, ``ssim`` (None for tiny pictures) and
        ``psnr_covered`` (None without cover) as ``{value, low, high, std}``, value the mean over
        pictures. Pictures that are identical have no finite PSNR and are left out of its mean.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.zeros((3, 16, 16))
    >>> round(evaluate_completion(truth, truth + 0.1)["psnr"]["value"], 2)
    20.0
    """
    confidence = check_confidence(confidence)
    original, result = _check_pictures(truth, completed)

    def mean(values: np.ndarray) -> dict[str, float | None]:
        finite = np.isfinite(values)
        if not finite.any():
            return {**with_interval(np.nan, None), "std": None}
        kept = values[finite]
        std = float(kept.std(ddof=1)) if kept.size > 1 else 0.0
        interval = None
        if people is not None and np.unique(np.asarray(people)[finite]).size > 1:
            interval = bootstrap_mean_interval(
                kept,
                np.asarray(people)[finite],
                confidence=confidence,
                n_bootstrap=n_bootstrap,
                random_state=random_state,
            )
        elif kept.size > 1:
            half = stdtrit(kept.size - 1, 0.5 + confidence / 2) * std / np.sqrt(kept.size)
            interval = Interval(kept.mean() - half, kept.mean() + half)
        return {**with_interval(kept.mean(), interval), "std": std}

    if people is not None and np.shape(people) != (original.shape[0],):
        raise InputError(
            f"people has the shape {np.shape(people)} for {original.shape[0]} pictures"
        )
    decibels = psnr(original, result)
    covered = None
    if cover is not None and np.any(cover):
        covered = mean(psnr(original, result, cover=np.asarray(cover, dtype=bool)))
    return {
        "n": int(original.shape[0]),
        "failures": int(failures),
        "n_identical": int(np.count_nonzero(np.isposinf(decibels))),
        "confidence": confidence,
        "psnr": mean(decibels),
        "psnr_covered": covered,
        "ssim": mean(ssim(original, result)) if min(original.shape[1:3]) >= 11 else None,
    }
