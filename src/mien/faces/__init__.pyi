from ._align import CROP_SIDE, TEMPLATE, align_face, fit_similarity
from ._analyse import MAX_FACES, analyse_image, analyse_pictures
from ._covered import covered_mask, covered_probabilities
from ._detection import detect_faces
from ._drawing import annotate
from ._engines import ENGINES, FaceEngine, borrow_engine, check_features, load_engine
from ._face import Face, FoundFace, PictureResult
from ._fused import fuse_vectors
from ._landmarks import THIRTEEN, FaceMesh, LandmarkFinder
from ._quality import FaceQuality, face_quality
from ._sface import set_threads
from ._video import Detection, VideoResult, analyse_video, face_joiner

__all__ = [
    "CROP_SIDE",
    "ENGINES",
    "MAX_FACES",
    "TEMPLATE",
    "THIRTEEN",
    "Detection",
    "Face",
    "FaceEngine",
    "FaceMesh",
    "FaceQuality",
    "FoundFace",
    "LandmarkFinder",
    "PictureResult",
    "VideoResult",
    "align_face",
    "analyse_image",
    "analyse_pictures",
    "analyse_video",
    "annotate",
    "borrow_engine",
    "check_features",
    "covered_mask",
    "covered_probabilities",
    "detect_faces",
    "face_joiner",
    "face_quality",
    "fit_similarity",
    "fuse_vectors",
    "load_engine",
    "set_threads",
]
