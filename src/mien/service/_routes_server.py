"""Whether the server lives, what it measures, and its keys."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

import mien
from mien.service._access import backend_of, require
from mien.service._problems import Problem
from mien.service._schemas import KeyCreate, KeyInfo, NewKey

__all__ = ["router"]

router = APIRouter(tags=["server"])


@router.get("/healthz", summary="Whether the process lives")
async def health() -> dict[str, str]:
    """Always answered while the process can answer."""
    return {"status": "ok", "version": mien.__version__}


@router.get("/readyz", summary="Whether pictures can be analysed")
async def ready(request: Request) -> dict[str, str]:
    """503 while no worker is there."""
    if not backend_of(request).pool.ready:
        raise Problem(503, "no-worker", "No worker is ready.", headers={"Retry-After": "1"})
    return {"status": "ready"}


@router.get("/metrics", summary="Numbers for Prometheus")
async def metrics(request: Request) -> Response:
    """Counts and times by route; nothing about people."""
    require(request, "read")
    content = generate_latest(backend_of(request).metrics.registry)
    return Response(content, media_type=CONTENT_TYPE_LATEST)


@router.get("/v1/keys", summary="List keys", response_model=list[KeyInfo])
async def list_keys(request: Request) -> list[KeyInfo]:
    """All keys, without the keys themselves."""
    require(request, "admin")
    return [KeyInfo(**asdict(record)) for record in backend_of(request).keys.list()]


@router.post("/v1/keys", status_code=201, summary="Make a key", response_model=NewKey)
async def create_key(request: Request, wanted: KeyCreate) -> NewKey:
    """The key is in this answer and nowhere else."""
    require(request, "admin")
    backend = backend_of(request)
    key, record = backend.keys.create(
        wanted.role, gallery=wanted.gallery, label=wanted.label, days=wanted.days
    )
    return NewKey(key=key, **asdict(record))


@router.delete("/v1/keys/{identifier}", status_code=204, summary="End a key")
async def revoke_key(request: Request, identifier: str) -> None:
    """It opens nothing from now on; neither does one that was ended before."""
    require(request, "admin")
    backend = backend_of(request)
    revoked = {record.id: record.revoked is not None for record in backend.keys.list()}
    if identifier not in revoked:
        raise Problem(404, "no-key", "There is no such key.")
    if not revoked[identifier]:
        backend.keys.revoke(identifier)
