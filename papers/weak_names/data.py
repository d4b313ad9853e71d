"""Pictures with several faces and a list of names, drawn from LFW's vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mien.datasets import load_lfw_embeddings
from mien.verification import JointBayesian, Verifier

__all__ = ["Album", "People", "draw_album", "load_people"]

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
    """
    rows = {name: np.flatnonzero(people.people == name) for name in np.unique(people.people)}
    named = [name for name in rows if len(rows[name]) >= _FEWEST]
    named = [named[i] for i in rng.permutation(len(named))[:n_named]]
    others = [int(mine[0]) for mine in rows.values() if len(mine) == 1]
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
