"""What of a face is covered: a small network's map, and the lower half in one number."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from mien.errors import DataError, InputError
from mien.faces._align import CROP_SIDE
from mien.media import resize_images

__all__ = ["covered_mask", "covered_probabilities"]

BLOCKS = 14
"""Blocks along a side of the map; each is 8 × 8 pixels of the aligned face."""
_GREY_SIDE = 28
_MODEL = "covered.npz"
_DIGITS = 1e-3


def covered_features(crops: np.ndarray) -> np.ndarray:
    """The network's input (n, 1372) from aligned faces (n, 112, 112, 3) uint8.

    The grey face at 28 × 28, less its mean and over its spread; two differences of colour at
    14 × 14, less their median over the cheeks and the nose; and the log of the spread inside each
    of 14 × 14 blocks, less its median: cloth is smoother or rougher than skin.
    """
    small = resize_images(crops, _GREY_SIDE).astype(np.float32) / 255
    grey = small @ np.array([0.299, 0.587, 0.114], np.float32)
    flat = grey.reshape(len(crops), -1)
    spread = flat.std(axis=1, keepdims=True) + 0.02
    flat = (flat - flat.mean(axis=1, keepdims=True)) / spread
    chroma = np.stack([small[..., 0] - grey, small[..., 2] - grey], axis=-1)
    blocks = chroma.reshape(len(crops), BLOCKS, 2, BLOCKS, 2, 2).mean(axis=(2, 4))
    skin = np.median(blocks[:, 5:9, 4:10].reshape(len(crops), -1, 2), axis=1)
    blocks = (blocks - skin[:, None, None]) * 8
    colours = blocks.reshape(len(crops), -1)
    return np.hstack([flat, colours, _roughness(crops)]).astype(np.float32)


def _roughness(crops: np.ndarray) -> np.ndarray:
    """Log spread (n, 196) of the green channel inside each block, less the median block."""
    side = CROP_SIDE // BLOCKS
    green = crops[..., 1].astype(np.float32).reshape(len(crops), BLOCKS, side, BLOCKS, side)
    spread = np.log(green.std(axis=(2, 4)) + 1).reshape(len(crops), -1)
    return np.asarray(spread - np.median(spread, axis=1, keepdims=True))


@cache
def _model() -> dict[str, np.ndarray]:
    """The coefficients that ``python -m papers covered --train`` made."""
    try:
        with (resources.files("mien.faces") / _MODEL).open("rb") as file:
            arrays = np.load(file, allow_pickle=False)
            return {name: arrays[name].astype(np.float32) for name in arrays.files}
    except (OSError, ValueError) as error:
        raise DataError(f"mien's own file {_MODEL} is missing or damaged: {error}") from error


def covered_probabilities(crops: Any) -> np.ndarray:
    """Probability that a block of an aligned face is covered by something.

    Parameters
    ----------
    crops : (n, 112, 112, 3) uint8
        From `align_face`.

    Returns
    -------
    (n, 14, 14) float32
        One for each block of 8 × 8 pixels.

    Notes
    -----
    Learned from painted covers (`python -m papers covered --train`); docs/faces.md says how well it
    works and what it cannot see.
    """
    model = _model()
    hidden = covered_features(_check_crops(crops)) @ model["first"] + model["first_bias"]
    out = np.maximum(hidden, 0) @ model["second"] + model["second_bias"]
    return _expit(out).reshape(-1, BLOCKS, BLOCKS).astype(np.float32)


def covered_mask(crop: Any, threshold: float = 0.5) -> np.ndarray:
    """Which pixels of an aligned face are covered.

    Parameters
    ----------
    crop : (112, 112, 3) uint8
        From `align_face`.
    threshold : float
        Probability from which a pixel counts as covered.

    Returns
    -------
    (112, 112) bool
        The probabilities of the blocks, interpolated to pixels, against the threshold.
    """
    crop = np.asarray(crop)
    blocks = covered_probabilities(crop[None])
    return np.asarray(resize_images(blocks, CROP_SIDE)[0] > threshold)


def lower_face_covered(crops: Any) -> np.ndarray:
    """Probability (n,) that mouth and chin are covered for the larger part."""
    model = _model()
    share = lower_share(covered_probabilities(crops))
    return _expit(model["scale"] * logit(share) + model["offset"]).astype(np.float32)


def _expit(values: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -50, 50))))


def lower_share(blocks: np.ndarray) -> np.ndarray:
    """Mean (n,) of maps (n, 14, 14) over nose, mouth and chin."""
    return np.asarray(blocks[:, 9:14, 4:10].mean(axis=(1, 2)))


def logit(share: np.ndarray) -> np.ndarray:
    """Log odds of a share, with an end."""
    inside = np.clip(share, _DIGITS, 1 - _DIGITS)
    return np.asarray(np.log(inside / (1 - inside)))


def _check_crops(crops: Any) -> np.ndarray:
    crops = np.asarray(crops)
    if crops.ndim != 4 or crops.shape[1:] != (CROP_SIDE, CROP_SIDE, 3) or crops.dtype != np.uint8:
        raise InputError(
            f"aligned faces must be uint8 of shape (n, {CROP_SIDE}, {CROP_SIDE}, 3); got "
            f"{crops.dtype} {crops.shape}"
        )
    return crops
