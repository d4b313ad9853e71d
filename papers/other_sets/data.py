"""The sets at hand as vectors with names, and as faces to complete."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
from scipy.io import loadmat

from mien.datasets import (
    FaceSet,
    crop_rendered,
    data_home,
    load_lfw,
    load_orl,
    load_yale,
    make_faces,
)
from mien.errors import MissingDataError
from mien.media import read_image
from papers.weak_labels.data import load_corel
from papers.weak_labels.soft import load_small_sets

__all__ = [
    "FACES",
    "VECTORS",
    "light_from_sides",
    "load_faces",
    "load_pictures_of_nobody",
    "load_vectors",
]

Named = tuple[np.ndarray, np.ndarray]

#: Faces, then sets of other things that were never looked at when a default was chosen.
FACES = ("ORL", "Yale", "LFW", "rendered")
_VIEWS = {
    "digits": ("handwritten.mat", 0, 40),
    "leaves": ("100Leaves.mat", 0, 16),
    "MSRC": ("MSRCV1.mat", 2, 30),
    "ORL's GIST": ("ORL.mat", 0, 10),
}
_NOBODY = ("dinosaurs", "elephants", "flowers", "foods", "horses", "mountains_and_snow")
VECTORS = (*FACES, "Corel", *_VIEWS)


def _take(X: np.ndarray, names: np.ndarray, per_name: int, most: int) -> Named:
    """The first so many rows of each of the first so many names."""
    rows = [np.flatnonzero(names == name)[:per_name] for name in np.unique(names)[:most]]
    kept = np.sort(np.concatenate(rows))
    return X[kept], names[kept]


def load_vectors(name: str, home: Any, quick: bool, seed: int) -> Named:
    """Vectors (n, d) and names (n,): pixels of faces, colour and texture, or a ready-made view."""
    if name in FACES:
        X, people = load_small_sets(home, seed, (name,), ("pixels",))[name, "pixels"]
    elif name == "Corel":
        X, people = load_corel(home, per_class=40)
    else:
        file, view, per_class = _VIEWS[name]
        path = data_home(home) / "multiview" / file
        if not path.is_file():
            raise MissingDataError(f"{str(path)!r} does not exist")
        content = loadmat(path)
        X = np.asarray(content["X"].ravel()[view], dtype=np.float64)
        # A constant feature has no units to be brought to.
        X = X[:, X.std(axis=0) > 0]
        X, people = _take(X / X.std(axis=0), content["Y"].ravel(), per_class, 60)
    return _take(X, people, 8, 10) if quick else (X, people)


def load_pictures_of_nobody(home: Any, most: int, seed: int) -> list[np.ndarray]:
    """Every second one of Corel's pictures of animals, flowers, food and mountains, 192 wide."""
    place = data_home(home) / "corel1k"
    table = place / "labels.csv"
    if not table.is_file():
        raise MissingDataError(f"{str(table)!r} does not exist: Corel-1K was not found")
    with table.open(newline="", encoding="utf-8") as lines:
        files = [row["file"] for row in csv.DictReader(lines) if row["class"] in _NOBODY]
    files = files[1::2]
    chosen = np.random.default_rng(seed).permutation(len(files))[:most]
    return [
        read_image(place / files[k], colour=True, size=(128, 192)) for k in sorted(chosen.tolist())
    ]


def light_from_sides(X: np.ndarray, seed: int) -> np.ndarray:
    """Square pictures (n, pixels) under a lamp from a random side: dark where it does not reach."""
    side = round(X.shape[1] ** 0.5)
    y, x = np.mgrid[-1 : 1 : 1j * side, -1 : 1 : 1j * side]
    rng = np.random.default_rng(seed)
    slopes = rng.normal(scale=1.2, size=(len(X), 2))
    ramps = slopes[:, :1] * x.ravel() + slopes[:, 1:] * y.ravel()
    return np.asarray(np.clip(X * np.exp(ramps - ramps.max(axis=1, keepdims=True)), 0, 1))


def load_faces(name: str, home: Any, quick: bool, seed: int) -> FaceSet:
    """Faces at 32×32 to learn from and to complete."""
    if name == "ORL":
        return load_orl(home, size=32)
    if name == "Yale":
        return load_yale(home, variant="64x64", size=32)
    if name == "LFW":
        faces = load_lfw(home, size=32)
        rows = np.random.default_rng(seed).permutation(len(faces))[: 300 if quick else 1500]
        return faces.select(np.sort(rows))
    return crop_rendered(make_faces(60 if quick else 200, 4, size=64, random_state=seed + 7))
