"""Real shifts of domain: pictures that were changed or foreign, through the engine itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mien._core.atomic import atomic_path
from mien._core.progress import report as report_progress
from mien.datasets import EmbeddingSet, load_lfw, load_lfw_protocol, load_orl, load_yale
from mien.errors import DataError
from mien.faces import Face, FaceEngine, load_engine
from mien.media import resize_images

__all__ = ["SHIFTS", "embed_shift"]

Home = str | os.PathLike[str] | None
Change = Callable[[np.ndarray, Face], np.ndarray]

#: People of LFW who are drawn for the shifts that are made here, and pictures of each.
N_PEOPLE = 500
MOST_PICTURES = 6
#: Folds of LFW's View 2 whose pictures go through the engine.
N_FOLDS = 5
#: Width of the detected face in the small pictures.
SMALL = 24
_MARGIN = 32
_CHUNK = 200


@dataclass(frozen=True)
class _Pictures:
    """Pictures (n, h, w) uint8, who is on them, their names, and what is done to them."""

    images: np.ndarray
    people: np.ndarray
    files: np.ndarray
    change: Change | None
    description: str
    licence: str


def cover_lower_half(image: np.ndarray, face: Face) -> np.ndarray:
    """Cover the face from the bridge of the nose downwards, as a mask over mouth and nose does.

    Parameters
    ----------
    image : (h, w, 3) uint8
        A picture.
    face : Face
        Where the face is in it.
    """
    left, top, width, height = face.box
    eyes = float(face.landmarks[:2, 1].mean())
    nose = float(face.landmarks[2, 1])
    first = round(eyes + 0.4 * (nose - eyes))
    rows = slice(max(first, 0), max(round(float(top + 1.05 * height)), 0))
    columns = slice(max(round(float(left)), 0), max(round(float(left + width)), 0))
    covered = image.copy()
    covered[rows, columns] = 200
    return covered


def shrink_face(image: np.ndarray, face: Face) -> np.ndarray:
    """Shrink the picture until the face is 24 pixels wide."""
    height, width = image.shape[:2]
    factor = SMALL / float(face.box[2])
    size = (max(1, round(height * factor)), max(1, round(width * factor)))
    small = resize_images(image[None], size)[0] if factor < 1 else image
    return _surround(small)


def _surround(image: np.ndarray) -> np.ndarray:
    """Put back some surroundings: a face that fills its picture is easily missed."""
    return np.pad(
        image, ((_MARGIN, _MARGIN), (_MARGIN, _MARGIN), (0, 0))[: image.ndim], mode="edge"
    )


def _choose_people(home: Home) -> np.ndarray:
    """Names (500,) of people of LFW with two pictures or more."""
    people = load_lfw_protocol(home).people
    names, counts = np.unique(people, return_counts=True)
    rng = np.random.default_rng(0)
    chosen: np.ndarray = np.sort(rng.choice(names[counts >= 2], N_PEOPLE, replace=False))
    return chosen


def _first_pictures(people: np.ndarray) -> np.ndarray:
    """Rows of the first few pictures of everybody."""
    return np.concatenate(
        [np.flatnonzero(people == name)[:MOST_PICTURES] for name in np.unique(people)]
    )


def _lfw_part(home: Home, change: Change, description: str) -> _Pictures:
    faces = load_lfw(home, people=_choose_people(home))
    rows = np.sort(_first_pictures(faces.people))
    return _Pictures(
        faces.images[rows], faces.people[rows], faces.metadata["file"][rows], change,
        f"LFW at 128 pixels, grey, {description}", faces.licence,
    )  # fmt: skip


def _lfw_grey(home: Home) -> _Pictures:
    """The pictures of five folds of View 2, and those of the people drawn for the other shifts."""
    protocol = load_lfw_protocol(home)
    chosen = np.flatnonzero(np.isin(protocol.people, _choose_people(home)))
    chosen = chosen[_first_pictures(protocol.people[chosen])]
    rows = np.union1d(protocol.pairs[protocol.fold < N_FOLDS].ravel(), chosen)
    faces = load_lfw(home)
    return _Pictures(
        faces.images[rows], faces.people[rows], faces.metadata["file"][rows], None,
        "LFW at 128 pixels, grey", faces.licence,
    )  # fmt: skip


def _foreign(faces: Any, name: str) -> _Pictures:
    numbers = [f"{name} {k:03d}" for k in range(len(faces))]
    people = np.asarray([f"{name} {person}" for person in faces.people])
    images = np.stack([_surround(image) for image in faces.images])
    return _Pictures(images, people, np.asarray(numbers), None, faces.source, faces.licence)


#: Short name -> the pictures. The first three are LFW's own people under another condition.
SHIFTS: dict[str, Callable[[Home], _Pictures]] = {
    "grey": _lfw_grey,
    "covered": lambda home: _lfw_part(home, cover_lower_half, "lower half of the face covered"),
    "small": lambda home: _lfw_part(home, shrink_face, f"shrunk until the face has {SMALL} pixels"),
    "orl": lambda home: _foreign(load_orl(home), "orl"),
    "yale": lambda home: _foreign(load_yale(home, duplicates=False), "yale"),
}


def _embed(image: np.ndarray, engine: FaceEngine, change: Change | None) -> np.ndarray | None:
    """The vector of the largest face of the changed picture, or None where none is found."""
    colour = np.repeat(image[..., None], 3, axis=2)
    faces = engine.detect(colour)
    if change is not None and faces:
        colour = change(colour, faces[0])
        faces = engine.detect(colour)
    return engine.embed(colour, faces[0]) if faces else None


def _read_cache(path: Path, features: str, files: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What an earlier run has of these files by this engine; nothing where they differ."""
    empty = np.empty((0, 0), np.float32), np.empty(0, bool)
    if not path.is_file():
        return empty
    try:
        with np.load(path, allow_pickle=False) as stored:
            same = str(stored["features"]) == features
            done = stored["files"]
            if same and np.array_equal(done, files[: len(done)]):
                return stored["vectors"], stored["detected"]
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{str(path)!r} is not a readable cache: delete it") from error
    return empty


