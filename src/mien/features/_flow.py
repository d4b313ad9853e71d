"""Optical flow between the frames of a video: the one feature that needs OpenCV."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from mien._core.validation import require_module

__all__ = ["dense_flow"]


def dense_flow(frames: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the flow (h, w, 2), in pixels along x and y, from each frame to the next.

    Parameters
    ----------
    frames : (t, h, w) uint8
        Grey frames.
    """
    cv2 = require_module("cv2", "faces", "Optical flow")
    for before, after in pairwise(frames):
        yield cv2.calcOpticalFlowFarneback(
            before, after, None, pyr_scale=0.5, levels=3, winsize=9, iterations=3,
            poly_n=5, poly_sigma=1.1, flags=0,
        )  # fmt: skip
