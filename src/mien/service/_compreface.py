"""CompreFace's routes, so that its clients can point at mien unchanged.

The key of a request decides the gallery. ``similarity`` is the logistic function of the log ratio
minus the threshold of the gallery's stated rate: calibrated, monotone, and .5 is exactly "named or
unknown". What mien knows beyond that stands in fields that the clients ignore.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from starlette.datastructures import QueryParams

from mien.faces import FoundFace, PictureResult
from mien.recognition import identify_result
from mien.service._access import backend_of, client_address, find_grant
from mien.service._backend import Tenant, find_id
from mien.service._keys import EVERY_GALLERY
from mien.service._pictures import Upload, decode_base64, read_form, read_json
from mien.service._problems import Problem

__all__ = ["answer_problem", "router"]

router = APIRouter(prefix="/api/v1", tags=["CompreFace"], include_in_schema=False)

_MAX_SUBJECT = 50
_FORBIDDEN = ";/\\"
_SDK_SUFFIX = "?det_prob_threshold="
_CODES = {
    "no-key": (404, 10),
    "busy": (503, 0),
    "body-too-large": (413, 0),
    "picture-too-large": (413, 0),
    "no-picture": (400, 34),
    "unreadable-picture": (400, 21),
    "empty-picture": (400, 34),
    "invalid-json": (400, 36),
    "invalid-base64": (400, 36),
    "invalid-multipart": (400, 34),
    "invalid-input": (400, 36),
    "invalid-request": (400, 26),
    "no-route": (404, 0),
    "wrong-method": (404, 0),
    "role-too-low": (405, 32),
}


class _Refusal(Problem):
    """A problem with CompreFace's own number."""

    def __init__(self, status: int, number: int, message: str) -> None:
        super().__init__(status, f"compreface-{number}", message)
        self.number = number


def answer_problem(problem: Problem) -> Response:
    """An error as CompreFace's clients read it."""
    if isinstance(problem, _Refusal):
        status, number = problem.status, problem.number
    else:
        fallback = (500, 41) if problem.status >= 500 else (problem.status, 0)
        status, number = _CODES.get(problem.code, fallback)
    return JSONResponse(
        {"message": problem.detail, "code": number}, status, headers=problem.headers
    )


# ------------------------------------------------------------------ what a request says


def _tenant(request: Request, role: str, key: str | None = None) -> Tenant:
    backend = backend_of(request)
    given = key if key is not None else request.headers.get("x-api-key")
    if given is None:
        raise _Refusal(400, 20, "Missing header: x-api-key")
    grant = find_grant(request, given)
    wait = backend.rate.take(client_address(request) if grant is None else grant.owner)
    if wait > 0:
        raise Problem(
            429,
            "too-many-requests",
            "Too many requests",
            headers={"Retry-After": str(int(wait) + 1)},
        )
    if grant is None:
        raise _Refusal(404, 10, "Recognition service with the given API Key not found")
    name = grant.gallery
    if name == EVERY_GALLERY:
        names = backend.names()
        if len(names) != 1:
            raise _Refusal(404, 10, "The key is for several galleries: use a key of one gallery")
        name = names[0]
    if not grant.allows(name, role):
        raise _Refusal(405, 32, "The key may not change the collection")
    return backend.tenant(name)


@dataclass(frozen=True)
class _Options:
    """Query parameters that the routes for pictures share."""

    limit: int
    min_confidence: float
    count: int
    plugins: frozenset[str]
    status: bool


def _read_options(query: QueryParams) -> _Options:
    plugins = query.get("face_plugins", "")
    return _Options(
        limit=_whole(query, "limit", 0, 0),
        min_confidence=_number(query, "det_prob_threshold", 0.0),
        count=_whole(query, "prediction_count", 1, 1),
        plugins=frozenset(name.strip() for name in plugins.split(",")),
        status=query.get("status", "").strip().lower() in ("true", "1"),
    )


def _whole(query: QueryParams, name: str, default: int, least: int) -> int:
    text = query.get(name, "").strip()
    if text in ("", "undefined", "null", "None"):
        return default
    try:
        value = int(text)
    except ValueError:
        raise _Refusal(400, 26, f"{name} must be a whole number") from None
    if value < least:
        raise _Refusal(400, 26, f"{name} must be at least {least}")
    return min(value, 10_000)


