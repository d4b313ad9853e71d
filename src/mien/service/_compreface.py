"""CompreFace's routes, so that its clients can point at mien unchanged.

The key of a request decides the gallery. ``similarity`` is the logistic function of the log ratio
minus the threshold of the gallery's stated rate: calibrated, monotone, and .5 is exactly "named or
unknown". What mien knows beyond that is in fields that the clients ignore.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from mien.service import _compreface_collection, _compreface_embeddings, _compreface_questions
from mien.service._access import backend_of
from mien.service._compreface_wire import answer_problem, similarity

__all__ = ["answer_problem", "router", "similarity"]

router = APIRouter(prefix="/api/v1", tags=["CompreFace"], include_in_schema=False)
router.include_router(_compreface_collection.router)
router.include_router(_compreface_questions.router)
router.include_router(_compreface_embeddings.router)


@router.get("/config")
async def config(request: Request) -> dict[str, int]:
    limits = backend_of(request).settings.limits
    return {"clientMaxFileSize": limits.picture_bytes, "clientMaxBodySize": limits.body_bytes}


@router.get("/consistence/status")
async def consistence() -> dict[str, Any]:
    return {
        "demoFaceCollectionIsInconsistent": False,
        "dbIsInconsistent": False,
        "saveImagesToDB": False,
        "status": "OK",
    }
