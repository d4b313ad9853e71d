"""Covers painted on an aligned face, put into the photograph that the face was cut from."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from mien.faces import CROP_SIDE, TEMPLATE, Face, fit_similarity

__all__ = ["paste_cover"]


def paste_cover(
    picture: np.ndarray, face: Face, crop: np.ndarray, cover: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The photograph with the covered part of an aligned face put in, with a soft edge.

    Parameters
    ----------
    picture : (h, w, 3) uint8
        The photograph.
    face : Face
        Where the face is.
    crop : (s, s, 3) uint8
        What :func:`mien.faces.align_face` would show of the covered face.
    cover : (s, s) of bool
        What of it to put in.

    Returns
    -------
    covered : (h, w, 3) uint8
        The covered photograph.
    truth : (h, w) of bool
        All pixels that were changed.
    """
    side = len(cover)
    matrix = fit_similarity(face.landmarks.astype(np.float64), TEMPLATE * (side / CROP_SIDE))
    rows, columns = np.mgrid[: picture.shape[0], : picture.shape[1]]
    points = np.stack([columns, rows], axis=-1) @ matrix[:, :2].T + matrix[:, 2]
    at = [points[..., 1], points[..., 0]]
    soft = ndimage.gaussian_filter(cover.astype(np.float32), side / 64)
    weight = ndimage.map_coordinates(soft, at, order=1, mode="constant")
    weight = np.clip(1.5 * weight - 0.25, 0, 1)[..., None]
    values = np.stack(
        [
            ndimage.map_coordinates(crop[..., c].astype(np.float32), at, order=1, mode="nearest")
            for c in range(3)
        ],
        axis=-1,
    )
    painted = picture + weight * (values - picture)
    return np.round(painted).astype(np.uint8), weight[..., 0] > 0
