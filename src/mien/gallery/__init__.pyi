from ._addresses import gallery_name, has_gallery, is_address
from ._face_model import FaceModel
from ._gallery import Gallery
from ._moving import move_gallery
from ._neighbours import NeighbourGraph
from ._picture_index import PictureIndex, SeenPicture, Sighting
from ._records import (
    AuditEntry,
    Change,
    Consent,
    Constraint,
    EnrolResult,
    FaceKey,
    GalleryPolicy,
    Identification,
    Person,
    StoredFace,
)
from ._remove import remove_gallery

__all__ = [
    "AuditEntry",
    "Change",
    "Consent",
    "Constraint",
    "EnrolResult",
    "FaceKey",
    "FaceModel",
    "Gallery",
    "GalleryPolicy",
    "Identification",
    "NeighbourGraph",
    "Person",
    "PictureIndex",
    "SeenPicture",
    "Sighting",
    "StoredFace",
    "gallery_name",
    "has_gallery",
    "is_address",
    "move_gallery",
    "remove_gallery",
]