def embed_shift(
    name: str, cache: str | os.PathLike[str], home: Home = None, engine: str = "sface"
) -> EmbeddingSet:
    """Embeddings of the pictures of one shift, computed once and kept in a folder.

    Parameters
    ----------
    name : str
        One of :data:`SHIFTS`.
    cache : path
        Folder for the embeddings; made if it is missing, readable by its owner only, as they are
        personal data. An interrupted run goes on where it stopped.
    home : path or None
        Folder of the real data; None takes ``MIEN_DATA``.
    engine : str
        Which engine.

    Returns
    -------
    EmbeddingSet
        ``detected`` is False where no face was found after the change: zeros stand there.
    """
    folder = Path(cache)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    pictures = SHIFTS[name](home)
    eyes = load_engine(engine)
    path = folder / f"{engine}-{name}.npz"
    vectors, detected = _read_cache(path, eyes.features, pictures.files)
    n = len(pictures.files)
    while len(detected) < n:
        stop = min(len(detected) + _CHUNK, n)
        found = [
            _embed(image, eyes, pictures.change) for image in pictures.images[len(detected) : stop]
        ]
        block = np.stack([np.zeros(eyes.dimension, np.float32) if v is None else v for v in found])
        vectors = np.concatenate([vectors.reshape(-1, eyes.dimension), block])
        detected = np.concatenate([detected, [v is not None for v in found]])
        with atomic_path(path, private=True) as temporary, open(temporary, "wb") as file:
            np.savez(
                file, vectors=vectors, detected=detected, files=pictures.files[:stop],
                features=np.asarray(eyes.features),
            )  # fmt: skip
        report_progress(f"faces of {name}", stop, n)
    return EmbeddingSet(
        vectors, pictures.people, pictures.files, detected,
        f"{pictures.description}, by {eyes.features}", pictures.licence,
    )  # fmt: skip
