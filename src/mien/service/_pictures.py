"""Pictures out of requests: multipart parts, base64 in JSON, or a body that is one picture."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException

from mien.service._problems import Problem
from mien.service._settings import Limits

__all__ = ["Upload", "decode_base64", "read_form", "read_json", "read_pictures"]

_MAX_FIELDS = 64
_MAX_FIELD_BYTES = 2**16


@dataclass(frozen=True)
class Upload:
    """A picture that a client sent: a name for people to read, and its bytes."""

    name: str
    content: bytes


async def read_json(request: Request) -> Any:
    """The body as JSON, or a problem."""
    body = await request.body()
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Problem(400, "invalid-json", "The body is not valid JSON.") from error


async def read_form(request: Request, limits: Limits) -> dict[str, list[Upload | str]]:
    """Parts of a multipart body by name."""
    try:
        form = await request.form(
            max_files=limits.pictures, max_fields=_MAX_FIELDS, max_part_size=_MAX_FIELD_BYTES
        )
    except MultiPartException as error:
        raise Problem(
            400, "invalid-multipart", f"The multipart body is invalid: {error}"
        ) from error
    except Exception as error:
        detail = getattr(error, "detail", None)
        raise Problem(
            400, "invalid-multipart", f"The multipart body is invalid: {detail or 'unreadable'}"
        ) from error
    parts: dict[str, list[Upload | str]] = {}
    try:
        for name, value in form.multi_items():
            if isinstance(value, UploadFile):
                content = await value.read(limits.picture_bytes + 1)
                parts.setdefault(name, []).append(
                    _upload(value.filename or "picture", content, limits)
                )
            else:
                parts.setdefault(name, []).append(value)
    finally:
        await form.close()
    return parts


def decode_base64(text: Any, limits: Limits, name: str = "picture") -> Upload:
    """A picture in base64, also with a ``data:`` address in front."""
    if not isinstance(text, str):
        raise Problem(422, "no-picture", f"{name} must be a picture in base64.")
    if text.startswith("data:"):
        text = text.partition(",")[2]
    try:
        content = base64.b64decode(text, validate=False)
    except (binascii.Error, ValueError) as error:
        raise Problem(422, "invalid-base64", f"{name} is not valid base64.") from error
    return _upload(name, content, limits)


def _upload(name: str, content: bytes, limits: Limits) -> Upload:
    if len(content) > limits.picture_bytes:
        raise Problem(
            413,
            "picture-too-large",
            f"A picture may have at most {limits.picture_bytes:,} bytes.",
        )
    if not content:
        raise Problem(422, "empty-picture", "A picture of the request is empty.")
    return Upload(name[-200:], content)


async def read_pictures(request: Request, limits: Limits) -> list[Upload]:
    """All pictures of a request, in order.

    Multipart: every part that is a file. JSON: ``{"pictures": [base64, …]}``. Anything else that
    begins with ``image/`` or is an octet stream is one picture.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        parts = await read_form(request, limits)
        pictures = [one for values in parts.values() for one in values if isinstance(one, Upload)]
    elif kind == "application/json":
        body = await read_json(request)
        listed = body.get("pictures") if isinstance(body, dict) else None
        if not isinstance(listed, list):
            raise Problem(422, "no-picture", 'The body must be {"pictures": [base64, …]}.')
        if len(listed) > limits.pictures:
            raise Problem(
                413, "too-many-pictures", f"At most {limits.pictures} pictures per request."
            )
        pictures = [decode_base64(one, limits, f"picture {i}") for i, one in enumerate(listed)]
    elif kind.startswith("image/") or kind == "application/octet-stream":
        pictures = [_upload("picture", await request.body(), limits)]
    else:
        raise Problem(
            415,
            "no-picture",
            "Send pictures as multipart/form-data, as JSON with base64, or as one image/* body.",
        )
    if not pictures:
        raise Problem(422, "no-picture", "The request has no picture.")
    return pictures
