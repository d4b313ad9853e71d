"""Corrections that the page makes, each of which can be undone."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from mien.gallery import Change, Consent, Gallery
from mien.recognition import is_placeholder
from mien.service._access import backend_of, require
from mien.service._backend import Tenant
from mien.service._idempotency import WriteRoute, begun_before, refuse_if_unsure
from mien.service._problems import Problem
from mien.service._routes_jobs import start_job
from mien.service._routes_people import find_person
from mien.service._schemas_page import (
    Changed,
    ChangedInSteps,
    DueList,
    HiddenList,
    PolicyModel,
    TermsModel,
    UndoneModel,
)

__all__ = ["router"]

router = APIRouter(prefix="/v1/galleries/{gallery}", tags=["page"], route_class=WriteRoute)
_MOST_FACES = 10_000


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Undone(_Body):
    """The change that is meant; the last one if it is null."""

    change: int | None = None


class SomeFaces(_Body):
    """Ids of faces."""

    faces: list[str] = Field(min_length=1, max_length=_MOST_FACES)


class MovedFaces(SomeFaces):
    """Ids of faces, and whose they are; a new name makes a new person."""

    person: str = Field(min_length=1, max_length=200)


class Hidden(_Body):
    """Whether lists leave a person out."""

    hidden: bool


class ConsentGiven(_Body):
    """What a person agreed to, now."""

    purpose: str = Field(min_length=1, max_length=1000)
    text: str = Field(min_length=1, max_length=1000)
    until: float | None = None


class Terms(_Body):
    """What is given is changed; null withdraws it."""

    consent: ConsentGiven | None = None
    retain_until: float | None = None


class Policy(_Body):
    """What is given is changed."""

    thumbnails: bool | None = None
    consent: bool | None = None


def _tenant(request: Request, gallery: str, role: str) -> Tenant:
    require(request, role, gallery)
    return backend_of(request).tenant(gallery)


def _show(change: Change) -> dict[str, Any]:
    return {"change": change.number, "action": change.action, "people": change.people,
            "faces": change.faces}  # fmt: skip


def _last(gallery: Gallery) -> dict[str, Any]:
    history = gallery.history(1)
    return {"change": history[0].number if history else None}


@router.post("/undo", summary="Undo the last change", response_model=UndoneModel)
async def undo(request: Request, gallery: str, wanted: Undone | None = None) -> dict[str, Any]:
    """With a number only that one, if it still is the last; what was deleted stays deleted."""
    tenant = _tenant(request, gallery, "write")

    def work() -> dict[str, Any]:
        number = None if wanted is None else wanted.change
        if begun_before(request):
            done = [one for one in tenant.gallery.history(1000) if one.number == number]
            if done and done[0].undone is not None:
                return _show(done[0])
            if number is None:
                refuse_if_unsure(request)
        last = next((one for one in tenant.gallery.history() if one.undone is None), None)
        if number is not None and last is not None and last.number != number:
            raise Problem(
                409, "changed-since", "Something else was changed since: undo that first."
            )
        return _show(tenant.gallery.undo(number))

    return await tenant.run(work)


@router.post("/faces/move", summary="Give faces to another person", response_model=Changed)
async def move_faces(request: Request, gallery: str, wanted: MovedFaces) -> dict[str, Any]:
    """As one change; people without faces left are removed."""
    tenant = _tenant(request, gallery, "write")

    def work() -> dict[str, Any]:
        tenant.gallery.move_faces(wanted.faces, wanted.person)
        return _last(tenant.gallery)

    return await tenant.run(work)


@router.post(
    "/people/{person}/not",
    summary="These faces are somebody else",
    response_model=ChangedInSteps,
)
async def not_this_person(
    request: Request, gallery: str, person: int, wanted: SomeFaces
) -> dict[str, Any]:
    """They leave for somebody without a name, and are never named as this person again.

    ``steps`` is how many changes an undo takes back.
    """
    tenant = _tenant(request, gallery, "write")

    def work() -> dict[str, Any]:
        held = tenant.gallery
        name = find_person(held, person).name
        for face in wanted.faces:
            if held.get_face(face) is None:
                raise Problem(404, "no-face", "There is no such face.")
        for face in wanted.faces:
            held.add_constraint("not-this-person", face, person=name)
        # Those that a server which ended had moved already are somebody else's by now.
        left = [face for face in wanted.faces if _owner(held, face) == name]
        if left or not begun_before(request):
            held.move_faces(wanted.faces, _free_name(held))
        return {**_last(held), "steps": len(wanted.faces) + 1}

    return await tenant.run(work)


def _owner(gallery: Gallery, face: str) -> str | None:
    stored = gallery.get_face(face)
    return None if stored is None else stored.person


def _free_name(gallery: Gallery) -> str:
    taken = [
        int(person.name.rpartition("-")[2])
        for person in gallery.people()
        if is_placeholder(person.name)
    ]
    return f"person-{max(taken, default=0) + 1:03d}"


@router.post("/faces/not-a-face", summary="These are not faces", response_model=ChangedInSteps)
async def not_a_face(request: Request, gallery: str, wanted: SomeFaces) -> dict[str, Any]:
    """They are taken out and never come back; ``steps`` is how many changes an undo takes back."""
    tenant = _tenant(request, gallery, "write")

    def work() -> dict[str, Any]:
        held = tenant.gallery
        still = [face for face in wanted.faces if held.get_face(face) is not None]
        if len(still) < len(wanted.faces) and not begun_before(request):
            raise Problem(404, "no-face", "There is no such face.")
        for face in still:
            held.add_constraint("not-a-face", face)
        if still:
            held.remove_faces(still)
        return {**_last(held), "steps": len(wanted.faces) + 1}

    return await tenant.run(work)


@router.get("/hidden", summary="Who is left out of lists", response_model=HiddenList)
async def list_hidden(request: Request, gallery: str) -> dict[str, list[int]]:
    """Numbers of people."""
    tenant = _tenant(request, gallery, "read")
    people = await tenant.run(tenant.gallery.people)
    return {"people": [person.number for person in people if person.hidden]}


@router.put(
    "/people/{person}/hidden",
    summary="Hide a person, or show them again",
    response_model=Changed,
)
async def set_hidden(request: Request, gallery: str, person: int, wanted: Hidden) -> dict[str, Any]:
    """Whoever is hidden is still recognised."""
    tenant = _tenant(request, gallery, "write")

    def work() -> dict[str, Any]:
        name = find_person(tenant.gallery, person).name
        (tenant.gallery.hide if wanted.hidden else tenant.gallery.unhide)(name)
        return _last(tenant.gallery)

    return await tenant.run(work)


@router.get(
    "/people/{person}/terms",
    summary="Consent and retention of a person",
    response_model=TermsModel,
)
async def get_terms(request: Request, gallery: str, person: int) -> dict[str, Any]:
    """What was agreed to, and until when faces are kept."""
    tenant = _tenant(request, gallery, "read")

    def read() -> dict[str, Any]:
        held = find_person(tenant.gallery, person)
        return {
            "consent": None if held.consent is None else asdict(held.consent),
            "retain_until": held.retain_until,
        }

    return await tenant.run(read)


@router.patch("/people/{person}/terms", summary="Note a consent, or an end", response_model=Changed)
async def set_terms(request: Request, gallery: str, person: int, wanted: Terms) -> dict[str, Any]:
    """What is given is changed."""
    tenant = _tenant(request, gallery, "write")

    def work() -> dict[str, Any]:
        name = find_person(tenant.gallery, person).name
        if "consent" in wanted.model_fields_set:
            given = wanted.consent
            tenant.gallery.set_consent(
                name,
                None if given is None
                else Consent(time.time(), given.purpose, given.text, given.until),
            )  # fmt: skip
        if "retain_until" in wanted.model_fields_set:
            tenant.gallery.set_retention(name, wanted.retain_until)
        return _last(tenant.gallery)

    return await tenant.run(work)


@router.get("/retention", summary="Whose time has come", response_model=DueList)
async def list_due(request: Request, gallery: str) -> dict[str, Any]:
    """People whose retention or consent has ended, or who were not used for the policy's days."""
    tenant = _tenant(request, gallery, "read")
    now = time.time()
    due = []
    for person in await tenant.run(tenant.gallery.due):
        ends = [person.retain_until, None if person.consent is None else person.consent.until]
        until = min([end for end in ends if end is not None and end <= now], default=now)
        due.append({"id": person.number, "name": person.name, "until": until})
    return {"due": due}


@router.get("/policy", summary="What the gallery keeps and demands", response_model=PolicyModel)
async def get_policy(request: Request, gallery: str) -> dict[str, Any]:
    """Small pictures, consents, days."""
    tenant = _tenant(request, gallery, "read")
    return asdict(await tenant.run(lambda: tenant.gallery.policy))


@router.patch(
    "/policy", summary="Change what the gallery keeps and demands", response_model=PolicyModel
)
async def set_policy(request: Request, gallery: str, wanted: Policy) -> dict[str, Any]:
    """Turning small pictures off erases those that are kept.

    Turning them on starts a job that makes them from the photographs that the server may read.
    """
    tenant = _tenant(request, gallery, "admin")
    backend = backend_of(request)

    def work() -> dict[str, Any]:
        return asdict(
            tenant.gallery.set_policy(thumbnails=wanted.thumbnails, consent=wanted.consent)
        )

    said = await tenant.run(work)
    if wanted.thumbnails and backend.settings.photos:
        folders = {"folders": [str(folder) for folder in backend.settings.photos]}
        await start_job(request, gallery, "thumbnails", folders)
    return said
