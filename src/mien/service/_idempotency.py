"""Writes that a client may send twice: the second time the first answer is given again."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Request, Response
from fastapi.encoders import jsonable_encoder
from fastapi.responses import JSONResponse

from mien.service._access import backend_of
from mien.service._keys import Grant
from mien.service._problems import Problem

__all__ = ["once"]

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
    state: sqlite3.Connection = backend.keys._connection
    mark = hashlib.sha256(
        b"\0".join([request.method.encode(), str(request.url).encode(), await request.body()])
    ).digest()
    oldest = time.time() - backend.settings.limits.keep_seconds
    state.execute("DELETE FROM answer WHERE created < ?", (oldest,))
    row = state.execute(
        "SELECT request, status, body FROM answer WHERE owner = ? AND token = ?",
        (grant.owner, token),
    ).fetchone()
    if row is not None:
        if row[0] != mark:
            raise Problem(
                409, "idempotency-conflict", "This Idempotency-Key was used for another request."
            )
        if row[1] is not None:
            return Response(
                row[2], row[1], media_type="application/json",
                headers={"Idempotency-Replayed": "true"},
            )  # fmt: skip
    else:
        state.execute(
            "INSERT OR IGNORE INTO answer VALUES (?, ?, ?, NULL, NULL, ?)",
            (grant.owner, token, mark, time.time()),
        )
    try:
        body = json.dumps(jsonable_encoder(await work())).encode()
    except BaseException:
        state.execute(
            "DELETE FROM answer WHERE owner = ? AND token = ? AND status IS NULL",
            (grant.owner, token),
        )
        raise
    state.execute(
        "UPDATE answer SET status = ?, body = ? WHERE owner = ? AND token = ?",
        (status, body, grant.owner, token),
    )
    return Response(body, status, media_type="application/json")
