"""Paired descriptors of video: shape and motion along points that move with the picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import map_coordinates, median_filter

from mien.errors import InputError
from mien.features._dense import orientation_channels, root_shares, sum_cells
from mien.features._flow import dense_flow

__all__ = ["motion_descriptors"]

_BINS = 8
_CELLS = 2
_THIRDS = 3


def motion_descriptors(
    frames: Any, *, step: int = 6, patch: int = 24, length: int = 15, least_motion: float = 2.0
) -> tuple[np.ndarray, np.ndarray]:
    """Histograms of gradients and of optical flow along dense points over time.

    Parameters
    ----------
    frames : (t, h, w) uint8
        Grey frames.
    step : int
        Distance of the points that are started, in pixels.
    patch : int
        Side of the square around a point that is described.
    length : int
        Frames that a point is followed, a multiple of three; new points start every length frames.
    least_motion : float
        Points that move less, in pixels over the whole length, are left out: they say nothing of
        an action.

    Returns
    -------
    gradients : (n, 96) float32
        2×2 cells × 3 stretches of time × 8 orientations of the gradient.
    flow : (n, 108) float32
        The same with 8 directions of the flow and one bin for standing still.

    Notes
    -----
    After dense trajectories (Wang et al., 2011), with Farnebäck's flow, one scale and without
    boundary histograms. Histograms are roots of shares, as for pictures.
    """
    frames = np.asarray(frames)
    if frames.ndim != 3 or frames.dtype != np.uint8:
        raise InputError(f"frames must be (t, h, w) uint8; got {frames.shape} {frames.dtype}")
    if length < _THIRDS or length % _THIRDS:
        raise InputError(f"length must be a multiple of three; got {length}")
    t, h, w = frames.shape
    if t <= length:
        raise InputError(f"{t} frames are too few to follow points over {length}")
    if min(h, w) < patch + 2:
        raise InputError(f"frames of {h}×{w} have no room for a patch of {patch}")
    half = patch // 2
    grid = np.stack(
        np.meshgrid(
            np.arange(half, h - half, step), np.arange(half, w - half, step), indexing="ij"
        ),
        axis=-1,
    ).reshape(-1, 2)
    shapes, motions = [], []
    state: dict[str, np.ndarray] = {}
    for time, flow in enumerate(dense_flow(frames)):
        phase = time % length
        if phase == 0:
            if time + length >= t:
                break
            state = {
                "start": grid.astype(float),
                "points": grid.astype(float),
                "shape": np.zeros((len(grid), _THIRDS, _CELLS**2, _BINS)),
                "motion": np.zeros((len(grid), _THIRDS, _CELLS**2, _BINS + 1)),
            }
        _add_frame(state, frames[time], flow, phase * _THIRDS // length, patch)
        if phase == length - 1:
            moved = np.linalg.norm(state["points"] - state["start"], axis=1) >= least_motion
            shapes.append(state["shape"].reshape(len(grid), -1)[moved])
            motions.append(state["motion"].reshape(len(grid), -1)[moved])
    return root_shares(np.concatenate(shapes)), root_shares(np.concatenate(motions))


def _add_frame(
    state: dict[str, np.ndarray], frame: np.ndarray, flow: np.ndarray, third: int, patch: int
) -> None:
    """Add one frame's histograms around the points, then move the points with the flow."""
    h, w = frame.shape
    dy, dx = np.gradient(frame.astype(float), axis=(0, 1))
    motion = orientation_channels(flow[..., 0], flow[..., 1], _BINS)
    still = np.hypot(flow[..., 0], flow[..., 1]) < 0.4
    motion = np.concatenate([motion * ~still[..., None], still[..., None]], axis=2)
    corners = np.round(state["points"]).astype(np.intp) - patch // 2
    corners = np.clip(corners, 0, [h - patch, w - patch])
    cell = patch // _CELLS
    gradients = orientation_channels(dx, dy, _BINS)
    state["shape"][:, third] += sum_cells(gradients, corners, _CELLS, cell)
    state["motion"][:, third] += sum_cells(motion, corners, _CELLS, cell)
    # The median keeps a point on its object at the border of a movement.
    smooth = [median_filter(flow[..., i], 3) for i in (1, 0)]
    shift = [map_coordinates(part, state["points"].T, order=1, mode="nearest") for part in smooth]
    state["points"] = np.clip(state["points"] + np.stack(shift, axis=1), 0, [h - 1, w - 1])
