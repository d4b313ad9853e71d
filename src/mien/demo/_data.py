"""What every section of the demo works on: people to learn from, and people never seen."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mien.datasets import FaceSet, load_faces, load_lfw, make_faces, split_people
from mien.errors import NotEnoughDataError

__all__ = ["DemoData", "load_demo_data"]

_SIZE = 64
_MOST_PEOPLE = 120
_MOST_PICTURES = 10


@dataclass(frozen=True)
class DemoData:
    """Faces of two sets of people without anybody in common.

    Attributes
    ----------
    train : FaceSet
        To learn from.
    test : FaceSet
        People who were never learned from, each with two pictures or more.
    random_state : int
        Seed for whatever a section draws.
    name : str
        What the faces are, in a few words.
    rendered : bool
        Whether the people do not exist.
    folder : Path or None
        The user's own photographs, where the faces came from them.
    summary : list of dict
        Rows of the table at the top of the report; sections add theirs with :meth:`add_result`.
    """

    train: FaceSet
    test: FaceSet
    random_state: int = 0
    name: str = ""
    rendered: bool = True
    folder: Path | None = None
    summary: list[dict[str, Any]] = field(default_factory=list)

    def add_result(self, method: str, measure: str, value: Any) -> None:
        """Add a row to the summary; a value may be a number or (value, low, high)."""
        self.summary.append({"method": method, "measure": measure, "result": value})


def _limit(faces: FaceSet, random_state: int) -> FaceSet:
    """Limit people and pictures per person, so that the demo stays under a minute."""
    rng = np.random.default_rng(random_state)
    names, counts = np.unique(faces.people, return_counts=True)
    names = names[counts >= 2]
    if names.size > _MOST_PEOPLE:
        names = rng.choice(names, _MOST_PEOPLE, replace=False)
    kept = []
    for name in np.sort(names):
        rows = np.flatnonzero(faces.people == name)
        if rows.size > _MOST_PICTURES:
            rows = np.sort(rng.choice(rows, _MOST_PICTURES, replace=False))
        kept.append(rows)
    return faces.select(np.concatenate(kept)) if kept else faces.select(slice(0, 0))


def load_demo_data(
    data: str | os.PathLike[str] = "rendered",
    *,
    n_people: int = 80,
    n_per_person: int = 10,
    random_state: int = 0,
    home: str | os.PathLike[str] | None = None,
) -> DemoData:
    """Render or read faces and divide them by person, half to learn from and half to test on.

    Parameters
    ----------
    data : str or path
        ``"rendered"``, a set that :func:`mien.datasets.load_faces` knows, or a folder with one
        folder per person.
    n_people, n_per_person : int
        How many to render; not used for real faces.
    random_state : int
        Seed of the people and of the division.
    home : path or None
        Where the named sets are; None takes ``MIEN_DATA``.
    """
    rendered = data == "rendered"
    if rendered:
        faces = make_faces(n_people, n_per_person, _SIZE, random_state=random_state)
        name = f"{n_people} rendered people who do not exist, {n_per_person} pictures each"
    else:
        if data == "lfw":
            faces = load_lfw(home, size=_SIZE, min_pictures=_MOST_PICTURES, on_error="skip")
        else:
            faces = load_faces(data, home=home, size=_SIZE, on_error="skip")
        faces = _limit(faces, random_state)
        name = f"{faces.n_people} people, {len(faces):,} pictures, from {os.fspath(data)}"
        if faces.skipped:
            name += f" ({len(faces.skipped)} could not be read)"
    if faces.n_people < 4:
        raise NotEnoughDataError(
            f"the demo needs at least 4 people with two pictures or more each, to learn from some "
            f"and to test on others; got {faces.n_people} from {os.fspath(data)!r}"
        )
    train, test = split_people(faces.people, 0.5, random_state)
    folder = Path(data) if not rendered and Path(data).is_dir() else None
    return DemoData(faces.select(train), faces.select(test), random_state, name, rendered, folder)
