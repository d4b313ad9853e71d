"""Sealing of templates and names with a key; alone knows ``cryptography``."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import unicodedata
from typing import Any

from mien._core.validation import require_module
from mien.errors import GalleryDamagedError, GalleryKeyError, InputError

__all__ = ["Cipher", "Sealer", "check_passphrase", "given_key", "make_seal", "open_seal"]

_NONCE = 12
_TAG = 16
_CHECK = b"this is the right key"
# 128 · n · r = 128 MiB and about .4 s for each passphrase: what OWASP asks for in 2026. Raise n
# here when advice changes: every gallery says with which numbers it was made.
_SCRYPT = {"n": 2**17, "r": 8, "p": 1}
_SCRYPT_MEMORY = 2**30
_SHORTEST = 10
_FEWEST_LETTERS = 5


class Cipher:
    """AES-256-GCM with a fresh nonce for each message.

    Parameters
    ----------
    key : bytes of length 32
        The key itself.
    """

    def __init__(self, key: bytes) -> None:
        aead = require_module(
            "cryptography.hazmat.primitives.ciphers.aead", "gallery", "encryption"
        )
        self._cipher = aead.AESGCM(key)

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


class Sealer(Cipher):
    """The cipher of a gallery, and the keys derived beside it.

    Parameters
    ----------
    key : bytes of length 32
        From which all other keys are derived.
    """

    def __init__(self, key: bytes) -> None:
        super().__init__(_derive(key, b"mien gallery templates"))
        #: Seals the data keys of people.
        self.wrapping = Cipher(_derive(key, b"mien gallery people"))
        self._tag_key = _derive(key, b"mien gallery tags")
        self.row_key = _derive(key, b"mien gallery rows")
        self.sum_key = _derive(key, b"mien gallery sums")
        self.index_key = _derive(key, b"mien gallery index")

    def tag(self, name: str) -> bytes:
        """What stands for a name where names are sealed: equal for equal names only."""
        return hmac.digest(self._tag_key, name.encode("utf-8"), "sha256")


def check_passphrase(key: bytes | str) -> None:
    """Refuse a passphrase that is guessed in no time; keys of 32 bytes are taken as they are."""
    if not isinstance(key, str):
        return
    words = _normalise(key)
    if len(words) < _SHORTEST:
        raise InputError(
            f"the passphrase is too short: at least {_SHORTEST} characters are needed, four or "
            f"five random words are better; got {len(words)}"
        )
    if len(set(words)) < _FEWEST_LETTERS:
        raise InputError(
            f"the passphrase is too simple: it has only {len(set(words))} different characters; "
            "four or five random words are better"
        )
    if words.isdecimal() and len(words) < 16:
        raise InputError("a passphrase of digits needs at least 16 of them; words are better")


def make_seal(key: bytes | str, identity: bytes, *, new: bool = True) -> tuple[Sealer, str]:
    """A sealer for a new gallery, and the JSON that lets :func:`open_seal` make it again.

    Everything is sealed with a random key, which is itself sealed with what the passphrase gives:
    a passphrase can be changed, or its numbers raised, without sealing everything again.
    """
    if new:
        check_passphrase(key)
    seal: dict[str, Any] = {"cipher": "AES-256-GCM", "kdf": "none"}
    if isinstance(key, str):
        seal |= {"kdf": "scrypt", "salt": _encode(os.urandom(16)), **_SCRYPT}
    inner = os.urandom(32)
    seal["wrapped"] = _encode(Sealer(_stretch(key, seal)).seal(inner, b"key\x00" + identity))
    return Sealer(inner), json.dumps(seal)


def given_key(seal: object, key: bytes | str | None, where: str) -> bytes | str | None:
    """The key of a sealed gallery, None of another; one that is missing or too many is refused."""
    if seal is None and key is not None:
        raise GalleryKeyError(f"{where} is not sealed: open it without a key")
    if seal is not None and key is None:
        raise GalleryKeyError(f"{where} is sealed: give its key")
    return key


def open_seal(key: bytes | str, text: str, identity: bytes, where: str) -> Sealer:
    """The sealer of a gallery, or :class:`GalleryKeyError` if the key is not the one."""
    try:
        seal = json.loads(text)
        wanted = seal["kdf"]
        held = _decode(seal["wrapped"] if "wrapped" in seal else seal["check"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise GalleryDamagedError(f"{where}: its seal settings are not readable") from error
    if (wanted == "scrypt") != isinstance(key, str):
        kind = "a passphrase (str)" if wanted == "scrypt" else "a key of 32 bytes"
        raise GalleryKeyError(f"{where} was sealed with {kind}; got {type(key).__name__}")
    outer = Sealer(_stretch(key, seal))
    try:
        if "wrapped" in seal:
            return Sealer(outer.unseal(held, b"key\x00" + identity, where))
        # Format 1: the key itself, and a known sentence to try it on.
        if outer.unseal(held, identity, where) == _CHECK:
            return outer
    except GalleryDamagedError:
        pass
    raise GalleryKeyError(f"the key does not fit {where}")


def _normalise(passphrase: str) -> str:
    """One spelling for what looks the same and is typed differently (NFKC)."""
    return unicodedata.normalize("NFKC", passphrase)


def _stretch(key: bytes | str, seal: dict[str, Any]) -> bytes:
    if isinstance(key, str):
        if not key:
            raise InputError("the passphrase is empty")
        try:
            n, r, p = (int(seal[name]) for name in ("n", "r", "p"))
        except (KeyError, TypeError, ValueError) as error:
            raise GalleryDamagedError("the seal of the gallery is not readable") from error
        good = 2 <= n <= 2**22 and n & (n - 1) == 0 and 1 <= r <= 64 and 1 <= p <= 16
        if not good or 128 * n * r > _SCRYPT_MEMORY:
            raise GalleryDamagedError(
                f"the passphrase would be stretched with n={n:.6g}, r={r:.6g}, p={p:.6g}, which "
                "no gallery uses"
            )
        # Format 1 took passphrases as they were typed.
        words = _normalise(key) if "wrapped" in seal or "check" not in seal else key
        salt = _decode(seal.get("salt", ""))
        return hashlib.scrypt(
            words.encode("utf-8"), salt=salt, n=n, r=r, p=p, maxmem=256 * n * r, dklen=32
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