def _number(query: QueryParams, name: str, default: float) -> float:
    text = query.get(name, "").strip()
    if text in ("", "undefined", "null", "None"):
        return default
    try:
        value = float(text)
    except ValueError:
        raise _Refusal(400, 26, f"{name} must be a number") from None
    if not 0 <= value <= 1:
        raise _Refusal(400, 26, f"{name} must be between 0 and 1")
    return value


async def _read_files(request: Request, *names: str) -> list[Upload]:
    limits = backend_of(request).settings.limits
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        parts = await read_form(request, limits)
        found = [parts.get(name, [None])[0] for name in names]
    else:
        body = await read_json(request)
        values = body if isinstance(body, dict) else {}
        found = [decode_base64(values[n], limits, n) if n in values else None for n in names]
    for name, one in zip(names, found, strict=True):
        if not isinstance(one, Upload):
            raise _Refusal(400, 34, f"Required part '{name}' is not present.")
    return [one for one in found if isinstance(one, Upload)]


async def _read_subject(request: Request) -> str:
    body = await read_json(request)
    subject = body.get("subject") if isinstance(body, dict) else None
    return _check_subject(subject)


def _check_subject(subject: Any) -> str:
    if not isinstance(subject, str) or not subject.strip():
        raise _Refusal(400, 26, "Subject cannot be blank")
    name = subject.strip().split(_SDK_SUFFIX)[0]
    if len(name) > _MAX_SUBJECT or any(letter in _FORBIDDEN for letter in name):
        raise _Refusal(400, 26, "Subject has 1 to 50 characters, and none of ; / \\")
    return name


# ------------------------------------------------------------------ what an answer says


def similarity(log_ratio: float, threshold: float) -> float:
    """The logistic function of what a ratio has above the threshold, to five places."""
    if math.isnan(threshold) or math.isinf(log_ratio):
        return 0.0 if not log_ratio > 0 else 1.0
    return round(float(0.5 * (1 + math.tanh((log_ratio - threshold) / 2))), 5)


def _show_face(found: FoundFace, options: _Options, seconds: float) -> dict[str, Any]:
    face = found.face
    left, top, width, height = (float(value) for value in face.box)
    said: dict[str, Any] = {
        "box": {
            "probability": round(face.confidence, 5),
            "x_min": round(left),
            "y_min": round(top),
            "x_max": round(left + width),
            "y_max": round(top + height),
        }
    }
    quality = found.quality
    if "landmarks" in options.plugins:
        said["landmarks"] = [[round(float(x)), round(float(y))] for x, y in face.landmarks]
    if "calculator" in options.plugins:
        said["embedding"] = [float(value) for value in found.vector]
    if quality is not None and "pose" in options.plugins:
        said["pose"] = {
            name: round(float(getattr(quality, name)), 5) for name in ("pitch", "roll", "yaw")
        }
    if quality is not None and "mask" in options.plugins:
        covered = float(quality.lower_face_covered)
        said["mask"] = {
            "probability": round(max(covered, 1 - covered), 5),
            "value": "with_mask" if covered > 0.5 else "without_mask",
        }
    if options.status:
        said["execution_time"] = {"detector": round(1000 * seconds, 1), "calculator": 0.0}
    return said


def _answer(result: list[dict[str, Any]], options: _Options, tenant: Tenant) -> dict[str, Any]:
    answer: dict[str, Any] = {"result": result}
    if options.status:
        features = tenant.gallery.features
        answer["plugins_versions"] = {"detector": features, "calculator": features}
    return answer


async def _find_faces(
    request: Request, tenant: Tenant, picture: Upload, options: _Options
) -> tuple[PictureResult, float]:
    """Faces that are asked for, the largest first; none is CompreFace's error 28."""
    started = time.perf_counter()
    result = await backend_of(request).analyse(picture, tenant.engine)
    faces = [found for found in result.faces if found.face.confidence >= options.min_confidence]
    faces = faces[: options.limit] if options.limit else faces
    if not faces:
        raise _Refusal(400, 28, "No face is found in the given image")
    kept = PictureResult(result.path, result.digest, result.size, faces)
    return kept, time.perf_counter() - started


