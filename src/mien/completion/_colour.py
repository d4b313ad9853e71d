"""The covered part of an aligned colour photograph of a face, from a model of grey faces."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage
from sklearn.utils.validation import check_is_fitted

from mien.completion._face_completer import FaceCompleter
from mien.errors import InputError

__all__ = ["complete_colour", "refine_cover"]

# Pixels of a face of 64: how far the seam is evened out, and how far colour spreads.
_SEAM = 3.0
_SPREAD = 10.0
# Share of the pixels that is too few to learn a colour from.
_FEW = 0.02
_GREY = np.array([0.299, 0.587, 0.114], np.float32)


def complete_colour(model: FaceCompleter, face: Any, covered: Any) -> np.ndarray:
    """Complete what is covered of an aligned face in colour.

    Parameters
    ----------
    model : FaceCompleter
        Of grey faces (s, s) that were aligned in the same way; it must complete any cover.
    face : (s, s, 3) uint8
        The aligned photograph.
    covered : (s, s) bool
        What to complete.

    Returns
    -------
    (s, s, 3) float32
        In [0, 1]; what is not covered is as it was.

    Notes
    -----
    The model gives the brightness. Where the covered part begins, it is shifted by the difference
    that the model leaves in the visible pixels nearby, so that there is no seam. Colour is taken
    from the visible skin nearby: the model has none.

    See Also
    --------
    refine_cover : finds what is covered to the pixel.
    mien.recognition.complete : does this for photographs.
    """
    check_is_fitted(model)
    face, covered = np.asarray(face), np.asarray(covered)
    if len(model.shape_) != 2:
        raise InputError("a photograph is completed by a model of grey faces; this one has colour")
    if face.dtype != np.uint8 or face.shape != (*model.shape_, 3):
        raise InputError(
            f"the face must be uint8 of shape {(*model.shape_, 3)}; got {face.dtype} {face.shape}"
        )
    if covered.dtype != bool or covered.shape != model.shape_:
        raise InputError(
            f"covered must be booleans of shape {model.shape_}; got {covered.dtype} {covered.shape}"
        )
    picture = face.astype(np.float32) / 255
    if not covered.any():
        return picture
    if covered.all():
        raise InputError("the cover hides everything: at least one pixel must be visible")
    grey = picture @ _GREY
    # Clothes and background say nothing about the face, and mislead a linear model.
    seen = ~covered & (_oval(len(face), 0.42, 0.5) > 0)
    if seen.sum() < _FEW * seen.size:
        seen = ~covered
    estimate = model.complete(grey[None], cover=~seen, keep_visible=False)[0]
    unit = len(face) / 64
    visible = seen.astype(np.float32)
    difference = _spread((grey - estimate) * visible, visible, _SEAM * unit, 0.05)
    brightness = np.clip(estimate + difference, 0, 1)
    chroma = picture - grey[..., None]
    skin = visible * _oval(len(face), 0.28, 0.38)
    if skin.sum() < 0.02 * skin.size:
        skin = visible
    filled = np.stack(
        [_spread(chroma[..., c] * skin, skin, _SPREAD * unit, 1e-6) for c in range(3)], axis=-1
    )
    result = np.clip(brightness[..., None] + filled, 0, 1)
    return np.where(covered[..., None], result, picture).astype(np.float32)


def refine_cover(face: Any, probabilities: Any) -> np.ndarray:
    """What is covered, to the pixel, from a rough map of it.

    Parameters
    ----------
    face : (s, s, 3) uint8
        An aligned face.
    probabilities : (s, s) float
        Of being covered; may be coarse and wrong at the edges.

    Returns
    -------
    (s, s) bool
        Inside the oval of the face, without specks and holes.

    Notes
    -----
    The colours of what is certainly covered and of what is certainly not are two mixtures of
    Gaussians; their ratio, smoothed over neighbours, is added to the log odds of the map.
    """
    from sklearn.mixture import GaussianMixture

    face, probabilities = np.asarray(face), np.asarray(probabilities, dtype=np.float64)
    side = len(face)
    oval = _oval(side, 0.39, 0.54) > 0
    rough, free = (probabilities > 0.5) & oval, (probabilities < 0.3) & oval
    # The rough map is wrong at its edge, so colours are taken from the inside.
    sure = ndimage.binary_erosion(rough, iterations=max(1, side // 16))
    if sure.sum() < _FEW * side**2:
        sure = (probabilities > 0.6) & oval
    if min(sure.sum(), free.sum()) < _FEW * side**2:
        return _keep_large(rough)
    colours = ndimage.gaussian_filter(face.astype(np.float64) / 255, (0.5, 0.5, 0)).reshape(-1, 3)
    # A painted cover has one colour only; a little noise lets a mixture be fitted to it.
    colours += np.random.RandomState(0).normal(0, 2e-3, colours.shape)
    likelihoods = [
        GaussianMixture(2, reg_covar=1e-3, random_state=0)
        .fit(colours[part.ravel()])
        .score_samples(colours)
        .reshape(side, side)
        for part in (sure, free)
    ]
    ratio = np.clip(2 * (likelihoods[0] - likelihoods[1]), -6, 6)
    ratio = ndimage.gaussian_filter(ratio, side / 64)
    inside = np.clip(probabilities, 0.1, 0.9)
    return _keep_large((ratio + np.log(inside / (1 - inside)) > 0) & oval)


def _keep_large(covered: np.ndarray) -> np.ndarray:
    """Without specks, and without holes."""
    labels, count = ndimage.label(covered)
    sizes = np.bincount(labels.ravel(), minlength=count + 1)
    sizes[0] = 0
    kept = (sizes >= 0.01 * covered.size)[labels]
    return np.asarray(ndimage.binary_fill_holes(kept))


def _spread(values: np.ndarray, weights: np.ndarray, sigma: float, floor: float) -> np.ndarray:
    """Weighted mean of values (times their weights) nearby; far from all weights it is zero."""
    top, bottom = (ndimage.gaussian_filter(a, sigma, mode="nearest") for a in (values, weights))
    return np.asarray(top / (bottom + floor), dtype=np.float32)


def _oval(side: int, wide: float, high: float) -> np.ndarray:
    """1 in an ellipse about the middle of an aligned face, 0 elsewhere."""
    y, x = (np.mgrid[:side, :side] + 0.5) / side
    inside = ((x - 0.5) / wide) ** 2 + ((y - 0.5) / high) ** 2 < 1
    return np.asarray(inside, dtype=np.float32)
