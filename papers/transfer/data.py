"""Features of LFW, and pairs of domains between which a model is moved."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

from mien._core.progress import report as report_progress
from mien.datasets import load_lfw, load_lfw_embeddings, load_lfw_landmarks, load_orl, make_faces
from mien.features import GridLBP, LandmarkLBP

__all__ = ["DOMAINS", "Domain", "lfw_embeddings", "lfw_landmark_lbp", "lfw_lbp", "load_domain"]

Home = str | os.PathLike[str] | None
#: Most pictures of a person in a target domain: nobody dominates.
MOST_PICTURES = 10


@dataclass(frozen=True)
class Domain:
    """A source and a target, as vectors with people.

    Attributes
    ----------
    name, note : str
        What it is.
    X_source, y_source, X_target, y_target : arrays
        Vectors (n, d) and people (n,). The same label in both means the same person.
    n_adapt, n_test : int
        People of the target to adapt to at most, and to test on.
    sizes : tuple of int
        Numbers of people to adapt to.
    """

    name: str
    note: str
    X_source: np.ndarray
    y_source: np.ndarray
    X_target: np.ndarray
    y_target: np.ndarray
    n_adapt: int
    n_test: int
    sizes: tuple[int, ...]

    def draw(self, seed: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Rows of source, of test, and of each person to adapt to; no person is in two."""
        rng = np.random.default_rng(seed)
        names, counts = np.unique(self.y_target, return_counts=True)
        names = rng.permutation(names[counts >= 2])
        test, adapt = names[: self.n_test], names[self.n_test : self.n_test + self.n_adapt]
        rows = {
            name: rng.permutation(np.flatnonzero(self.y_target == name))[:MOST_PICTURES]
            for name in np.concatenate([test, adapt])
        }
        used = np.concatenate([test, adapt])
        source = np.flatnonzero(~np.isin(self.y_source, used))
        return source, np.concatenate([rows[t] for t in test]), [rows[a] for a in adapt]


def lfw_embeddings(home: Home, name: str) -> np.ndarray:
    """Embeddings (13233, 128) of all of LFW; SFace's of unit length, as its cosine wants."""
    X = np.asarray(load_lfw_embeddings(home, name).vectors, dtype=np.float64)
    return normalize(X) if name.startswith("sface") else X


def _lfw_pictures(home: Home) -> np.ndarray:
    pictures: np.ndarray = load_lfw(home).images
    return pictures


def lfw_lbp(home: Home, n_jobs: int = 2) -> np.ndarray:
    """Grid LBP (13233, 7552) of the middle 88×88 of each 128-pixel picture of LFW."""
    faces = _lfw_pictures(home)[:, 20:108, 20:108]
    return GridLBP(radii=(1.0, 2.0), grids=(8,), n_jobs=n_jobs).fit_transform(faces)


def lfw_landmark_lbp(home: Home, n_jobs: int = 2) -> np.ndarray:
    """High-dimensional LBP (13233, 7965) at the five landmarks of SFace's detector."""
    faces = _lfw_pictures(home)
    points, _ = load_lfw_landmarks(home)
    points = np.where(np.isfinite(points), points, 64.0)
    describe = LandmarkLBP(scales=(1.0, 0.6, 0.4), grid=3, cell=7, n_jobs=n_jobs)
    return describe.fit_transform(faces, landmarks=points)


def _embedding_shift(home: Home, kind: str, note: str) -> Domain:
    clean, moved = lfw_embeddings(home, "sface"), lfw_embeddings(home, f"sface-{kind}")
    people = load_lfw_embeddings(home, "sface").people
    return Domain(
        f"SFace, clean to {kind}", note, clean, people, moved, people, 400, 500,
        (2, 5, 10, 20, 50, 150, 400),
    )  # fmt: skip


def _lbp_to_orl(home: Home) -> Domain:
    lfw = load_lfw(home)
    # The middle of LFW's crop shows about as much of the head as ORL's pictures do.
    middle = lfw.images[:, 20:108, 24:104]
    orl = load_orl(home)
    describe = GridLBP(radii=(1.0, 2.0), grids=(6,), n_jobs=2)
    source = describe.fit_transform(middle)
    target = describe.fit(orl.images).transform(orl.images)
    report_progress("PCA of LBP", 0, 1)
    pca = PCA(150, svd_solver="randomized", random_state=0).fit(source)
    return Domain(
        "LBP, LFW to ORL",
        "grid LBP and PCA 150 learned on LFW; ORL has 40 people, 20 to adapt to, 20 to test on",
        pca.transform(source).astype(np.float64), lfw.people,
        pca.transform(target).astype(np.float64),
        np.asarray([f"orl {p}" for p in orl.people]), 20, 20, (2, 5, 10, 20),
    )  # fmt: skip


def _second_camera(home: Home) -> Domain:
    here = make_faces(400, 6, 48, random_state=1)
    there = make_faces(300, 6, 48, camera="second", first_person=1000, random_state=2)
    describe = GridLBP(radii=(1.0, 2.0), grids=(5,), n_jobs=2)
    source = describe.fit_transform(here.images)
    pca = PCA(100, svd_solver="randomized", random_state=0).fit(source)
    return Domain(
        "rendered, second camera",
        "rendered people, grid LBP and PCA 100 learned on the first camera; the second is darker, "
        "coarser, noisier and lit from the side",
        pca.transform(source).astype(np.float64),
        np.asarray([f"source {p}" for p in here.people]),
        pca.transform(describe.transform(there.images)).astype(np.float64),
        np.asarray([f"target {p}" for p in there.people]), 150, 150, (2, 5, 10, 20, 50, 150),
    )  # fmt: skip


DOMAINS: dict[str, Callable[[Home], Domain]] = {
    "lowres": lambda home: _embedding_shift(
        home, "lowres", "the same embedding of grey, dark, noisy faces 20 pixels wide"
    ),
    "covered": lambda home: _embedding_shift(
        home, "covered", "the same embedding of faces whose lower half is covered"
    ),
    "orl": _lbp_to_orl,
    "camera": _second_camera,
}


def load_domain(name: str, home: Any = None) -> Domain:
    """One of :data:`DOMAINS` by its short name."""
    return DOMAINS[name](home)
