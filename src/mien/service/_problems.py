"""Errors as RFC 9457 problem details: one shape for everything that can go wrong."""

from __future__ import annotations

import errno
import sqlite3
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse

from mien.errors import (
    ConsentError,
    GalleryBusyError,
    GalleryDiskError,
    GalleryError,
    GalleryKeyError,
    ImageError,
    MienError,
    MissingDataError,
    MissingDependencyError,
    NotEnoughDataError,
)

__all__ = ["Problem", "answer_problem", "problem_of"]


class Problem(Exception):
    """An answer that is not the one that was asked for.

    Parameters
    ----------
    status : int
        HTTP status.
    code : str
        A few words in kebab case, stable, for programs.
    detail : str
        One sentence for people: what was wrong, and what to do.
    headers : dict, optional
        Such as Retry-After.
    extra : dict, optional
        More members of the problem document.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        headers: dict[str, str] | None = None,
        extra: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = headers or {}
        self.extra = extra or {}


_TITLES = {
    400: "Bad request",
    401: "No valid key",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Conflict",
    413: "Too large",
    415: "Not a picture",
    422: "Cannot be used",
    429: "Too many requests",
    500: "Internal error",
    501: "Not installed",
    503: "Busy",
    507: "The disk is full; nothing was changed",
}
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def problem_of(error: Exception) -> Problem:
    """What an error of mien means to a client; any other error has no detail."""
    if isinstance(error, Problem):
        return error
    for kind, status, code in (
        (GalleryBusyError, 503, "gallery-busy"),
        (GalleryDiskError, 507, "no-room"),
        (ConsentError, 409, "no-consent"),
        (GalleryKeyError, 500, "gallery-sealed"),
        (ImageError, 422, "unreadable-picture"),
        (MissingDataError, 404, "not-found"),
        (NotEnoughDataError, 422, "not-enough-data"),
        (MissingDependencyError, 501, "not-installed"),
        (GalleryError, 500, "gallery-unusable"),
        (MienError, 422, "invalid-input"),
    ):
        if isinstance(error, kind):
            headers = {"Retry-After": "1"} if status == 503 else {}
            detail = str(error) if status < 500 or status == 501 else _TITLES.get(status, "Failed")
            return Problem(status, code, detail, headers=headers)
    if _is_full(error):
        return Problem(507, "no-room", "The disk of the server is full; nothing was changed.")
    return Problem(500, "internal-error", "The server failed; its log has the request id.")


def _is_full(error: Exception) -> bool:
    """Whether there was no room: on the disk, or below a limit on the size of files."""
    if isinstance(error, OSError):
        return error.errno in _FULL
    full = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", None) in full


def answer_problem(request: Request, problem: Problem) -> JSONResponse:
    """The document of a problem."""
    body = {
        "type": f"urn:mien:problem:{problem.code}",
        "title": _TITLES.get(problem.status, "Error"),
        "status": problem.status,
        "code": problem.code,
        "detail": problem.detail,
        "instance": request.url.path,
        "request_id": getattr(request.state, "request_id", None),
        **problem.extra,
    }
    return JSONResponse(
        body, problem.status, headers=problem.headers, media_type="application/problem+json"
    )
