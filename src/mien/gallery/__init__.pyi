from ._gallery import Gallery
from ._records import AuditEntry, EnrolResult, Identification, Person, StoredFace

__all__ = ["AuditEntry", "EnrolResult", "Gallery", "Identification", "Person", "StoredFace"]
