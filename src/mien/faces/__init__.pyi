from ._drawing import annotate
from .align import CROP_SIDE, align_face
from .analyse import analyse_image, analyse_pictures
from .covered import covered_mask, covered_probabilities
from .engines import ENGINES, FaceEngine, check_features, load_engine
from .face import Face, FoundFace, PictureResult
from .quality import FaceQuality, face_quality
from .video import Detection, VideoResult, analyse_video

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
    "covered_mask",
    "covered_probabilities",
    "face_quality",
    "load_engine",
]
