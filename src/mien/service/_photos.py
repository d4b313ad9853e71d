"""Folders and photographs that a server may show: those it was started with, and nothing else."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from mien.gallery import Gallery
from mien.recognition import find_photo
from mien.service._backend import Backend
from mien.service._problems import Problem

__all__ = ["find_folder", "read_photo"]


def find_folder(backend: Backend, path: str) -> Path:
    """A folder below one of those that are allowed; anything else is not there."""
    root, _, rest = path.partition("/")
    for folder in backend.settings.photos:
        if folder.name == root:
            wanted = Path(os.path.realpath(folder / rest))
            if wanted.is_relative_to(os.path.realpath(folder)) and wanted.is_dir():
                return wanted
    raise Problem(404, "no-folder", "There is no such folder.")


def read_photo(backend: Backend, gallery: Gallery, face: str) -> tuple[str, bytes]:
    """Name and bytes of the picture that a face is on, if it may be shown and is unchanged."""
    stored = gallery.get_face(face)
    if stored is None:
        raise Problem(404, "no-face", "There is no such face.")
    place = find_photo(stored.source, backend.settings.photos)
    if place is not None:
        if place.stat().st_size > backend.settings.limits.picture_bytes:
            raise Problem(413, "picture-too-large", "The picture is too large to be shown.")
        content = place.read_bytes()
        if hashlib.sha256(content).hexdigest() == stored.digest:
            return place.name, content
    raise Problem(404, "no-photo", "The photograph is not in a folder that the server may show.")
