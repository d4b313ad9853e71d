"""What the routes answer with, for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "AnalysedFace",
    "AnalysedPicture",
    "ChangeList",
    "ChangeModel",
    "CompletedPictureModel",
    "ConstraintCreate",
    "ConstraintList",
    "ConstraintModel",
    "EnrolledFace",
    "EnrolledPicture",
    "FaceIds",
    "FaceList",
    "FacesTo",
    "GalleryCreate",
    "GalleryInfo",
    "IdentifiedFaceModel",
    "IdentifiedPictureModel",
    "JobList",
    "JobModel",
    "KeyCreate",
    "KeyInfo",
    "MergeInto",
    "MoveTo",
    "NewKey",
    "PersonInfo",
    "PersonList",
    "PersonName",
    "StreamAnswer",
    "StreamCreate",
    "StreamEnd",
    "StreamInfo",
    "VerificationModel",
]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class GalleryCreate(_Model):
    """A gallery to make."""

    name: str = Field(examples=["family"], min_length=1, max_length=64)
    engine: str | None = Field(None, examples=["sface"])


class GalleryInfo(_Model):
    """A gallery."""

    name: str = Field(examples=["family"])
    people: int = Field(examples=[12])
    engine: str | None = Field(examples=["sface"])
    features: str
    sealed: bool


class PersonName(_Model):
    """A name."""

    name: str = Field(examples=["Ann"], min_length=1, max_length=200)


class PersonInfo(_Model):
    """Somebody in a gallery."""

    id: int = Field(examples=[7])
    name: str = Field(examples=["Ann"])
    faces: int = Field(examples=[3])
    added: float = Field(examples=[1794000000.0])


class PersonList(_Model):
    """A page of people; ``cursor`` is given to get the next one, null at the end."""

    people: list[PersonInfo]
    cursor: str | None


class MergeInto(_Model):
    """The person to merge into."""

    into: int = Field(examples=[3])


class MoveTo(_Model):
    """The name of the person that a face belongs to; a new name makes a new person."""

    person: str = Field(examples=["Bob"], min_length=1, max_length=200)


class EnrolledFace(_Model):
    """A face in a gallery; its template is never given out."""

    id: str = Field(examples=["0b3f5c7e-9a1d-8000-8b2c-4d6e8f0a1b2c"])
    person: str = Field(examples=["Ann"])
    picture: str | None = Field(None, examples=["holiday/1.jpg"])
    quality: float | None = None
    added: float


class FaceList(_Model):
    """A page of faces."""

    faces: list[EnrolledFace]
    cursor: str | None


class FaceIds(_Model):
    """Faces by their ids."""

    faces: list[str] = Field(
        min_length=1, max_length=1000, examples=[["0b3f5c7e-9a1d-8000-8b2c-4d6e8f0a1b2c"]]
    )


class FacesTo(FaceIds):
    """Faces, and the person that they belong to."""

    person: str = Field(examples=["Bob"], min_length=1, max_length=200)


class ChangeModel(_Model):
    """A change, and when it was undone."""

    number: int = Field(examples=[17])
    time: float
    action: str = Field(examples=["merge"])
    names: list[str] = Field(examples=[["Ann", "Anna"]])
    people: int
    faces: int
    undone: float | None


class ChangeList(_Model):
    """A page of changes."""

    changes: list[ChangeModel]
    cursor: str | None


class ConstraintCreate(_Model):
    """Something to say about a face: an id, or SHA-256 of a picture and which of its faces."""

    kind: Literal[
        "same-person", "different-people", "not-sure", "not-a-face", "not-this-person"
    ] = Field(examples=["not-this-person"])
    face: str | tuple[str, int] = Field(examples=["0b3f5c7e-9a1d-8000-8b2c-4d6e8f0a1b2c"])
    other: str | tuple[str, int] | None = None
    person: str | None = Field(None, examples=["Ann"], max_length=200)


class ConstraintModel(_Model):
    """Something that was said about a face."""

    id: int
    kind: str = Field(examples=["not-this-person"])
    face: list[Any] = Field(description="SHA-256 of the picture, and which of its faces.")
    other: list[Any] | None
    person: str | None = Field(examples=["Ann"])
    added: float


class ConstraintList(_Model):
    """A page of constraints."""

    constraints: list[ConstraintModel]
    cursor: str | None


class EnrolledPicture(_Model):
    """What became of a picture that was to be enrolled."""

    picture: str
    face: str | None = Field(None, description="Id of the face; null where none was enrolled.")
    already: bool = False
    reason: str | None = Field(None, description="Such as no face, or several faces.")
    detail: str | None = None


class AnalysedFace(_Model):
    """A face without a name."""

    box: list[float] = Field(description="Left, top, width, height in pixels.")
    landmarks: list[list[float]]
    confidence: float
    quality: dict[str, float] | None


class AnalysedPicture(_Model):
    """A picture and its faces, the largest first."""

    picture: str
    width: int
    height: int
    faces: list[AnalysedFace]
    error: str | None = None


class IdentifiedFaceModel(_Model):
    """A face and who it is."""

    person: str | None = Field(description="Null is unknown.", examples=["Ann"])
    log_ratio: float | None
    threshold: float | None
    probability: float
    promised: bool | str | None = Field(
        description='True if the gallery\'s own people support the rate, "shipped" if it rests on '
        "the model card, false if it is extrapolated."
    )
    candidates: list[list[Any]]
    box: list[float]
    quality: float | None
    confidence: float


class IdentifiedPictureModel(_Model):
    """A picture and everybody on it."""

    picture: str
    faces: list[IdentifiedFaceModel]
    error: str | None = None


class CompletedFaceModel(_Model):
    """A face, and the share of it that was taken as covered."""

    box: list[float]
    covered: float = Field(examples=[0.31])


class CompletedPictureModel(_Model):
    """A picture with the covered parts of its faces completed."""

    picture: str = Field(examples=["masked.jpg"])
    completed: int = Field(description="Faces of which a part was completed.", examples=[1])
    faces: list[CompletedFaceModel]
    image: str = Field(description="PNG in base64.")


class VerificationModel(_Model):
    """What two pictures say about "one person"."""

    model_config = ConfigDict(extra="allow")

    same: bool | None
    log_ratio: float
    probability: float
    prior: float
    far: float | None
    threshold: float | None


class StreamCreate(_Model):
    """A camera to begin."""

    camera: str = Field("camera", examples=["door"], min_length=1, max_length=100)
    fpir: float | None = Field(None, gt=0, lt=1, description="The server's own if left out.")
    decide_after: int = Field(10, ge=1, le=64, description="Faces after which it is decided.")
    away: float = Field(5.0, gt=0, le=3600, description="Seconds after which somebody has gone.")


class StreamPresent(_Model):
    """Somebody who is in front of a camera."""

    visit: str
    person: str | None = Field(examples=["Ann"])
    stranger: int | None = Field(description="Number of somebody unknown.")
    began: float


class StreamInfo(_Model):
    """A camera that is on."""

    id: str
    gallery: str = Field(examples=["family"])
    camera: str = Field(examples=["door"])
    frames: int
    decisions: int = Field(description="Questions that were decided: one per track.")
    present: list[StreamPresent]
    created: float


class StreamFace(_Model):
    """A face on a frame; ``visit`` is null until it is decided who it is."""

    box: list[float]
    visit: str | None
    person: str | None = Field(examples=["Ann"])
    stranger: int | None


class StreamFrame(_Model):
    """A frame."""

    seconds: float
    faces: list[StreamFace]
    error: str | None


class StreamEvent(_Model):
    """Somebody came or went."""

    event: str = Field(examples=["seen"], description="seen, unknown seen or left.")
    time: float
    camera: str = Field(examples=["door"])
    visit: str
    person: str | None = Field(examples=["Ann"])
    stranger: int | None
    log_ratio: float | None
    threshold: float | None
    probability: float
    promised: bool | str | None
    faces: int
    began: float
    seconds: float
    box: list[float]
    quality: float | None


class StreamAnswer(_Model):
    """What is on the frames, and who came or went."""

    frames: list[StreamFrame]
    events: list[StreamEvent]


class StreamEnd(_Model):
    """Who went when the camera ended."""

    events: list[StreamEvent]


class JobModel(_Model):
    """Long work."""

    id: str
    gallery: str
    kind: str
    state: str = Field(examples=["running"])
    stage: str
    done: int
    total: int | None
    detail: str
    attempts: int
    created: float
    changed: float


class JobList(_Model):
    """A page of jobs."""

    jobs: list[JobModel]
    cursor: str | None


class KeyCreate(_Model):
    """A key to make."""

    role: str = Field(examples=["read"])
    gallery: str = Field("*", examples=["family"])
    label: str = Field("", max_length=200)
    days: float | None = Field(None, gt=0)


class KeyInfo(_Model):
    """A key; the key itself is not kept."""

    id: str
    gallery: str
    role: str
    label: str
    created: float
    expires: float | None
    revoked: float | None


class NewKey(KeyInfo):
    """A new key, shown this once."""

    key: str
