"""Opening the gallery that a verb was given, and finding the engine that it belongs to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mien.errors import InputError, MissingDataError
from mien.faces import ENGINES, check_features
from mien.gallery import Gallery
from mien.recognition._verifier import FaceVerifier, load_source, load_verifier

__all__ = ["engine_of", "open_gallery", "open_or_create"]

PathLike = str | os.PathLike[str]


def engine_of(features: str) -> str:
    """The engine whose vectors are described so."""
    for name in ENGINES:
        if load_source(name).features == features:
            return name
    raise InputError(
        f"no engine of this mien makes {features!r}: the vectors are from other weights or from "
        "elsewhere; enrol the pictures again"
    )


@contextmanager
def open_gallery(
    gallery: Gallery | PathLike, *, key: bytes | str | None = None, read_only: bool = False
) -> Iterator[Gallery]:
    """The gallery itself where it is open already, or the file for the time of the block."""
    if isinstance(gallery, Gallery):
        yield gallery
        return
    if not Path(gallery).exists():
        raise MissingDataError(
            f"no gallery is at {os.fspath(gallery)!r}: make one with `mien enrol PHOTOS --gallery`"
        )
    with Gallery.open(Path(gallery), key=key, read_only=read_only) as opened:
        yield opened


@contextmanager
def open_or_create(
    gallery: Gallery | PathLike,
    *,
    model: FaceVerifier | PathLike | None,
    engine: str | None,
    key: bytes | str | None,
) -> Iterator[Gallery]:
    """A gallery to write to; a new one gets the verifier of the model, or the shipped one."""
    if isinstance(gallery, Gallery) or Path(gallery).exists():
        if model is not None:
            raise InputError(
                "the gallery has a verifier already, so no model can be given: "
                "`mien adapt --gallery` replaces it"
            )
        with open_gallery(gallery, key=key) as opened:
            if engine is not None:
                check_features(opened.features, load_source(engine).features)
            yield opened
        return
    verifier = load_verifier(model, engine).verifier
    with Gallery.create(Path(gallery), verifier, key=key) as created:
        yield created
