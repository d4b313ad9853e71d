"""Names leave for photo applications: sidecars beside the pictures."""

from __future__ import annotations

import os
from pathlib import Path

from mien._core.validation import check_choice
from mien.gallery import Gallery
from mien.media import NamedRegion, SidecarChange, upright_size, write_sidecar
from mien.recognition._galleries import open_gallery
from mien.recognition._identify import IdentifiedPicture
from mien.recognition._people import digest_file

__all__ = ["NAMES_WRITTEN", "write_names"]

#: Which names are written: of faces that somebody enrolled, or also those that mien found.
NAMES_WRITTEN = ("confirmed", "all")


def write_names(
    picture: IdentifiedPicture,
    gallery: Gallery | str | os.PathLike[str],
    *,
    which: str = "confirmed",
    keywords: bool = False,
    key: bytes | str | None = None,
) -> SidecarChange | None:
    """Write the names of a picture's faces into the XMP sidecar beside it.

    Parameters
    ----------
    picture : IdentifiedPicture
        From :func:`identify`.
    gallery : Gallery or path
        Knows which faces of the picture are enrolled.
    which : {"confirmed", "all"}
        "confirmed" writes only faces that are enrolled, whose names are a person's word; "all"
        also writes names that mien found.
    keywords : bool
        Whether to write hierarchical keywords as well.
    key : bytes, str or None
        Of a sealed gallery.

    Returns
    -------
    SidecarChange or None
        None where there is no name to write, as of a video. The picture itself is not touched.
    """
    check_choice("which", which, NAMES_WRITTEN)
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
    width, height = upright_size(Path(picture.path))
    regions = [
        NamedRegion(name, (x / width, y / height, w / width, h / height))
        for name, (x, y, w, h) in named
    ]
    return write_sidecar(picture.path, regions, keywords=keywords)
