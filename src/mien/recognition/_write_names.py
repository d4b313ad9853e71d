"""Names leave for photo applications: sidecars beside the pictures, or inside them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mien._core.validation import check_choice
from mien.errors import MienError
from mien.gallery import Gallery
from mien.media import NamedRegion, SidecarChange, embed_names, write_sidecar
from mien.recognition._galleries import open_gallery
from mien.recognition._identify import IdentifiedPicture, iter_identified
from mien.recognition._people import digest_file

__all__ = [
    "NAMES_WRITTEN",
    "XMP_PLACES",
    "NamesWritten",
    "count_unconfirmed",
    "export_xmp",
    "write_names",
]

#: Which names are written: of faces that somebody enrolled, or also those that mien found.
NAMES_WRITTEN = ("confirmed", "all")
#: Where names are written: beside the picture, or into it (by exiftool, with a backup).
XMP_PLACES = ("sidecar", "embed")


def write_names(
    picture: IdentifiedPicture,
    gallery: Gallery | str | os.PathLike[str],
    *,
    which: str = "confirmed",
    place: str = "sidecar",
    keywords: bool = False,
    key: bytes | str | None = None,
) -> SidecarChange | None:
    """Write the names of a picture's faces as XMP, into the sidecar beside it or the file itself.

    Parameters
    ----------
    picture : IdentifiedPicture
        From :func:`identify`.
    gallery : Gallery or path
        Knows which faces of the picture are enrolled.
    which : {"confirmed", "all"}
        "confirmed" writes only faces that are enrolled, whose names are a person's word; "all"
        also writes names that mien found.
    place : {"sidecar", "embed"}
        ``NAME.EXT.xmp`` beside the picture; or the picture itself, by the program exiftool, which
        keeps it as it was in ``NAME.EXT_original``. A gallery knows pictures by their bytes: for it
        a picture that was written into is another one.
    keywords : bool
        Whether to write hierarchical keywords as well.
    key : bytes, str or None
        Of a sealed gallery.

    Returns
    -------
    SidecarChange or None
        None where there is no name to write, as of a video.
    """
    check_choice("which", which, NAMES_WRITTEN)
    check_choice("place", place, XMP_PLACES)
    faces = picture.faces
    if picture.error is not None or not faces or faces[0].frames:
        return None
    digest = digest_file(picture.path)
    named: list[tuple[str, tuple[float, ...]]] = []
    with open_gallery(gallery, key=key, read_only=not isinstance(gallery, Gallery)) as opened:
        for number, face in enumerate(faces):
            stored = None if digest is None else opened.find_face(digest, number)
            name = stored.person if stored else face.person if which == "all" else None
            if name is not None:
                named.append((name, tuple(float(value) for value in face.found.face.box)))
    if not named:
        return None
    height, width = picture.size
    regions = [
        NamedRegion(name, (x / width, y / height, w / width, h / height))
        for name, (x, y, w, h) in named
    ]
    write = embed_names if place == "embed" else write_sidecar
    return write(picture.path, regions, keywords=keywords)


@dataclass(frozen=True)
class NamesWritten:
    """What became of the names of many pictures.

    Attributes
    ----------
    pictures : int
        Pictures that were looked through.
    changed : list of Path
        Sidecars, or pictures, that were written.
    added, already, kept : int
        Names that were written, that stood there already, and faces that keep another name.
    failures : list of (Path, str)
        Files that could not be used, with the reason.
    unconfirmed : int
        Names that were found and not written, because only confirmed ones were asked for.
    """

    pictures: int
    changed: list[Path]
    added: int
    already: int
    kept: int
    failures: list[tuple[Path, str]] = field(default_factory=list)
    unconfirmed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "pictures": self.pictures,
            "changed": [str(path) for path in self.changed],
            "added": self.added,
            "already": self.already,
            "kept": self.kept,
            "unconfirmed": self.unconfirmed,
            "failures": [{"file": str(path), "reason": why} for path, why in self.failures],
        }


def export_xmp(
    photos: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    gallery: Gallery | str | os.PathLike[str],
    *,
    which: str = "confirmed",
    place: str = "sidecar",
    keywords: bool = False,
    fpir: float = 0.01,
    n_jobs: int = 2,
    key: bytes | str | None = None,
) -> NamesWritten:
    """Write the names of all faces of pictures as XMP.

    Parameters
    ----------
    photos : path, or list of paths
        Pictures or folders. Videos are left out: they have no XMP packet.
    gallery, which, place, keywords, key
        As in :func:`write_names`.
    fpir, n_jobs
        As in :func:`identify`.
    """
    pictures, changed, failures = 0, [], []
    added = already = kept = unconfirmed = 0
    with open_gallery(gallery, key=key, read_only=not isinstance(gallery, Gallery)) as opened:
        for picture in iter_identified(photos, opened, fpir=fpir, n_jobs=n_jobs, videos=False):
            pictures += 1
            if picture.error is not None:
                failures.append((picture.path, picture.error))
                continue
            try:
                change = write_names(picture, opened, which=which, place=place, keywords=keywords)
            except MienError as error:
                failures.append((picture.path, str(error)))
                continue
            unconfirmed += count_unconfirmed(picture, change)
            if change is not None:
                added, already = added + len(change.added), already + len(change.already)
                kept += len(change.kept)
                changed += [change.path] if change.added else []
    return NamesWritten(pictures, changed, added, already, kept, failures, unconfirmed)


def count_unconfirmed(picture: IdentifiedPicture, change: SidecarChange | None) -> int:
    """Names of a picture that were found, and that `write_names` did not write."""
    found = sum(face.person is not None and not face.frames for face in picture.faces)
    done = 0 if change is None else len(change.added) + len(change.already) + len(change.kept)
    return max(found - done, 0)
