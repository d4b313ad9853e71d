"""What a gallery answers with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = [
    "AuditEntry",
    "Change",
    "Consent",
    "Constraint",
    "EnrolResult",
    "FaceKey",
    "GalleryPolicy",
    "Identification",
    "Person",
    "StoredFace",
]


@dataclass(frozen=True)
class EnrolResult:
    """How many templates were added.

    Attributes
    ----------
    added, already : int
        New templates, and those that were there.
    refused : int
        Faces that somebody said are not this person, or no face: a constraint is not overruled.
    """

    added: int
    already: int
    refused: int = 0


class FaceKey(NamedTuple):
    """A face by its picture, whether it is enrolled or not: SHA-256 in hexadecimal, and number."""

    digest: str
    face: int = 0


@dataclass(frozen=True)
class Consent:
    """What a person agreed to.

    Attributes
    ----------
    given : float
        When, in seconds since 1970.
    purpose : str
        For what.
    text : str
        Which text: a version, an address or a digest, by which it can be found.
    until : float or None
        How long it holds; None until it is withdrawn.
    """

    given: float
    purpose: str
    text: str
    until: float | None = None

    def is_valid(self, now: float) -> bool:
        """Whether it holds at a time, in seconds since 1970."""
        return self.until is None or now < self.until


@dataclass(frozen=True)
class GalleryPolicy:
    """What a gallery keeps and demands; set by ``Gallery.set_policy``.

    Attributes
    ----------
    thumbnails : bool
        Whether small pictures of faces are kept.
    consent : bool
        Whether nobody is enrolled without a consent.
    retain_days : float or None
        Days after the last use (being enrolled or recognised) until a person may be purged; None
        is no limit.
    """

    thumbnails: bool = False
    consent: bool = False
    retain_days: float | None = None


@dataclass(frozen=True)
class Constraint:
    """Something that somebody said about a face, kept for good.

    Attributes
    ----------
    number : int
        By which it can be taken back.
    kind : str
        "same-person", "different-people" or "not-sure" about two faces, "not-a-face" about one,
        "not-this-person" about a face and a person.
    face : FaceKey
        The face.
    other : FaceKey or None
        The second face.
    person : str or None
        The person.
    added : float
        When, in seconds since 1970.
    """

    number: int
    kind: str
    face: FaceKey
    other: FaceKey | None
    person: str | None
    added: float


@dataclass(frozen=True)
class Change:
    """A change in the history, which can be undone as long as it is the last.

    Attributes
    ----------
    number : int
        Grows with every change.
    time : float
        Seconds since 1970.
    action : str
        "enrol", "add-person", "rename", "merge", "move", "split", "remove-face", "hide",
        "unhide", "set-terms", or the kind of a constraint.
    names : tuple of str
        Whom it concerned, by the names of before.
    people, faces : int
        How many.
    undone : float or None
        When it was undone.
    """

    number: int
    time: float
    action: str
    names: tuple[str, ...]
    people: int
    faces: int
    undone: float | None


@dataclass(frozen=True)
class Person:
    """Somebody in the gallery.

    Attributes
    ----------
    name : str
        As it was given.
    number : int
        Of the row; it is never given to anybody else, and stays in the audit trail.
    templates : int
        Faces of this person.
    added : float
        When, in seconds since 1970.
    hidden : bool
        Whether lists leave the person out; naming is not affected.
    consent : Consent or None
        What the person agreed to.
    retain_until : float or None
        When the person is to be purged, in seconds since 1970.
    used : float or None
        The day of the last recognition, where the policy of the gallery has it noted.
    """

    name: str
    number: int
    templates: int
    added: float
    hidden: bool = False
    consent: Consent | None = None
    retain_until: float | None = None
    used: float | None = None


@dataclass(frozen=True)
class StoredFace:
    """A face in the gallery; its template stays inside.

    Attributes
    ----------
    id : str
        A UUID that stays the same as long as the face is in the gallery.
    person : str
        Whose face it is.
    digest : str
        SHA-256 of the picture file.
    face : int
        Which face of the picture.
    source : str or None
        Where the picture was.
    quality : float or None
        Of the face, between 0 and 1.
    added : float
        When, in seconds since 1970.
    """

    id: str
    person: str
    digest: str
    face: int
    source: str | None
    quality: float | None
    added: float


@dataclass(frozen=True)
class Identification:
    """Who a probe is.

    Attributes
    ----------
    person : str or None
        The best person if its ratio reaches its threshold; None is "unknown".
    log_ratio : float
        Calibrated natural-log ratio of the best person; minus infinity in an empty gallery.
    probability : float
        That it is the best person, if half of all probes are of somebody in the gallery.
    candidates : list of (str, float)
        The best people and their ratios, from the best.
    threshold : float
        What the best person's ratio had to reach for the stated rate; never below 0, so that
        nobody is named against the evidence.
    promised : True, "shipped" or False
        True: the gallery's own people support the rate. "shipped": it rests on the model's card.
        False: the people here are unlike those of the card, or the rate is beyond its trials.
    bound : float
        Upper end of the 95 % interval of the realised share of unknown faces that get a name, to
        be set beside the stated ``fpir``.
    n_comparisons : int
        Comparisons of this gallery's own people that it rests on.
    """

    person: str | None
    log_ratio: float
    probability: float
    candidates: list[tuple[str, float]] = field(default_factory=list)
    threshold: float = float("nan")
    promised: bool | str = True
    bound: float = float("nan")
    n_comparisons: int = 0


@dataclass(frozen=True)
class AuditEntry:
    """Something that was done to the gallery; without biometric data, and without names.

    Attributes
    ----------
    time : float
        Seconds since 1970.
    action : str
        "create", "enrol", "add-person", "rename", "merge", "move-face", "remove-face", "hide",
        "unhide", "set-terms", "set-policy", "add-constraint", "remove-constraint", "undo",
        "clear-history", "delete", "delete-face", "delete-source", "set-model" ("set-verifier" in
        older galleries), "change-key", "export", "import".
    person : int or None
        Number of the person's row; None where it was several.
    people, templates : int
        How many were concerned.
    """

    time: float
    action: str
    person: int | None
    people: int
    templates: int
