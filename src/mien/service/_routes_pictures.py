"""Questions about pictures: who is it, are these one person, what faces are there."""

from __future__ import annotations

import asyncio
import base64
import tempfile
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request, Response

from mien.errors import InputError, MienError
from mien.faces import PictureResult
from mien.recognition import compare_faces, engine_of, identify_result, load_model
from mien.reports import evaluate_scores, read_scores
from mien.service._access import backend_of, require
from mien.service._openapi import PAIR, PICTURES, TABLE
from mien.service._pictures import Upload, decode_base64, read_form, read_json, read_pictures
from mien.service._problems import Problem
from mien.service._schemas import (
    AnalysedFace,
    AnalysedPicture,
    CompletedPictureModel,
    IdentifiedPictureModel,
    VerificationModel,
)

__all__ = ["router"]

router = APIRouter(tags=["pictures"])
Rate = Annotated[float | None, Query(gt=0, lt=1)]


@router.post(
    "/v1/galleries/{gallery}/identify",
    summary="Who is on these pictures?",
    response_model=list[IdentifiedPictureModel],
    openapi_extra=PICTURES,
)
async def identify(
    request: Request,
    gallery: str,
    fpir: Annotated[
        float | None,
        Query(
            gt=0, lt=1, description="Maximum share of unknown faces that may wrongly get a name."
        ),
    ] = None,
    top: Annotated[int, Query(ge=1, le=50, description="Candidates per face.")] = 3,
    max_faces: Annotated[int | None, Query(ge=1, le=1000)] = None,
) -> list[dict[str, Any]]:
    """Every face of every picture: a person, or unknown. Nobody is named twice in one picture."""
    require(request, "read", gallery)
    backend = backend_of(request)
    tenant = backend.tenant(gallery)
    pictures = await read_pictures(request, backend.settings.limits)
    results = await backend.analyse_all(pictures, tenant.engine, max_faces=max_faces)
    rate = fpir or backend.settings.fpir
    named = await tenant.run(
        lambda: [identify_result(result, tenant.gallery, rate, top) for result in results]
    )
    faces = [face for one in named for face in one.faces]
    backend.metrics.named.inc(sum(face.person is not None for face in faces))
    return [
        {
            "picture": str(one.path),
            "faces": [_show_identified(face) for face in one.faces],
            "error": one.error,
        }
        for one in named
    ]


def _show_identified(face: Any) -> dict[str, Any]:
    """As ``IdentifiedFaceModel``, which checks it when it is written."""
    said = face.to_dict()
    quality = face.found.quality
    shown = {name: said[name] for name in (
        "person", "log_ratio", "threshold", "probability", "promised", "candidates", "box",
    )}  # fmt: skip
    shown["quality"] = None if quality is None else float(quality.score)
    shown["confidence"] = face.found.face.confidence
    return shown


@router.post(
    "/v1/analyse",
    summary="What faces are on these pictures?",
    response_model=list[AnalysedPicture],
    openapi_extra=PICTURES,
)
async def analyse(
    request: Request,
    engine: Annotated[str | None, Query(max_length=40)] = None,
    max_faces: Annotated[int | None, Query(ge=1, le=1000)] = None,
) -> list[AnalysedPicture]:
    """Boxes, landmarks and quality; no names and no templates."""
    require(request, "read", anywhere=True)
    backend = backend_of(request)
    pictures = await read_pictures(request, backend.settings.limits)
    results = await backend.analyse_all(
        pictures, _check_engine(engine or backend.settings.engine), max_faces=max_faces
    )
    return [_show_analysed(result) for result in results]


def _check_engine(name: str) -> str:
    from mien.faces import ENGINES

    if name not in ENGINES:
        raise InputError(f"engine must be one of {', '.join(ENGINES)}; got {name!r}")
    return name


def _show_analysed(result: PictureResult) -> AnalysedPicture:
    return AnalysedPicture(
        picture=str(result.path),
        height=result.size[0],
        width=result.size[1],
        error=result.error,
        faces=[
            AnalysedFace(
                box=[round(float(value), 1) for value in found.face.box],
                landmarks=np.round(found.face.landmarks.astype(float), 1).tolist(),
                confidence=found.face.confidence,
                quality=None if found.quality is None else vars(found.quality),
            )
            for found in result.faces
        ],
    )


