"""Long work as jobs: an archive to enrol, name or group, an adaptation."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from sse_starlette import EventSourceResponse
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException

from mien.service._access import backend_of, require, still_allowed
from mien.service._idempotency import WriteRoute, begun_before, write_id
from mien.service._jobs import ENDED, Job
from mien.service._openapi import ARCHIVE
from mien.service._paging import Cursor, Limit, cut_page
from mien.service._problems import Problem
from mien.service._schemas import JobList, JobModel

__all__ = ["router", "start_job"]

router = APIRouter(prefix="/v1", tags=["jobs"], route_class=WriteRoute)
_KINDS = {
    "adapt": "write",
    "cluster": "read",
    "enrol": "write",
    "identify": "read",
    "import": "write",
}
_VIDEOS = {
    "video/mp4": ".mp4",
    "video/quicktime": ".mov",
    "video/webm": ".webm",
    "video/x-matroska": ".mkv",
    "video/x-msvideo": ".avi",
}
_NO_ARCHIVE = Problem(
    422, "no-archive", "Send a ZIP archive as the body or as a file part, or a video as the body."
)


def _get(request: Request, identifier: str, role: str) -> Job:
    """A job of a gallery that the key is for; any other looks as if it were not there."""
    job = backend_of(request).jobs.get(identifier)
    try:
        require(request, role, job.gallery)
    except Problem as problem:
        if problem.status == 404:
            raise Problem(404, "no-job", "There is no such job.") from None
        raise
    return job


@router.post(
    "/galleries/{gallery}/jobs",
    status_code=202,
    summary="Start long work",
    response_model=JobModel,
    openapi_extra=ARCHIVE,
)
async def create_job(
    request: Request,
    response: Response,
    gallery: str,
    kind: Annotated[str, Query(examples=["enrol"])],
    fpir: Annotated[float | None, Query(gt=0, lt=1)] = None,
) -> dict[str, Any]:
    """Send a ZIP archive: a folder per person to enrol or adapt, otherwise any pictures.

    To identify, a video may be sent as it is, with its own content type.
    """
    if kind not in _KINDS:
        require(request, "read", gallery)
        raise Problem(422, "invalid-kind", f"kind must be one of {', '.join(_KINDS)}.")
    require(request, _KINDS[kind], gallery)
    backend = backend_of(request)
    backend.tenant(gallery)
    options = {"fpir": fpir or backend.settings.fpir} if kind in ("identify", "import") else {}
    _check_room(request)
    with backend.jobs.receive() as folder:
        await _receive(request, folder)
        job = await start_job(request, gallery, kind, options, folder)
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    return job.to_dict()


def _check_room(request: Request) -> None:
    backend = backend_of(request)
    unfinished = sum(job.state not in ENDED for job in backend.jobs.list())
    if unfinished >= backend.settings.limits.waiting:
        raise Problem(429, "busy", "Too many jobs wait; try again.", headers={"Retry-After": "30"})


async def start_job(
    request: Request, gallery: str, kind: str, options: dict[str, Any], given: Path | None = None
) -> Job:
    """Keep a job and wake who does it; the same write sent again finds the same job."""
    _check_room(request)
    backend = backend_of(request)
    job: Job = await asyncio.to_thread(
        backend.jobs.add, gallery, kind, options, given, identifier=write_id(request)
    )
    await request.app.state.runner.announce()
    return job


async def _receive(request: Request, folder: Path) -> None:
    """Write an archive to ``input``, or a video to where an archive would be unpacked."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        await _receive_part(request, folder)
        return
    video = _VIDEOS.get(kind)
    place = folder / "input" if video is None else folder / "pictures" / f"video{video}"
    place.parent.mkdir(mode=0o700, exist_ok=True)
    size = 0
    with open(place, "xb") as file:
        async for chunk in request.stream():
            size += len(chunk)
            await asyncio.to_thread(file.write, chunk)
    if size == 0 or (video is None and not await asyncio.to_thread(_looks_zipped, place)):
        raise _NO_ARCHIVE


def _looks_zipped(place: Path) -> bool:
    with open(place, "rb") as file:
        return file.read(2) == b"PK"


async def _receive_part(request: Request, folder: Path) -> None:
    """The first file of a form, which comes to the disk part by part."""
    try:
        form = await request.form(max_files=1, max_fields=8)
    except (MultiPartException, HTTPException) as error:
        detail = getattr(error, "detail", None) or getattr(error, "message", "unreadable")
        raise Problem(
            400, "invalid-multipart", f"The multipart body is invalid: {detail}"
        ) from error
    try:
        files = [one for one in form.values() if isinstance(one, UploadFile)]
        if not files:
            raise _NO_ARCHIVE

        def copy() -> bool:
            with open(folder / "input", "xb") as file:
                shutil.copyfileobj(files[0].file, file)
            return _looks_zipped(folder / "input")

        if not await asyncio.to_thread(copy):
            raise _NO_ARCHIVE
    finally:
        await form.close()


@router.get("/galleries/{gallery}/jobs", summary="List jobs", response_model=JobList)
async def list_jobs(
    request: Request, gallery: str, limit: Limit = 100, cursor: Cursor = None
) -> dict[str, Any]:
    """The newest first."""
    require(request, "read", gallery)
    found = backend_of(request).jobs.list(gallery)
    page, following = cut_page(
        found, lambda one: (one.created, one.id), limit, cursor, falling=True
    )
    return {"jobs": [job.to_dict() for job in page], "cursor": following}


@router.get("/jobs/{identifier}", summary="How far a job is", response_model=JobModel)
async def get_job(request: Request, identifier: str) -> dict[str, Any]:
    """State, stage and counts."""
    return _get(request, identifier, "read").to_dict()


@router.get("/jobs/{identifier}/result", summary="What a job found")
async def get_result(request: Request, identifier: str) -> dict[str, Any]:
    """Kept for the time that the server was told, and then deleted."""
    job = _get(request, identifier, "read")
    if job.state not in ENDED:
        raise Problem(409, "job-not-done", "The job has not finished yet.")
    return backend_of(request).jobs.result(identifier)


@router.get("/jobs/{identifier}/events", summary="Follow a job (server-sent events)")
async def follow_job(request: Request, identifier: str) -> EventSourceResponse:
    """An event each time that something changes, until the job has ended."""
    _get(request, identifier, "read")

    async def events() -> AsyncIterator[dict[str, str]]:
        async for job in request.app.state.runner.follow(identifier):
            if not still_allowed(request, "read", job.gallery):
                return
            yield {"event": "job", "data": json.dumps(job.to_dict())}

    return EventSourceResponse(events())


@router.post("/jobs/{identifier}/cancel", summary="End a job", response_model=JobModel)
async def cancel_job(request: Request, identifier: str) -> dict[str, Any]:
    """What it wrote to the gallery before stays."""
    _get(request, identifier, "write")
    job: Job = await request.app.state.runner.cancel(identifier)
    return job.to_dict()


@router.delete("/jobs/{identifier}", status_code=204, summary="Delete a job and its files")
async def delete_job(request: Request, identifier: str) -> None:
    """Only a job that has ended."""
    try:
        job = _get(request, identifier, "write")
    except Problem as problem:
        if problem.status == 404 and begun_before(request):
            return
        raise
    if job.state not in ENDED:
        raise Problem(409, "job-not-done", "Cancel the job first.")
    await asyncio.to_thread(backend_of(request).jobs.forget, identifier)
