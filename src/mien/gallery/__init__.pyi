from ._face_model import FaceModel
from ._gallery import Gallery
from ._records import AuditEntry, EnrolResult, Identification, Person, StoredFace

__all__ = [
    "AuditEntry",
    "EnrolResult",
    "FaceModel",
    "Gallery",
    "Identification",
    "Person",
    "StoredFace",
]
