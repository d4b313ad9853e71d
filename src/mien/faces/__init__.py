"""From files to pictures of faces: decoding, detection, alignment."""

from mien.faces.align import CROP_SIDE, align_face
from mien.faces.analyse import analyse_image, analyse_pictures, find_pictures
from mien.faces.covered import covered_mask, covered_probabilities
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
from mien.faces.quality import FaceQuality, face_quality
from mien.faces.video import Detection, VideoResult, analyse_video

__all__ = [
    "CROP_SIDE",
    "ENGINES",
    "Detection",
    "Face",
    "FaceEngine",
    "FaceQuality",
    "FoundFace",
    "PictureResult",
    "VideoResult",
    "align_face",
    "analyse_image",
    "analyse_pictures",
    "analyse_video",
    "annotate",
    "check_features",
    "contact_sheet",
    "covered_mask",
    "covered_probabilities",
    "decode_image",
    "face_quality",
    "find_pictures",
    "load_engine",
    "read_image",
    "resize_images",
    "write_image",
]
