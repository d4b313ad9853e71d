from ._face_model import FaceModel
from ._gallery import Gallery
from ._records import AuditEntry, EnrolResult, Identification, Person, StoredFace
from ._remove import remove_gallery

__all__ = [
    "AuditEntry",
    "EnrolResult",
    "FaceModel",
    "Gallery",
    "Identification",
    "Person",
    "StoredFace",
    "remove_gallery",
]