# ------------------------------------------------------------------ subjects


@router.get("/recognition/subjects")
@router.get("/recognition/subjects/")
async def list_subjects(request: Request) -> dict[str, Any]:
    tenant = _tenant(request, "read")
    people = await tenant.run(tenant.gallery.people)
    return {"subjects": [person.name for person in people]}


@router.post("/recognition/subjects", status_code=201)
@router.post("/recognition/subjects/", status_code=201)
async def add_subject(request: Request) -> dict[str, Any]:
    tenant = _tenant(request, "write")
    name = await _read_subject(request)
    if not await tenant.run(tenant.gallery.add_person, name):
        raise _Refusal(400, 43, "Subject already exists")
    return {"subject": name}


@router.put("/recognition/subjects/{subject}")
@router.put("/recognition/subjects/{subject}/")
async def rename_subject(request: Request, subject: str) -> dict[str, Any]:
    tenant = _tenant(request, "write")
    name = await _read_subject(request)

    def rename() -> None:
        names = {person.name for person in tenant.gallery.people()}
        if subject not in names:
            raise _Refusal(404, 42, "Subject not found")
        if name == subject:
            return
        if name in names:
            tenant.gallery.merge(subject, name)
        else:
            tenant.gallery.rename(subject, name)

    await tenant.run(rename)
    return {"updated": True}


@router.delete("/recognition/subjects/{subject}")
async def delete_subject(request: Request, subject: str) -> dict[str, Any]:
    tenant = _tenant(request, "write")

    def delete() -> None:
        if subject not in {person.name for person in tenant.gallery.people()}:
            raise _Refusal(404, 42, "Subject not found")
        tenant.gallery.delete(subject)

    await tenant.run(delete)
    return {"subject": subject}


@router.delete("/recognition/subjects")
@router.delete("/recognition/subjects/")
async def delete_subjects(request: Request) -> dict[str, Any]:
    tenant = _tenant(request, "write")

    def delete() -> int:
        people = tenant.gallery.people()
        for person in people:
            tenant.gallery.delete(person.name)
        return len(people)

    return {"deleted": await tenant.run(delete)}


# ------------------------------------------------------------------ examples


@router.post("/recognition/faces", status_code=201)
@router.post("/recognition/faces/", status_code=201)
async def add_face(request: Request) -> dict[str, Any]:
    tenant = _tenant(request, "write")
    query = request.query_params
    if "subject" not in query:
        raise _Refusal(400, 33, "Required parameter 'subject' is not present.")
    name = _check_subject(query["subject"])
    options = _read_options(query)
    (picture,) = await _read_files(request, "file")
    result, _ = await _find_faces(request, tenant, picture, options)
    if len(result.faces) > 1:
        raise _Refusal(400, 31, "Found more than one face in the given image")
    face = result.faces[0]

    def enrol() -> str:
        quality = None if face.quality is None else float(face.quality.score)
        tenant.gallery.enrol(
            name, face.vector[None], digests=[result.digest], sources=[picture.name],
            qualities=[quality],
        )  # fmt: skip
        return find_id(tenant.gallery, result.digest)

    return {"image_id": await tenant.run(enrol), "subject": name}


