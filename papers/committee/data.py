"""ORL and Yale as the committee's experiments take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter

from mien.datasets import FaceSet, load_orl, load_yale

__all__ = ["load_halved_orl", "load_yale_crops"]


def load_halved_orl(home: Any = None) -> FaceSet:
    """ORL, 56 pixels high and 46 wide.

    As in an image pyramid: the 112×92 pictures are smoothed by a Gaussian of one pixel, then each
    pixel is the mean of 2×2 of them.
    """
    faces = load_orl(home)
    n, h, w = faces.images.shape
    smooth = gaussian_filter(faces.images.astype(np.float32), sigma=(0, 1, 1))
    halved = smooth.reshape(n, h // 2, 2, w // 2, 2).mean(axis=(2, 4)) / 255
    return FaceSet(halved, faces.people, source=faces.source)


def load_yale_crops(home: Any = None) -> FaceSet:
    """Yale at 64×64, without the nine copies."""
    return load_yale(home, variant="64x64")
