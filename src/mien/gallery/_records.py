"""What a gallery answers with."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["AuditEntry", "EnrolResult", "Identification", "Person", "StoredFace"]


@dataclass(frozen=True)
class EnrolResult:
    """How many templates were added, and how many were there already."""

    added: int
    already: int


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
    """

    name: str
    number: int
    templates: int
    added: float


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
        "create", "enrol", "rename", "merge", "delete", "delete-source", "set-model"
        ("set-verifier" in older galleries), "export", "import".
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