@router.get("/recognition/faces")
@router.get("/recognition/faces/")
async def list_faces(request: Request) -> dict[str, Any]:
    tenant = _tenant(request, "read")
    query = request.query_params
    page, size = _whole(query, "page", 0, 0), _whole(query, "size", 20, 1)
    subject = query.get("subject") or None
    faces = await tenant.run(_faces_of, tenant, subject)
    return {
        "faces": [
            {"image_id": face.id, "subject": face.person}
            for face in faces[page * size : (page + 1) * size]
        ],
        "page_number": page,
        "page_size": size,
        "total_pages": -(-len(faces) // size),
        "total_elements": len(faces),
    }


def _faces_of(tenant: Tenant, subject: str | None) -> list[Any]:
    if subject is not None and subject not in {one.name for one in tenant.gallery.people()}:
        return []
    faces: list[Any] = tenant.gallery.faces(subject)
    return faces


@router.delete("/recognition/faces")
@router.delete("/recognition/faces/")
async def delete_faces(request: Request) -> dict[str, Any]:
    tenant = _tenant(request, "write")
    subject = request.query_params.get("subject") or None

    def delete() -> int:
        faces = _faces_of(tenant, subject)
        for name in dict.fromkeys(face.person for face in faces):
            tenant.gallery.delete(name)
        return len(faces)

    return {"deleted": await tenant.run(delete)}


@router.delete("/recognition/faces/{image_id}")
async def delete_face(request: Request, image_id: str) -> dict[str, Any]:
    tenant = _tenant(request, "write")
    deleted = await tenant.run(_delete_known, tenant, [image_id])
    if not deleted:
        raise _Refusal(404, 11, "Image not found")
    return deleted[0]


@router.post("/recognition/faces/delete")
async def delete_many_faces(request: Request) -> list[dict[str, Any]]:
    tenant = _tenant(request, "write")
    wanted = await read_json(request)
    if not isinstance(wanted, list):
        raise _Refusal(400, 36, "The body must be an array of image ids")
    return await tenant.run(_delete_known, tenant, [str(one) for one in wanted])


def _delete_known(tenant: Tenant, wanted: list[str]) -> list[dict[str, Any]]:
    deleted = []
    for image_id in wanted:
        face = tenant.gallery.get_face(image_id)
        if face is not None:
            tenant.gallery.delete_face(image_id)
            deleted.append({"image_id": image_id, "subject": face.person})
    return deleted


@router.get("/recognition/faces/{image_id}/img")
async def get_image(request: Request, image_id: str) -> Response:
    return await _image(_tenant(request, "read"), image_id)


@router.get("/static/{api_key}/images/{image_id}")
async def get_static_image(request: Request, api_key: str, image_id: str) -> Response:
    return await _image(_tenant(request, "read", api_key), image_id)


async def _image(tenant: Tenant, image_id: str) -> Response:
    """mien keeps no pictures, so this is empty, as CompreFace's own is where none are kept."""
    if await tenant.run(tenant.gallery.get_face, image_id) is None:
        raise _Refusal(404, 11, "Image not found")
    return Response(b"", media_type="application/octet-stream")


# ------------------------------------------------------------------ questions


@router.post("/recognition/recognize")
@router.post("/recognition/recognize/")
async def recognize(request: Request) -> dict[str, Any]:
    tenant = _tenant(request, "read")
    options = _read_options(request.query_params)
    (picture,) = await _read_files(request, "file")
    result, seconds = await _find_faces(request, tenant, picture, options)
    fpir = backend_of(request).settings.fpir
    named = await tenant.run(identify_result, result, tenant.gallery, fpir, options.count)
    answers = []
    for face in named.faces:
        # The person that was assigned comes first, also where another one is a little nearer.
        ranked = sorted(face.candidates, key=lambda one: (one[0] != face.person, -one[1]))
        subjects = [
            {"subject": name, "similarity": similarity(ratio, face.threshold)}
            for name, ratio in ranked[: options.count]
        ]
        answers.append(
            {
                **_show_face(face.found, options, seconds),
                "subjects": subjects,
                "unknown": face.person is None,
                **{
                    name: value
                    for name, value in face.to_dict().items()
                    if name in ("log_ratio", "threshold", "probability", "promised")
                    and value is not None
                },
            }
        )
    return _answer(answers, options, tenant)


@router.post("/recognition/faces/{image_id}/verify")
async def verify_face(request: Request, image_id: str) -> dict[str, Any]:
    tenant = _tenant(request, "read")
    options = _read_options(request.query_params)
    (picture,) = await _read_files(request, "file")
    if await tenant.run(tenant.gallery.get_face, image_id) is None:
        raise _Refusal(404, 11, "Image not found")
    result, seconds = await _find_faces(request, tenant, picture, options)
    vectors = np.stack([found.vector for found in result.faces])
    ratios = await tenant.run(tenant.gallery.score_face, image_id, vectors)
    threshold = _pair_threshold(request, tenant)
    answers = [
        {
            **_show_face(found, options, seconds),
            "similarity": similarity(float(ratio), threshold),
            "log_ratio": float(ratio),
        }
        for found, ratio in zip(result.faces, ratios, strict=True)
    ]
    return _answer(answers, options, tenant)


def _pair_threshold(request: Request, tenant: Tenant) -> float:
    return float(tenant.gallery.model.verifier.threshold(backend_of(request).settings.far, size=1))


@router.post("/detection/detect")
@router.post("/detection/detect/")
async def detect(request: Request) -> dict[str, Any]:
    tenant = _tenant(request, "read")
    options = _read_options(request.query_params)
    (picture,) = await _read_files(request, "file")
    result, seconds = await _find_faces(request, tenant, picture, options)
    return _answer([_show_face(one, options, seconds) for one in result.faces], options, tenant)


@router.post("/verification/verify")
@router.post("/verification/verify/")
async def verify(request: Request) -> dict[str, Any]:
    tenant = _tenant(request, "read")
    options = _read_options(request.query_params)
    source, target = await _read_files(request, "source_image", "target_image")
    first, seconds = await _find_faces(request, tenant, source, options)
    if len(first.faces) > 1:
        raise _Refusal(400, 31, "Found more than one face in the source image")
    second, more_seconds = await _find_faces(request, tenant, target, options)
    face = first.faces[0]
    targets = np.stack([found.vector for found in second.faces]).astype(np.float64)
    sources = np.repeat(face.vector[None].astype(np.float64), len(targets), axis=0)
    ratios = await tenant.run(tenant.gallery.model.verifier.score_pairs, sources, targets)
    threshold = _pair_threshold(request, tenant)
    matches = [
        {
            **_show_face(found, options, more_seconds),
            "similarity": similarity(float(ratio), threshold),
            "log_ratio": float(ratio),
        }
        for found, ratio in zip(second.faces, ratios, strict=True)
    ]
    answer = {"source_image_face": _show_face(face, options, seconds), "face_matches": matches}
    return _answer([answer], options, tenant)


# ------------------------------------------------------------------ embeddings


def _vectors(tenant: Tenant, values: Any) -> np.ndarray:
    """Vectors of unit length, as the engine gives them."""
    wrong = _Refusal(400, 37, f"An embedding has {tenant.gallery.dimension} numbers")
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
    tenant = _tenant(request, "read")
    options = _read_options(request.query_params)
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
                    {"subject": name, "similarity": similarity(ratio, answer.threshold)}
                    for name, ratio in answer.candidates
                ],
            }
            for one, answer in zip(given or [], found, strict=True)
        ]
    }


