"""People of unit vectors, a verifier for them, and ways to fill a gallery."""

from __future__ import annotations

import hashlib

import numpy as np

from mien.gallery import Gallery
from mien.verification import JointBayesian, Verifier

DIMENSION = 16


def draw_people(n: int, m: int, seed: int, dimension: int = DIMENSION) -> np.ndarray:
    """Vectors (n, m, dimension) of unit length, m pictures of each of n people."""
    rng = np.random.default_rng(seed)
    X = 3 * rng.standard_normal((n, 1, dimension)) + rng.standard_normal((n, m, dimension))
    return (X / np.linalg.norm(X, axis=2, keepdims=True)).astype(np.float32)


def digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def make_verifier(features: str = "rendered, unit length", seed: int = 0) -> Verifier:
    X = draw_people(600, 6, seed)
    people = np.repeat(np.arange(300), 6)
    model = JointBayesian(features=features).fit(X[:300].reshape(-1, DIMENSION), people)
    rest = X[300:].reshape(-1, DIMENSION)
    return Verifier(model, sizes=(1, 2, 3), random_state=0).fit(rest, people)


def fill(gallery: Gallery, X: np.ndarray, first: int = 0) -> None:
    """Enrol people (n, m, d) as "person 0", "person 1", ..."""
    n, m, d = X.shape
    gallery.enrol_many(
        [f"person {first + i}" for i in range(n) for _ in range(m)],
        X.reshape(-1, d),
        digests=[digest(first + i, j) for i in range(n) for j in range(m)],
    )
