"""The covered part of the faces in a photograph, found and completed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import ndimage

from mien._core.types import PathLike
from mien.completion import COVERS, FaceCompleter, complete_colour, make_cover, refine_cover
from mien.errors import DataError, InputError
from mien.faces import (
    CROP_SIDE,
    TEMPLATE,
    Face,
    FaceEngine,
    align_face,
    covered_probabilities,
    detect_faces,
    fit_similarity,
)
from mien.files import load
from mien.media import caption_pictures, is_picture, read_image

__all__ = [
    "CompletedFace",
    "CompletedPicture",
    "complete",
    "frame_face",
    "load_completer",
]

_MODEL = "completion.mien"
# The square that is completed, in pixels of TEMPLATE: it ends below the chin.
_LEFT, _TOP, _SIDE = -5.0, 8.0, 122.0
# A face with less than this share covered is left as it is.
_LEAST = 0.03
# So is one with more than this share covered: there is nothing left to go by.
_MOST = 0.95
_UNKNOWN = 0.4
# How far the estimate is fitted to the visible pixels along the edge, in pixels of the model.
_BLEND = 2.0
# Half axes of the oval of the face, in sides of the frame.
_WIDE, _HIGH = 0.3, 0.42
# Fewer visible pixels than this say nothing about the light.
_LEAST_PIXELS = 50


@dataclass(frozen=True, eq=False)
class CompletedFace:
    """A face, what of it was taken as covered, and what was put there.

    Attributes
    ----------
    face : Face
        Where it is in the photograph.
    aligned, completed : (s, s, 3) uint8
        The aligned face before and after, at the size of the model.
    covered : (s, s) of bool
        What was taken as covered; all False where nothing was done.
    """

    face: Face
    aligned: np.ndarray = field(repr=False)
    covered: np.ndarray = field(repr=False)
    completed: np.ndarray = field(repr=False)

    @property
    def share(self) -> float:
        """Share of the aligned face that is covered."""
        return float(self.covered.mean())


@dataclass(frozen=True, eq=False)
class CompletedPicture:
    """A photograph with the covered parts of its faces completed.

    Attributes
    ----------
    original, image : (h, w, 3) uint8
        Before and after; they differ only where ``covered`` is True.
    covered : (h, w) of bool
        The pixels that were replaced.
    faces : list of CompletedFace
        The largest first.
    path : Path or None
        The file, where one was given.
    """

    original: np.ndarray = field(repr=False)
    image: np.ndarray = field(repr=False)
    covered: np.ndarray = field(repr=False)
    faces: list[CompletedFace]
    path: Path | None = None

    @property
    def n_completed(self) -> int:
        """Number of faces of which a part was completed."""
        return sum(bool(face.covered.any()) for face in self.faces)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; no picture."""
        return {
            "file": None if self.path is None else str(self.path),
            "completed": self.n_completed,
            "faces": [
                {
                    "box": [round(float(value), 1) for value in face.face.box],
                    "covered": round(face.share, 3),
                }
                for face in self.faces
            ],
        }

    def draw(self, side: int = 320) -> np.ndarray:
        """Original, what was taken as covered, and the result side by side, (h, w, 3) uint8.

        One face is shown large; of several the whole photograph is shown.
        """
        marked = self.original.copy()
        marked[self.covered] = (0.35 * marked[self.covered] + [0, 60, 150]).astype(np.uint8)
        views = [self.original, marked, self.image]
        if len(self.faces) == 1:
            views = [_cut_square(view, self.faces[0].face) for view in views]
        else:
            views = [_pad_square(view) for view in views]
        words = ["original", "taken as covered", "completed: a guess"]
        return caption_pictures(views, words, side=side)


