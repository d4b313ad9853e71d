"""Signing in to the page: with the one-time link that the server prints, or with a key."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from mien.service._access import (
    backend_of,
    cookie_name,
    count_request,
    find_grant,
    find_session,
    is_secure,
    require,
)
from mien.service._keys import Grant
from mien.service._problems import Problem

__all__ = ["router"]

router = APIRouter(prefix="/v1/session", tags=["page"])


class SignIn(BaseModel):
    """A one-time link's token, or a key."""

    model_config = ConfigDict(extra="forbid")

    link: str | None = Field(None, max_length=200)
    key: str | None = Field(None, max_length=200)


class SessionInfo(BaseModel):
    """Who is at the page. ``csrf`` goes into ``x-csrf-token`` with every write."""

    role: str = Field(examples=["admin"])
    gallery: str = Field(examples=["*"], description="The only gallery, or * for all of them.")
    csrf: str | None = Field(description="Null where this machine needs no session.")


class NewLink(BaseModel):
    """A token for the address of the page, after ``#link=``; it works once, for an hour."""

    link: str


@router.get("", summary="Who am I?", response_model=SessionInfo)
async def get_session(request: Request) -> SessionInfo:
    """The session of the cookie; 401 where there is none."""
    session = find_session(request)
    if session is not None:
        return _show(session.grant, session.csrf)
    grant = find_grant(request)
    if grant is None:
        raise Problem(401, "no-session", "Open the link that the server printed, or give a key.")
    return _show(grant, None)


@router.post("", summary="Sign in", response_model=SessionInfo)
async def sign_in(request: Request, response: Response, wanted: SignIn) -> SessionInfo:
    """The cookie is HttpOnly and SameSite=Strict; a link works once."""
    backend = backend_of(request)
    count_request(request, None, "sign-in ")
    made = None
    if wanted.link is not None:
        made = backend.sessions.open_link(wanted.link)
    elif wanted.key is not None and (grant := backend.keys.check(wanted.key)) is not None:
        made = backend.sessions.open(grant, key=grant.owner)
    if made is None:
        raise Problem(
            401, "no-session", "This link was used already or has expired; or the key is not valid."
        )
    secret, session = made
    response.set_cookie(
        cookie_name(request),
        secret,
        path="/",
        secure=is_secure(request),
        httponly=True,
        samesite="strict",
    )
    return _show(session.grant, session.csrf)


@router.post("/links", status_code=201, summary="A link for another browser")
async def make_link(request: Request) -> NewLink:
    """Works once, for an hour."""
    require(request, "admin")
    return NewLink(link=backend_of(request).sessions.make_link())


@router.delete("", status_code=204, summary="Sign out")
async def sign_out(request: Request, response: Response) -> None:
    """The cookie opens nothing from now on."""
    secret = request.cookies.get(cookie_name(request))
    if secret is not None and find_grant(request) is not None:
        backend_of(request).sessions.close(secret)
    response.delete_cookie(cookie_name(request), path="/")


def _show(grant: Grant, csrf: str | None) -> SessionInfo:
    return SessionInfo(role=grant.role, gallery=grant.gallery, csrf=csrf)
