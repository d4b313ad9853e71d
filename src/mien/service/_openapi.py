"""The OpenAPI document: bodies that are pictures, problems, keys, and an example everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

__all__ = ["ARCHIVE", "PAIR", "PICTURE", "PICTURES", "TABLE", "make_document"]

Schema = dict[str, Any]

_BINARY: Schema = {"type": "string", "format": "binary"}
_BASE64: Schema = {"type": "string", "contentEncoding": "base64", "examples": ["/9j/4AAQSkZJRg=="]}


def _body(content: dict[str, Schema]) -> Schema:
    return {
        "requestBody": {
            "required": True,
            "content": {kind: {"schema": schema} for kind, schema in content.items()},
        }
    }


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "required": list(properties), "properties": properties}


#: For ``openapi_extra`` of routes that read pictures, two pictures, an archive, or a table;
#: ``PICTURE`` is for ``responses`` of routes that answer with one.
PICTURES = _body(
    {
        "multipart/form-data": _object(file={"type": "array", "items": _BINARY}),
        "application/json": _object(pictures={"type": "array", "items": _BASE64}),
        "image/jpeg": _BINARY,
        "image/png": _BINARY,
    }
)
PAIR = _body(
    {
        "multipart/form-data": _object(a=_BINARY, b=_BINARY),
        "application/json": _object(a=_BASE64, b=_BASE64),
    }
)
ARCHIVE = _body(
    {
        "application/zip": _BINARY,
        "multipart/form-data": _object(file=_BINARY),
        "video/mp4": _BINARY,
    }
)
PICTURE: dict[int | str, Any] = {
    200: {
        "description": "The picture",
        "content": {
            kind: {"schema": _BINARY, "example": "(bytes of a picture)"}
            for kind in ("image/jpeg", "image/png", "image/webp")
        },
    }
}
TABLE = _body({"text/csv": {"type": "string", "examples": ["score,same\n3.1,1\n-2.0,0\n"]}})

_PROBLEM: Schema = {
    "type": "object",
    "title": "Problem",
    "description": "Problem details (RFC 9457).",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string", "examples": ["urn:mien:problem:no-person"]},
        "title": {"type": "string", "examples": ["Not found"]},
        "status": {"type": "integer", "examples": [404]},
        "code": {"type": "string", "examples": ["no-person"]},
        "detail": {"type": "string", "examples": ["There is no such person."]},
        "instance": {"type": "string", "examples": ["/v1/galleries/family/people/99"]},
        "request_id": {"type": ["string", "null"], "examples": ["5f0c3b6ad6c94a0f"]},
    },
}
#: Examples of parameters by name, where the route gives none.
_PARAMETERS = {
    "gallery": "family", "person": 7, "face": "0b3f5c7e-9a1d-8000-8b2c-4d6e8f0a1b2c",
    "identifier": "6f1e0c9a4b7d4f2e8a1c3b5d", "stream": "6f1e0c9a4b7d4f2e8a1c3b5d",
    "constraint": 3, "q": "an", "limit": 100, "cursor": "WyJhbm4iLDdd", "fpir": 0.01, "top": 3,
    "max_faces": 10, "engine": "sface", "far": 0.001, "prior": 0.5, "seconds": 12.4,
    "cover": "auto", "whole": False, "path": "Photos/2026",
}  # fmt: skip
#: What parameters mean, by name, where the route does not say it.
_MEANINGS = {
    "gallery": "Name of the gallery.", "person": "Number of the person.",
    "face": "Identifier of the face.", "identifier": "Identifier of the job or key.",
    "stream": "Identifier of the stream.", "constraint": "Number of the constraint.",
    "kind": "What the job does, such as enrol or identify.", "q": "Part of a name.",
    "limit": "Maximum number of entries.", "cursor": "Where the last answer ended.",
    "fpir": "Maximum share of unknown faces that may wrongly get a name.",
    "far": "Maximum share of pairs of two people that may be taken for one.",
    "prior": "Probability of one person before the pictures are seen.",
    "engine": "sface, dlib or sface+dlib; the server's own if left out.",
    "max_faces": "Maximum number of faces per picture, the largest first.",
    "whole": "The whole picture instead of the face.",
    "path": "Folder below those that the server may read.",
}  # fmt: skip
#: Examples of members of answers by name, where the schema gives none.
_MEMBERS: Schema = {
    "picture": "party.jpg", "box": [102.0, 64.0, 80.0, 96.0], "error": None, "log_ratio": 14.2,
    "threshold": 4.1, "probability": 0.9998, "candidates": [["Ann", 14.2], ["Bob", -6.3]],
    "quality": 0.81, "confidence": 0.94, "created": 1794000000.0, "changed": 1794000010.0,
    "added": 1794000000.0, "time": 1794000000.0, "began": 1794000000.0, "seconds": 12.4,
    "cursor": "WyJhbm4iLDdd", "id": "6f1e0c9a4b7d4f2e8a1c3b5d", "gallery": "family",
    "visit": "0d9c5a7e3b214c6f8e1a2b3c4d5e6f70", "stranger": None, "role": "read", "label": "door",
    "expires": None, "revoked": None, "kind": "enrol", "stage": "finding faces", "done": 12,
    "total": 40, "detail": "", "attempts": 1, "width": 1600, "height": 1200,
    "features": "sface, 128 dimensions", "sealed": False, "already": False, "reason": None,
    "undone": None, "face": "0b3f5c7e-9a1d-8000-8b2c-4d6e8f0a1b2c",
    "key": "mien_…", "other": None, "frames": 120, "decisions": 2, "prior": 0.5, "far": 0.001,
    "landmarks": [[120.0, 95.0], [155.0, 95.0], [138.0, 115.0], [124.0, 135.0], [152.0, 135.0]],
}  # fmt: skip
#: Examples of answers whose schema says nothing, by the summary of the route.
_ANSWERS: Schema = {
    "Whether the process lives": {"status": "ok", "version": "0.1.0"},
    "Whether pictures can be analysed": {"status": "ready"},
    "Numbers for Prometheus": "mien_faces_total 12.0",
    "Delete a person for good": {"faces": 3},
    "Judge a system from its scores": {"source": "table.csv", "systems": [{"eer": 0.02}]},
    "What a job found": {"pictures": [{"file": "1.jpg", "faces": [], "error": None}]},
    "Follow a job (server-sent events)": "event: job",
}
_EXAMPLES = {"boolean": True, "integer": 3, "number": 0.98, "string": "text", "null": None}


def make_document(app: FastAPI) -> Callable[[], Schema]:
    """What makes the document of an application, once."""

    def document() -> Schema:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title, version=app.version, description=app.description, routes=app.routes
            )
            _complete(made)
            app.openapi_schema = made
        return app.openapi_schema

    return document


def _complete(document: Schema) -> None:
    parts = document.setdefault("components", {})
    schemas = parts.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Problem"] = _PROBLEM
    parts["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer", "description": "mien keys create"},
        "x-api-key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
    }
    document["security"] = [{"key": []}, {"x-api-key": []}, {}]
    for path in document["paths"].values():
        for operation in path.values():
            _complete_operation(operation, schemas)


def _complete_operation(operation: Schema, schemas: Schema) -> None:
    operation["responses"].pop("422", None)
    operation["responses"]["default"] = {
        "description": "A problem",
        "content": {
            "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
        },
    }
    for parameter in operation.get("parameters", []):
        if parameter["name"] in _MEANINGS:
            parameter.setdefault("description", _MEANINGS[parameter["name"]])
        if "example" not in parameter:
            own = example_of(parameter["schema"], schemas)
            parameter["example"] = _PARAMETERS.get(parameter["name"], own)
    answers = [*operation["responses"].values(), operation.get("requestBody", {})]
    for answer in answers:
        for media in answer.get("content", {}).values():
            if "example" not in media and "examples" not in media:
                made = example_of(media.get("schema", {}), schemas)
                media["example"] = made or _ANSWERS.get(operation.get("summary", ""), made)


def _fits(schema: Schema, value: Any) -> bool:
    """Whether a value is of the kind that a schema wants."""
    kinds = {one.get("type") for one in schema.get("anyOf", [schema])}
    if isinstance(value, list):
        return "array" in kinds and "items" in str(schema) and "$ref" not in str(schema)
    own = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    return own[type(value)] in kinds or (type(value) is int and "number" in kinds)


def example_of(schema: Schema, schemas: Schema) -> Any:
    """A value of a schema, by the examples of its parts."""
    if "$ref" in schema:
        return example_of(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if schema.get("examples"):
        return schema["examples"][0]
    for name in ("const", "default"):
        if schema.get(name) is not None:
            return schema[name]
    if schema.get("enum"):
        return schema["enum"][0]
    if "anyOf" in schema:
        return example_of(schema["anyOf"][0], schemas)
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        return {
            name: _MEMBERS[name]
            if name in _MEMBERS and not one.get("examples") and _fits(one, _MEMBERS[name])
            else example_of(one, schemas)
            for name, one in properties.items()
        }
    if kind == "array":
        items = schema.get("prefixItems") or [schema.get("items", {})]
        return [example_of(one, schemas) for one in items]
    if schema.get("format") == "binary":
        return "(bytes of a file)"
    return _EXAMPLES.get(str(kind), {})
