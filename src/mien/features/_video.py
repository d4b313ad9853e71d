"""Paired descriptors of video: shape and motion along points that move with the picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import map_coordinates, median_filter

from mien._core.validation import check_choice
from mien.errors import InputError
from mien.features._dense import orientation_channels, root_shares, sum_cells
from mien.features._flow import dense_flow

__all__ = ["motion_descriptors"]

_BINS = 8
_CELLS = 2
_THIRDS = 3
# Flow, or a change of it, of fewer pixels per frame counts as none.
_STILL = 0.4
_NO_BOUNDARY = 0.1
#: Number of bins of each kind of histogram.
_KINDS = {"gradients": _BINS, "flow": _BINS + 1, "boundaries-x": _BINS + 1}
_KINDS["boundaries-y"] = _KINDS["boundaries-x"]


def motion_descriptors(
    frames: Any,
    *,
    kinds: tuple[str, str] = ("gradients", "flow"),
    step: int = 6,
    patch: int = 24,
    length: int = 15,
    least_motion: float = 2.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Histograms of gradients, optical flow or motion boundaries along dense points over time.

    Parameters
    ----------
    frames : (t, h, w) uint8
        Grey frames.
    kinds : (str, str)
        What the two descriptors of a point are: "gradients" of the picture, "flow", or
        "boundaries-x" and "boundaries-y", the gradients of the flow's two components (MBH): they
        leave out how the camera moves.
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
    first, second : (n, 96) or (n, 108) float32
        2×2 cells × 3 stretches of time × 8 orientations; flow and its boundaries have one bin more
        for standing still.

    Notes
    -----
    After dense trajectories (Wang et al., 2011, 2013), with Farnebäck's flow and one scale.
    Histograms are roots of shares, as for pictures.

    Examples
    --------
    >>> import numpy as np
    >>> from mien.features import motion_descriptors
    >>> wide = np.random.default_rng(0).integers(0, 256, (60, 100)).repeat(2, 0).repeat(2, 1)
    >>> frames = np.stack([wide[:80, k : k + 100] for k in range(16)]).astype(np.uint8)
    >>> first, second = motion_descriptors(frames, kinds=("boundaries-x", "boundaries-y"))
    >>> first.shape[1], second.shape[1]
    (108, 108)
    """
    if len(kinds) != 2:
        raise InputError(f"kinds must be two kinds of histograms; got {kinds!r}")
    for kind in kinds:
        check_choice("kind", kind, tuple(_KINDS))
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
    found: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    state: dict[str, np.ndarray] = {}
    for time, flow in enumerate(dense_flow(frames)):
        phase = time % length
        if phase == 0:
            if time + length >= t:
                break
            state = {"start": grid.astype(float), "points": grid.astype(float)}
            for k, kind in enumerate(kinds):
                state[f"part {k}"] = np.zeros((len(grid), _THIRDS, _CELLS**2, _KINDS[kind]))
        _add_frame(state, kinds, frames[time], flow, phase * _THIRDS // length, patch)
        if phase == length - 1:
            moved = np.linalg.norm(state["points"] - state["start"], axis=1) >= least_motion
            for k, part in enumerate(found):
                part.append(state[f"part {k}"].reshape(len(grid), -1)[moved])
    first, second = (root_shares(np.concatenate(part)) for part in found)
    return first, second


def _channels(kind: str, frame: np.ndarray, flow: np.ndarray) -> np.ndarray:
    """Channels (h, w, bins) of one kind: how strong each orientation is at every pixel."""
    if kind == "flow":
        return _with_still(flow[..., 0], flow[..., 1], _STILL)
    picture = frame if kind == "gradients" else flow[..., 0 if kind == "boundaries-x" else 1]
    dy, dx = np.gradient(picture.astype(float), axis=(0, 1))
    if kind == "gradients":
        return orientation_channels(dx, dy, _BINS)
    return _with_still(dx, dy, _NO_BOUNDARY)


def _with_still(dx: np.ndarray, dy: np.ndarray, least: float) -> np.ndarray:
    """Orientation channels with one more that is 1 where the vector is shorter than ``least``."""
    still = np.hypot(dx, dy) < least
    moving = orientation_channels(dx, dy, _BINS) * ~still[..., None]
    return np.concatenate([moving, still[..., None]], axis=2)


def _add_frame(
    state: dict[str, np.ndarray],
    kinds: tuple[str, str],
    frame: np.ndarray,
    flow: np.ndarray,
    third: int,
    patch: int,
) -> None:
    """Add one frame's histograms around the points, then move the points with the flow."""
    h, w = frame.shape
    corners = np.round(state["points"]).astype(np.intp) - patch // 2
    corners = np.clip(corners, 0, [h - patch, w - patch])
    cell = patch // _CELLS
    for k, kind in enumerate(kinds):
        channels = _channels(kind, frame, flow)
        state[f"part {k}"][:, third] += sum_cells(channels, corners, _CELLS, cell)
    # The median keeps a point on its object at the border of a movement.
    smooth = [median_filter(flow[..., i], 3) for i in (1, 0)]
    shift = [map_coordinates(part, state["points"].T, order=1, mode="nearest") for part in smooth]
    state["points"] = np.clip(state["points"] + np.stack(shift, axis=1), 0, [h - 1, w - 1])