def complete(
    photo: PathLike | np.ndarray,
    *,
    cover: str | np.ndarray = "auto",
    model: FaceCompleter | PathLike | None = None,
    engine: str | FaceEngine = "sface",
    same: Sequence[PathLike | np.ndarray] = (),
) -> CompletedPicture:
    """Complete the covered part of every face in a photograph.

    Parameters
    ----------
    photo : path or (h, w, 3) uint8
        The photograph.
    cover : str or (h, w) of bool
        ``"auto"`` finds what is covered. Otherwise what is covered: a name of
        :data:`mien.completion.COVERS`, meant on the upright face; or a picture of the size of the
        photograph, True (white, for a path) where faces are covered. Nothing outside it is ever
        changed, to the bit.
    model : FaceCompleter, path or None
        Of grey, aligned, square faces; None takes the shipped one.
    engine : {"sface", "dlib", "sface+dlib"} or FaceEngine
        Finds the faces.
    same : sequence of paths or (h, w, 3) uint8
        Other photographs of the person whose face is the largest, as a gallery's people were
        enrolled from. The one that is most alike where the face is visible gives what is put in,
        in its light; those without a face are not used.

    Returns
    -------
    CompletedPicture

    Notes
    -----
    What is put in is the mean of faces that look the same where the face is visible: a guess, not
    what lies under the cover. It must not be used to recognise somebody.

    The model gives what a face of its size (64 pixels) shows; that is enlarged to the size of the
    face in the photograph, and fitted to the visible pixels along the edge of the cover, from
    coarse to fine, so that there is no seam. Finer detail is taken from the other half of the
    face where that is visible; where it is not, the result is smooth, unless there is another
    photograph of the same person.

    See Also
    --------
    mien.completion.FaceCompleter : completes aligned faces of one size.

    Examples
    --------
    >>> from mien.recognition import complete
    >>> complete("masked.jpg").n_completed                                    # doctest: +SKIP
    1
    """
    path = None if isinstance(photo, np.ndarray) else Path(photo)
    original = np.asarray(photo) if path is None else read_image(path, colour=True)
    completer = _check_model(model)
    side = completer.shape_[0]
    told = _read_cover(cover, original.shape[:2])
    found = detect_faces(original, engine)
    if not found:
        raise DataError(f"no face was found in {'the picture' if path is None else str(path)!r}")
    others = [other for one in same if (other := _look_at_other(one, engine)) is not None]
    faces, image = [], original.copy()
    replaced = np.zeros(original.shape[:2], dtype=bool)
    for face in found:
        frame = frame_face(face)
        aligned = align_face(original, frame, size=side)
        covered = _find_covered(original, face, aligned, told)
        completed = complete_colour(completer, aligned, covered)
        if covered.any():
            allowed = told if isinstance(told, np.ndarray) else None
            other = _most_alike(aligned, covered, others) if face is found[0] else None
            replaced |= _fill_face(image, original, frame, completed, covered, allowed, other)
        faces.append(CompletedFace(face, aligned, covered, _to_bytes(completed)))
    return CompletedPicture(original, image, replaced, faces, path)


class _Other(NamedTuple):
    """Another photograph (h, w, 3) uint8 of somebody, and the frame of the face in it."""

    image: np.ndarray
    frame: Face


def _look_at_other(photo: PathLike | np.ndarray, engine: str | FaceEngine) -> _Other | None:
    image = photo if isinstance(photo, np.ndarray) else read_image(photo, colour=True)
    found = detect_faces(image, engine)
    return _Other(image, frame_face(found[0])) if found else None


def _most_alike(
    aligned: np.ndarray, covered: np.ndarray, others: Sequence[_Other]
) -> _Other | None:
    """The photograph whose face differs least where this one is visible, whatever its light."""
    side = len(covered)
    visible = ~covered & _oval((np.indices(covered.shape)[::-1].transpose(1, 2, 0) + 0.5) / side)
    if not visible.any():
        return others[0] if others else None

    def difference(other: _Other) -> float:
        theirs = align_face(other.image, other.frame, size=side)
        left = [
            mine - (gain * shown + level)
            for mine, shown in (
                (aligned[visible, c] / 255, theirs[visible, c] / 255) for c in range(3)
            )
            for gain, level in [_fit_light(shown, mine)]
        ]
        return float(np.mean(np.square(left)))

    return min(others, key=difference, default=None)


def _fit_light(theirs: np.ndarray, mine: np.ndarray) -> tuple[float, float]:
    """Gain and level that bring pixels (n,) of another photograph nearest to these."""
    if len(mine) < _LEAST_PIXELS:
        return 1.0, 0.0
    spread = float(np.var(theirs))
    gain = float(np.mean((theirs - theirs.mean()) * (mine - mine.mean()))) / max(spread, 1e-6)
    gain = float(np.clip(gain, 0.6, 1.6))
    return gain, float(mine.mean() - gain * theirs.mean())


