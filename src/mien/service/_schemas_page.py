"""What the routes of the page answer with, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "AdaptationModel",
    "AnswersModel",
    "AuditList",
    "Changed",
    "ChangedInSteps",
    "DoubtList",
    "DueList",
    "FolderList",
    "HiddenList",
    "LeastDoubtList",
    "PhotoFaceId",
    "PhotoModel",
    "PolicyModel",
    "QuestionList",
    "RateList",
    "ReviewAnswered",
    "TermsModel",
    "UndoneModel",
]

_FACE = "0b3f5c7e-9a1d-8000-8b2c-4d6e8f0a1b2c"
_TIME = 1794000000.0


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Changed(_Model):
    """The number of the change, by which it can be undone."""

    change: int | None = Field(examples=[17])


class ChangedInSteps(Changed):
    """The number of the last change, and how many an undo takes back."""

    steps: int = Field(examples=[3])


class UndoneModel(_Model):
    """The change that was undone."""

    change: int = Field(examples=[17])
    action: str = Field(examples=["merge"])
    people: int = Field(examples=[2])
    faces: int = Field(examples=[5])


class HiddenList(_Model):
    """Numbers of people."""

    people: list[int] = Field(examples=[[7, 12]])


class ConsentModel(_Model):
    """What a person agreed to."""

    given: float = Field(examples=[_TIME])
    purpose: str = Field(examples=["names on family photographs"])
    text: str = Field(examples=["consent form, version 2"])
    until: float | None = Field(examples=[None])


class TermsModel(_Model):
    """Consent and end of the retention."""

    consent: ConsentModel | None
    retain_until: float | None = Field(examples=[_TIME])


class DuePerson(_Model):
    """Somebody whose time has come."""

    id: int = Field(examples=[7])
    name: str = Field(examples=["Ann"])
    until: float = Field(examples=[_TIME])


class DueList(_Model):
    """Whose time has come."""

    due: list[DuePerson]


class PolicyModel(_Model):
    """What a gallery keeps and demands."""

    thumbnails: bool = Field(examples=[True])
    consent: bool = Field(examples=[False])
    retain_days: float | None = Field(examples=[None])


class FaceDoubt(_Model):
    """How well a face fits the others of its person; null for a face alone."""

    id: str = Field(examples=[_FACE])
    log_ratio: float | None = Field(examples=[14.2])


class DoubtList(_Model):
    """How well each face of a person fits."""

    threshold: float = Field(examples=[4.1])
    faces: list[FaceDoubt]


class PersonDoubt(_Model):
    """The least certain face of a person; null for one face alone."""

    id: int = Field(examples=[7])
    log_ratio: float | None = Field(examples=[2.3])


class LeastDoubtList(_Model):
    """The least certain face of everybody."""

    people: list[PersonDoubt]


class RateModel(_Model):
    """What a rate of false names costs; null where it could not be measured."""

    fpir: float = Field(examples=[0.01])
    missed: float | None = Field(examples=[0.04])
    promised: bool | str | None = Field(examples=[True])


class RateList(_Model):
    """The rate of the server, and what others would cost."""

    fpir: float = Field(examples=[0.01])
    rates: list[RateModel]


class AuditModel(_Model):
    """Something that was done to the gallery; without names."""

    time: float = Field(examples=[_TIME])
    action: str = Field(examples=["enrol"])
    people: int = Field(examples=[1])
    faces: int = Field(examples=[3])


class AuditList(_Model):
    """A page of the audit trail."""

    entries: list[AuditModel]
    cursor: str | None


class QuestionSide(_Model):
    """One of two people, with their best faces."""

    id: int = Field(examples=[7])
    name: str = Field(examples=["Ann"])
    count: int = Field(examples=[12])
    faces: list[str] = Field(examples=[[_FACE]])


class QuestionModel(_Model):
    """Are these two one person?"""

    a: QuestionSide
    b: QuestionSide
    log_ratio: float = Field(examples=[6.2])
    probability: float = Field(examples=[0.83])
    gain: float = Field(examples=[1.7])
    faces: int = Field(examples=[3], description="Faces that hang on the answer.")


class QuestionList(_Model):
    """Questions, the most useful first."""

    questions: list[QuestionModel]


class ReviewAnswered(QuestionList):
    """The changes that an answer made, and the next questions."""

    changes: list[int] = Field(examples=[[18, 19]])


class AdaptationRow(_Model):
    """One number, before and after, on people held out."""

    name: str = Field(examples=["cllr"])
    before: str = Field(examples=["0.112"])
    after: str = Field(examples=["0.094"])


class AdaptationModel(_Model):
    """What an adaptation would change; its token accepts it."""

    token: str = Field(examples=["Zb1x9v3Qm0c7T2yK4e8wVA"])
    rows: list[AdaptationRow]
    moved: bool = Field(examples=[True], description="Whether more than the calibration moved.")
    people: int = Field(examples=[40])
    pictures: int = Field(examples=[310])
    warnings: list[str] = Field(examples=[[]])


class AnswersModel(_Model):
    """Everything that was answered."""

    answers: list[dict[str, Any]] = Field(
        examples=[
            [
                {
                    "number": 3, "kind": "same-person", "face": ["9f86d081884c7d65…", 0],
                    "other": ["60303ae22b998861…", 1], "person": None, "added": _TIME,
                }
            ]
        ]
    )  # fmt: skip


class FolderModel(_Model):
    """A folder of the server."""

    name: str = Field(examples=["2026"])
    pictures: int = Field(examples=[240])


class FolderList(_Model):
    """Folders that can be imported."""

    folders: list[FolderModel]


class PhotoFace(_Model):
    """A face on a photograph; a box that is null was drawn by somebody."""

    number: int = Field(examples=[0])
    id: str | None = Field(examples=[_FACE])
    enrolled: str | None = Field(examples=["Ann"], description="Whose it is, if it is enrolled.")
    person: str | None = Field(examples=["Ann"])
    suggested: str | None = Field(examples=["Ann"])
    box: list[float] | None = Field(examples=[[102.0, 64.0, 80.0, 96.0]])
    log_ratio: float | None = Field(examples=[14.2])
    threshold: float | None = Field(examples=[4.1])
    promised: bool | str | None = Field(examples=[True])


class PhotoModel(_Model):
    """A photograph and everybody on it."""

    name: str = Field(examples=["picnic.jpg"])
    width: int = Field(examples=[1600])
    height: int = Field(examples=[1200])
    fpir: float = Field(examples=[0.01])
    faces: list[PhotoFace]
    back: int | None = Field(examples=[7], description="The person whose face was asked for.")


class PhotoFaceId(_Model):
    """The id of the face that was enrolled."""

    id: str | None = Field(examples=[_FACE])
