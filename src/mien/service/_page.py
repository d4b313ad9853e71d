"""The page: files of this package, served as they are, under a strict content security policy."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request, Response

from mien.service._problems import Problem

__all__ = ["FOLDER", "router"]

FOLDER = Path(__file__).with_name("page")
router = APIRouter(include_in_schema=False)
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_IMPORT_MAP = re.compile(rb'<script type="importmap">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True)
class _File:
    content: bytes
    kind: str
    tag: str


@cache
def _files() -> dict[str, _File]:
    """Every file of the page by its path; nothing else can be asked for."""
    found = {}
    for path in sorted(FOLDER.rglob("*")):
        if path.suffix in _KINDS:
            content = path.read_bytes()
            tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
            found[path.relative_to(FOLDER).as_posix()] = _File(content, _KINDS[path.suffix], tag)
    return found


@cache
def _policy() -> str:
    """Scripts of this server and the one import map, known by its digest; nothing else runs."""
    inline = _IMPORT_MAP.findall(_files()["index.html"].content)
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'" for text in inline
    )
    return (
        f"default-src 'none'; script-src 'self' {hashes}; style-src 'self'; "
        "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


@router.get("/", summary="The page")
async def index(request: Request) -> Response:
    """Everything else is read by it."""
    return _answer(request, "index.html", {"content-security-policy": _policy()})


@router.get("/page/{path:path}", summary="A file of the page")
async def static_file(request: Request, path: str) -> Response:
    """Scripts, styles and pictures that ship with mien."""
    return _answer(request, path, {})


def _answer(request: Request, path: str, headers: dict[str, str]) -> Response:
    file = _files().get(path)
    if file is None:
        raise Problem(404, "no-route", "The page has no such file.")
    headers = headers | {
        "cache-control": "no-cache",
        "etag": file.tag,
        "permissions-policy": "camera=(self), microphone=(), geolocation=()",
    }
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.kind, headers=headers)
