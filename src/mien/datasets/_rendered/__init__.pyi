from ._make import (
    CAMERAS,
    IDENTITY_NAMES,
    LANDMARK_NAMES,
    NUISANCE_NAMES,
    OCCLUSIONS,
    Camera,
    crop_rendered,
    iter_faces,
    make_faces,
)

__all__ = [
    "CAMERAS",
    "IDENTITY_NAMES",
    "LANDMARK_NAMES",
    "NUISANCE_NAMES",
    "OCCLUSIONS",
    "Camera",
    "crop_rendered",
    "iter_faces",
    "make_faces",
]