@router.post(
    "/v1/complete",
    summary="Complete the covered parts of faces",
    response_model=list[CompletedPictureModel],
    responses={200: {"content": {"image/png": {"example": "(bytes of a picture)"}}}},
    openapi_extra=PICTURES,
)
async def complete(
    request: Request,
    cover: Annotated[
        str, Query(max_length=40, description="auto, or what is covered: lower, eyes, …")
    ] = "auto",
    engine: Annotated[str | None, Query(max_length=40)] = None,
) -> Any:
    """What is put in is a guess by the visible part, and must not be used to recognise anybody.

    With ``Accept: image/png`` and one picture the answer is the completed picture itself.
    """
    require(request, "read", anywhere=True)
    backend = backend_of(request)
    name = _check_engine(engine or backend.settings.engine)
    pictures = await read_pictures(request, backend.settings.limits)
    answers = [await backend.complete(picture, name, cover) for picture in pictures]
    if len(answers) == 1 and request.headers.get("accept", "").startswith("image/png"):
        return Response(answers[0][1], media_type="image/png")
    return [
        CompletedPictureModel(
            picture=picture.name,
            completed=said["completed"],
            faces=said["faces"],
            image=base64.b64encode(content).decode("ascii"),
        )
        for picture, (said, content) in zip(pictures, answers, strict=True)
    ]


@router.post(
    "/v1/verify",
    summary="Do two pictures show one person?",
    openapi_extra=PAIR,
)
async def verify(
    request: Request,
    far: Rate = None,
    prior: Annotated[float, Query(gt=0, lt=1)] = 0.5,
    engine: Annotated[str | None, Query(max_length=40)] = None,
    gallery: Annotated[str | None, Query(max_length=64)] = None,
) -> VerificationModel:
    """Two pictures, as the parts ``a`` and ``b`` or as ``{"a": base64, "b": base64}``.

    With ``gallery`` the model of that gallery decides, calibrated by its people.
    """
    require(request, "read", gallery, anywhere=True)
    backend = backend_of(request)
    a, b = await _read_pair(request)
    if gallery is not None:
        opened = backend.tenant(gallery).gallery
        model, own = opened.model, await asyncio.to_thread(opened.calibrate)
    else:
        model = load_model(None, _check_engine(engine or backend.settings.engine))
        own = model.calibrate()
    results = await backend.analyse_all([a, b], engine_of(model))
    answer = compare_faces(
        results[0], results[1], model, far=far or backend.settings.far, prior=prior, own=own
    )
    return VerificationModel(**answer.to_dict())


async def _read_pair(request: Request) -> tuple[Upload, Upload]:
    limits = backend_of(request).settings.limits
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        body = await read_json(request)
        if not isinstance(body, dict):
            body = {}
        return decode_base64(body.get("a"), limits, "a"), decode_base64(body.get("b"), limits, "b")
    parts = await read_form(request, limits) if kind == "multipart/form-data" else {}
    found = [parts.get(name, [None])[0] for name in ("a", "b")]
    if not all(isinstance(one, Upload) for one in found):
        raise Problem(422, "no-picture", "Send two pictures as the parts 'a' and 'b'.")
    return found[0], found[1]  # type: ignore[return-value]


@router.post(
    "/v1/evaluate",
    summary="Judge a system from its scores",
    openapi_extra=TABLE,
)
async def evaluate(request: Request) -> dict[str, Any]:
    """A CSV with the columns ``score`` and ``same`` as the body; error rates with intervals."""
    require(request, "read", anywhere=True)
    body = await request.body()
    return await asyncio.to_thread(_judge, body)


def _judge(content: bytes) -> dict[str, Any]:
    """The reader of tables reads files; its sentences must not tell where ours was."""
    with tempfile.TemporaryDirectory(prefix="mien-") as folder:
        place = Path(folder) / "table.csv"
        place.write_bytes(content)
        try:
            found = evaluate_scores(read_scores(place))
        except MienError as error:
            raise Problem(422, "invalid-table", str(error).replace(str(place), "table")) from None
    found["source"] = "table.csv"
    systems = [
        {name: value for name, value in system.items() if not name.startswith("_")}
        for system in found["systems"]
    ]
    return {**found, "systems": systems}
