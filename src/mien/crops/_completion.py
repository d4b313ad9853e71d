"""Models that complete cut-out faces, the shipped one among them, and their use on files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mien._core.progress import track
from mien._core.types import PathLike
from mien.completion import FaceCompleter, make_completer, make_cover
from mien.datasets import iter_faces, load_folder, load_lfw, load_lfw_landmarks
from mien.errors import InputError
from mien.faces import Face, align_face
from mien.files import load
from mien.media import contact_sheet, is_picture, read_image, write_image
from mien.recognition import frame_face, load_completer, name_targets

__all__ = ["complete", "completer_parameters", "load_aligned_lfw", "train_completer"]

_BATCH = 256
_ROOM = 32


def load_aligned_lfw(home: PathLike | None, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Grey faces (n, size, size) of LFW, upright by the landmarks that are kept with it; names.

    The three pictures without a face are left out.
    """
    faces = load_lfw(home)
    landmarks, detected = load_lfw_landmarks(home)
    rows = np.flatnonzero(detected)
    aligned = np.empty((len(rows), size, size), np.uint8)
    for n, row in enumerate(track(rows, "aligning faces", len(rows))):
        # Room around the picture, so that what lies beyond it is not black.
        picture = np.pad(faces.images[row], _ROOM, mode="edge")
        face = frame_face(Face(np.array([0, 0, 1, 1]), landmarks[row] + _ROOM, 1.0))
        aligned[n] = align_face(picture, face, size=size)[..., 0]
    return aligned, faces.people[rows]


def completer_parameters(completer: str) -> list[str]:
    """Names of the parameters that :func:`train_completer` can pass on to a completer."""
    return sorted(make_completer(completer).get_params(deep=False))


def train_completer(
    source: PathLike,
    *,
    completer: str = "blend",
    size: int = 32,
    cover: str = "below-eyes",
    mirror: bool = True,
    shift: int = 0,
    foreign: PathLike | None = None,
    n_rendered: int = 4000,
    home: PathLike | None = None,
    random_state: int = 0,
    **params: Any,
) -> tuple[FaceCompleter, int]:
    """Learn from the pictures of a folder, from LFW, or from rendered people.

    Parameters
    ----------
    source : path, "lfw" or "rendered"
        A folder with one folder per person; the faces of LFW, framed as
        :func:`mien.recognition.complete` does; or faces that are drawn while it learns.
    completer : str
        Name of a completer of :data:`mien.completion.COMPLETERS`.
    size : int
        Side of the faces in pixels.
    cover : str
        What will be covered.
    mirror : bool
        Also learn from every face mirrored.
    shift : int
        Also learn from every face moved by so many pixels in each direction.
    foreign : path, "shipped" or None
        Model of many faces of others, of the same size, to lean on where these are few; "shipped"
        takes the one that comes with mien, of 64 pixels.
    n_rendered : int
        Faces to render.
    home : path or None
        Folder of the real data, for "lfw".
    random_state : int
        Seed of the rendered faces, and of completers that draw.
    **params
        Parameters of the completer; None leaves one at its default.

    Returns
    -------
    model, n_faces
    """
    given = {name: value for name, value in params.items() if value is not None}
    built = make_completer(completer, **given)
    if "random_state" in built.get_params(deep=False):
        built.set_params(random_state=random_state)
    other = None if foreign is None else _load_foreign(foreign, size)
    model = FaceCompleter(built, cover=cover, mirror=mirror, shift=shift)
    if str(source) == "rendered":
        n_people = max(1, n_rendered // 4)
        model.fit(
            lambda: iter_faces(2048, n_people, 4, size=size, random_state=random_state),
            foreign=other,
        )
        return model, 4 * n_people
    if str(source) == "lfw":
        images, people = load_aligned_lfw(home, size)
    else:
        folder = load_folder(source, size=size)
        images, people = folder.images, folder.people
    return model.fit(images, people=people, foreign=other), len(images)


def _load_foreign(foreign: PathLike, size: int) -> FaceCompleter:
    """A model of faces of others, before anything is read that would be in vain."""
    model = load_completer() if str(foreign) == "shipped" else load(Path(foreign))
    if not isinstance(model, FaceCompleter):
        raise InputError(f"{foreign} holds a {type(model).__name__}, not a FaceCompleter")
    if model.shape_[0] != size:
        raise InputError(
            f"the foreign model has faces of {model.shape_[0]} pixels, and these would have "
            f"{size}: learn with the size {model.shape_[0]}"
        )
    return model


def complete(
    model_path: PathLike,
    source: PathLike,
    out: PathLike,
    *,
    cover: str | None = None,
    scale: int = 4,
) -> dict[str, Any]:
    """Complete faces that are cut out already; write original, visible part and result.

    Parameters
    ----------
    model_path : path
        A model of :func:`train_completer`.
    source : path
        A picture of a face, or a folder of them.
    out : path
        Picture to write for one picture, folder for a folder.
    cover : str or None
        What is covered: a name, the path of a picture that is white where the face is covered,
        or None for the cover that the model learned with.
    scale : int
        Enlargement of what is written.

    Returns
    -------
    dict
        ``written`` and ``pictures``.
    """
    model = load(Path(model_path))
    if not isinstance(model, FaceCompleter):
        raise InputError(f"{model_path} holds a {type(model).__name__}, not a FaceCompleter")
    shape = (model.shape_[0], model.shape_[1])
    colour = len(model.shape_) == 3
    covered = model.cover_ if cover is None else _read_cover(cover, shape)
    files, targets = name_targets(Path(source), Path(out))
    for low in track(range(0, len(files), _BATCH), "completing"):
        batch = slice(low, low + _BATCH)
        faces = np.stack([read_image(file, size=shape, colour=colour) for file in files[batch]])
        shown = faces.astype(np.float32) / 255
        result = model.complete(faces, cover=covered)
        grey = np.where(covered[..., None] if colour else covered, np.float32(0.5), shown)
        for target, *three in zip(targets[batch], shown, grey, result, strict=True):
            sheet = contact_sheet(np.stack(three), columns=3)
            write_image(target, np.repeat(np.repeat(sheet, scale, axis=0), scale, axis=1))
    return {
        "written": [str(target) for target in targets],
        "pictures": [{"file": str(file)} for file in files],
    }


def _read_cover(cover: str, shape: tuple[int, int]) -> np.ndarray:
    if is_picture(cover):
        return make_cover(read_image(cover, size=shape, fit="stretch") >= 128, shape)
    return make_cover(cover, shape)
