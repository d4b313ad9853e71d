"""CompreFace's subjects and their examples."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from mien.errors import InputError
from mien.service._access import backend_of
from mien.service._backend import Tenant, find_id
from mien.service._compreface_wire import (
    Refusal,
    check_subject,
    find_faces,
    find_tenant,
    read_files,
    read_options,
    read_subject,
    read_whole,
)
from mien.service._pictures import read_json

__all__ = ["router"]

router = APIRouter()


@router.get("/recognition/subjects")
@router.get("/recognition/subjects/")
async def list_subjects(request: Request) -> dict[str, Any]:
    tenant = find_tenant(request, "read")
    people = await tenant.run(tenant.gallery.people)
    return {"subjects": [person.name for person in people]}


@router.post("/recognition/subjects", status_code=201)
@router.post("/recognition/subjects/", status_code=201)
async def add_subject(request: Request) -> dict[str, Any]:
    tenant = find_tenant(request, "write")
    name = await read_subject(request)
    if not await tenant.run(tenant.gallery.add_person, name):
        raise Refusal(400, 43, "Subject already exists")
    return {"subject": name}


@router.put("/recognition/subjects/{subject}")
@router.put("/recognition/subjects/{subject}/")
async def rename_subject(request: Request, subject: str) -> dict[str, Any]:
    tenant = find_tenant(request, "write")
    name = await read_subject(request)

    def rename() -> None:
        if not _is_known(tenant, subject):
            raise Refusal(404, 42, "Subject not found")
        if name == subject:
            return
        if _is_known(tenant, name):
            tenant.gallery.merge(subject, name)
        else:
            tenant.gallery.rename(subject, name)

    await tenant.run(rename)
    return {"updated": True}


@router.delete("/recognition/subjects/{subject}")
async def delete_subject(request: Request, subject: str) -> dict[str, Any]:
    tenant = find_tenant(request, "write")

    def delete() -> None:
        if not _is_known(tenant, subject):
            raise Refusal(404, 42, "Subject not found")
        tenant.gallery.delete(subject)

    await tenant.run(delete)
    return {"subject": subject}


@router.delete("/recognition/subjects")
@router.delete("/recognition/subjects/")
async def delete_subjects(request: Request) -> dict[str, Any]:
    tenant = find_tenant(request, "write")

    def delete() -> int:
        people = tenant.gallery.people()
        for person in people:
            tenant.gallery.delete(person.name)
        return len(people)

    return {"deleted": await tenant.run(delete)}


@router.post("/recognition/faces", status_code=201)
@router.post("/recognition/faces/", status_code=201)
async def add_face(request: Request) -> dict[str, Any]:
    tenant = find_tenant(request, "write")
    query = request.query_params
    if "subject" not in query:
        raise Refusal(400, 33, "Required parameter 'subject' is not present.")
    name = check_subject(query["subject"])
    options = read_options(query)
    (picture,) = await read_files(request, "file")
    seen = await find_faces(request, tenant, picture, options)
    if len(seen.numbers) > 1:
        raise Refusal(400, 31, "Found more than one face in the given image")
    (number,), (face,) = seen.numbers, seen.faces
    small = await backend_of(request).draw_head(picture, face.face.box, tenant)

    def enrol() -> str:
        quality = None if face.quality is None else float(face.quality.score)
        tenant.gallery.enrol(
            name, face.vector[None], digests=[seen.result.digest], faces=[number],
            sources=[picture.name], qualities=[quality],
            thumbnails=None if small is None else [small],
        )  # fmt: skip
        return find_id(tenant.gallery, seen.result.digest, number)

    return {"image_id": await tenant.run(enrol), "subject": name}


@router.get("/recognition/faces")
@router.get("/recognition/faces/")
async def list_faces(request: Request) -> dict[str, Any]:
    tenant = find_tenant(request, "read")
    query = request.query_params
    page, size = read_whole(query, "page", 0, 0), read_whole(query, "size", 20, 1)
    subject = query.get("subject") or None
    faces = await tenant.run(_faces_of, tenant, subject)
    return {
        "faces": [
            {"image_id": face.id, "subject": face.person}
            for face in faces[page * size : (page + 1) * size]
        ],
        "page_number": page,
        "page_size": size,
        "total_pages": -(-len(faces) // size),
        "total_elements": len(faces),
    }


def _is_known(tenant: Tenant, subject: str) -> bool:
    try:
        return tenant.gallery.find_person(subject) is not None
    except InputError:
        return False  # it cannot be a name


def _faces_of(tenant: Tenant, subject: str | None) -> list[Any]:
    if subject is not None and not _is_known(tenant, subject):
        return []
    faces: list[Any] = tenant.gallery.faces(subject)
    return faces


@router.delete("/recognition/faces")
@router.delete("/recognition/faces/")
async def delete_faces(request: Request) -> dict[str, Any]:
    tenant = find_tenant(request, "write")
    subject = request.query_params.get("subject") or None

    def delete() -> int:
        faces = _faces_of(tenant, subject)
        for name in dict.fromkeys(face.person for face in faces):
            tenant.gallery.delete(name)
        return len(faces)

    return {"deleted": await tenant.run(delete)}


@router.delete("/recognition/faces/{image_id}")
async def delete_face(request: Request, image_id: str) -> dict[str, Any]:
    tenant = find_tenant(request, "write")
    deleted = await tenant.run(_delete_known, tenant, [image_id])
    if not deleted:
        raise Refusal(404, 11, "Image not found")
    return deleted[0]


@router.post("/recognition/faces/delete")
async def delete_many_faces(request: Request) -> list[dict[str, Any]]:
    tenant = find_tenant(request, "write")
    wanted = await read_json(request)
    if not isinstance(wanted, list):
        raise Refusal(400, 36, "The body must be an array of image ids")
    return await tenant.run(_delete_known, tenant, [str(one) for one in wanted])


def _delete_known(tenant: Tenant, wanted: list[str]) -> list[dict[str, Any]]:
    deleted = []
    for image_id in wanted:
        face = tenant.gallery.get_face(image_id)
        if face is not None:
            tenant.gallery.delete_face(image_id)
            deleted.append({"image_id": image_id, "subject": face.person})
    return deleted


@router.get("/recognition/faces/{image_id}/img")
async def get_image(request: Request, image_id: str) -> Response:
    return await _image(find_tenant(request, "read"), image_id)


@router.get("/static/{api_key}/images/{image_id}")
async def get_static_image(request: Request, api_key: str, image_id: str) -> Response:
    return await _image(find_tenant(request, "read", api_key), image_id)


async def _image(tenant: Tenant, image_id: str) -> Response:
    """The thumbnail; empty where none is kept, as CompreFace's own is without pictures."""
    if await tenant.run(tenant.gallery.get_face, image_id) is None:
        raise Refusal(404, 11, "Image not found")
    content = await tenant.run(tenant.gallery.thumbnail, image_id)
    kind = "application/octet-stream" if content is None else "image/jpeg"
    return Response(content or b"", media_type=kind)
