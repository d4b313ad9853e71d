"""A small album of people who do not exist, as files, to try the verbs on photographs with."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np

from mien._core.progress import track
from mien.datasets._rendered import make_faces
from mien.errors import InputError
from mien.media import write_image

__all__ = ["make_album"]

#: What the people of an album are called; those after the last name are strangers.
_NAMES = (
    "Ann", "Bob", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hana", "Ivo", "Joan", "Karl", "Lea",
)  # fmt: skip
#: People of the default album by their numbers under its seed, those with names first. To a face
#: engine rendered people look much alike; these are among the most different of the first 400.
_SEED = 4
_PEOPLE = (
    90, 378, 278, 190, 136, 342, 214, 105, 304, 143, 258, 47, 202, 326, 85, 144, 92, 33,
)  # fmt: skip
_MANY = 1000
_VARIATION = 0.6
_SIZE = 160
_MARGIN = 50


def _choose_people(n_people: int, n_strangers: int, seed: int) -> list[int]:
    """Numbers of the people with names, then of the strangers."""
    if seed != _SEED:
        return list(range(n_people + n_strangers))
    named = _PEOPLE[:n_people]
    others = _PEOPLE[len(_NAMES) :] + tuple(range(_MANY, _MANY + n_strangers))
    return [*named, *others[:n_strangers]]


def _surround(images: np.ndarray) -> np.ndarray:
    """Pictures as a camera takes them: with some room around the face."""
    pixels = np.round(255 * images).astype(np.uint8)
    edge = (_MARGIN, _MARGIN)
    return np.pad(pixels, ((0, 0), edge, edge, (0, 0)), mode="edge")


def make_album(
    folder: str | os.PathLike[str],
    *,
    n_people: int = 8,
    n_strangers: int = 4,
    n_named: int = 5,
    n_unsorted: int = 4,
    random_state: int = _SEED,
) -> Path:
    """Write an album of rendered people, to try the verbs on photographs without anybody's own.

    Parameters
    ----------
    folder : path
        Where to write; it must not exist, or be empty.
    n_people : int
        People with a name, from 3 to 12.
    n_strangers : int
        People who are only among the unsorted pictures, at least 1.
    n_named : int
        Pictures per person in ``photos/NAME``, at least 2.
    n_unsorted : int
        Pictures per person and stranger in ``unsorted``, at least 2.
    random_state : int
        The seed of the people and of the order of the unsorted pictures.

    Returns
    -------
    Path
        The folder. ``photos/NAME/*.jpg`` has a folder per person; ``unsorted/*.jpg`` further
        pictures of them and of strangers, and ``answers.csv`` says who they are; ``a.jpg`` and
        ``b.jpg`` show one person, ``c.jpg`` another; ``party.jpg`` shows three people and a
        stranger; ``masked.jpg`` a covered face.

    See Also
    --------
    make_faces : The same people as arrays.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mien.datasets import make_album
    >>> album = make_album(Path(tempfile.mkdtemp()) / "album", n_people=3, n_strangers=1, n_named=2)
    >>> sorted(path.name for path in (album / "photos").iterdir())
    ['Ann', 'Bob', 'Cleo']
    """
    root = Path(folder)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise InputError(f"{str(root)!r} exists and is not empty: give the name of a new folder")
    for name, value, low, high in (
        ("n_people", n_people, 3, len(_NAMES)),
        ("n_strangers", n_strangers, 1, 1000),
        ("n_named", n_named, 2, 1000),
        ("n_unsorted", n_unsorted, 2, 1000),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise InputError(f"{name} must be a whole number from {low} to {high}; got {value!r}")
    if isinstance(random_state, bool) or not isinstance(random_state, int) or random_state < 0:
        raise InputError(f"random_state must be a whole number from 0; got {random_state!r}")
    n_all, n_each = n_people + n_strangers, n_named + n_unsorted
    faces = [
        make_faces(
            1, n_each, _SIZE, colour=True, variation=_VARIATION, first_person=number,
            random_state=random_state,
        )
        for number in track(_choose_people(n_people, n_strangers, random_state), "rendering people")
    ]  # fmt: skip
    of = np.stack([_surround(one.images) for one in faces])  # person, picture

    (root / "unsorted").mkdir(parents=True, exist_ok=True)
    for name, mine in track(list(zip(_NAMES, of[:n_people], strict=False)), "writing people"):
        (root / "photos" / name).mkdir(parents=True)
        for k, picture in enumerate(mine[:n_named], start=1):
            write_image(root / "photos" / name / f"{name.lower()}-{k}.jpg", picture)

    left = [(person, k) for person in range(n_all) for k in range(n_named, n_each)]
    order = np.random.default_rng(random_state).permutation(len(left))
    rows = []
    for number, (person, k) in enumerate((left[i] for i in order), start=1):
        file = f"IMG_{number:04d}.jpg"
        write_image(root / "unsorted" / file, of[person, k])
        rows.append((file, _NAMES[person] if person < n_people else "stranger"))
    with open(root / "answers.csv", "w", newline="", encoding="utf-8") as table:
        csv.writer(table).writerows([("file", "person"), *rows])

    write_image(root / "a.jpg", of[0, 0])
    write_image(root / "b.jpg", of[0, n_named])
    write_image(root / "c.jpg", of[2, 1])
    guests = [of[k, n_named + 1] for k in (0, 1, 2, n_people)]
    write_image(root / "party.jpg", np.hstack(guests))
    covered = make_faces(
        1, 1, _SIZE, colour=True, cover="mask", glasses=0.0, random_state=random_state
    )
    write_image(root / "masked.jpg", _surround(covered.images)[0])
    return root
