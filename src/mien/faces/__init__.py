"""From files to pictures of faces: decoding, detection, alignment."""

from mien.faces.align import CROP_SIDE, TEMPLATE, align_face
from mien.faces.analyse import analyse_image, analyse_pictures, find_pictures
from mien.faces.drawing import annotate
from mien.faces.engines import ENGINES, FaceEngine, check_features, load_engine
from mien.faces.face import Face, FoundFace, PictureResult
from mien.faces.images import (
    contact_sheet,
    decode_image,
    read_image,
    resize_images,
    write_image,
)

__all__ = [
    "CROP_SIDE",
    "ENGINES",
    "TEMPLATE",
    "Face",
    "FaceEngine",
    "FoundFace",
    "PictureResult",
    "align_face",
    "analyse_image",
    "analyse_pictures",
    "annotate",
    "check_features",
    "contact_sheet",
    "decode_image",
    "find_pictures",
    "load_engine",
    "read_image",
    "resize_images",
    "write_image",
]
