"""The model that mien ships for an engine, or one of your own."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from mien._core.validation import check_choice
from mien.errors import InputError
from mien.faces import ENGINES, check_features
from mien.files import load
from mien.gallery import FaceModel

if TYPE_CHECKING:
    from mien.gallery import Gallery
    from mien.verification import OwnCalibration

__all__ = ["FaceModel", "engine_of", "load_model", "load_source", "open_model"]


@lru_cache(maxsize=len(ENGINES))
def load_source(engine: str = "sface") -> FaceModel:
    """The model that mien ships for an engine, learned from Labeled Faces in the Wild.

    Parameters
    ----------
    engine : {"sface", "dlib", "sface+dlib"}
        Whose vectors.

    Returns
    -------
    FaceModel
        Its ``card`` says what it was learned from, what it reaches, and where it does not hold.
    """
    check_choice("engine", engine, ENGINES)
    place = resources.files("mien.recognition") / "models" / f"{engine}.mien"
    with resources.as_file(place) as path:
        source: FaceModel = load(path)
    return source


def load_model(
    model: FaceModel | str | os.PathLike[str] | None = None, engine: str | None = None
) -> FaceModel:
    """The shipped model of an engine, or one of your own.

    Parameters
    ----------
    model : FaceModel, path or None
        From :func:`adapt` or ``mien adapt``; None takes the shipped one.
    engine : {"sface", "dlib", "sface+dlib"} or None
        Must be the model's, where a model is given. None is the model's, or "sface".
    """
    if model is None:
        return load_source(engine or "sface")
    found = model if isinstance(model, FaceModel) else load(Path(model))
    if not isinstance(found, FaceModel):
        raise InputError(
            f"the model is a {type(found).__name__} and not a FaceModel: make one with `mien adapt`"
        )
    if engine is not None:
        check_engine(found, engine)
    return found


def engine_of(model: FaceModel) -> str:
    """Name of the engine whose vectors a model compares."""
    # Galleries of format 1 do not name it; the description of an engine's vectors begins with it.
    name = model.engine or model.features.partition(" ")[0]
    if name not in ENGINES:
        raise InputError(f"no engine of mien makes {model.features!r}: give vectors, not pictures")
    return name


def check_engine(model: FaceModel, engine: str) -> None:
    """Refuse a model whose vectors another engine makes."""
    check_choice("engine", engine, ENGINES)
    if engine_of(model) != engine:
        check_features(engine, model.features)


def open_model(
    model: FaceModel | str | os.PathLike[str] | None,
    engine: str | None,
    gallery: Gallery | str | os.PathLike[str] | None,
    key: bytes | str | None,
    impostors: str,
) -> tuple[FaceModel, OwnCalibration]:
    """What compares, and its calibration: those of a gallery where one is given."""
    if gallery is None:
        model = load_model(model, engine)
        return model, model.calibrate(impostors)
    if model is not None:
        raise InputError("the gallery has its own model: give the gallery or the model, not both")
    # What compares two pictures needs no store of galleries.
    from mien.recognition._galleries import open_gallery

    read_only = isinstance(gallery, (str, os.PathLike))
    with open_gallery(gallery, key=key, read_only=read_only) as opened:
        if engine is not None:
            check_engine(opened.model, engine)
        return opened.model, opened.calibrate(impostors)
