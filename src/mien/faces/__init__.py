"""From files to pictures of faces: decoding, detection, alignment."""

from mien.faces.analyse import analyse_image
from mien.faces.engines import ENGINES, FaceEngine, check_features, load_engine
from mien.faces.face import Face, FoundFace
from mien.faces.images import (
    contact_sheet,
    decode_image,
    read_image,
    resize_images,
    write_image,
)

__all__ = [
    "ENGINES",
    "Face",
    "FaceEngine",
    "FoundFace",
    "analyse_image",
    "check_features",
    "contact_sheet",
    "decode_image",
    "load_engine",
    "read_image",
    "resize_images",
    "write_image",
]
