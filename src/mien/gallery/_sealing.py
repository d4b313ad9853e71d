"""Sealing of templates and names with a key; alone knows ``cryptography``."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
from typing import Any

from mien._core.validation import require
from mien.errors import GalleryDamagedError, GalleryKeyError, InputError

__all__ = ["Sealer", "make_seal", "open_seal"]

_NONCE = 12
_TAG = 16
_CHECK = b"this is the right key"
# Memory of 128 · n · r = 32 MiB, and about a tenth of a second a passphrase.
_SCRYPT = {"n": 2**15, "r": 8, "p": 1}


class Sealer:
    """AES-256-GCM with a fresh nonce a message, and a keyed tag for looking names up.

    Parameters
    ----------
    key : bytes of length 32
        From which the key of the cipher and the key of the tags are derived.
    """

    overhead = _NONCE + _TAG

    def __init__(self, key: bytes) -> None:
        aead = require("cryptography.hazmat.primitives.ciphers.aead", "gallery", "encryption")
        self._cipher = aead.AESGCM(_derive(key, b"mien gallery templates"))
        self._tag_key = _derive(key, b"mien gallery tags")

    def seal(self, content: bytes, identity: bytes) -> bytes:
        """Nonce and ciphertext, which open only together with the same identity."""
        nonce = os.urandom(_NONCE)
        return nonce + bytes(self._cipher.encrypt(nonce, content, identity))

    def unseal(self, sealed: bytes, identity: bytes, what: str) -> bytes:
        try:
            return bytes(self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], identity))
        except Exception as error:  # InvalidTag, or a length that cannot be
            raise GalleryDamagedError(
                f"{what} was altered, or belongs to another row: its seal does not fit"
            ) from error

    def tag(self, name: str) -> bytes:
        """What stands for a name where names are sealed: equal for equal names only."""
        return hmac.digest(self._tag_key, name.encode("utf-8"), "sha256")


def make_seal(key: bytes | str, identity: bytes) -> tuple[Sealer, str]:
    """A sealer for a new gallery, and the JSON that lets :func:`open_seal` check a key."""
    seal: dict[str, Any] = {"cipher": "AES-256-GCM", "kdf": "none"}
    if isinstance(key, str):
        seal |= {"kdf": "scrypt", "salt": _encode(os.urandom(16)), **_SCRYPT}
    sealer = Sealer(_stretch(key, seal))
    seal["check"] = _encode(sealer.seal(_CHECK, identity))
    return sealer, json.dumps(seal)


def open_seal(key: bytes | str, text: str, identity: bytes, where: str) -> Sealer:
    """The sealer of a gallery, or :class:`GalleryKeyError` if the key is not the one."""
    try:
        seal = json.loads(text)
        check = _decode(seal["check"])
        wanted = seal["kdf"]
    except (ValueError, KeyError, TypeError) as error:
        raise GalleryDamagedError(f"{where}: how it is sealed is not readable") from error
    if (wanted == "scrypt") != isinstance(key, str):
        kind = "a passphrase (str)" if wanted == "scrypt" else "a key of 32 bytes"
        raise GalleryKeyError(f"{where} was sealed with {kind}; got {type(key).__name__}")
    sealer = Sealer(_stretch(key, seal))
    try:
        good = sealer.unseal(check, identity, where) == _CHECK
    except GalleryDamagedError:
        good = False
    if not good:
        raise GalleryKeyError(f"the key does not fit {where}")
    return sealer


def _stretch(key: bytes | str, seal: dict[str, Any]) -> bytes:
    if isinstance(key, str):
        if not key:
            raise InputError("the passphrase is empty")
        n, r, p = (int(seal[name]) for name in ("n", "r", "p"))
        if not (2 <= n <= 2**20 and 1 <= r <= 16 and 1 <= p <= 4):
            raise GalleryDamagedError(f"the passphrase would be stretched with n={n}, r={r}, p={p}")
        salt = _decode(seal["salt"])
        return hashlib.scrypt(
            key.encode("utf-8"), salt=salt, n=n, r=r, p=p, maxmem=256 * n * r, dklen=32
        )
    if not isinstance(key, bytes) or len(key) != 32:
        got = f"{len(key)} bytes" if isinstance(key, bytes) else type(key).__name__
        raise InputError(f"a key is 32 bytes, or a passphrase (str); got {got}")
    return key


def _derive(key: bytes, label: bytes) -> bytes:
    return hmac.digest(key, label, "sha256")


def _encode(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise GalleryDamagedError("the seal of the gallery is not readable") from error
