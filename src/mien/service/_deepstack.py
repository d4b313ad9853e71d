"""DeepStack's three routes for faces, for Blue Iris, Agent DVR and Home Assistant."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from mien.recognition import Failure, choose_face, identify_result
from mien.service._access import backend_of, count_request, find_grant, read_key
from mien.service._backend import Tenant
from mien.service._compreface import similarity
from mien.service._keys import EVERY_GALLERY
from mien.service._pictures import Upload, read_form
from mien.service._problems import Problem

__all__ = ["answer_problem", "router"]

router = APIRouter(prefix="/v1/vision/face", tags=["DeepStack"], include_in_schema=False)


def answer_problem(problem: Problem) -> Response:
    """An error as DeepStack's clients read it."""
    return JSONResponse(
        {"success": False, "error": problem.detail}, problem.status, headers=problem.headers
    )


async def _read(request: Request, role: str) -> tuple[Tenant, list[Upload], str]:
    """The gallery of the key, the pictures, and the person that is named."""
    backend = backend_of(request)
    parts = await read_form(request, backend.settings.limits)

    def text(name: str) -> str | None:
        values = [one for one in parts.get(name, []) if isinstance(one, str)]
        return values[0].strip() if values and values[0].strip() else None

    grant = find_grant(request, text("api_key") or read_key(request))
    count_request(request, grant)
    if grant is None:
        raise Problem(401, "no-key", "Incorrect api key")
    name = grant.gallery
    if name == EVERY_GALLERY:
        names = backend.names()
        if len(names) != 1:
            raise Problem(401, "no-key", "The key is for several galleries")
        name = names[0]
    if not grant.allows(name, role):
        raise Problem(403, "role-too-low", "The key may not change the gallery")
    pictures = [one for values in parts.values() for one in values if isinstance(one, Upload)]
    return backend.tenant(name), pictures, text("userid") or ""


@router.post("/recognize")
async def recognize(request: Request) -> dict[str, Any]:
    tenant, pictures, _ = await _read(request, "read")
    if not pictures:
        raise Problem(400, "no-picture", "No valid image file found")
    backend = backend_of(request)
    result = await backend.analyse(pictures[0], tenant.engine)
    named = await tenant.run(identify_result, result, tenant.gallery, backend.settings.fpir, 1)
    predictions = []
    for face in named.faces:
        left, top, width, height = (float(value) for value in face.found.face.box)
        predictions.append(
            {
                "userid": face.person or "unknown",
                "confidence": similarity(face.log_ratio, face.threshold) if face.person else 0,
                "x_min": round(left),
                "y_min": round(top),
                "x_max": round(left + width),
                "y_max": round(top + height),
            }
        )
    return {"success": True, "predictions": predictions}


@router.post("/register")
async def register(request: Request) -> dict[str, Any]:
    tenant, pictures, person = await _read(request, "write")
    if not pictures or not person:
        raise Problem(400, "no-picture", "An image and a userid are needed")
    backend = backend_of(request)
    chosen = []
    results = await backend.analyse_all(pictures, tenant.engine)
    for picture, result in zip(pictures, results, strict=True):
        face = choose_face(result)
        if isinstance(face, Failure):
            raise Problem(400, "no-face", f"Could not find one face: {face.reason}")
        chosen.append((picture, result.digest, face))
    for picture, digest, face in chosen:
        small = await backend.draw_head(picture, face.face.box, tenant)
        await tenant.run(
            tenant.gallery.enrol, person, face.vector[None], digests=[digest],
            thumbnails=None if small is None else [small],
        )  # fmt: skip
    return {"success": True, "message": "face added"}


@router.post("/list")
async def list_faces(request: Request) -> dict[str, Any]:
    tenant, _, _ = await _read(request, "read")
    people = await tenant.run(tenant.gallery.people)
    return {"success": True, "faces": [person.name for person in people]}


@router.post("/delete")
async def delete(request: Request) -> dict[str, Any]:
    tenant, _, person = await _read(request, "write")

    def remove() -> None:
        if person and tenant.gallery.find_person(person) is not None:
            tenant.gallery.delete(person)

    await tenant.run(remove)
    return {"success": True}
