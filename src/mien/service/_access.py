"""Who may do what: keys, roles, and what a browser on the same machine must not do unasked."""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import Request

from mien.service._backend import Backend
from mien.service._keys import EVERY_GALLERY, Grant
from mien.service._problems import Problem
from mien.service._sessions import Session, same_token
from mien.service._settings import is_loopback

__all__ = [
    "READING",
    "backend_of",
    "client_address",
    "cookie_name",
    "count_request",
    "find_grant",
    "find_session",
    "is_secure",
    "read_key",
    "require",
    "still_allowed",
]

#: Methods that change nothing.
READING = ("GET", "HEAD", "OPTIONS")


def backend_of(request: Request) -> Backend:
    """What the server holds."""
    backend: Backend = request.app.state.backend
    return backend


def read_key(request: Request) -> str | None:
    """The key of a request: a bearer token, or ``x-api-key``."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and token.strip():
        return token.strip()
    return request.headers.get("x-api-key")


def client_address(request: Request) -> str:
    """The address of a client, as a trusted proxy gives it."""
    address = request.client.host if request.client else "unknown"
    backend = backend_of(request)
    if address in backend.settings.trusted_proxies:
        forwarded = request.headers.get("x-forwarded-for", "").rsplit(",", 1)[-1].strip()
        return forwarded or address
    return address


def is_secure(request: Request) -> bool:
    """Whether the client speaks TLS: to this server, or to a trusted proxy that says so."""
    backend = backend_of(request)
    if backend.settings.certificate is not None:
        return True
    address = request.client.host if request.client else "unknown"
    trusted = address in backend.settings.trusted_proxies
    return trusted and request.headers.get("x-forwarded-proto", "").strip().lower() == "https"


def cookie_name(request: Request) -> str:
    """Cookies know no ports: two servers of one machine need two names."""
    return f"mien_session_{backend_of(request).settings.port}"


def find_session(request: Request) -> Session | None:
    """The session of a request's cookie."""
    secret = request.cookies.get(cookie_name(request))
    return None if secret is None else backend_of(request).sessions.find(secret)


def _grant_of_session(request: Request) -> Grant | None:
    """What the page may do; a write without the session's token is somebody else's."""
    session = find_session(request)
    if session is None:
        return None
    if request.method not in READING and not same_token(
        request.headers.get("x-csrf-token", ""), session.csrf
    ):
        raise Problem(403, "csrf", "The token of the session is missing: load the page again.")
    return session.grant


def find_grant(request: Request, key: str | None = None) -> Grant | None:
    """What a request may do, or None where its key is not valid.

    A server on loopback for which no key was made is open to this machine; a page of another
    origin in a browser of this machine is not this machine.
    """
    backend = backend_of(request)
    key = read_key(request) if key is None else key
    if key is not None and (grant := backend.keys.check(key)) is not None:
        return grant
    if key is None and (grant := _grant_of_session(request)) is not None:
        return grant
    if is_loopback(backend.settings.host) and not backend.keys.any_kept():
        origin, host = request.headers.get("origin"), request.headers.get("host", "")
        own = origin is None or urlsplit(origin).netloc == host
        if own and is_loopback(host):
            return Grant("local", EVERY_GALLERY, "admin")
    return None


def count_request(request: Request, grant: Grant | None, kind: str = "") -> None:
    """Count a request against the rate of its key, or of its address; a problem if too many."""
    client = client_address(request) if grant is None or grant.owner == "local" else grant.owner
    wait = backend_of(request).rate.take(f"{kind}{client}")
    if wait > 0:
        raise Problem(
            429, "too-many-requests", "Too many requests; slow down.",
            headers={"Retry-After": str(int(wait) + 1)},
        )  # fmt: skip


def still_allowed(request: Request, role: str, gallery: str) -> bool:
    """Whether the key or session of an answer that goes on still opens what it opened."""
    grant = find_grant(request)
    return grant is not None and grant.allows(gallery, role)


def require(
    request: Request,
    role: str,
    gallery: str | None = None,
    *,
    anywhere: bool = False,
    counted: bool = True,
) -> Grant:
    """The grant of a request, if it is enough; otherwise a problem.

    A gallery that a key is not for looks as if it were not there. Without a gallery a key for all
    of them is needed, or, where no gallery is concerned, one that has the role ``anywhere``. Small
    pictures, of which a page asks for hundreds while one scrolls, are not ``counted`` against the
    rate.
    """
    grant = find_grant(request)
    if counted or grant is None:
        count_request(request, grant)
    if grant is None:
        raise Problem(
            401, "no-key",
            "Give a valid key as 'Authorization: Bearer KEY' or 'x-api-key: KEY'.",
            headers={"WWW-Authenticate": "Bearer"},
        )  # fmt: skip
    if gallery is not None and grant.gallery not in (EVERY_GALLERY, gallery):
        raise Problem(404, "no-gallery", f"There is no gallery {gallery!r}.")
    if not grant.allows(grant.gallery, role):
        raise Problem(403, "role-too-low", f"This needs a key with the role {role!r}.")
    if gallery is None and not anywhere and grant.gallery != EVERY_GALLERY:
        raise Problem(403, "one-gallery", "This needs a key for all galleries.")
    return grant
