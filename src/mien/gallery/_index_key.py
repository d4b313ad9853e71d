"""The key with which the index beside a gallery is signed, so that only our own is ever read.

The library that reads an index trusts it. A sealed gallery has a key of its own. For others the
key belongs to the user: an index that came with a gallery from somewhere else is made again.
"""

from __future__ import annotations

import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

__all__ = ["SIGNATURE", "sign_index", "state_home", "user_key"]

#: Bytes of the signature before an index.
SIGNATURE = 32


def user_key() -> bytes | None:
    """The key of this user, made when it is first asked for; None where none can be kept."""
    place = state_home() / "mien" / "index.key"
    with suppress(OSError):
        content = place.read_bytes()
        if len(content) == 32:
            return content
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        made = secrets.token_bytes(32)
        temporary = place.with_name(f"index.key.{secrets.token_hex(4)}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(temporary, flags, 0o600)
        try:
            os.write(descriptor, made)
        finally:
            os.close(descriptor)
        try:
            os.link(temporary, place)  # whoever is first decides
        except FileExistsError:
            made = place.read_bytes()
        finally:
            temporary.unlink()
        return made if len(made) == 32 else None
    return None


def state_home() -> Path:
    """Where programs keep what is this user's own."""
    given = os.environ.get("XDG_STATE_HOME")
    return Path(given) if given else Path.home() / ".local" / "state"


def sign_index(key: bytes, identity: bytes, content: bytes) -> bytes:
    """The signature of an index that belongs to ``identity``."""
    return hmac.digest(key, len(identity).to_bytes(8, "little") + identity + content, "sha256")
