"""What the page shows beside lists: a picture of everybody, and how sure each face's place is."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request, Response

from mien.gallery import Gallery, Person
from mien.recognition import check_rates, doubt_faces
from mien.service._access import backend_of, require
from mien.service._backend import Tenant
from mien.service._openapi import PICTURE
from mien.service._paging import Cursor, Limit, cut_page
from mien.service._photos import read_photo
from mien.service._pictures import Upload
from mien.service._problems import Problem
from mien.service._routes_people import find_person
from mien.service._schemas_page import AuditList, DoubtList, LeastDoubtList, RateList

__all__ = ["draw_placeholder", "router"]

router = APIRouter(prefix="/v1/galleries/{gallery}", tags=["page"])

_COLOURS = ("#b7c4f4", "#f3c6b8", "#bfe3cf", "#ecd9a7", "#d9c4ee", "#b9dde6")
_RATES = (0.1, 0.01, 0.001)
_COVERS = 24
_PREVIEW = 480
_KEPT = {"cache-control": "private, max-age=31536000, immutable"}


def draw_placeholder(number: int) -> bytes:
    """A plain head and shoulders, for people without a stored picture."""
    colour = _COLOURS[number % len(_COLOURS)]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">'
        f'<rect width="64" height="64" fill="{colour}"/>'
        '<g fill="#1b2030" fill-opacity=".35"><circle cx="32" cy="25" r="11"/>'
        '<path d="M9 64c2-15 11-22 23-22s21 7 23 22z"/></g></svg>'
    ).encode("ascii")


def _show(content: bytes | None, number: int) -> Response:
    if content is None:
        return Response(
            draw_placeholder(number),
            media_type="image/svg+xml",
            headers={"cache-control": "no-cache"},
        )
    kind = "image/png" if content.startswith(b"\x89PNG") else "image/jpeg"
    if content.startswith(b"RIFF"):
        kind = "image/webp"
    return Response(content, media_type=kind, headers=_KEPT)


@router.get(
    "/people/{person}/picture",
    summary="A picture of a person",
    response_class=Response,
    responses=PICTURE,
)
async def show_person(request: Request, gallery: str, person: int) -> Response:
    """The face of the best quality whose small picture is kept; a drawing where none is."""
    require(request, "read", gallery, counted=False)
    tenant = backend_of(request).tenant(gallery)
    return _show(await tenant.run(_find_cover, tenant.gallery, person), person)


def _find_cover(gallery: Gallery, number: int) -> bytes | None:
    person = gallery.get_person(number)
    if person is None or not gallery.policy.thumbnails:
        return None
    faces = gallery.faces(person.name, limit=_COVERS)
    for face in sorted(faces, key=lambda one: -(one.quality or 0)):
        content = gallery.thumbnail(face.id)
        if content is not None:
            return content
    return None


@router.get(
    "/faces/{face}/picture",
    summary="A picture of a face",
    response_class=Response,
    responses=PICTURE,
)
async def show_face_picture(
    request: Request, gallery: str, face: str, whole: bool = False
) -> Response:
    """The small picture that is kept, or the whole photograph; a drawing where there is none."""
    require(request, "read", gallery, counted=whole)
    backend = backend_of(request)
    tenant = backend.tenant(gallery)
    if whole:
        with suppress(Problem):
            name, content = await tenant.run(read_photo, backend, tenant.gallery, face)
            _, shown = await backend.convert(Upload(name, content), max_side=_PREVIEW)
            return _show(shown, 0)
    return _show(await tenant.run(tenant.gallery.thumbnail, face), sum(face.encode()))


@router.get(
    "/people/{person}/doubts",
    summary="How well each face fits its person",
    response_model=DoubtList,
)
async def list_doubts(request: Request, gallery: str, person: int) -> dict[str, Any]:
    """Log ratio of each face with the others; null for a face alone."""
    require(request, "read", gallery)
    backend = backend_of(request)
    tenant = backend.tenant(gallery)

    def read() -> dict[str, Any]:
        found = doubt_faces(tenant.gallery, find_person(tenant.gallery, person).name)
        threshold = tenant.gallery.model.verifier.threshold(
            fpir=backend.settings.fpir, n_people=max(1, len(tenant.gallery)), extrapolate=True
        )
        return {
            "threshold": threshold,
            "faces": [
                {"id": face.id, "log_ratio": None if math.isnan(ratio) else round(ratio, 3)}
                for face, ratio in found
            ],
        }

    return await tenant.run(read)


@router.get("/doubts", summary="The least certain face of everybody", response_model=LeastDoubtList)
async def list_least(request: Request, gallery: str) -> dict[str, Any]:
    """Lowest log ratio of a face with the others of its person; null for one face alone."""
    require(request, "read", gallery)
    tenant = backend_of(request).tenant(gallery)
    held: dict[str, Any] | None = tenant.notes.get("doubts")
    mark = await tenant.run(lambda: tenant.gallery.fingerprint)
    if held is None or held["mark"] != mark:
        found = []
        for person in await tenant.run(tenant.gallery.people):
            # One person at a time, so that others are answered in between.
            ratio = await tenant.run(_least, tenant, person)
            found.append({"id": person.number, "log_ratio": ratio})
        held = tenant.notes["doubts"] = {"mark": mark, "people": found}
    return {"people": held["people"]}


def _least(tenant: Tenant, person: Person) -> float | None:
    if person.templates < 2:
        return None
    ratios = [ratio for _, ratio in doubt_faces(tenant.gallery, person.name)]
    return round(min(ratios), 3) if ratios else None


@router.get("/rates", summary="What each false-name rate costs", response_model=RateList)
async def list_rates(request: Request, gallery: str) -> dict[str, Any]:
    """Measured on the people of the gallery; null where they are too few."""
    require(request, "read", gallery)
    backend = backend_of(request)
    tenant = backend.tenant(gallery)

    def read() -> dict[str, Any]:
        rates = sorted({*_RATES, backend.settings.fpir}, reverse=True)
        X, people = tenant.gallery.sample_vectors(100, 4)
        if len(set(people.tolist())) < 2:
            return {
                "fpir": backend.settings.fpir,
                "rates": [{"fpir": r, "missed": None, "promised": "shipped"} for r in rates],
            }
        checked = check_rates(
            tenant.gallery.model.verifier, X, people, fpirs=tuple(rates),
            calibration=tenant.gallery.calibration, n_people=len(tenant.gallery),
        )  # fmt: skip
        return {
            "fpir": backend.settings.fpir,
            "rates": [
                {"fpir": one.fpir, "missed": one.misses, "promised": one.promised}
                for one in checked.rates
            ],
        }

    return await tenant.run(read)


@router.get("/audit", summary="What was done to the gallery", response_model=AuditList)
async def list_audit(
    request: Request, gallery: str, limit: Limit = 100, cursor: Cursor = None
) -> dict[str, Any]:
    """The newest first; without names."""
    require(request, "admin", gallery)
    tenant = backend_of(request).tenant(gallery)
    entries = [*enumerate(await tenant.run(tenant.gallery.audit))]
    page, following = cut_page(entries[::-1], lambda one: (one[0],), limit, cursor, falling=True)
    shown = [
        {"time": one.time, "action": one.action, "people": one.people, "faces": one.templates}
        for _, one in page
    ]
    return {"entries": shown, "cursor": following}
