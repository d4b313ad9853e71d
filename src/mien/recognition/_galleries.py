"""Opening the gallery that a verb was given."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mien._core.types import PathLike
from mien.errors import GalleryError, InputError, MissingDataError
from mien.gallery import FaceModel, Gallery, has_gallery, is_address
from mien.recognition._models import check_engine, load_model

__all__ = ["open_gallery", "open_or_create"]


@contextmanager
def open_gallery(
    gallery: Gallery | PathLike, *, key: bytes | str | None = None, read_only: bool = False
) -> Iterator[Gallery]:
    """The gallery itself where it is open already, or the file for the time of the block."""
    if isinstance(gallery, Gallery):
        yield gallery
        return
    if not _is_there(Path(gallery)):
        raise MissingDataError(
            f"no gallery is at {os.fspath(gallery)!r}: make one with `mien enrol PHOTOS --gallery`"
        )
    with Gallery.open(Path(gallery), key=key, read_only=read_only) as opened:
        yield opened


@contextmanager
def open_or_create(
    gallery: Gallery | PathLike,
    *,
    model: FaceModel | PathLike | None,
    engine: str | None,
    key: bytes | str | None,
) -> Iterator[Gallery]:
    """A gallery to write to; a new one gets the model, or the shipped one."""
    if isinstance(gallery, Gallery) or _is_there(Path(gallery)):
        if model is not None:
            raise InputError(
                "the gallery has a model already, so none can be given: "
                "`mien adapt --gallery` replaces it"
            )
        with open_gallery(gallery, key=key) as opened:
            if engine is not None:
                check_engine(opened.model, engine)
            yield opened
        return
    with _create(Path(gallery), load_model(model, engine), key) as created:
        yield created


def _is_there(path: Path) -> bool:
    """Whether something is there; an empty file is what a stopped process leaves."""
    if is_address(path):
        return has_gallery(path)
    return path.exists() and (not path.is_file() or path.stat().st_size > 0)


def _create(path: Path, model: FaceModel, key: bytes | str | None) -> Gallery:
    """A new gallery, or the one that another process has made in the meantime."""
    try:
        return Gallery.create(path, model, key=key)
    except GalleryError:
        if not _is_there(path):
            raise
        return Gallery.open(path, key=key)
