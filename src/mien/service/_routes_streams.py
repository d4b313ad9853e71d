"""Live pictures: a camera posts frames and hears who came and who went."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sse_starlette import EventSourceResponse

from mien.service._access import backend_of, require, still_allowed
from mien.service._idempotency import WriteRoute
from mien.service._openapi import PICTURES
from mien.service._pictures import read_pictures
from mien.service._schemas import StreamAnswer, StreamCreate, StreamEnd, StreamInfo
from mien.service._streams import Streams

__all__ = ["router"]

router = APIRouter(prefix="/v1/galleries/{gallery}", tags=["live"], route_class=WriteRoute)


def _streams(request: Request) -> Streams:
    found: Streams = request.app.state.streams
    return found


@router.post("/streams", status_code=201, summary="Begin a camera", response_model=StreamInfo)
async def create_stream(request: Request, gallery: str, wanted: StreamCreate) -> dict[str, Any]:
    """Its frames are joined into visits: all faces of one visit are identified together.

    A camera that sends nothing for a minute has ended.
    """
    require(request, "read", gallery)
    backend = backend_of(request)
    options = {
        "camera": wanted.camera,
        "fpir": wanted.fpir or backend.settings.fpir,
        "decide_after": wanted.decide_after,
        "min_faces": min(3, wanted.decide_after),
        "away": wanted.away,
    }
    stream = await _streams(request).create(backend.tenant(gallery), options)
    return stream.to_dict()


@router.get("/streams", summary="List cameras", response_model=list[StreamInfo])
async def list_streams(request: Request, gallery: str) -> list[dict[str, Any]]:
    """Those that are on, with who is there."""
    require(request, "read", gallery)
    backend_of(request).tenant(gallery)
    return [stream.to_dict() for stream in _streams(request).of_gallery(gallery)]


@router.post(
    "/streams/{stream}/frames",
    summary="Frames of a camera",
    response_model=StreamAnswer,
    openapi_extra=PICTURES,
)
async def add_frames(
    request: Request,
    gallery: str,
    stream: str,
    seconds: Annotated[
        float | None,
        Query(
            ge=0,
            le=1e12,
            allow_inf_nan=False,
            description="Time of the first frame; the time of arrival if it is left out.",
        ),
    ] = None,
) -> dict[str, Any]:
    """One picture, or several in their order. 429 asks to drop frames."""
    require(request, "read", gallery)
    held = _streams(request).get(gallery, stream)
    pictures = await read_pictures(request, backend_of(request).settings.limits)
    frames, events = await _streams(request).add(held, pictures, seconds)
    return {"frames": frames, "events": events}


@router.delete("/streams/{stream}", summary="End a camera", response_model=StreamEnd)
async def end_stream(request: Request, gallery: str, stream: str) -> dict[str, Any]:
    """Whoever is there goes."""
    require(request, "read", gallery)
    held = _streams(request).get(gallery, stream)
    return {"events": await _streams(request).end(held)}


@router.get(
    "/events",
    summary="Follow who comes and goes (server-sent events)",
    response_class=EventSourceResponse,
)
async def follow_events(request: Request, gallery: str) -> EventSourceResponse:
    """An event per visit that begins or ends, of all cameras of the gallery, from now on."""
    require(request, "read", gallery)
    backend = backend_of(request)
    backend.tenant(gallery)

    async def events() -> AsyncIterator[dict[str, str]]:
        async for event in backend.events.follow(gallery):
            if not still_allowed(request, "read", gallery):
                return
            yield {"event": event["event"].replace(" ", "-"), "data": json.dumps(event)}

    return EventSourceResponse(events())
