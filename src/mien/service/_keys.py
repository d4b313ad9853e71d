"""Keys of clients: 256 bits, shown once, kept as a digest, per gallery and role."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass

from mien._core.validation import check_choice
from mien.errors import InputError
from mien.service._state import State

__all__ = ["EVERY_GALLERY", "ROLES", "Grant", "KeyRecord", "KeyStore", "digest_secret"]

#: From the least to the most; each may do what those before it may.
ROLES = ("read", "write", "admin")
EVERY_GALLERY = "*"
_PREFIX = "mien_"


@dataclass(frozen=True)
class Grant:
    """What a request may do: a role on one gallery, or on all of them."""

    owner: str
    gallery: str
    role: str

    def allows(self, gallery: str | None, role: str) -> bool:
        """Whether the role is enough, on this gallery; None is for what concerns all of them."""
        enough = ROLES.index(self.role) >= ROLES.index(role)
        return enough and self.gallery in (EVERY_GALLERY, gallery)


@dataclass(frozen=True)
class KeyRecord:
    """A key as it is listed; the key itself is not kept."""

    id: str
    gallery: str
    role: str
    label: str
    created: float
    expires: float | None
    revoked: float | None

    def is_valid(self, now: float) -> bool:
        """Whether it opens anything at this time."""
        return self.revoked is None and (self.expires is None or self.expires > now)


class KeyStore:
    """Keys in the state of a server.

    They are held in memory and read again when somebody changed them, also another process.

    Parameters
    ----------
    state : State
        From :func:`open_state`.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._changes = 0
        self._held: tuple[tuple[int, int], dict[bytes, KeyRecord]] | None = None

    def _records(self) -> dict[bytes, KeyRecord]:
        """All keys by their digests, in the order in which they were made."""
        now = self._changes, self._state.foreign_changes()
        held = self._held
        if held is None or held[0] != now:
            rows = self._state.read(
                "SELECT digest, id, gallery, role, label, created, expires, revoked FROM key "
                "ORDER BY created"
            )
            held = self._held = now, {row[0]: KeyRecord(*row[1:]) for row in rows}
        return held[1]

    def create(
        self,
        role: str,
        *,
        gallery: str = EVERY_GALLERY,
        label: str = "",
        days: float | None = None,
    ) -> tuple[str, KeyRecord]:
        """A new key, which is given here and never again, and its record.

        Parameters
        ----------
        role : {"read", "write", "admin"}
            What it may do.
        gallery : str
            The gallery that it is for; ``*`` is all of them.
        label : str
            For people to tell keys apart.
        days : float or None
            When it expires; None is never.
        """
        check_choice("role", role, ROLES)
        if days is not None and not days > 0:
            raise InputError(f"days must be greater than 0; got {days!r}")
        key = _PREFIX + secrets.token_urlsafe(32)
        now = time.time()
        record = KeyRecord(
            secrets.token_hex(6), gallery, role, label, now,
            None if days is None else now + 86_400 * days, None,
        )  # fmt: skip
        self._state.write(
            "INSERT INTO key VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (record.id, digest_secret(key), gallery, role, label, now, record.expires, None),
        )
        self._changes += 1
        return key, record

    def list(self) -> list[KeyRecord]:
        """All keys, also those that have ended."""
        return [*self._records().values()]

    def revoke(self, identifier: str) -> None:
        """Revoke a key immediately."""
        changed = self._state.write(
            "UPDATE key SET revoked = ? WHERE id = ? AND revoked IS NULL",
            (time.time(), identifier),
        )
        self._changes += 1
        if not changed:
            raise InputError(f"no valid key has the id {identifier!r}")

    def expire(self, gallery: str) -> None:
        """End all keys of a gallery that is deleted: one that gets its name is another one."""
        now = time.time()
        self._state.write(
            "UPDATE key SET expires = ? WHERE gallery = ? AND (expires IS NULL OR expires > ?)",
            (now, gallery, now),
        )
        self._changes += 1

    def any_valid(self) -> bool:
        """Whether a key exists that opens anything."""
        now = time.time()
        return any(record.is_valid(now) for record in self._records().values())

    def any_kept(self) -> bool:
        """Whether a key exists that was not revoked: one that expires opens no door by that."""
        return any(record.revoked is None for record in self._records().values())

    def check(self, key: str) -> Grant | None:
        """What a key may do, or None; the time that this takes does not depend on the key."""
        digest = digest_secret(key)
        now = time.time()
        grant = None
        for known, record in self._records().items():
            if hmac.compare_digest(known, digest) and record.is_valid(now):
                grant = Grant(record.id, record.gallery, record.role)
        return grant


def digest_secret(key: str) -> bytes:
    """Of a key or token: with 256 random bits a plain digest cannot be searched backwards."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
