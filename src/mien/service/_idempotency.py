"""Writes that a client may send twice: the second time the first answer is given again."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Request, Response
from fastapi.encoders import jsonable_encoder
from fastapi.responses import JSONResponse

from mien.service._access import backend_of
from mien.service._keys import Grant
from mien.service._problems import Problem

__all__ = ["begun_before", "once"]

_MAX_LENGTH = 200


async def once(
    request: Request, grant: Grant, status: int, work: Callable[[], Awaitable[Any]]
) -> Response:
    """Do the work, or give the answer that the same request got before.

    The same ``Idempotency-Key`` with another request is a conflict. A request that was begun and
    never ended, because the server did, is done again: what it writes is written once anyway.
    """
    token = request.headers.get("idempotency-key")
    if token is None:
        return JSONResponse(jsonable_encoder(await work()), status)
    if not 0 < len(token) <= _MAX_LENGTH:
        raise Problem(422, "invalid-idempotency-key", "Idempotency-Key has 1 to 200 characters.")
    backend = backend_of(request)
    state, busy = backend.state, backend.unanswered
    mark = _digest(request, await request.body())
    own = (grant.owner, token)
    if own in busy:
        raise Problem(
            409, "idempotency-busy", "The same Idempotency-Key is being answered at this moment.",
            headers={"Retry-After": "1"},
        )  # fmt: skip
    oldest = time.time() - backend.settings.limits.keep_seconds
    state.write("DELETE FROM answer WHERE created < ?", (oldest,))
    rows = state.read("SELECT request, status, body FROM answer WHERE owner = ? AND token = ?", own)
    if rows:
        ((before, said, body),) = rows
        if before != mark:
            raise Problem(
                409, "idempotency-conflict", "This Idempotency-Key was used for another request."
            )
        if said is not None:
            return Response(
                body, said, media_type="application/json",
                headers={"Idempotency-Replayed": "true"},
            )  # fmt: skip
        request.state.begun_before = True
    else:
        state.write("INSERT INTO answer VALUES (?, ?, ?, NULL, NULL, ?)", (*own, mark, time.time()))
    busy.add(own)
    try:
        body = json.dumps(jsonable_encoder(await work())).encode()
        state.write(
            "UPDATE answer SET status = ?, body = ? WHERE owner = ? AND token = ?",
            (status, body, *own),
        )
    except Problem:
        state.write("DELETE FROM answer WHERE owner = ? AND token = ? AND status IS NULL", own)
        raise
    finally:
        busy.discard(own)
    return Response(body, status, media_type="application/json")


def _digest(request: Request, body: bytes) -> bytes:
    """What two requests have in common that ask for the same thing.

    A multipart boundary is drawn anew every time, and a retry may reach the server by another
    host name (through a proxy, by address): neither is part of what was asked.
    """
    _, _, boundary = request.headers.get("content-type", "").partition("boundary=")
    if boundary:
        body = body.replace(boundary.partition(";")[0].strip('" ').encode("latin-1"), b"")
    parts = [request.method, request.url.path, request.url.query]
    return hashlib.sha256(b"\0".join([*(part.encode() for part in parts), body])).digest()


def begun_before(request: Request) -> bool:
    """Whether a server that ended had begun this write: what it asks for may be done already."""
    return bool(getattr(request.state, "begun_before", False))