def _oval(places: np.ndarray) -> np.ndarray:
    """Which places (..., 2), in sides of the frame, lie in the oval of the face."""
    return np.asarray(np.square((places - 0.5) / [_WIDE, _HIGH]).sum(axis=-1) < 1)


@cache
def load_completer() -> FaceCompleter:
    """The shipped model: mean and directions of aligned grey faces of 64 × 64 pixels."""
    with resources.as_file(resources.files("mien.recognition") / "models" / _MODEL) as path:
        return _check_model(path)


def _check_model(model: FaceCompleter | PathLike | None) -> FaceCompleter:
    if model is None:
        return load_completer()
    found = model if isinstance(model, FaceCompleter) else load(os.fspath(model))
    if not isinstance(found, FaceCompleter):
        raise InputError(f"{model} holds a {type(found).__name__}, not a FaceCompleter")
    if len(found.shape_) != 2 or found.shape_[0] != found.shape_[1]:
        raise InputError(
            f"photographs need a model of grey square faces; this one has faces of {found.shape_}"
        )
    return found


def _read_cover(cover: str | np.ndarray, shape: tuple[int, int]) -> str | np.ndarray:
    """A name, or what is covered as a picture (h, w) of the photograph's size."""
    if isinstance(cover, str) and (cover == "auto" or cover in COVERS):
        return cover
    if isinstance(cover, str | os.PathLike) and is_picture(cover):
        return np.asarray(read_image(cover, size=shape, fit="stretch") >= 128)
    if isinstance(cover, str):
        raise InputError(
            f"a cover is 'auto', one of {', '.join(COVERS)}, or a picture; got {cover!r}"
        )
    return make_cover(cover, shape)


def frame_face(face: Face) -> Face:
    """The face with landmarks moved so that :func:`mien.faces.align_face` shows it to the chin.

    Its usual square, which the engine needs, ends there.
    """
    matrix = fit_similarity(face.landmarks.astype(np.float64), TEMPLATE)
    wanted = TEMPLATE * (_SIDE / CROP_SIDE) + [_LEFT, _TOP]
    landmarks = (wanted - matrix[:, 2]) @ np.linalg.inv(matrix[:, :2]).T
    return Face(face.box, landmarks, face.confidence)


