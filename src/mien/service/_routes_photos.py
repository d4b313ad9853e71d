"""Whole photographs, for the page: only from folders that the server was started with."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from mien._core.boxes import overlap_boxes
from mien.faces import FoundFace, PictureResult
from mien.gallery import Gallery
from mien.media import find_media
from mien.recognition import identify_result
from mien.service._access import backend_of, require
from mien.service._backend import Backend, Tenant
from mien.service._idempotency import WriteRoute
from mien.service._openapi import PICTURE
from mien.service._photos import find_folder, read_photo
from mien.service._pictures import Upload
from mien.service._problems import Problem
from mien.service._routes_jobs import start_job
from mien.service._schemas import JobModel
from mien.service._schemas_page import FolderList, PhotoFaceId, PhotoModel

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["page"], route_class=WriteRoute)
_MAX_SIDE = 2048
_MOST_LISTED = 2000
_SAME_FACE = 0.3
_MARGIN = 0.6


class PhotoEnrol(BaseModel):
    """A face of a photograph: by its number, or by a box that somebody drew."""

    model_config = ConfigDict(extra="forbid")

    person: str = Field(min_length=1, max_length=200)
    face: int | None = Field(None, ge=0)
    box: list[float] | None = Field(None, min_length=4, max_length=4)


class ImportWanted(BaseModel):
    """A folder as ``GET /v1/folders`` lists it."""

    model_config = ConfigDict(extra="forbid")

    folder: str = Field(min_length=1, max_length=4000)


@router.get("/folders", summary="Folders that can be imported", response_model=FolderList)
async def list_folders(
    request: Request, path: str = Query("", max_length=4000)
) -> dict[str, list[dict[str, Any]]]:
    """Those that the server was started with, or the folders in one of them."""
    backend = backend_of(request)
    require(request, "write", backend.only_gallery)

    def read() -> list[dict[str, Any]]:
        if not path:
            return [_describe(folder) for folder in backend.settings.photos]
        inside = sorted(find_folder(backend, path).iterdir())
        shown = [one for one in inside if one.is_dir() and not one.name.startswith(".")]
        return [_describe(one) for one in shown[:_MOST_LISTED]]

    return {"folders": await asyncio.to_thread(read)}


def _describe(folder: Path) -> dict[str, Any]:
    return {"name": folder.name, "pictures": len(find_media(folder).pictures)}


@router.post(
    "/galleries/{gallery}/imports",
    status_code=202,
    summary="Import a folder",
    response_model=JobModel,
)
async def import_folder(request: Request, gallery: str, wanted: ImportWanted) -> dict[str, Any]:
    """A job: known people get their faces, strangers are grouped."""
    require(request, "write", gallery)
    backend = backend_of(request)
    # The folders are the operator's: where there are several tenants, no tenant reads them.
    require(request, "write", backend.only_gallery, counted=False)
    backend.tenant(gallery)
    folder = await asyncio.to_thread(find_folder, backend, wanted.folder)
    options = {"folder": str(folder), "fpir": backend.settings.fpir}
    return (await start_job(request, gallery, "folder", options)).to_dict()


# One photograph.


@router.get(
    "/galleries/{gallery}/faces/{face}/photo.jpg",
    summary="The photograph of a face",
    response_class=Response,
    responses=PICTURE,
)
async def show_photo(request: Request, gallery: str, face: str) -> Response:
    """Upright, at most 2,048 pixels a side, without metadata."""
    require(request, "read", gallery)
    backend = backend_of(request)
    tenant = backend.tenant(gallery)
    name, content = await tenant.run(read_photo, backend, tenant.gallery, face)
    _, shown = await backend.convert(Upload(name, content), max_side=_MAX_SIDE)
    headers = {"cache-control": "private, max-age=600"}
    return Response(shown, media_type="image/jpeg", headers=headers)


@router.get(
    "/galleries/{gallery}/faces/{face}/photo",
    summary="Everybody on a photograph",
    response_model=PhotoModel,
)
async def describe_photo(request: Request, gallery: str, face: str) -> dict[str, Any]:
    """Each face with its person, or with whom it would be named."""
    require(request, "read", gallery)
    backend = backend_of(request)
    tenant = backend.tenant(gallery)
    name, content = await tenant.run(read_photo, backend, tenant.gallery, face)
    result = await backend.analyse(Upload(name, content), tenant.engine)
    return await tenant.run(_describe_photo, tenant, result, face, backend.settings.fpir)


def _describe_photo(
    tenant: Tenant, result: PictureResult, face: str, fpir: float
) -> dict[str, Any]:
    gallery = tenant.gallery
    named = identify_result(result, gallery, fpir, 3)
    faces = []
    for number, one in enumerate(named.faces):
        stored = gallery.find_face(result.digest, number)
        said = one.to_dict()
        faces.append(
            {
                "number": number,
                "id": None if stored is None else stored.id,
                "enrolled": None if stored is None else stored.person,
                "person": said["person"] if stored is None else stored.person,
                "suggested": said["person"],
                **{k: said[k] for k in ("box", "log_ratio", "threshold", "promised")},
            }
        )
    # Faces that somebody drew: found only in their part of the picture, and kept without a box.
    for number in _used_numbers(gallery, result.digest):
        stored = gallery.find_face(result.digest, number)
        if number >= len(named.faces) and stored is not None:
            faces.append(
                {
                    "number": number, "id": stored.id, "enrolled": stored.person,
                    "person": stored.person, "suggested": None, "box": None, "log_ratio": None,
                    "threshold": None, "promised": None,
                }
            )  # fmt: skip
    height, width = result.size
    own = gallery.get_face(face)
    person = None if own is None else gallery.find_person(own.person)
    return {
        "name": result.path.name, "width": width, "height": height, "fpir": fpir, "faces": faces,
        "back": None if person is None else person.number,
    }  # fmt: skip


@router.post(
    "/galleries/{gallery}/faces/{face}/photo",
    summary="Enrol a face of a photograph",
    response_model=PhotoFaceId,
)
async def enrol_from_photo(
    request: Request, gallery: str, face: str, wanted: PhotoEnrol
) -> dict[str, Any]:
    """One that was found, or one in a box that somebody drew."""
    require(request, "write", gallery)
    backend = backend_of(request)
    tenant = backend.tenant(gallery)
    name, content = await tenant.run(read_photo, backend, tenant.gallery, face)
    result = await backend.analyse(Upload(name, content), tenant.engine)
    if wanted.box is None:
        number = wanted.face or 0
        if number >= len(result.faces):
            raise Problem(404, "no-face", "The photograph has no such face.")
        chosen = result.faces[number]
    else:
        number, chosen = await _find_drawn(backend, tenant, result, content, wanted.box)
    found = wanted.box is None or number < len(result.faces)
    place = chosen.face.box.tolist() if found else wanted.box or []
    small = await backend.draw_head(Upload(name, content), place, tenant)
    source = await tenant.run(tenant.gallery.get_face, face)

    def enrol() -> dict[str, Any]:
        quality = None if chosen.quality is None else float(chosen.quality.score)
        known = tenant.gallery.find_face(result.digest, number)
        if known is not None:  # somebody drew around a face that has a name
            return {"id": tenant.gallery.move_face(known.id, wanted.person).id}
        tenant.gallery.enrol(
            wanted.person, chosen.vector[None], digests=[result.digest], faces=[number],
            sources=[None if source is None else source.source], qualities=[quality],
            thumbnails=None if small is None else [small],
        )  # fmt: skip
        stored = tenant.gallery.find_face(result.digest, number)
        return {"id": None if stored is None else stored.id}

    return await tenant.run(enrol)


async def _find_drawn(
    backend: Backend, tenant: Tenant, result: PictureResult, content: bytes, box: list[float]
) -> tuple[int, FoundFace]:
    """The face in a drawn box: one that was found already, or one found in that part alone."""
    for number, found in enumerate(result.faces):
        if overlap_boxes(found.face.box, box) > _SAME_FACE:
            return number, found

    left, top, width, height = box
    margin = _MARGIN * max(width, height)
    part = [left - margin, top - margin, width + 2 * margin, height + 2 * margin]
    _, cut = await backend.convert(Upload("photograph", content), part=part, quality=95)
    seen = await backend.analyse(Upload("part", cut), tenant.engine, max_faces=1)
    if not seen.faces:
        raise Problem(422, "no-face", "There is no face that mien can use at this place.")
    used = await tenant.run(_used_numbers, tenant.gallery, result.digest)
    return max([len(result.faces) - 1, *used]) + 1, seen.faces[0]


def _used_numbers(gallery: Gallery, digest: str) -> list[int]:
    return [k for k in range(1000) if gallery.find_face(digest, k) is not None]
