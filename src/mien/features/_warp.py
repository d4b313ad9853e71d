"""Thin-plate-spline warp: every face's landmarks to the same places of a small picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg
from scipy.ndimage import map_coordinates

from mien._core.validation import check_images
from mien.errors import InputError

__all__ = ["mean_shape", "warp_faces"]


def _radial(squared: np.ndarray) -> np.ndarray:
    """The thin plate's r² log r, from r²; 0 at 0."""
    return 0.5 * squared * np.log(np.where(squared > 0, squared, 1.0))


def _design(points: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    squared = ((points[:, None] - centres) ** 2).sum(axis=2)
    return _radial(squared), np.column_stack([np.ones(len(points)), points])


def spline_weights(template: np.ndarray, points: np.ndarray, stiffness: float) -> np.ndarray:
    """Weights (n, k): a spline through values v (k,) at the template (k, 2) is ``weights @ v``.

    The template is the same for all faces, so one solution serves every one of them.
    """
    k = len(template)
    radial, linear = _design(template, template)
    system = np.zeros((k + 3, k + 3))
    system[:k, :k] = radial + stiffness * np.eye(k)
    system[:k, k:], system[k:, :k] = linear, linear.T
    try:
        inverse = linalg.solve(system, np.eye(k + 3)[:, :k], assume_a="sym", check_finite=False)
    except (linalg.LinAlgError, linalg.LinAlgWarning) as error:
        raise InputError("the template's points are on one line or coincide") from error
    return np.hstack(_design(points, template)) @ inverse


def mean_shape(landmarks: Any, size: int = 48, margin: float = 0.15) -> np.ndarray:
    """Average place of each landmark in a square picture.

    Parameters
    ----------
    landmarks : (n, k, 2)
        Points x, y of n faces.
    size : int
        Side of the picture that they go to.
    margin : float
        Part of the side to leave free around the points.

    Returns
    -------
    (k, 2)
        Each face is centred and scaled to unit spread first, so large faces do not dominate.
    """
    landmarks = _check_landmarks(landmarks)
    centred = landmarks - landmarks.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).sum(axis=(1, 2), keepdims=True))
    if np.any(spread == 0):
        raise InputError("the points of a face coincide")
    shape = (centred / spread).mean(axis=0)
    low, high = shape.min(axis=0), shape.max(axis=0)
    scale = (1 - 2 * margin) * (size - 1) / (high - low).max()
    return (shape - (low + high) / 2) * scale + (size - 1) / 2


def _check_landmarks(landmarks: Any) -> np.ndarray:
    landmarks = np.asarray(landmarks, dtype=np.float64)
    if landmarks.ndim != 3 or landmarks.shape[2] != 2 or landmarks.shape[1] < 3:
        raise InputError(
            f"landmarks must have the shape (n, k, 2) with k of at least 3; got {landmarks.shape}"
        )
    if not np.all(np.isfinite(landmarks)):
        raise InputError("landmarks have NaN or infinite entries: leave those faces out")
    return landmarks


def warp_faces(
    images: Any,
    landmarks: Any,
    template: Any = None,
    *,
    size: int = 48,
    stiffness: float = 0.0,
) -> np.ndarray:
    """Warp faces so that their landmarks come to lie on those of a template.

    Parameters
    ----------
    images : (n, h, w) or (n, h, w, 3)
        ``uint8``, or floats in [0, 1].
    landmarks : (n, k, 2)
        Points x, y in each picture; three at least, not on one line.
    template : (k, 2) or None
        Where they go in the small picture; None takes :func:`mean_shape` of the landmarks.
    size : int
        Side of the small picture.
    stiffness : float
        0 brings every landmark exactly to its place; more bends less.

    Returns
    -------
    (n, size, size) or (n, size, size, 3) float32 in [0, 1]
        Beyond the picture the nearest pixel is repeated.

    Notes
    -----
    For every pixel of the small picture the thin-plate spline that sends template points to
    landmarks says where to look; it is linear in the landmarks, so the system is solved once.
    Bilinear between pixels: a face many times larger than ``size`` is averaged down first.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.features import warp_faces
    >>> points = np.array([[10, 10], [30, 10], [20, 30]])
    >>> warp_faces(np.zeros((1, 40, 40), np.uint8), points[None]).shape
    (1, 48, 48)
    """
    images = check_images("images", images)
    landmarks = _check_landmarks(landmarks)
    if len(landmarks) != len(images):
        raise InputError(f"{len(images)} images have landmarks for {len(landmarks)}")
    template = mean_shape(landmarks, size) if template is None else np.asarray(template, float)
    if template.shape != landmarks.shape[1:]:
        raise InputError(
            f"template must have the shape {landmarks.shape[1:]}; got {template.shape}"
        )
    y, x = np.mgrid[:size, :size]
    pixels = np.column_stack([x.ravel(), y.ravel()]).astype(np.float64)
    weights = spline_weights(template, pixels, stiffness)
    spread = np.sqrt(((template - template.mean(axis=0)) ** 2).sum())
    out = np.empty((len(images), size, size, *images.shape[3:]), dtype=np.float32)
    for n, image in enumerate(images):
        points = landmarks[n]
        shrink = int(np.sqrt(((points - points.mean(axis=0)) ** 2).sum()) / spread)
        image, places = _average_down(image, weights @ points, shrink)
        channels = image[..., None] if image.ndim == 2 else image
        warped = [
            map_coordinates(channels[..., c], places[:, ::-1].T, order=1, mode="nearest")
            for c in range(channels.shape[2])
        ]
        out[n] = np.stack(warped, axis=-1).reshape(out.shape[1:])
    return np.clip(out, 0, 1)


def _average_down(
    image: np.ndarray, places: np.ndarray, shrink: int
) -> tuple[np.ndarray, np.ndarray]:
    """Mean of blocks of ``shrink`` pixels, and the places in the smaller picture."""
    if shrink < 2:
        return image, places
    high, wide = (max(1, side // shrink) for side in image.shape[:2])
    if high * shrink > image.shape[0] or wide * shrink > image.shape[1]:
        return image, places
    cut = image[: high * shrink, : wide * shrink]
    blocks = cut.reshape(high, shrink, wide, shrink, *image.shape[2:]).mean(axis=(1, 3))
    return blocks, (places - (shrink - 1) / 2) / shrink
