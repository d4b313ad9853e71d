"""Pictures with several faces and a list of names, drawn from vectors of LFW, ORL and Yale."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from mien._core.progress import track
from mien.datasets import load_lfw_embeddings, load_orl, load_yale
from mien.faces import analyse_image
from mien.recognition import load_source
from mien.verification import JointBayesian, Verifier

__all__ = ["OTHER_SETS", "Album", "People", "draw_album", "load_others", "load_people"]

#: Other real sets, and how many of their people are strangers of an album.
OTHER_SETS = {"ORL": 10, "Yale": 3, "ORL and Yale": 13}

_FACES = (0.3, 0.3, 0.2, 0.1, 0.05, 0.05)  # shares of pictures with one to six named people
_FEWEST, _MOST = 4, 12  # pictures of a named person


class People(NamedTuple):
    """Vectors (n, d) of unit length of people whom the verifier has not seen, and the verifier."""

    vectors: np.ndarray
    people: np.ndarray
    verifier: Any


class Album(NamedTuple):
    """Faces (n, d), their pictures (n,), the names each picture lists, and the truth (n,)."""

    faces: np.ndarray
    bags: np.ndarray
    names: list[set[str]]
    truth: np.ndarray


def load_people(
    home: Any = None, engine: str = "sface", random_state: int = 0, domain: str | None = None
) -> People:
    """LFW in three parts by person: model, calibration, albums.

    Parameters
    ----------
    home, engine, random_state
        As in :func:`papers.weak_names.report.reproduce_weak_names`.
    domain : {"sface-covered", "sface-lowres"} or None
        Vectors of the albums, where they are not of the kind that model and calibration saw.
    """
    X, y, found = _read(home, engine)
    everybody = np.unique(y)
    np.random.default_rng(random_state).shuffle(everybody)
    n = len(everybody)
    model_people, calibration, album = np.split(everybody, [n // 4, n // 2])
    mine = np.isin(y, model_people) & found
    model = JointBayesian(features=engine).fit(X[mine], y[mine])
    mine = np.isin(y, calibration) & found
    verifier = Verifier(model, random_state=random_state).fit(X[mine], y[mine])
    if domain is not None:
        X, y, found = _read(home, domain)
    mine = np.isin(y, album) & found
    return People(X[mine], y[mine], verifier)


@lru_cache(maxsize=2)
def _describe_set(name: str, home: Any) -> tuple[np.ndarray, np.ndarray]:
    """Vectors and people of a set of faces, by the engine that mien ships."""
    faces = load_orl(home) if name == "ORL" else load_yale(home)
    images = np.asarray(faces.images)
    if images.dtype != np.uint8:
        images = np.round(images * 255).astype(np.uint8)
    found = [analyse_image(image, max_faces=1) for image in track(images, f"faces of {name}")]
    rows = [k for k, one in enumerate(found) if one]
    vectors = np.stack([found[k][0].vector for k in rows]).astype(np.float64)
    return vectors, np.asarray([f"{name} {faces.people[k]}" for k in rows])


def load_others(name: str, home: Any = None) -> People:
    """The people of another real set, with the verifier that mien ships.

    Parameters
    ----------
    name : str
        Of `OTHER_SETS`.
    home : path or None
        Where the real data are.
    """
    parts = [_describe_set(one, home) for one in name.split(" and ")]
    vectors, people = (np.concatenate(both) for both in zip(*parts, strict=True))
    return People(vectors, people, load_source("sface").verifier)


def _read(home: Any, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vectors of unit length, people, and which faces were found."""
    data = load_lfw_embeddings(home, name)
    X = data.vectors.astype(np.float64)
    length = np.linalg.norm(X, axis=1)
    found = np.asarray(data.detected, dtype=bool) & (length > 0)
    return X / np.where(found, length, 1.0)[:, None], np.asarray(data.people), found


def draw_album(
    people: People,
    rng: np.random.Generator,
    *,
    n_named: int,
    missing_names: float,
    wrong_names: float,
    missing_faces: float = 0.05,
    strangers: float = 0.2,
    n_people: int | None = None,
    n_strangers: int | None = None,
) -> Album:
    """Pictures of ``n_named`` people, each of whose vectors is on one picture.

    Parameters
    ----------
    people : People
        Where the vectors come from.
    rng : Generator
        Draws.
    n_named : int
        People with names; everybody has four to twelve faces.
    missing_names : float
        Share of names that their picture does not list.
    wrong_names : float
        Share of pictures that list somebody who is not on them.
    missing_faces : float
        Share of faces that were not found.
    strangers : float
        Faces of nobody who is ever named, per named person on the picture.
    n_people : int or None
        Named people per picture; None draws one to six.
    n_strangers : int or None
        So many people are never named, and all their vectors are strangers'; None takes the people
        of a single vector.
    """
    rows = {name: np.flatnonzero(people.people == name) for name in np.unique(people.people)}
    named = [name for name in rows if len(rows[name]) >= _FEWEST]
    named = [named[i] for i in rng.permutation(len(named))]
    if n_strangers is None:
        others = [int(mine[0]) for mine in rows.values() if len(mine) == 1]
    else:
        never, named = named[:n_strangers], named[n_strangers:]
        others = [int(row) for name in never for row in rows[name]]
    named = named[:n_named]
    others = [others[i] for i in rng.permutation(len(others))]
    left = {name: rng.permutation(rows[name])[:_MOST].tolist() for name in named}
    faces: list[int] = []
    bags: list[int] = []
    truth: list[str | None] = []
    names: list[set[str]] = []
    while available := [name for name in named if left[name]]:
        wanted = n_people or 1 + int(rng.choice(len(_FACES), p=_FACES))
        weights = np.asarray([len(left[name]) for name in available], dtype=float)
        chosen = rng.choice(
            len(available), min(wanted, len(available)), replace=False, p=weights / weights.sum()
        )
        listed: set[str] = set()
        shown: list[tuple[int, str | None]] = []
        for i in chosen:
            name = available[i]
            row = left[name].pop()
            if rng.random() >= missing_names:
                listed.add(name)
            if rng.random() >= missing_faces:
                shown.append((row, name))
        for _ in range(rng.poisson(strangers * wanted)):
            if others:
                shown.append((others.pop(), None))
        if rng.random() < wrong_names:
            listed.add(named[int(rng.integers(len(named)))])
        for row, name in shown:
            faces.append(row)
            bags.append(len(names))
            truth.append(name)
        names.append(listed)
    return Album(people.vectors[faces], np.asarray(bags), names, np.asarray(truth, dtype=object))
