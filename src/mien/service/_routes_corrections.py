"""What people say about faces, and what was changed: split, take out, constraints, history."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response

from mien.gallery import Change, Constraint
from mien.service._access import backend_of, require
from mien.service._idempotency import WriteRoute, begun_before
from mien.service._openapi import PICTURE
from mien.service._paging import Cursor, Limit, cut_page
from mien.service._problems import Problem
from mien.service._routes_people import describe_person, find_known, find_person
from mien.service._schemas import (
    ChangeList,
    ChangeModel,
    ConstraintCreate,
    ConstraintList,
    ConstraintModel,
    FaceIds,
    FacesTo,
    PersonInfo,
)

__all__ = ["router"]

router = APIRouter(prefix="/v1/galleries/{gallery}", tags=["changes"], route_class=WriteRoute)


def _show_change(change: Change) -> ChangeModel:
    return ChangeModel(**{**asdict(change), "names": list(change.names)})


def _show_constraint(one: Constraint) -> ConstraintModel:
    return ConstraintModel(
        id=one.number,
        kind=one.kind,
        face=list(one.face),
        other=None if one.other is None else list(one.other),
        person=one.person,
        added=one.added,
    )


@router.post(
    "/people/{person}/split", status_code=201, summary="Split a person", response_model=PersonInfo
)
async def split_person(request: Request, gallery: str, person: int, wanted: FacesTo) -> PersonInfo:
    """Some faces of a person become somebody new."""
    require(request, "write", gallery)
    tenant = backend_of(request).tenant(gallery)

    def split() -> PersonInfo:
        owners = {find_known(tenant.gallery, face).person for face in wanted.faces}
        made = tenant.gallery.find_person(wanted.person)
        if begun_before(request) and made is not None and owners == {made.name}:
            return describe_person(made)
        if owners != {find_person(tenant.gallery, person).name}:
            raise Problem(409, "other-person", "A face of the list is not of this person.")
        if made is not None:
            raise Problem(409, "person-exists", f"{wanted.person!r} is already in the gallery.")
        tenant.gallery.split(wanted.faces, wanted.person)
        made = tenant.gallery.find_person(wanted.person)
        if made is None:
            raise Problem(409, "person-gone", "The person was deleted at once.")
        return describe_person(made)

    return await tenant.run(split)


@router.post(
    "/faces/remove", status_code=204, summary="Take faces out, so that undo brings them back"
)
async def remove_faces(request: Request, gallery: str, wanted: FaceIds) -> None:
    """`DELETE` of a face is for good; this is not."""
    require(request, "write", gallery)
    tenant = backend_of(request).tenant(gallery)

    def remove() -> None:
        faces = wanted.faces
        if begun_before(request):
            faces = [face for face in faces if tenant.gallery.get_face(face) is not None]
        for face in faces:
            find_known(tenant.gallery, face)
        if faces:
            tenant.gallery.remove_faces(faces)

    await tenant.run(remove)


@router.get(
    "/faces/{face}/thumbnail",
    summary="The small picture of a face, where one is kept",
    responses=PICTURE,
    response_class=Response,
)
async def get_thumbnail(request: Request, gallery: str, face: str) -> Response:
    """404 where the gallery keeps none."""
    require(request, "read", gallery)
    tenant = backend_of(request).tenant(gallery)
    await tenant.run(find_known, tenant.gallery, face)
    content = await tenant.run(tenant.gallery.thumbnail, face)
    if content is None:
        raise Problem(404, "no-thumbnail", "No small picture of this face is kept.")
    kinds = {b"\xff\xd8": "image/jpeg", b"\x89P": "image/png", b"RI": "image/webp"}
    kind = kinds.get(content[:2], "application/octet-stream")
    return Response(content, media_type=kind)


@router.get("/history", summary="What was changed", response_model=ChangeList)
async def list_history(
    request: Request, gallery: str, limit: Limit = 50, cursor: Cursor = None
) -> ChangeList:
    """From the last; what was undone says when."""
    require(request, "read", gallery)
    tenant = backend_of(request).tenant(gallery)
    found = await tenant.run(tenant.gallery.history)
    page, following = cut_page(found, lambda one: (one.number,), limit, cursor, falling=True)
    return ChangeList(changes=[_show_change(one) for one in page], cursor=following)


@router.get("/constraints", summary="What was said about faces", response_model=ConstraintList)
async def list_constraints(
    request: Request, gallery: str, limit: Limit = 100, cursor: Cursor = None
) -> ConstraintList:
    """Same person, different people, not a face, not this person; from the first."""
    require(request, "read", gallery)
    tenant = backend_of(request).tenant(gallery)
    found = await tenant.run(tenant.gallery.constraints)
    page, following = cut_page(found, lambda one: (one.number,), limit, cursor)
    return ConstraintList(constraints=[_show_constraint(one) for one in page], cursor=following)


@router.post(
    "/constraints",
    status_code=201,
    summary="Say something about a face",
    response_model=ConstraintModel,
)
async def add_constraint(
    request: Request, gallery: str, wanted: ConstraintCreate
) -> ConstraintModel:
    """Kept for good: a face is never named as, nor enrolled as, whom a constraint excludes."""
    require(request, "write", gallery)
    tenant = backend_of(request).tenant(gallery)

    def add() -> ConstraintModel:
        for face in (wanted.face, wanted.other):
            if isinstance(face, str):
                find_known(tenant.gallery, face)
        number = tenant.gallery.add_constraint(
            wanted.kind, _face(wanted.face), other=_face(wanted.other), person=wanted.person
        )
        made = [one for one in tenant.gallery.constraints() if one.number == number]
        if not made:
            raise Problem(409, "constraint-gone", "The constraint was removed at once.")
        return _show_constraint(made[0])

    return await tenant.run(add)


def _face(face: Any) -> Any:
    return tuple(face) if isinstance(face, list) else face


@router.delete("/constraints/{constraint}", status_code=204, summary="Take it back")
async def remove_constraint(request: Request, gallery: str, constraint: int) -> None:
    """What was said is forgotten."""
    require(request, "write", gallery)
    tenant = backend_of(request).tenant(gallery)

    def remove() -> None:
        if constraint not in {one.number for one in tenant.gallery.constraints()}:
            if begun_before(request):
                return
            raise Problem(404, "no-constraint", "There is no such constraint.")
        tenant.gallery.remove_constraint(constraint)

    await tenant.run(remove)