def _find_covered(
    image: np.ndarray, face: Face, aligned: np.ndarray, told: str | np.ndarray
) -> np.ndarray:
    """What of the face in its frame (side, side, 3) is covered."""
    side = len(aligned)
    if isinstance(told, np.ndarray):
        picture = np.repeat(np.where(told, np.uint8(255), np.uint8(0))[..., None], 3, axis=2)
        covered = align_face(picture, frame_face(face), size=side)[..., 0] >= 64
    elif told != "auto":
        return make_cover(told, (side, side))
    else:
        blocks = covered_probabilities(align_face(image, face, size=CROP_SIDE)[None])[0]
        covered = refine_cover(aligned, _reframe(blocks, side))
    grown = ndimage.binary_dilation(covered, iterations=max(1, side // 32))
    if covered.mean() < _LEAST or grown.mean() > _MOST:
        return np.zeros_like(covered)
    return np.asarray(grown)


def _reframe(blocks: np.ndarray, side: int) -> np.ndarray:
    """A map (14, 14) of the engine's square, seen in the frame (side, side)."""
    step = CROP_SIDE / len(blocks)
    along = (np.arange(side) + 0.5) * (_SIDE / side)
    at = np.meshgrid((along + _TOP) / step - 0.5, (along + _LEFT) / step - 0.5, indexing="ij")
    inside = ndimage.map_coordinates(blocks, at, order=1, mode="nearest")
    # Below the square nothing is known: there colour decides.
    beyond = np.clip((along + _TOP - CROP_SIDE) / step, 0, 1)[:, None]
    return np.asarray(inside + beyond * (_UNKNOWN - inside))


def _fill_face(
    image: np.ndarray,
    original: np.ndarray,
    face: Face,
    completed: np.ndarray,
    covered: np.ndarray,
    allowed: np.ndarray | None,
    other: _Other | None = None,
) -> np.ndarray:
    """Put the covered part of a completed face into the photograph; nothing else is touched.

    Parameters
    ----------
    image : (h, w, 3) uint8
        Changed in place.
    original : (h, w, 3) uint8
        The photograph.
    face : Face
        Frame of the completed face.
    completed : (s, s, 3) float in [0, 1]
        What :func:`mien.faces.align_face` would show.
    covered : (s, s) of bool
        What of it is covered.
    allowed : (h, w) of bool or None
        Where the photograph is covered, to the pixel; None takes the edge of ``covered``.
    other : _Other or None
        Another photograph of this person, which is put in where it shows the face.

    Returns
    -------
    (h, w) of bool
        The pixels that were replaced.
    """
    side = len(covered)
    matrix = fit_similarity(face.landmarks.astype(np.float64), TEMPLATE * (side / CROP_SIDE))
    turn, shift = matrix[:, :2], matrix[:, 2]
    replaced = np.zeros(image.shape[:2], dtype=bool)
    corners = np.array([[0, 0], [side, 0], [0, side], [side, side]], dtype=np.float64)
    places = (corners - shift) @ np.linalg.inv(turn).T
    left, top = np.maximum(np.floor(places.min(axis=0)).astype(int), 0)
    right, bottom = np.minimum(
        np.ceil(places.max(axis=0)).astype(int) + 1, [image.shape[1], image.shape[0]]
    )
    if right <= left or bottom <= top:
        return replaced
    grid = np.stack(np.meshgrid(np.arange(left, right), np.arange(top, bottom)), axis=-1)
    points = grid @ turn.T + shift
    at = [points[..., 1], points[..., 0]]
    inside = np.all((points >= -0.5) & (points <= side - 0.5), axis=-1)
    place = (slice(top, bottom), slice(left, right))
    soft = ndimage.gaussian_filter(covered.astype(np.float32), 0.7)
    here = inside & (ndimage.map_coordinates(soft, at, order=1, mode="nearest") > 0.5)
    where = here if allowed is None else allowed[place] & inside
    visible = inside & ~(where | here if allowed is None else allowed[place])
    picture = original[place].astype(np.float32) / 255
    scale = 1 / float(np.sqrt(abs(np.linalg.det(turn))))
    mirrored = np.stack([side - points[..., 0], points[..., 1]], axis=-1) - shift
    across = (mirrored @ np.linalg.inv(turn).T - [left, top])[..., ::-1]
    # The axis of TEMPLATE is the middle. Hair and background are not alike on both sides.
    oval = _oval((points + 0.5) / side)
    theirs = None if other is None else _see_other(other, points, side)
    for c in range(3):
        low = ndimage.map_coordinates(completed[..., c], at, order=3, mode="nearest")
        low += oval * _mirror_detail(picture[..., c], visible, across, scale)
        if theirs is not None:
            both = visible & oval & np.isfinite(theirs[..., c])
            gain, level = _fit_light(theirs[both, c], picture[both, c])
            low = np.where(np.isfinite(theirs[..., c]), gain * theirs[..., c] + level, low)
        fitted = low + _fit_edge(picture[..., c] - low, visible, scale)
        channel = image[place][..., c]
        channel[where] = np.round(255 * np.clip(fitted[where], 0, 1)).astype(np.uint8)
    replaced[place] = where
    return replaced


def _see_other(other: _Other, points: np.ndarray, side: int) -> np.ndarray:
    """Another photograph at points (h, w, 2) of the frame, (h, w, 3) in [0, 1]; NaN beyond it."""
    wanted = TEMPLATE * (side / CROP_SIDE)
    matrix = fit_similarity(other.frame.landmarks.astype(np.float64), wanted)
    places = (points - matrix[:, 2]) @ np.linalg.inv(matrix[:, :2]).T
    step = float(np.linalg.norm(places[0, -1] - places[0, 0])) / max(places.shape[1] - 1, 1)
    picture = other.image.astype(np.float32) / 255
    if step > 1:  # theirs is larger: averaged down, so that there are no false edges
        picture = ndimage.gaussian_filter(picture, (step / 2, step / 2, 0))
    at = [places[..., 1], places[..., 0]]
    return np.stack(
        [
            ndimage.map_coordinates(picture[..., c], at, order=1, mode="constant", cval=np.nan)
            for c in range(3)
        ],
        axis=-1,
    )


def _mirror_detail(
    picture: np.ndarray, visible: np.ndarray, across: np.ndarray, scale: float
) -> np.ndarray:
    """What is finer than the model in a picture (h, w), taken from the other side of the face.

    ``across`` (h, w, 2) has the row and column of each pixel's mirror image. Zero where that is
    not visible.
    """
    weights = visible.astype(np.float32)
    top, bottom = (_smooth(a, scale) for a in (picture * weights, weights))
    detail = (picture - top / np.maximum(bottom, 1e-3)) * weights
    at = [across[..., 0], across[..., 1]]
    seen = ndimage.map_coordinates(bottom, at, order=1, mode="constant")
    found = ndimage.map_coordinates(detail, at, order=1, mode="constant")
    return np.asarray(found * np.clip(2 * seen - 1, 0, 1), dtype=np.float32)


def _fit_edge(difference: np.ndarray, visible: np.ndarray, scale: float) -> np.ndarray:
    """Continue a difference (h, w) from the visible pixels into the others, fading out.

    From coarse to fine: each level adds what the coarser ones have left at the edge.
    """
    weights = visible.astype(np.float32)
    total = np.zeros(difference.shape, np.float32)
    sigma = _BLEND * scale
    while True:
        left = (difference - total) * weights
        top, bottom = (_smooth(a, sigma) for a in (left, weights))
        total += top / (bottom + np.float32(0.05))
        if sigma <= 0.7:
            return total
        sigma = max(sigma / 2, 0.7)


def _smooth(picture: np.ndarray, sigma: float) -> np.ndarray:
    """A picture (h, w) convolved with a Gaussian; a wide one by way of means of blocks.

    The time of a convolution grows with its width: in a face that fills a large photograph it
    is hundreds of pixels wide. Blocks of a third of sigma change the result by about a hundredth
    of the picture's range.
    """
    step = min(int(sigma / 3), min(picture.shape) // 8)
    if step < 4:
        return np.asarray(ndimage.gaussian_filter(picture, sigma, mode="nearest"))
    ends = [-(-n // step) * step - n for n in picture.shape]
    padded = np.pad(picture, [(0, end) for end in ends], mode="edge")
    rows, columns = (n // step for n in padded.shape)
    small = padded.reshape(rows, step, columns, step).mean(axis=(1, 3), dtype=np.float32)
    # Blocks, and lines between their middles, widen by a 12th and a 6th of a block squared.
    width = np.sqrt(max((sigma / step) ** 2 - 1 / 12 - 1 / 6, 0.25))
    small = ndimage.gaussian_filter(small, width, mode="nearest")
    down, right = (
        _lines(n, blocks, step) for n, blocks in zip(picture.shape, (rows, columns), strict=True)
    )
    return np.asarray(down @ (small @ right.T))


def _lines(n: int, n_blocks: int, step: int) -> np.ndarray:
    """What n pixels (n, n_blocks) take from the middles of blocks, on straight lines."""
    if n_blocks == 1:
        return np.ones((n, 1), np.float32)
    at = (np.arange(n) + 0.5) / step - 0.5  # beyond the outer middles the lines go on
    low = np.clip(np.floor(at).astype(int), 0, n_blocks - 2)
    weights = np.zeros((n, n_blocks), np.float32)
    weights[np.arange(n), low] = 1 - (at - low)
    weights[np.arange(n), low + 1] = at - low
    return weights


def _to_bytes(image: np.ndarray) -> np.ndarray:
    return np.round(np.clip(image, 0, 1) * 255).astype(np.uint8)


def _cut_square(image: np.ndarray, face: Face) -> np.ndarray:
    """The face with some room around it, as a square."""
    centre = face.box[:2] + face.box[2:] / 2
    reach = int(np.ceil(0.8 * float(face.box[2:].max())))
    low = np.floor(centre - reach).astype(int)
    padded = np.pad(image, ((reach,) * 2, (reach,) * 2, (0, 0)))
    low = np.clip(low + reach, 0, np.array(padded.shape[1::-1]) - 1)
    return padded[low[1] : low[1] + 2 * reach, low[0] : low[0] + 2 * reach]


def _pad_square(image: np.ndarray) -> np.ndarray:
    height, width = image.shape[:2]
    side = max(height, width)
    result = np.full((side, side, 3), 255, dtype=np.uint8)
    top, left = (side - height) // 2, (side - width) // 2
    result[top : top + height, left : left + width] = image
    return result
