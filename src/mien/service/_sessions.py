"""Sessions of the page: a one-time link or a key becomes a cookie that scripts cannot read."""

from __future__ import annotations

import hmac
import secrets
import time
from dataclasses import dataclass

from mien.service._keys import EVERY_GALLERY, Grant, digest_secret
from mien.service._state import State

__all__ = ["LINK_SECONDS", "Session", "SessionStore", "same_token"]

#: How long a one-time link may wait to be opened.
LINK_SECONDS = 3600.0
_IDLE_SECONDS = 12 * 3600.0
_LONGEST_SECONDS = 30 * 86_400.0
_TOUCH_SECONDS = 60.0


@dataclass(frozen=True)
class Session:
    """Somebody at the page.

    Attributes
    ----------
    grant : Grant
        What the session may do.
    csrf : str
        What a write must bring as ``x-csrf-token``: another site's page cannot read it.
    """

    grant: Grant
    csrf: str


class SessionStore:
    """Links and sessions in the state of a server, as digests.

    Parameters
    ----------
    state : State
        From :func:`open_state`.
    """

    def __init__(self, state: State) -> None:
        self._state = state

    def make_link(self) -> str:
        """A token that opens one session, once, within an hour; it may do everything."""
        token = secrets.token_urlsafe(32)
        self._state.write(
            "INSERT INTO link VALUES (?, ?)", (digest_secret(token), time.time() + LINK_SECONDS)
        )
        return token

    def open_link(self, token: str) -> tuple[str, Session] | None:
        """The secret of a new session, for its cookie, if the token was good."""
        self._state.write("DELETE FROM link WHERE expires <= ?", (time.time(),))
        if not self._state.write("DELETE FROM link WHERE digest = ?", (digest_secret(token),)):
            return None
        return self.open(Grant(f"page-{secrets.token_hex(4)}", EVERY_GALLERY, "admin"), key=None)

    def open(self, grant: Grant, *, key: str | None) -> tuple[str, Session]:
        """A session with what a key may do; it ends when the key does."""
        secret, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        now = time.time()
        self._state.write(
            "DELETE FROM session WHERE seen < ? OR created < ?",
            (now - _IDLE_SECONDS, now - _LONGEST_SECONDS),
        )
        self._state.write(
            "INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (digest_secret(secret), csrf, grant.owner, key, grant.gallery, grant.role, now, now),
        )
        return secret, Session(grant, csrf)

    def find(self, secret: str) -> Session | None:
        """The session of a cookie, or None where it has ended."""
        digest, now = digest_secret(secret), time.time()
        rows = self._state.read(
            "SELECT csrf, owner, gallery, role, seen FROM session "
            "WHERE digest = ? AND seen > ? AND created > ? AND (key IS NULL OR key IN "
            "(SELECT id FROM key WHERE revoked IS NULL AND (expires IS NULL OR expires > ?)))",
            (digest, now - _IDLE_SECONDS, now - _LONGEST_SECONDS, now),
        )
        if not rows:
            return None
        csrf, owner, gallery, role, seen = rows[0]
        if now - seen > _TOUCH_SECONDS:
            self._state.write("UPDATE session SET seen = ? WHERE digest = ?", (now, digest))
        return Session(Grant(owner, gallery, role), csrf)

    def close(self, secret: str) -> None:
        """End a session."""
        self._state.write("DELETE FROM session WHERE digest = ?", (digest_secret(secret),))


def same_token(a: str, b: str) -> bool:
    """Whether two tokens are equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(a.encode("utf-8", "replace"), b.encode("utf-8", "replace"))
