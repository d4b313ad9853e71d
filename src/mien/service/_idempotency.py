"""Writes that a client may send twice: the second time the first answer is given again."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from mien.service._access import READING, backend_of, count_request, find_grant
from mien.service._middleware import brings_archive
from mien.service._problems import Problem, problem_of

__all__ = ["WriteRoute", "begun_before", "refuse_if_unsure", "write_id"]

_MAX_LENGTH = 200
_PARAMETER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A write with the same key is done once; sent again, it gets the same answer.",
    "schema": {"type": "string", "minLength": 1, "maxLength": _MAX_LENGTH},
    "example": "5f0c3b6a-d6c9-4a0f-9b1e-2c3d4e5f6a7b",
}
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class WriteRoute(APIRoute):
    """A route whose writes are done once per ``Idempotency-Key``, however often they are sent.

    The same key with another request is a conflict. A request that was begun and never ended,
    because the server did, is done again; routes ask :func:`begun_before` where that matters.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        extra = dict(options.get("openapi_extra") or {})
        if not set(options.get("methods") or READING) <= set(READING):
            extra["parameters"] = [_PARAMETER]
        super().__init__(path, endpoint, **{**options, "openapi_extra": extra})

    def get_route_handler(self) -> Handler:
        """What answers a request."""
        handler = super().get_route_handler()
        if self.methods <= set(READING):
            return handler

        async def answer(request: Request) -> Response:
            if "idempotency-key" not in request.headers:
                return await handler(request)
            return await _once(request, lambda: handler(request))

        return answer


async def _once(request: Request, work: Callable[[], Awaitable[Response]]) -> Response:
    """Do the work, or give the answer that the same request got before."""
    token = request.headers["idempotency-key"]
    if not 0 < len(token) <= _MAX_LENGTH:
        raise Problem(422, "invalid-idempotency-key", "Idempotency-Key has 1 to 200 characters.")
    grant = find_grant(request)
    if grant is None:
        return await work()  # which says so
    backend = backend_of(request)
    state, busy = backend.state, backend.unanswered
    mark = await _digest(request)
    own = (grant.owner, token)
    if own in busy:
        raise Problem(
            409, "idempotency-busy", "The same Idempotency-Key is being answered at this moment.",
            headers={"Retry-After": "1"},
        )  # fmt: skip
    oldest = time.time() - backend.settings.limits.keep_seconds
    state.write("DELETE FROM answer WHERE created < ?", (oldest,))
    rows = state.read(
        "SELECT request, status, body, location FROM answer WHERE owner = ? AND token = ?", own
    )
    if rows:
        ((before, said, body, location),) = rows
        if before != mark:
            raise Problem(
                409, "idempotency-conflict", "This Idempotency-Key was used for another request."
            )
        if said is not None:
            count_request(request, grant)
            return _answer(said, body, location, {"Idempotency-Replayed": "true"})
        request.state.begun_before = True
    else:
        state.write(
            "INSERT INTO answer (owner, token, request, created) VALUES (?, ?, ?, ?)",
            (*own, mark, time.time()),
        )
    request.state.write_id = hashlib.sha256("\0".join(own).encode()).hexdigest()[:24]
    busy.add(own)
    try:
        try:
            made = await work()
        except Exception as error:
            if _is_refusal(error):  # nothing was begun: the same key may be used to try again
                with contextlib.suppress(sqlite3.Error):
                    state.write("DELETE FROM answer WHERE owner = ? AND token = ?", own)
            raise
        state.write(
            "UPDATE answer SET status = ?, body = ?, location = ? WHERE owner = ? AND token = ?",
            (made.status_code, bytes(made.body), made.headers.get("location"), *own),
        )
    finally:
        busy.discard(own)
    return made


def _is_refusal(error: Exception) -> bool:
    refused = (RequestValidationError, HTTPException)
    return isinstance(error, refused) or problem_of(error).status < 500


def _answer(status: int, body: bytes, location: str | None, headers: dict[str, str]) -> Response:
    if location is not None:
        headers["Location"] = location
    return Response(body, status, headers, "application/json" if body else None)


async def _digest(request: Request) -> bytes:
    """What two requests have in common that ask for the same thing.

    A multipart boundary is drawn anew every time, and a retry may reach the server by another
    host name (through a proxy, by address): neither is part of what was asked. An archive, which
    no memory holds, is told by its length.
    """
    if brings_archive(request.scope):
        body = request.headers.get("content-length", "").encode()
    else:
        body = await request.body()
    _, _, boundary = request.headers.get("content-type", "").partition("boundary=")
    if boundary:
        body = body.replace(boundary.partition(";")[0].strip('" ').encode("latin-1"), b"")
    parts = [request.method, request.url.path, request.url.query]
    return hashlib.sha256(b"\0".join([*(part.encode() for part in parts), body])).digest()


def begun_before(request: Request) -> bool:
    """Whether a server that ended had begun this write: what it asks for may be done already."""
    return bool(getattr(request.state, "begun_before", False))


def refuse_if_unsure(request: Request) -> None:
    """For writes that must not be done twice and cannot be told from one that was not done."""
    if begun_before(request):
        raise Problem(
            409, "maybe-done",
            "The server stopped during this request: check whether it was done, then repeat it.",
        )  # fmt: skip


def write_id(request: Request) -> str | None:
    """An identifier for what a write makes: the same when it is sent again; None without a key."""
    found: str | None = getattr(request.state, "write_id", None)
    return found
