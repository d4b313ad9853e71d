from ._make import (
    CAMERAS,
    COVER_KINDS,
    IDENTITY_NAMES,
    LANDMARK_NAMES,
    NUISANCE_NAMES,
    RenderedCamera,
    crop_rendered,
    iter_faces,
    make_faces,
)

__all__ = [
    "CAMERAS",
    "COVER_KINDS",
    "IDENTITY_NAMES",
    "LANDMARK_NAMES",
    "NUISANCE_NAMES",
    "RenderedCamera",
    "crop_rendered",
    "iter_faces",
    "make_faces",
]
