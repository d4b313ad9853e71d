"""CompreFace's questions about vectors that a client has."""

from __future__ import annotations

from typing import Any

import numpy as np
from fastapi import APIRouter, Request

from mien.service._access import backend_of
from mien.service._backend import Tenant
from mien.service._compreface_wire import (
    Refusal,
    find_tenant,
    pair_threshold,
    read_options,
    similarity,
)
from mien.service._pictures import read_json

__all__ = ["router"]

router = APIRouter()


def _vectors(tenant: Tenant, values: Any) -> np.ndarray:
    """Vectors of unit length, as the engine gives them."""
    wrong = Refusal(400, 37, f"An embedding has {tenant.gallery.dimension} numbers")
    if not isinstance(values, list) or not values:
        raise wrong
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong from None
    if array.ndim != 2 or array.shape[1] != tenant.gallery.dimension:
        raise wrong
    if not np.all(np.isfinite(array)):
        raise wrong
    norms = np.linalg.norm(array, axis=1, keepdims=True)
    if not np.all(norms > 0):
        raise wrong
    unit: np.ndarray = array / norms
    return unit


@router.post("/recognition/embeddings/recognize")
async def recognize_embeddings(request: Request) -> dict[str, Any]:
    tenant = find_tenant(request, "read")
    options = read_options(request.query_params)
    body = await read_json(request)
    given = body.get("embeddings") if isinstance(body, dict) else None
    vectors = _vectors(tenant, given)
    found = await tenant.run(
        tenant.gallery.identify, vectors, fpir=backend_of(request).settings.fpir, top=options.count
    )
    return {
        "result": [
            {
                "embedding": one,
                "similarities": [
                    {"subject": name, "similarity": similarity(ratio, answered.threshold)}
                    for name, ratio in answered.candidates
                ],
            }
            for one, answered in zip(given or [], found, strict=True)
        ]
    }


@router.post("/recognition/embeddings/faces/{image_id}/verify")
async def verify_embeddings(request: Request, image_id: str) -> dict[str, Any]:
    tenant = find_tenant(request, "read")
    body = await read_json(request)
    given = body.get("embeddings") if isinstance(body, dict) else None
    vectors = _vectors(tenant, given)
    if await tenant.run(tenant.gallery.get_face, image_id) is None:
        raise Refusal(404, 44, "Embedding not found")
    ratios = await tenant.run(tenant.gallery.score_face, image_id, vectors)
    return _similarities(request, tenant, given or [], ratios)


@router.post("/verification/embeddings/verify")
async def verify_two_embeddings(request: Request) -> dict[str, Any]:
    tenant = find_tenant(request, "read")
    body = await read_json(request)
    values = body if isinstance(body, dict) else {}
    source = _vectors(tenant, [values.get("source")])
    targets = _vectors(tenant, values.get("targets"))
    sources = np.repeat(source, len(targets), axis=0)
    ratios = await tenant.run(tenant.gallery.model.scorer.score_pairs, sources, targets)
    return _similarities(request, tenant, values["targets"], ratios)


def _similarities(
    request: Request, tenant: Tenant, given: list[Any], ratios: np.ndarray
) -> dict[str, Any]:
    threshold = pair_threshold(request, tenant)
    return {
        "result": [
            {"embedding": one, "similarity": similarity(float(ratio), threshold)}
            for one, ratio in zip(given, ratios, strict=True)
        ]
    }
