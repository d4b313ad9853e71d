"""The data of the weak-label paper, or the nearest to it that is at hand, as vectors."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.io import loadmat

from mien._core.linalg import thin_svd
from mien._core.progress import track
from mien.datasets import data_home, load_lfw, load_orl, load_yale
from mien.errors import DataError, MissingDataError
from mien.faces import THIRTEEN, LandmarkFinder, load_engine
from mien.features import colour_texture, local_vectors, mean_shape, warp_faces
from mien.media import group_tracks, read_image, resize_images

__all__ = [
    "FACE_SETS",
    "NamedVectors",
    "TrackedFaces",
    "load_corel",
    "load_leaves",
    "load_tracks",
    "turn_into_span",
    "turn_towards",
    "warp_by_landmarks",
]

Home = str | os.PathLike[str] | None


@dataclass(frozen=True)
class NamedVectors:
    """Vectors (n, d) with names (n,), and how the paper, or we, divide them.

    Attributes
    ----------
    n_train : int
        Pictures of each person to learn from.
    group_sizes : tuple of int
        The last one is a whole person: Fisherfaces is possible there.
    """

    name: str
    X: np.ndarray
    people: np.ndarray
    n_train: int
    group_sizes: tuple[int, ...]
    words: str


@dataclass(frozen=True)
class TrackedFaces:
    """Faces of videos: vectors (n, d), people, and tracks from their boxes, -1 for none."""

    X: np.ndarray
    people: np.ndarray
    tracks: np.ndarray
    frames: np.ndarray


def turn_into_span(X: np.ndarray) -> np.ndarray:
    """The same points (n, d) in coordinates (n, rank) of their own span, where that is smaller.

    A rotation: distances, scatters and so every method here are the same, and quicker.
    """
    if len(X) >= X.shape[1]:
        return X
    U, s, _ = thin_svd(X - X.mean(axis=0))
    return U * s


def turn_towards(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Points (n, d) in coordinates (n, rank + 1) of the span of ``X[rows]``, and how far off it.

    Distances to every point of ``rows`` stay, and what is learned from them is the same.
    """
    mean = X[rows].mean(axis=0)
    centred = X - mean
    basis = thin_svd(centred[rows]).Vt
    inside = centred @ basis.T
    off = np.einsum("ij,ij->i", centred, centred) - np.einsum("ij,ij->i", inside, inside)
    off[rows] = 0.0
    return np.column_stack([inside, np.sqrt(np.maximum(off, 0.0))])


def warp_by_landmarks(
    images: np.ndarray, size: int = 48, margin: float = 0.35, *, thirteen: bool = False
) -> np.ndarray:
    """Grey pictures (n, h, w) uint8 of one face each to faces (n, size, size).

    The five landmarks of the face detector, or thirteen of the landmarker, come to lie on their
    mean shape by a thin-plate spline; ``margin`` is what is left free around them, so that brow,
    cheeks and chin are in the picture.
    """
    engine = load_engine("sface")
    finder = LandmarkFinder() if thirteen else None
    landmarks = np.empty((len(images), 5 if finder is None else len(THIRTEEN), 2))
    for n, image in enumerate(track(images, "finding landmarks", len(images))):
        colour = np.repeat(image[:, :, None], 3, axis=2)
        found = engine.detect(colour)
        if not found:
            raise DataError(f"no face was found in picture {n} of {len(images)}")
        if finder is None:
            landmarks[n] = found[0].landmarks
        else:
            landmarks[n] = finder.find(colour, found[0]).thirteen
    return warp_faces(images, landmarks, mean_shape(landmarks, size, margin), size=size)


def _warped_yale(
    home: Home, name: str, smooth: float, words: str, *, thirteen: bool = False
) -> NamedVectors:
    faces = load_yale(home)
    # Thirteen points reach from the brows to the chin and need less room around them.
    warped = warp_by_landmarks(faces.images, margin=0.1 if thirteen else 0.35, thirteen=thirteen)
    X = turn_into_span(local_vectors(warped, smooth=smooth))
    return NamedVectors(name, X, faces.people, 7, (3, 5, 7), words)


def load_yale_as_printed(home: Home) -> NamedVectors:
    """156 pictures of 15 people, warped to 48×48, normalised in 5×5 windows; 7 to learn from."""
    words = "warped by five landmarks to 48×48 pixels, zero mean and unit variance in 5×5 windows"
    return _warped_yale(home, "Yale", 0.0, words)


def load_yale_smoothed(home: Home) -> NamedVectors:
    """The same, blurred by one pixel after the normalisation."""
    return _warped_yale(
        home, "Yale, smoothed", 1.0, "the same, then blurred by a Gaussian of 1 pixel"
    )


def load_yale_thirteen(home: Home) -> NamedVectors:
    """Warped by thirteen landmarks, as many as the paper has; the rest as printed."""
    words = "warped by thirteen landmarks to 48×48 pixels, normalised in 5×5 windows"
    return _warped_yale(home, "Yale, 13 landmarks", 0.0, words, thirteen=True)


def load_yale_thirteen_smoothed(home: Home) -> NamedVectors:
    """The same, blurred by one pixel after the normalisation."""
    words = "warped by thirteen landmarks, then blurred by a Gaussian of 1 pixel"
    return _warped_yale(home, "Yale, 13 landmarks, smoothed", 1.0, words, thirteen=True)


def load_yale_crops(home: Home) -> NamedVectors:
    """The prepared crops of the same pictures, not warped, normalised in 5×5 windows."""
    faces = load_yale(home, variant="64x64", size=48)
    X = turn_into_span(local_vectors(faces.images))
    words = "crops of others, not warped, 48×48 pixels, normalised in 5×5 windows"
    return NamedVectors("Yale, crops", X, faces.people, 7, (3, 5, 7), words)


