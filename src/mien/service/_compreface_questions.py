"""CompreFace's questions about pictures: recognise, verify, detect."""

from __future__ import annotations

from typing import Any

import numpy as np
from fastapi import APIRouter, Request

from mien.gallery import Gallery
from mien.recognition import IdentifiedPicture, identify_result
from mien.service._access import backend_of
from mien.service._compreface_wire import (
    Refusal,
    Seen,
    answer,
    find_faces,
    find_tenant,
    pair_threshold,
    read_files,
    read_options,
    show_found,
    similarity,
)

__all__ = ["router"]

router = APIRouter()


@router.post("/recognition/recognize")
@router.post("/recognition/recognize/")
async def recognize(request: Request) -> dict[str, Any]:
    tenant = find_tenant(request, "read")
    options = read_options(request.query_params)
    (picture,) = await read_files(request, "file")
    seen = await find_faces(request, tenant, picture, options)
    fpir = backend_of(request).settings.fpir
    named, nearest = await tenant.run(_identify, tenant.gallery, seen, fpir, options.count)
    answers = []
    for number in seen.numbers:
        face = named.faces[number]
        # The person that was assigned comes first, also where another one is a little nearer.
        ranked = sorted(face.candidates, key=lambda one: (one[0] != face.person, -one[1]))
        subjects = [
            {"subject": name, "similarity": similarity(ratio, face.threshold)}
            for name, ratio in ranked[: options.count]
        ]
        answers.append(
            {
                **show_found(face.found, options, seen.seconds),
                "subjects": subjects or [{"subject": one, "similarity": 0.0} for one in nearest],
                "unknown": face.person is None,
                **{
                    name: value
                    for name, value in face.to_dict().items()
                    if name in ("log_ratio", "threshold", "probability", "promised")
                    and value is not None
                },
            }
        )
    return answer(answers, options, tenant)


def _identify(
    gallery: Gallery, seen: Seen, fpir: float, count: int
) -> tuple[IdentifiedPicture, list[str]]:
    """Everybody on a picture, and a subject for a face that by what was said is nobody.

    Clients read the first subject without looking whether there is one.
    """
    named = identify_result(seen.result, gallery, fpir, count)
    first = gallery.faces(limit=1)
    return named, [face.person for face in first]


@router.post("/recognition/faces/{image_id}/verify")
async def verify_face(request: Request, image_id: str) -> dict[str, Any]:
    tenant = find_tenant(request, "read")
    options = read_options(request.query_params)
    (picture,) = await read_files(request, "file")
    if await tenant.run(tenant.gallery.get_face, image_id) is None:
        raise Refusal(404, 11, "Image not found")
    seen = await find_faces(request, tenant, picture, options)
    vectors = np.stack([found.vector for found in seen.faces])
    ratios = await tenant.run(tenant.gallery.score_face, image_id, vectors)
    threshold = pair_threshold(request, tenant)
    answers = [
        {
            **show_found(found, options, seen.seconds),
            "similarity": similarity(float(ratio), threshold),
            "log_ratio": float(ratio),
        }
        for found, ratio in zip(seen.faces, ratios, strict=True)
    ]
    return answer(answers, options, tenant)


@router.post("/detection/detect")
@router.post("/detection/detect/")
async def detect(request: Request) -> dict[str, Any]:
    tenant = find_tenant(request, "read")
    options = read_options(request.query_params)
    (picture,) = await read_files(request, "file")
    seen = await find_faces(request, tenant, picture, options)
    shown = [show_found(one, options, seen.seconds) for one in seen.faces]
    return answer(shown, options, tenant)


@router.post("/verification/verify")
@router.post("/verification/verify/")
async def verify(request: Request) -> dict[str, Any]:
    tenant = find_tenant(request, "read")
    options = read_options(request.query_params)
    source, target = await read_files(request, "source_image", "target_image")
    first = await find_faces(request, tenant, source, options)
    if len(first.faces) > 1:
        raise Refusal(400, 31, "Found more than one face in the source image")
    second = await find_faces(request, tenant, target, options)
    face = first.faces[0]
    targets = np.stack([found.vector for found in second.faces]).astype(np.float64)
    sources = np.repeat(face.vector[None].astype(np.float64), len(targets), axis=0)
    ratios = await tenant.run(tenant.gallery.model.scorer.score_pairs, sources, targets)
    threshold = pair_threshold(request, tenant)
    matches = [
        {
            **show_found(found, options, second.seconds),
            "similarity": similarity(float(ratio), threshold),
            "log_ratio": float(ratio),
        }
        for found, ratio in zip(second.faces, ratios, strict=True)
    ]
    pair = {"source_image_face": show_found(face, options, first.seconds), "face_matches": matches}
    return answer([pair], options, tenant)
