"""Photographs of people who do not exist, and a gallery of them, to try the page with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mien.faces import FoundFace
    from mien.gallery import Gallery

__all__ = ["make_demo_album"]

_NAMES = (
    "Ada Lindqvist", "Bruno Costa", "Chiara Rossi", "Dmitri Volkov", "Emeka Obi", "Fatima Zahra",
    "Grace Kim", "Hiro Tanaka", "Ines Duarte", "Jonas Weber",
)  # fmt: skip
_STRANGERS, _PICTURES, _SIDE, _MARGIN = 3, 4, 128, 32
_PICNIC = (0, 3, len(_NAMES))  # who is on the picture with several people


def make_demo_album(folder: str | os.PathLike[str], *, random_state: int = 0) -> tuple[Path, Path]:
    """Render an album and a gallery of it: ten people with names, strangers, one in two parts.

    Parameters
    ----------
    folder : path
        Where ``photos`` and ``people.gallery`` go; what is there already is kept.
    random_state : int
        Seed of the people.

    Returns
    -------
    gallery, photos : Path
        For ``mien serve --gallery GALLERY --photos PHOTOS``.
    """
    from mien.faces import analyse_pictures, load_engine
    from mien.gallery import Gallery
    from mien.recognition import load_model

    photos, place = Path(folder) / "photos", Path(folder) / "people.gallery"
    if place.exists() and photos.is_dir():
        return place, photos
    load_engine("sface")  # before anything is written: its packages may be missing
    written = _write_photos(photos, random_state)
    place.unlink(missing_ok=True)
    with Gallery.create(place, load_model(None, "sface")) as gallery:
        gallery.set_policy(thumbnails=True)
        paths = list(written)
        for picture in analyse_pictures(paths, "sface", keep_crops=True):
            left_to_right = sorted(
                enumerate(picture.faces), key=lambda one: float(one[1].face.box[0])
            )
            for (number, found), who in zip(left_to_right, written[picture.path], strict=False):
                _enrol(gallery, who, found, number, picture.digest, picture.path)
        gallery.clear_history()
    return place, photos


def _write_photos(photos: Path, random_state: int) -> dict[Path, list[str]]:
    """Pictures as files, with who is on them from left to right."""
    from mien.datasets import make_faces
    from mien.media import write_image

    n_people = len(_NAMES) + _STRANGERS
    faces = make_faces(n_people, _PICTURES, _SIDE, colour=True, random_state=random_state)
    pixels = np.round(255 * faces.images).astype(np.uint8)
    edge = ((_MARGIN, _MARGIN), (_MARGIN, _MARGIN), (0, 0))
    images = [np.pad(one, edge, mode="edge") for one in pixels]
    people = [*_NAMES, *(f"person-{k + 1:03d}" for k in range(_STRANGERS))]
    photos.mkdir(parents=True, exist_ok=True)
    written = {}
    for k, image in enumerate(images):
        path = photos / f"IMG_{1001 + k}.jpg"
        write_image(path, image)
        who = people[k // _PICTURES]
        # The last two of the third person went to somebody without a name: a question for review.
        second = who == _NAMES[2] and k % _PICTURES >= _PICTURES // 2
        written[path] = [f"person-{_STRANGERS + 1:03d}" if second else who]
    path = photos / "picnic.jpg"
    write_image(path, np.hstack([images[_PICTURES * k + 1] for k in _PICNIC]))
    written[path] = [people[k] for k in _PICNIC]
    return written


def _enrol(
    gallery: Gallery, who: str, found: FoundFace, number: int, digest: str, path: Path
) -> None:
    from mien.media import encode_jpeg

    quality = None if found.quality is None else float(found.quality.score)
    small = None if found.crop is None else [encode_jpeg(found.crop)]
    gallery.enrol(
        who, found.vector[None], digests=[digest], faces=[number],
        sources=[str(path.resolve())], qualities=[quality], thumbnails=small,
    )  # fmt: skip
