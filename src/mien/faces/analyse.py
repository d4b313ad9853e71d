"""From pictures to faces with vectors: one picture, or a stream of files."""

from __future__ import annotations

from typing import Any

from mien.faces.engines import FaceEngine, check_picture, load_engine
from mien.faces.face import FoundFace

__all__ = ["analyse_image"]


def analyse_image(
    image: Any,
    engine: FaceEngine | str = "sface",
    *,
    keep_crops: bool = False,
    max_faces: int | None = None,
) -> list[FoundFace]:
    """Find the faces of one picture and turn each into a vector.

    Parameters
    ----------
    image : (h, w, 3) or (h, w) uint8
        RGB or grey.
    engine : FaceEngine or str
        Load it once with `load_engine` where there are several pictures.
    keep_crops : bool
        Also keep the aligned faces.
    max_faces : int or None
        Only so many, the largest first.

    Returns
    -------
    list of FoundFace
        The largest first; empty where no face was found.
    """
    image = check_picture(image)
    if isinstance(engine, str):
        engine = load_engine(engine)
    return [FoundFace(face, engine.embed(image, face)) for face in engine.detect(image)[:max_faces]]
