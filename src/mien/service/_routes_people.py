"""People and their faces in a gallery."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from mien.gallery import Gallery, Person, StoredFace
from mien.recognition import Failure, choose_face
from mien.service._access import backend_of, require
from mien.service._backend import Tenant, find_id
from mien.service._idempotency import WriteRoute, begun_before
from mien.service._openapi import PICTURES
from mien.service._paging import Cursor, Limit, decode_cursor, encode_cursor
from mien.service._pictures import read_pictures
from mien.service._problems import Problem
from mien.service._schemas import (
    EnrolledFace,
    EnrolledPicture,
    FaceList,
    MergeInto,
    MoveTo,
    PersonInfo,
    PersonList,
    PersonName,
)

__all__ = ["describe_person", "enrol_pictures", "find_known", "find_person", "router", "show_face"]

router = APIRouter(prefix="/v1/galleries/{gallery}", tags=["people"], route_class=WriteRoute)


def describe_person(person: Person) -> PersonInfo:
    """Somebody as they are answered."""
    return PersonInfo(
        id=person.number, name=person.name, faces=person.templates, added=person.added
    )


def show_face(face: StoredFace) -> EnrolledFace:
    """A face as it is answered; without its template."""
    return EnrolledFace(
        id=face.id, person=face.person, picture=face.source, quality=face.quality, added=face.added
    )


def find_person(gallery: Gallery, number: int) -> Person:
    """Whoever has this number, or a problem."""
    person = gallery.get_person(number)
    if person is None:
        raise Problem(404, "no-person", "There is no such person.")
    return person


def _tenant(request: Request, gallery: str) -> Tenant:
    return backend_of(request).tenant(gallery)


@router.get("/people", summary="List people", response_model=PersonList)
async def list_people(
    request: Request, gallery: str, q: str = "", limit: Limit = 100, cursor: Cursor = None
) -> PersonList:
    """By name, in pages; ``q`` keeps names that contain it, whatever the case."""
    require(request, "read", gallery)
    tenant = _tenant(request, gallery)
    after = None if cursor is None else decode_cursor(cursor, (str, int))
    wanted = await tenant.run(
        tenant.gallery.list_people,
        containing=q,
        after=None if after is None else (after[0], after[1]),
        limit=limit + 1,
    )
    page = wanted[:limit]
    more = len(wanted) > limit
    following = encode_cursor([page[-1].name.casefold(), page[-1].number]) if more else None
    return PersonList(people=[describe_person(person) for person in page], cursor=following)


@router.post("/people", status_code=201, summary="Make a person", response_model=PersonInfo)
async def create_person(request: Request, gallery: str, wanted: PersonName) -> PersonInfo:
    """Somebody without faces yet."""
    require(request, "write", gallery)
    tenant = _tenant(request, gallery)

    def create() -> PersonInfo:
        added = tenant.gallery.add_person(wanted.name)
        if not added and not begun_before(request):
            raise Problem(409, "person-exists", f"{wanted.name!r} is already in the gallery.")
        person = tenant.gallery.find_person(wanted.name)
        if person is None:
            raise Problem(409, "person-gone", "The person was deleted at once.")
        return describe_person(person)

    return await tenant.run(create)


@router.get("/people/{person}", summary="Describe a person", response_model=PersonInfo)
async def get_person(request: Request, gallery: str, person: int) -> PersonInfo:
    """Name and number of faces."""
    require(request, "read", gallery)
    tenant = _tenant(request, gallery)
    return describe_person(await tenant.run(find_person, tenant.gallery, person))


@router.patch("/people/{person}", summary="Rename a person", response_model=PersonInfo)
async def rename_person(
    request: Request, gallery: str, person: int, wanted: PersonName
) -> PersonInfo:
    """The old name is deleted from the file."""
    require(request, "write", gallery)
    tenant = _tenant(request, gallery)

    def rename() -> PersonInfo:
        before = find_person(tenant.gallery, person).name
        if before != wanted.name.strip():
            tenant.gallery.rename(before, wanted.name)
        return describe_person(find_person(tenant.gallery, person))

    return await tenant.run(rename)


@router.post("/people/{person}/merge", summary="Merge into another", response_model=PersonInfo)
async def merge_people(
    request: Request, gallery: str, person: int, target: MergeInto
) -> PersonInfo:
    """All faces move to the other person; this one is forgotten."""
    require(request, "write", gallery)
    tenant = _tenant(request, gallery)

    def merge() -> PersonInfo:
        into = find_person(tenant.gallery, target.into)
        if tenant.gallery.get_person(person) is not None or not begun_before(request):
            tenant.gallery.merge(find_person(tenant.gallery, person).name, into.name)
        return describe_person(find_person(tenant.gallery, target.into))

    return await tenant.run(merge)


@router.delete("/people/{person}", summary="Delete a person for good")
async def delete_person(request: Request, gallery: str, person: int) -> dict[str, int]:
    """With all faces; the bytes are removed from the file."""
    require(request, "write", gallery)
    tenant = _tenant(request, gallery)

    def delete() -> int:
        if begun_before(request) and tenant.gallery.get_person(person) is None:
            return 0
        return tenant.gallery.delete(find_person(tenant.gallery, person).name)

    return {"faces": await tenant.run(delete)}


@router.get("/faces", summary="List faces", response_model=FaceList)
async def list_faces(
    request: Request,
    gallery: str,
    person: int | None = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> FaceList:
    """Faces of everybody or of one person, in pages."""
    require(request, "read", gallery)
    tenant = _tenant(request, gallery)
    after = None if cursor is None else str(decode_cursor(cursor, (str,))[0])

    def read() -> list[StoredFace]:
        name = None if person is None else find_person(tenant.gallery, person).name
        return tenant.gallery.faces(name, after=after, limit=limit + 1)

    faces = await tenant.run(read)
    following = encode_cursor([faces[limit - 1].id]) if len(faces) > limit else None
    return FaceList(faces=[show_face(face) for face in faces[:limit]], cursor=following)


@router.post(
    "/people/{person}/faces",
    summary="Enrol pictures of a person",
    response_model=list[EnrolledPicture],
    openapi_extra=PICTURES,
)
async def add_faces(request: Request, gallery: str, person: int) -> list[EnrolledPicture]:
    """One face per picture: the only one, or the one that is clearly the largest."""
    require(request, "write", gallery)
    tenant = _tenant(request, gallery)
    name = (await tenant.run(find_person, tenant.gallery, person)).name
    return await enrol_pictures(request, tenant, name)


@router.post(
    "/enrol",
    summary="Enrol pictures by name",
    response_model=list[EnrolledPicture],
    openapi_extra=PICTURES,
)
async def enrol(
    request: Request,
    gallery: str,
    person: Annotated[str, Query(min_length=1, max_length=200, examples=["Ann"])],
) -> list[EnrolledPicture]:
    """As above; a name that is new makes a new person."""
    require(request, "write", gallery)
    tenant = _tenant(request, gallery)
    return await enrol_pictures(request, tenant, person)


async def enrol_pictures(request: Request, tenant: Tenant, name: str) -> list[EnrolledPicture]:
    """Enrol what a request brings, and say what became of each picture."""
    backend = backend_of(request)
    pictures = await read_pictures(request, backend.settings.limits)
    results = await backend.analyse_all(pictures, tenant.engine)
    answers = []
    for picture, result in zip(pictures, results, strict=True):
        chosen = choose_face(result)
        if isinstance(chosen, Failure):
            answers.append(
                EnrolledPicture(
                    picture=str(result.path), reason=chosen.reason, detail=chosen.detail
                )
            )
            continue
        small = await backend.draw_head(picture, chosen.face.box, tenant)
        enrolled = await tenant.run(
            tenant.gallery.enrol,
            name,
            chosen.vector[None],
            digests=[result.digest],
            sources=[str(result.path)],
            qualities=[None if chosen.quality is None else float(chosen.quality.score)],
            thumbnails=None if small is None else [small],
        )
        stored = await tenant.run(find_id, tenant.gallery, result.digest)
        answers.append(
            EnrolledPicture(picture=str(result.path), face=stored, already=enrolled.added == 0)
        )
    return answers


@router.post("/faces/{face}/move", summary="Move a face", response_model=EnrolledFace)
async def move_face(request: Request, gallery: str, face: str, target: MoveTo) -> EnrolledFace:
    """To another person; a person without faces left is removed."""
    require(request, "write", gallery)
    tenant = _tenant(request, gallery)

    def move() -> EnrolledFace:
        find_known(tenant.gallery, face)
        return show_face(tenant.gallery.move_face(face, target.person))

    return await tenant.run(move)


@router.delete("/faces/{face}", status_code=204, summary="Delete a face for good")
async def delete_face(request: Request, gallery: str, face: str) -> None:
    """Whoever has no other face is deleted as well."""
    require(request, "write", gallery)
    tenant = _tenant(request, gallery)

    def delete() -> None:
        if begun_before(request) and tenant.gallery.get_face(face) is None:
            return
        find_known(tenant.gallery, face)
        tenant.gallery.delete_face(face)

    await tenant.run(delete)


def find_known(gallery: Gallery, face: str) -> StoredFace:
    """The face with this id, or a problem."""
    found = gallery.get_face(face)
    if found is None:
        raise Problem(404, "no-face", "There is no such face.")
    return found
