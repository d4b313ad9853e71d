"""CompreFace's wire: what a request says, what an answer says, and its numbers of errors."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from starlette.datastructures import QueryParams

from mien.faces import FoundFace, PictureResult
from mien.service._access import backend_of, count_request, find_grant
from mien.service._backend import Tenant
from mien.service._keys import EVERY_GALLERY
from mien.service._pictures import Upload, decode_base64, read_form, read_json
from mien.service._problems import Problem

__all__ = [
    "Options",
    "Refusal",
    "Seen",
    "answer",
    "answer_problem",
    "check_subject",
    "find_faces",
    "find_tenant",
    "pair_threshold",
    "read_files",
    "read_options",
    "read_subject",
    "read_whole",
    "show_found",
    "similarity",
]

_MAX_SUBJECT = 50
_SHORTEST_KEY = 36  # CompreFace's keys are UUIDs
_FORBIDDEN = ";/\\"
_SDK_SUFFIX = "?det_prob_threshold="
_CODES = {
    "no-key": (404, 10),
    "busy": (429, 0),
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


class Refusal(Problem):
    """A problem with CompreFace's own number."""

    def __init__(self, status: int, number: int, message: str) -> None:
        super().__init__(status, f"compreface-{number}", message)
        self.number = number


def answer_problem(problem: Problem) -> Response:
    """An error as CompreFace's clients read it."""
    if isinstance(problem, Refusal):
        status, number = problem.status, problem.number
    else:
        fallback = (500, 41) if problem.status >= 500 else (problem.status, 0)
        status, number = _CODES.get(problem.code, fallback)
    return JSONResponse(
        {"message": problem.detail, "code": number}, status, headers=problem.headers
    )


def find_tenant(request: Request, role: str, key: str | None = None) -> Tenant:
    backend = backend_of(request)
    given = key if key is not None else request.headers.get("x-api-key")
    if given is None:
        raise Refusal(400, 20, "Missing header: x-api-key")
    grant = find_grant(request, given)
    count_request(request, grant)
    if grant is None and len(given) < _SHORTEST_KEY:
        raise Refusal(400, 26, f"An API key has at least {_SHORTEST_KEY} characters")
    if grant is None:
        raise Refusal(404, 10, "Recognition service with the given API Key not found")
    name = grant.gallery
    if name == EVERY_GALLERY:
        names = backend.names()
        if len(names) != 1:
            raise Refusal(404, 10, "The key is for several galleries: use a key of one gallery")
        name = names[0]
    if not grant.allows(name, role):
        raise Refusal(405, 32, "The key may not change the collection")
    return backend.tenant(name)


@dataclass(frozen=True)
class Options:
    """Query parameters that the routes for pictures share."""

    limit: int
    min_confidence: float
    count: int
    plugins: frozenset[str]
    status: bool


def read_options(query: QueryParams) -> Options:
    plugins = query.get("face_plugins", "")
    return Options(
        limit=read_whole(query, "limit", 0, 0),
        min_confidence=_read_number(query, "det_prob_threshold", 0.0),
        count=_read_count(query),
        plugins=frozenset(name.strip() for name in plugins.split(",")),
        status=query.get("status", "").strip().lower() in ("true", "1"),
    )


def _read_count(query: QueryParams) -> int:
    """How many subjects are asked for; too few has a number of its own in CompreFace."""
    count = read_whole(query, "prediction_count", 1, -(2**63))
    if count < 1:
        raise Refusal(404, 400, "prediction_count must be at least 1")
    return count


def read_whole(query: QueryParams, name: str, default: int, least: int) -> int:
    text = query.get(name, "").strip()
    if text in ("", "undefined", "null", "None"):
        return default
    try:
        value = int(text)
    except ValueError:
        raise Refusal(400, 26, f"{name} must be a whole number") from None
    if value < least:
        raise Refusal(400, 26, f"{name} must be at least {least}")
    return min(value, 10_000)


def _read_number(query: QueryParams, name: str, default: float) -> float:
    text = query.get(name, "").strip()
    if text in ("", "undefined", "null", "None"):
        return default
    try:
        value = float(text)
    except ValueError:
        raise Refusal(400, 26, f"{name} must be a number") from None
    if not 0 <= value <= 1:
        raise Refusal(400, 26, f"{name} must be between 0 and 1")
    return value


async def read_files(request: Request, *names: str) -> list[Upload]:
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
            raise Refusal(400, 34, f"Required part '{name}' is not present.")
    return [one for one in found if isinstance(one, Upload)]


async def read_subject(request: Request) -> str:
    body = await read_json(request)
    subject = body.get("subject") if isinstance(body, dict) else None
    return check_subject(subject)


def check_subject(subject: Any) -> str:
    if not isinstance(subject, str) or not subject.strip():
        raise Refusal(400, 26, "Subject cannot be blank")
    name = subject.strip().split(_SDK_SUFFIX)[0]
    if len(name) > _MAX_SUBJECT or any(letter in _FORBIDDEN for letter in name):
        raise Refusal(400, 26, "Subject has 1 to 50 characters, and none of ; / \\")
    return name


def similarity(log_ratio: float, threshold: float) -> float:
    """The logistic function of what a ratio has above the threshold, to five places."""
    if math.isnan(threshold) or math.isinf(log_ratio):
        return 0.0 if not log_ratio > 0 else 1.0
    return round(float(0.5 * (1 + math.tanh((log_ratio - threshold) / 2))), 5)


def show_found(found: FoundFace, options: Options, seconds: float) -> dict[str, Any]:
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


def answer(result: list[dict[str, Any]], options: Options, tenant: Tenant) -> dict[str, Any]:
    said: dict[str, Any] = {"result": result}
    if options.status:
        features = tenant.gallery.features
        said["plugins_versions"] = {"detector": features, "calculator": features}
    return said


@dataclass(frozen=True)
class Seen:
    """A picture, which of its faces were asked for, and how long it took to find them.

    Faces keep their numbers in the picture: by these a gallery knows what was said about them.
    """

    result: PictureResult
    numbers: list[int]
    seconds: float

    @property
    def faces(self) -> list[FoundFace]:
        return [self.result.faces[number] for number in self.numbers]


async def find_faces(request: Request, tenant: Tenant, picture: Upload, options: Options) -> Seen:
    """Faces that are asked for, the largest first; none is CompreFace's error 28."""
    started = time.perf_counter()
    result = await backend_of(request).analyse(picture, tenant.engine)
    numbers = [
        number
        for number, found in enumerate(result.faces)
        if found.face.confidence >= options.min_confidence
    ]
    numbers = numbers[: options.limit] if options.limit else numbers
    if not numbers:
        raise Refusal(400, 28, "No face is found in the given image")
    return Seen(result, numbers, time.perf_counter() - started)


def pair_threshold(request: Request, tenant: Tenant) -> float:
    """The ratio from which two pictures are decided to show one person."""
    return float(tenant.gallery.model.scorer.threshold(backend_of(request).settings.far, size=1))
