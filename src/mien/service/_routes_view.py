"""What the page shows beside lists: a picture of everybody, and how sure each face's place is."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from mien.service._access import backend_of, require

__all__ = ["router"]

router = APIRouter(prefix="/v1/galleries/{gallery}", tags=["page"])

_COLOURS = ("#b7c4f4", "#f3c6b8", "#bfe3cf", "#ecd9a7", "#d9c4ee", "#b9dde6")


def draw_placeholder(number: int) -> bytes:
    """A plain head and shoulders, for whoever has no picture that was kept."""
    colour = _COLOURS[number % len(_COLOURS)]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">'
        f'<rect width="64" height="64" fill="{colour}"/>'
        '<g fill="#1b2030" fill-opacity=".35"><circle cx="32" cy="25" r="11"/>'
        '<path d="M9 64c2-15 11-22 23-22s21 7 23 22z"/></g></svg>'
    ).encode("ascii")


def _drawn(number: int) -> Response:
    return Response(
        draw_placeholder(number), media_type="image/svg+xml", headers={"cache-control": "no-cache"}
    )


@router.get("/people/{person}/picture", summary="A picture of a person")
async def show_person(request: Request, gallery: str, person: int) -> Response:
    """The best face that is kept; a plain drawing where none is."""
    require(request, "read", gallery)
    backend_of(request).tenant(gallery)
    return _drawn(person)


@router.get("/faces/{face}/picture", summary="A picture of a face")
async def show_face_picture(request: Request, gallery: str, face: str) -> Response:
    """The face as it was kept; a plain drawing where it was not."""
    require(request, "read", gallery)
    backend_of(request).tenant(gallery)
    return _drawn(sum(face.encode()))
