"""Galleries: a tenant each."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request

from mien.service._access import backend_of, find_grant, require
from mien.service._backend import Tenant
from mien.service._idempotency import WriteRoute, begun_before
from mien.service._problems import Problem
from mien.service._schemas import GalleryCreate, GalleryInfo

__all__ = ["router"]

router = APIRouter(prefix="/v1/galleries", tags=["galleries"], route_class=WriteRoute)


async def _describe(tenant: Tenant) -> GalleryInfo:
    gallery = tenant.gallery
    return GalleryInfo(
        name=tenant.name,
        people=await tenant.run(len, gallery),
        engine=tenant.engine,
        features=gallery.features,
        sealed=gallery.sealed,
    )


@router.get("", summary="List galleries", response_model=list[GalleryInfo])
async def list_galleries(request: Request) -> list[GalleryInfo]:
    """Those that the key is for."""
    grant = find_grant(request)
    backend = backend_of(request)
    if grant is None:
        require(request, "read")
    names = [name for name in backend.names() if grant and grant.allows(name, "read")]
    return [await _describe(backend.tenant(name)) for name in names]


@router.post("", status_code=201, summary="Make a gallery", response_model=GalleryInfo)
async def create_gallery(request: Request, wanted: GalleryCreate) -> GalleryInfo:
    """An empty gallery with the shipped model of the engine."""
    require(request, "admin")
    backend = backend_of(request)
    try:
        made = await asyncio.to_thread(backend.create, wanted.name, wanted.engine)
    except Problem as problem:
        if problem.code != "gallery-exists" or not begun_before(request):
            raise
        made = backend.tenant(wanted.name)
    return await _describe(made)


@router.get("/{gallery}", summary="Describe a gallery", response_model=GalleryInfo)
async def get_gallery(request: Request, gallery: str) -> GalleryInfo:
    """How many people it has, and what its vectors are."""
    require(request, "read", gallery)
    return await _describe(backend_of(request).tenant(gallery))


@router.delete("/{gallery}", status_code=204, summary="Delete a gallery for good")
async def delete_gallery(request: Request, gallery: str) -> None:
    """With its people, jobs and keys; the bytes of the file are overwritten."""
    require(request, "admin", gallery)
    backend, runner = backend_of(request), request.app.state.runner
    if begun_before(request) and gallery not in backend.names():
        return
    backend.tenant(gallery)
    await request.app.state.streams.forget(gallery)
    await runner.cancel_all(gallery)
    await asyncio.to_thread(backend.delete, gallery)
    await asyncio.to_thread(runner.forget_all, gallery)