def load_orl_faces(home: Home) -> NamedVectors:
    """400 pictures of 40 people, 48×48 grey values; 6 of each to learn from."""
    faces = load_orl(home, variant="64x64", size=48)
    X = turn_into_span(np.asarray(faces.vectors(), dtype=np.float64))
    return NamedVectors("ORL", X, faces.people, 6, (2, 4, 6), "48×48 grey values")


def load_lfw_people(home: Home) -> NamedVectors:
    """20 pictures each of 40 people of LFW; 10 of each to learn from."""
    faces = load_lfw(home, min_pictures=20)
    names, counts = np.unique(faces.people, return_counts=True)
    chosen = np.sort(names[np.argsort(-counts, kind="stable")[:40]])
    rows = np.concatenate([np.flatnonzero(faces.people == name)[:20] for name in chosen])
    middle = resize_images(faces.images[rows][:, 16:112, 16:112], 48)
    X = turn_into_span(local_vectors(middle, smooth=1.0))
    words = "the middle at 48×48 pixels, normalised in 5×5 windows and blurred by 1 pixel"
    return NamedVectors("LFW", X, faces.people[rows], 10, (2, 5, 10), words)


def load_feret_shaped(home: Home) -> NamedVectors:
    """A set of FERET's shape from LFW: 239 people, three pictures each to learn from, two asked."""
    faces = load_lfw(home, min_pictures=5)
    names = np.unique(faces.people)
    chosen = np.sort(np.random.default_rng(0).permutation(names)[:239])
    rows = np.concatenate([np.flatnonzero(faces.people == name)[:5] for name in chosen])
    middle = resize_images(faces.images[rows][:, 16:112, 16:112], 48)
    X = turn_into_span(local_vectors(middle, smooth=1.0))
    words = "of LFW, five each, normalised in 5×5 windows and blurred by 1 pixel"
    return NamedVectors("FERET's shape", X, faces.people[rows], 3, (2, 3), words)


def load_leaves(home: Home) -> tuple[np.ndarray, np.ndarray]:
    """Three views of 1,600 leaves of 100 kinds as one vector, each view of equal variance."""
    path = data_home(home) / "multiview" / "100Leaves.mat"
    if not path.is_file():
        raise MissingDataError(f"{str(path)!r} does not exist")
    content = loadmat(path)
    views = [np.asarray(view, dtype=np.float64) for view in content["X"].ravel()]
    scaled = [view / np.sqrt(view.var(axis=0).sum()) for view in views]
    return np.concatenate(scaled, axis=1), content["Y"].ravel()


#: Name on the command line -> how to load it.
FACE_SETS: dict[str, Callable[[Home], NamedVectors]] = {
    "yale": load_yale_as_printed,
    "yale-smoothed": load_yale_smoothed,
    "yale-13": load_yale_thirteen,
    "yale-13-smoothed": load_yale_thirteen_smoothed,
    "yale-crops": load_yale_crops,
    "orl": load_orl_faces,
    "lfw": load_lfw_people,
    "feret-shaped": load_feret_shaped,
}


def _read_npz(path: Path, keys: tuple[str, ...]) -> dict[str, np.ndarray]:
    if not path.is_file():
        raise MissingDataError(f"{str(path)!r} does not exist: it is part of the videos' data")
    with np.load(path, allow_pickle=False) as arrays:
        return {key: arrays[key] for key in keys}


def load_tracks(home: Home, smooth: float = 0.0) -> TrackedFaces:
    """Faces of four videos, 48×48, with tracks that :func:`group_tracks` makes from the boxes.

    ``smooth`` is the width of a Gaussian after the normalisation, in pixels.
    """
    place = data_home(home) / "video"
    keys = ("images", "track", "frame", "box_xywh")
    first = _read_npz(place / "otb_face_tracks_64x48.npz", (*keys, "track_names"))
    second = _read_npz(place / "hamilton_face_tracks_64.npz", (*keys, "track_person"))
    people = np.concatenate(
        [first["track_names"][first["track"]], second["track_person"][second["track"]]]
    )
    videos = np.concatenate(
        [first["track_names"][first["track"]], ["hamilton"] * len(second["track"])]
    )
    frames = np.concatenate([first["frame"], second["frame"]]).astype(int)
    boxes = np.concatenate([first["box_xywh"], second["box_xywh"]]).astype(float)
    images = np.concatenate(
        [resize_images(part["images"], 48, fit="stretch") for part in (first, second)]
    )
    tracks = group_tracks(boxes, frames, videos=videos, max_gap=2)
    return TrackedFaces(local_vectors(images, smooth=smooth), people, tracks, frames)


def load_corel(home: Home, per_class: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Features (1000, 5120) and classes (1000,) of Corel-1K, or of the first of each class.

    Colour and texture are scaled to the same total variance: the paper does not say how it
    weighs them.
    """
    place = data_home(home) / "corel1k"
    table = place / "labels.csv"
    if not table.is_file():
        raise MissingDataError(f"{str(table)!r} does not exist: Corel-1K was not found")
    with table.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    if per_class < 100:
        names = np.asarray([row["class"] for row in rows])
        first = [np.flatnonzero(names == name)[:per_class] for name in np.unique(names)]
        rows = [rows[k] for k in np.sort(np.concatenate(first))]
    pictures = [
        read_image(place / row["file"], colour=True) for row in track(rows, "reading Corel-1K")
    ]
    X = colour_texture(pictures).astype(np.float64)
    for part in (slice(0, 4096), slice(4096, 5120)):
        X[:, part] /= np.sqrt(X[:, part].var(axis=0).sum())
    return turn_into_span(X), np.asarray([row["class"] for row in rows])
