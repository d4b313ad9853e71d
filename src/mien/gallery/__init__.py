"""People and their templates in one file: enrol, identify, delete for good."""

from mien.gallery.gallery import Gallery
from mien.gallery.records import AuditEntry, EnrolResult, Identification, Person, StoredFace

__all__ = ["AuditEntry", "EnrolResult", "Gallery", "Identification", "Person", "StoredFace"]