@router.post("/recognition/embeddings/faces/{image_id}/verify")
async def verify_embeddings(request: Request, image_id: str) -> dict[str, Any]:
    tenant = _tenant(request, "read")
    body = await read_json(request)
    given = body.get("embeddings") if isinstance(body, dict) else None
    vectors = _vectors(tenant, given)
    if await tenant.run(tenant.gallery.get_face, image_id) is None:
        raise _Refusal(404, 44, "Embedding not found")
    ratios = await tenant.run(tenant.gallery.score_face, image_id, vectors)
    return _similarities(request, tenant, given or [], ratios)


@router.post("/verification/embeddings/verify")
async def verify_two_embeddings(request: Request) -> dict[str, Any]:
    tenant = _tenant(request, "read")
    body = await read_json(request)
    values = body if isinstance(body, dict) else {}
    source = _vectors(tenant, [values.get("source")])
    targets = _vectors(tenant, values.get("targets"))
    sources = np.repeat(source, len(targets), axis=0)
    ratios = await tenant.run(tenant.gallery.model.verifier.score_pairs, sources, targets)
    return _similarities(request, tenant, values["targets"], ratios)


def _similarities(
    request: Request, tenant: Tenant, given: list[Any], ratios: np.ndarray
) -> dict[str, Any]:
    threshold = _pair_threshold(request, tenant)
    return {
        "result": [
            {"embedding": one, "similarity": similarity(float(ratio), threshold)}
            for one, ratio in zip(given, ratios, strict=True)
        ]
    }


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
