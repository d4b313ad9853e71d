"""The faces of the hallucination experiment: LFW, ORL and rendered people at 32×32 pixels."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from mien._core.progress import report as report_progress
from mien.datasets import FaceSet, crop_rendered, load_lfw, load_orl, make_faces, split_people

__all__ = ["Faces", "load_sets"]

SIZE = 32


@dataclass(frozen=True)
class Faces:
    """A set of faces in two parts without a person in common, and sizes that suit it."""

    name: str
    train: FaceSet
    test: FaceSet
    settings: dict[str, Any]


def load_sets(
    names: tuple[str, ...], home: str | os.PathLike[str] | None, quick: bool, seed: int
) -> list[Faces]:
    """Load the named sets at 32×32 pixels; ``quick`` takes a part of each."""
    sets = []
    for name in names:
        report_progress(f"reading {name}", 0, 1)
        if name == "lfw":
            faces = load_lfw(home, size=SIZE, min_pictures=10 if quick else 1)
            settings = {"n_atoms": 300 if quick else 1000, "max_iter": 3 if quick else 8}
            most, n_test = (2000, 200) if quick else (len(faces), 800)
            test_size = 0.1
        elif name == "orl":
            faces = load_orl(home, size=SIZE)
            settings = {"n_atoms": 75, "max_iter": 3 if quick else 10}
            most, n_test, test_size = len(faces), 100, 0.25
        else:
            faces = crop_rendered(make_faces(100 if quick else 2000, 4, size=64, random_state=seed))
            settings = {"n_atoms": 300 if quick else 1000, "max_iter": 3 if quick else 8}
            most, n_test, test_size = len(faces), 200 if quick else 800, 0.1
        settings["n_nonzero_coefs"] = 20
        train, test = split_people(faces.people, test_size, random_state=seed)
        rng = np.random.default_rng(seed)
        test = np.sort(rng.permutation(test)[:n_test])
        train = np.sort(rng.permutation(train)[:most])
        sets.append(Faces(name, faces.select(train), faces.select(test), settings))
        report_progress(f"reading {name}", 1, 1)
    return sets
